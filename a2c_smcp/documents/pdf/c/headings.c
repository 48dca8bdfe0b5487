/* Which blocks may be headings, by what is told without their text as a whole: what `_possible` of headings.py does. */

#include "native.h"

/* As in headings.py, where they are told. */
static const double BIG = 1.15, SMALL = 0.85, SMALLEST = 0.75;
enum { MAX_LINES = 4 };

static const Py_UCS4 ends[] = {'.', ',', ';', 0x3002, 0xFF0C, 0xFF1B};

typedef struct {
    double size, largest;
    int is_bold;
} Body;

/* A block and its first line; all objects are borrowed. */
typedef struct {
    PyObject *kind, *lines, *first_text, *last_text;
    Place first;
    int is_bold, is_italic;
} Looked;

static int look_at(PyObject *block, Looked *looked) {
    looked->kind = record_check(&block_record, block) ? record_get(&block_record, block, BLOCK_KIND) : NULL;
    looked->lines = looked->kind == NULL ? NULL : record_get(&block_record, block, BLOCK_LINES);
    if (looked->lines == NULL || !is_list_of_lines(looked->lines))
        return 0;
    Py_ssize_t count = PyList_GET_SIZE(looked->lines);
    if (!count) {
        PyErr_SetString(PyExc_IndexError, "no lines");
        return 0;
    }
    PyObject *first = PyList_GET_ITEM(looked->lines, 0);
    PyObject *font = line_place(first, &looked->first) ? record_get(&line_record, first, FONT) : NULL;
    if (font == NULL || !record_check(&font_record, font))
        return 0;
    looked->first_text = record_get(&line_record, first, TEXT);
    looked->last_text = record_get(&line_record, PyList_GET_ITEM(looked->lines, count - 1), TEXT);
    looked->is_bold = record_get(&font_record, font, BOLD) == Py_True;
    looked->is_italic = record_get(&font_record, font, ITALIC) == Py_True;
    return !PyErr_Occurred();
}

static int ends_sentence(PyObject *text) {
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    Py_UCS4 last = length ? PyUnicode_READ_CHAR(text, length - 1) : ' ';
    for (size_t number = 0; number < sizeof ends / sizeof *ends; number++)
        if (ends[number] == last)
            return 1;
    return 0;
}

static int is_possible(const Looked *looked, const Body *body) {
    const Place *first = &looked->first;
    Py_ssize_t count = PyList_GET_SIZE(looked->lines);
    int is_item = is_string(looked->kind, strings.list);
    if ((!is_item && !is_string(looked->kind, strings.text)) || count > MAX_LINES)
        return 0;
    Py_UCS4 sign = PyUnicode_GET_LENGTH(looked->first_text) ? PyUnicode_READ_CHAR(looked->first_text, 0) : ' ';
    if (is_item && sign != '(' && !Py_UNICODE_ISALNUM(sign))
        return 0;
    double ratio = first->size / (first->size > body->size ? body->largest : body->size);
    int is_plain = ratio < BIG && (body->is_bold || !looked->is_bold);
    /* What most paragraphs are is told by their ends. */
    if (is_plain && (count > 2 || ends_sentence(looked->last_text) || Py_UNICODE_ISLOWER(sign)))
        return 0;
    return ratio >= (is_plain ? SMALL : SMALLEST) && is_upright(first);
}

/* Whether a text begins with a number like 3.5, or one of an appendix like A.2. */
static int is_dotted(PyObject *text) {
    Py_ssize_t length = PyUnicode_GET_LENGTH(text), at = 0;
    while (at < 3 && at < length && Py_UNICODE_ISDECIMAL(PyUnicode_READ_CHAR(text, at)))
        at++;
    if (!at && length && PyUnicode_READ_CHAR(text, 0) >= 'A' && PyUnicode_READ_CHAR(text, 0) <= 'Z')
        at = 1;
    return at && at + 1 < length && PyUnicode_READ_CHAR(text, at) == '.' && Py_UNICODE_ISDECIMAL(PyUnicode_READ_CHAR(text, at + 1));
}

static PyObject *possible_headings(PyObject *module, PyObject *arguments) {
    PyObject *blocks;
    Body body;
    int any_odd = 0;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!ddp", &PyList_Type, &blocks, &body.size, &body.largest, &body.is_bold))
        return NULL;
    if (body.size <= 0 || body.largest <= 0) {
        PyErr_SetString(PyExc_ValueError, "text has a size");
        return NULL;
    }
    PyObject *found = PyList_New(0), *numbered = PyList_New(0);
    int good = found != NULL && numbered != NULL;
    for (Py_ssize_t number = 0; good && number < PyList_GET_SIZE(blocks); number++) {
        PyObject *block = PyList_GET_ITEM(blocks, number);
        Looked looked;
        if (!(good = look_at(block, &looked)))
            break;
        any_odd = any_odd || looked.first.size >= BIG * body.size || looked.is_bold || looked.is_italic;
        if (is_possible(&looked, &body))
            good = !PyList_Append(found, block) && !(is_dotted(looked.first_text) && PyList_Append(numbered, block));
    }
    PyObject *kept = Py_XNewRef(!good ? NULL : any_odd ? found : numbered);
    Py_XDECREF(found), Py_XDECREF(numbered);
    return kept;
}

PyMethodDef heading_functions[] = {
    {"possible_headings", possible_headings, METH_VARARGS,
     "possible_headings(blocks, size, largest, is_bold)\n--\n\n"
     "Return the blocks whose text may be a heading; where nothing stands out, only numbered ones."},
    {NULL, NULL, 0, NULL},
};
