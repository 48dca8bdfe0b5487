/* From lines to paragraphs, list items and listings: what `_blocks_of` and `_rejoined` of layout.py do, rule by rule. */

#include "native.h"

#include <math.h>

typedef enum { TEXT_KIND, LIST_KIND, CODE_KIND, CONTENTS_KIND, KINDS } Kind;

static PyObject *kind_name(Kind kind) {
    return kind == TEXT_KIND ? strings.text : kind == LIST_KIND ? strings.list : kind == CODE_KIND ? strings.code : strings.contents;
}

static const Py_UCS4 terminal[] = {'.', '!', '?', ':', ';', 0x3002, 0xFF01, 0xFF1F, 0xFF1A, 0xFF1B, 0x2026, 0};
static const Py_UCS4 closing[] = {'"', '\'', 0x201D, 0x2019, ')', ']', 0xFF09, 0x300D, 0x300F, 0};
static const Py_UCS4 roman[] = {'i', 'v', 'x', 'I', 'V', 'X', 0};
static const Py_UCS4 numeral[] = {'0', '1', '2', '3', '4', '5', '6', '7', '8', '9', 'i', 'v', 'x', 'l', 'c', '.', 0};
static const Py_UCS4 modest[] = {'(', 0xFF08, '-', 0x2013, 0x2014, '*', '+', 0xB7, 0x2192, 0};

/* A line as it is looked at; all objects are borrowed from it. */
typedef struct {
    PyObject *line, *text, *font;
    Place place;
    int is_bold, is_italic, is_mono, is_ended;
} Looked;

/* The block that lines are added to. */
typedef struct {
    PyObject *lines, *kind_name, *label;
    Kind kind;
    Py_ssize_t count;
    Looked first, last;
    double second_x0, right, gap;
} Open;

typedef struct {
    PyObject *kind_of, *code_size, *blocks;
    double leading, size, code;
    Open block;
    Kind last_kind; /* of the last of `blocks` */
    Looked end;     /* the line before the open block */
} Layout;

static int is_among(Py_UCS4 sign, const Py_UCS4 *signs) {
    while (*signs && *signs != sign)
        signs++;
    return *signs != 0;
}

/* Whether a sentence ends here. */
static int is_ended(PyObject *text) {
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    Py_UCS4 last = length ? PyUnicode_READ_CHAR(text, length - 1) : ' ';
    return is_among(last, terminal) ||
           (is_among(last, closing) && length > 1 && is_among(PyUnicode_READ_CHAR(text, length - 2), terminal));
}

static const Py_UCS4 bullets[] = {
    0x2022, 0x2023, 0x25CF, 0x25CB, 0x25AA, 0x25AB, 0x25A0, 0x25A1, 0x25E6, 0x25C6, 0x25C7, 0x25B6, 0x25BA,
    0x25B8, 0x2043, 0x2219, 0x2217, 0xB7,   0x27A2, 0x2192, 0x2713, 0x2714, 0x2610, 0x2611, 0x2612, 0x2751,
    0x2756, 0xF0A7, 0xF0B7, 0xF0D8, 0xF0FC, 0xF076, 0xF0A8, 0xF06E, 0xF0E0, 0};
static const Py_UCS4 dashes[] = {'-', 0x2013, 0x2014, '*', '+', 'o', 0xA7, 0};

/* Whether so many signs as `is_part` takes, and one that ends a label, begin a text. */
static int begins_label(PyObject *text, Py_ssize_t length, int (*is_part)(Py_UCS4)) {
    Py_ssize_t at = 0;
    while (at < length && is_part(PyUnicode_READ_CHAR(text, at)))
        at++;
    return at > 0 && at < length && (PyUnicode_READ_CHAR(text, at) == '.' || PyUnicode_READ_CHAR(text, at) == ')');
}

static int is_digit(Py_UCS4 sign) { return Py_UNICODE_ISDECIMAL(sign); }
static int is_roman(Py_UCS4 sign) { return is_among(sign, roman); }

/* Whether a text may begin with the sign or the number of an item: most texts can not. */
static int may_be_item(PyObject *text, Py_ssize_t length) {
    Py_UCS4 first = PyUnicode_READ_CHAR(text, 0), second = length > 1 ? PyUnicode_READ_CHAR(text, 1) : 0;
    if (is_among(first, dashes))
        return Py_UNICODE_ISSPACE(second) || second == '.' || second == ')';
    if (is_digit(first))
        return begins_label(text, length, is_digit);
    if (!Py_UNICODE_ISALPHA(first))
        return first == '(' || first == 0xFF08 || is_among(first, bullets);
    if (first >= 0x80) /* numerals of Chinese */
        return length > 1 && !Py_UNICODE_ISALPHA(second);
    return second == '.' || second == ')' || begins_label(text, length, is_roman);
}

/* Whether nothing in a text looks like the beginning of an item, or like a line of a table of contents. */
static int is_plain(PyObject *text) {
    Py_ssize_t length = PyUnicode_GET_LENGTH(text), dots = 0;
    if (!length || may_be_item(text, length))
        return 0;
    if (!is_among(PyUnicode_READ_CHAR(text, length - 1), numeral))
        return 1;
    for (Py_ssize_t at = 0; at < length; at++) {
        Py_UCS4 sign = PyUnicode_READ_CHAR(text, at);
        if (sign == 0x2026 || (sign == '.' && ++dots > 2))
            return 0;
    }
    return 1;
}

static int look_at(PyObject *line, Looked *looked) {
    if (!line_place(line, &looked->place))
        return 0;
    looked->line = line;
    looked->text = record_get(&line_record, line, TEXT);
    looked->font = record_get(&line_record, line, FONT);
    if (looked->text == NULL || looked->font == NULL || !record_check(&font_record, looked->font))
        return 0;
    if (!PyUnicode_Check(looked->text)) {
        PyErr_SetString(PyExc_TypeError, "the text of a line is a string");
        return 0;
    }
    looked->is_bold = record_get(&font_record, looked->font, BOLD) == Py_True;
    looked->is_italic = record_get(&font_record, looked->font, ITALIC) == Py_True;
    looked->is_mono = record_get(&font_record, looked->font, MONO) == Py_True;
    looked->is_ended = is_ended(looked->text);
    return !PyErr_Occurred();
}

/* Tells what a line looks like, and the label of an item, as new references; most lines need no look by expressions. */
static int tell_kind(const Layout *layout, const Looked *line, Kind *kind, PyObject **name, PyObject **label) {
    int is_code = line->is_mono && line->place.size < layout->code;
    if (is_code || is_plain(line->text)) {
        *kind = is_code ? CODE_KIND : TEXT_KIND;
        *name = Py_NewRef(kind_name(*kind)), *label = Py_NewRef(strings.empty);
        return 1;
    }
    PyObject *told = PyObject_CallFunctionObjArgs(layout->kind_of, line->line, layout->code_size, NULL);
    int good = told != NULL && is_tuple(told) && PyArg_ParseTuple(told, "UU", name, label);
    if (!good) {
        *name = *label = NULL;
        Py_XDECREF(told);
        return 0;
    }
    Py_INCREF(*name), Py_INCREF(*label);
    Py_DECREF(told);
    for (*kind = TEXT_KIND; *kind < KINDS; (*kind)++)
        if (is_string(*name, kind_name(*kind)))
            return 1;
    PyErr_SetString(PyExc_ValueError, "a line of no kind");
    return 0;
}

/* Decisions */

/* Whether a line so plainly continues a paragraph that nothing else needs to be looked at: most lines do. */
static int goes_on(const Layout *layout, const Looked *line) {
    const Open *block = &layout->block;
    const Looked *last = &block->last;
    double size = line->place.size, down = line->place.y0 - last->place.y0;
    double in = line->place.x0 - (block->count > 1 ? block->second_x0 : last->place.x0);
    return last->font == line->font && last->place.size == size && !last->is_ended && 0.8 * size < down &&
           down < layout->leading + 0.3 * size && -0.9 * size < in && in < 0.9 * size;
}

/* Where the text of an item begins. */
static double text_left(const Open *block) {
    const Place *first = &block->first.place;
    Py_ssize_t length = PyUnicode_GET_LENGTH(block->first.text);
    if (block->count > 1)
        return block->second_x0;
    return first->x0 + (first->x1 - first->x0) * (double)PyUnicode_GET_LENGTH(block->label) / (double)(length > 1 ? length : 1);
}

static int begins_item(const Open *block, const Looked *line, PyObject *label) {
    Py_UCS4 sign = PyUnicode_GET_LENGTH(label) ? PyUnicode_READ_CHAR(label, 0) : ' ';
    if (!Py_UNICODE_ISALNUM(sign) && !is_among(sign, modest))
        return 1;
    /* The text of an item may begin a line with "2." only right of where its items begin. */
    if (block->kind == LIST_KIND)
        return line->place.x0 < text_left(block) - 1 || block->last.is_ended;
    return block->last.is_ended || fabs(line->place.x0 - block->first.place.x0) > 2;
}

static int begins_paragraph(const Open *block, const Looked *line, double size) {
    const Place *own = &line->place, *last = &block->last.place;
    int is_long = block->count > 1, is_ended = block->last.is_ended;
    double left = is_long ? block->second_x0 : block->first.place.x0;
    /* What follows an item is part of it when it hangs below its text. */
    if (block->kind == LIST_KIND)
        return own->x0 < block->first.place.x0 - 0.5 * size || (is_long && own->x0 < block->second_x0 - 0.9 * size);
    if (fabs((own->x0 + own->x1) - (last->x0 + last->x1)) < size && fabs(own->x0 - last->x0) > 0.5 * size)
        return 0; /* centred */
    if (own->x0 - left > 0.9 * size)
        return is_long || is_ended;
    if (left - own->x0 > 0.9 * size)
        return is_long && is_ended;
    return is_ended && last->x1 < (block->right > own->x1 ? block->right : own->x1) - 6 * size;
}

static int breaks(const Layout *layout, const Looked *line, Kind kind, PyObject *label) {
    const Open *block = &layout->block;
    const Looked *previous = &block->last;
    const Place *own = &line->place, *last = &previous->place;
    double size = last->size, high = last->y1 - last->y0, own_high = own->y1 - own->y0;
    /* PDFium may take two rows for one line: what counts is the way from the lower edge of the last row. */
    double down = own->y0 - last->y1 + (high < own_high ? high : own_high);
    if (-0.5 * size <= down && down <= 0.5 * size && own->x0 >= last->x1 - 0.3 * size) /* further on in the same row */
        return own->x0 - last->x1 > 3 * size;
    if (kind == CONTENTS_KIND || block->kind == CONTENTS_KIND)
        return 1;
    if (kind == CODE_KIND || block->kind == CODE_KIND)
        return kind != block->kind || down < -size || down > 2.2 * layout->leading;
    double larger = size / layout->size;
    if (down < -0.5 * size || down > layout->leading * (larger > 1.0 ? larger : 1.0) + 0.45 * size)
        return 1;
    if (fabs(own->size - size) > 0.1 * (own->size > size ? own->size : size))
        return 1;
    if (line->is_bold != previous->is_bold && size < 1.15 * layout->size)
        return 1;
    if (line->is_italic != previous->is_italic && block->count == 1 && last->x1 - last->x0 < 0.75 * (own->x1 - own->x0))
        return 1;
    return (kind == LIST_KIND && begins_item(block, line, label)) || begins_paragraph(block, line, size);
}

/* Blocks */

static int add_line(Open *block, const Looked *line) {
    if (PyList_Append(block->lines, line->line))
        return 0;
    if (++block->count == 1)
        block->first = *line, block->right = line->place.x1;
    if (block->count == 2)
        block->second_x0 = line->place.x0;
    block->right = line->place.x1 > block->right ? line->place.x1 : block->right;
    block->last = *line;
    return 1;
}

static void drop_block(Open *block) {
    Py_CLEAR(block->lines);
    Py_CLEAR(block->kind_name);
    Py_CLEAR(block->label);
    block->count = 0;
}

/* Whether the open block is the rest of a paragraph that the end of a column has cut. */
static int is_rest(const Layout *layout) {
    const Looked *end = &layout->end, *first = &layout->block.first;
    if (!PyList_GET_SIZE(layout->blocks) || !(first->place.y0 < end->place.y0) || layout->block.kind != TEXT_KIND ||
        (layout->last_kind != TEXT_KIND && layout->last_kind != LIST_KIND) || first->place.size != end->place.size)
        return 0;
    int is_joined = record_get(&line_record, end->line, JOINED) == Py_True;
    return (is_joined || Py_UNICODE_ISLOWER(PyUnicode_READ_CHAR(first->text, 0))) && !end->is_ended;
}

static int add_block(Layout *layout) {
    Open *block = &layout->block;
    Py_ssize_t count = PyList_GET_SIZE(layout->blocks);
    int is_part = is_rest(layout);
    if (PyErr_Occurred())
        return 0;
    if (is_part) {
        PyObject *lines = record_get(&block_record, PyList_GET_ITEM(layout->blocks, count - 1), BLOCK_LINES);
        return lines != NULL && !PyList_SetSlice(lines, PyList_GET_SIZE(lines), PyList_GET_SIZE(lines), block->lines);
    }
    PyObject *values[BLOCK_FIELDS] = {
        [BLOCK_LINES] = Py_NewRef(block->lines),
        [BLOCK_KIND] = Py_NewRef(block->kind_name),
        [BLOCK_LEVEL] = PyLong_FromLong(0),
        [BLOCK_LABEL] = Py_NewRef(block->label),
        [BLOCK_GAP] = PyFloat_FromDouble(block->gap),
    };
    PyObject *made = record_make(&block_record, values);
    int good = made != NULL && !PyList_Append(layout->blocks, made);
    Py_XDECREF(made);
    layout->last_kind = block->kind;
    return good;
}

/* Adds the open block to the others, and leaves none open. */
static int close_block(Layout *layout) {
    int good = layout->block.lines == NULL || add_block(layout);
    layout->end = layout->block.last;
    drop_block(&layout->block);
    return good;
}

static int add_to_blocks(Layout *layout, PyObject *object) {
    Open *block = &layout->block;
    PyObject *name, *label;
    Looked line;
    Kind kind;
    if (!look_at(object, &line))
        return 0;
    if (!tell_kind(layout, &line, &kind, &name, &label)) {
        Py_XDECREF(name), Py_XDECREF(label);
        return 0;
    }
    int is_text = kind == TEXT_KIND && block->kind == TEXT_KIND;
    if (block->lines != NULL && ((is_text && goes_on(layout, &line)) || !breaks(layout, &line, kind, label))) {
        Py_DECREF(name), Py_DECREF(label);
        return add_line(block, &line);
    }
    double gap = block->lines != NULL && line.place.y0 > block->last.place.y0 ? line.place.y0 - block->last.place.y1
                                                                             : layout->leading;
    int good = close_block(layout);
    block->kind = kind, block->kind_name = name, block->label = label, block->gap = gap;
    block->lines = PyList_New(0);
    return good && block->lines != NULL && add_line(block, &line);
}

static PyObject *blocks_of(PyObject *module, PyObject *arguments) {
    PyObject *lines;
    Layout layout = {.blocks = NULL};
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!OddO", &PyList_Type, &lines, &layout.kind_of, &layout.leading,
                          &layout.size, &layout.code_size))
        return NULL;
    layout.code = PyFloat_AsDouble(layout.code_size);
    layout.blocks = PyErr_Occurred() ? NULL : PyList_New(0);
    int good = layout.blocks != NULL;
    for (Py_ssize_t number = 0; good && number < PyList_GET_SIZE(lines); number++)
        good = add_to_blocks(&layout, PyList_GET_ITEM(lines, number));
    if (!good || !close_block(&layout)) {
        drop_block(&layout.block);
        Py_CLEAR(layout.blocks);
    }
    return layout.blocks;
}

PyMethodDef paragraph_functions[] = {
    {"blocks_of", blocks_of, METH_VARARGS,
     "blocks_of(lines, kind_of, leading, size, code)\n--\n\n"
     "Return paragraphs, list items, listings and lines of a table of contents."},
    {NULL, NULL, 0, NULL},
};
