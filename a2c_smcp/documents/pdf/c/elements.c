/* From pieces of a page to elements with ids and summaries: what `_elements_of` of pieces.py does. */

#include "native.h"

#include <stdio.h>

enum { CATEGORIES = 19, LONGEST_ID = 64, MAX_SUMMARY = 100, SHORT_LINK = 40, ARROW = 0x2192, ELLIPSIS = 0x2026 };

/* A category on one page. */
typedef struct {
    PyObject *name; /* borrowed from the prefixes */
    const char *prefix;
    long count;
    int is_plain, is_link;
} Counted;

typedef struct {
    PyObject *prefixes, *summary_of, *width, *height;
    const char *page;
    Counted counted[CATEGORIES];
    int known;
} Page;

static int is_plain(PyObject *category) {
    return is_string(category, strings.text) || is_string(category, strings.heading) || is_string(category, strings.header) ||
           is_string(category, strings.footer);
}

/* Returns how a category is counted; NULL and an error if it is none. */
static Counted *counted_as(Page *page, PyObject *category) {
    for (int number = 0; number < page->known; number++)
        if (is_string(category, page->counted[number].name))
            return page->counted + number;
    PyObject *prefix = PyDict_GetItemWithError(page->prefixes, category);
    const char *written = prefix == NULL ? NULL : PyUnicode_AsUTF8(prefix);
    if (written == NULL || page->known == CATEGORIES) {
        if (!PyErr_Occurred())
            PyErr_SetObject(PyExc_KeyError, category);
        return NULL;
    }
    Counted *counted = page->counted + page->known++;
    *counted = (Counted){category, written, 0, is_plain(category), is_string(category, strings.link)};
    return counted;
}

static PyObject *id_of(const Page *page, const Counted *counted) {
    char room[LONGEST_ID];
    int length = snprintf(room, sizeof room, "%s%s%ld", page->page, counted->prefix, counted->count);
    if (length < 0 || length >= LONGEST_ID) {
        PyErr_SetString(PyExc_ValueError, "the name of a page is too long");
        return NULL;
    }
    return PyUnicode_FromStringAndSize(room, length);
}

/* Summaries */

/* Returns how a long text begins, cut between words; None where blanks must be put in order. */
static PyObject *clipped(PyObject *text) {
    int kind = PyUnicode_KIND(text);
    const void *signs = PyUnicode_DATA(text);
    Py_ssize_t blank = -1, end = MAX_SUMMARY - 1, length = PyUnicode_GET_LENGTH(text);
    Py_UCS4 before = ' ', largest = ELLIPSIS;
    for (Py_ssize_t at = 0; at <= MAX_SUMMARY + (before == ' ') && at < length; at++) {
        Py_UCS4 sign = PyUnicode_READ(kind, signs, at);
        if ((sign == ' ' && before == ' ') || !Py_UNICODE_ISPRINTABLE(sign))
            Py_RETURN_NONE;
        blank = sign == ' ' && at < end ? at : blank;
        before = sign;
    }
    if (before == ' ')
        Py_RETURN_NONE;
    if (blank * 10 > MAX_SUMMARY * 7)
        end = blank;
    else if (PyUnicode_READ(kind, signs, end - 1) == ' ')
        end--;
    for (Py_ssize_t at = 0; kind == PyUnicode_4BYTE_KIND && at < end; at++)
        largest = PyUnicode_READ(kind, signs, at) > largest ? PyUnicode_READ(kind, signs, at) : largest;
    PyObject *head = PyUnicode_New(end + 1, largest);
    if (head == NULL || PyUnicode_CopyCharacters(head, 0, text, 0, end) < 0)
        Py_CLEAR(head);
    else
        PyUnicode_WRITE(PyUnicode_KIND(head), PyUnicode_DATA(head), end, ELLIPSIS);
    return head;
}

/* Returns one text, an arrow and another. */
static PyObject *with_arrow(PyObject *text, PyObject *url) {
    Py_ssize_t at = PyUnicode_GET_LENGTH(text), length = PyUnicode_GET_LENGTH(url);
    Py_UCS4 largest = PyUnicode_MAX_CHAR_VALUE(text) > ARROW ? PyUnicode_MAX_CHAR_VALUE(text) : ARROW;
    largest = PyUnicode_MAX_CHAR_VALUE(url) > largest ? PyUnicode_MAX_CHAR_VALUE(url) : largest;
    PyObject *told = PyUnicode_New(at + 3 + length, largest);
    if (told == NULL || PyUnicode_CopyCharacters(told, 0, text, 0, at) < 0 ||
        PyUnicode_CopyCharacters(told, at + 3, url, 0, length) < 0) {
        Py_XDECREF(told);
        return NULL;
    }
    int kind = PyUnicode_KIND(told);
    void *signs = PyUnicode_DATA(told);
    PyUnicode_WRITE(kind, signs, at, ' '), PyUnicode_WRITE(kind, signs, at + 1, ARROW);
    PyUnicode_WRITE(kind, signs, at + 2, ' ');
    return told;
}

/* Whether `clip` would leave a text as it is. */
static int is_tidy(PyObject *text) {
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    int kind = PyUnicode_KIND(text);
    const void *signs = PyUnicode_DATA(text);
    Py_UCS4 before = ' ';
    for (Py_ssize_t at = 0; at < length; at++) {
        Py_UCS4 sign = PyUnicode_READ(kind, signs, at);
        if ((sign == ' ' && before == ' ') || !Py_UNICODE_ISPRINTABLE(sign))
            return 0;
        before = sign;
    }
    return length <= MAX_SUMMARY && before != ' ';
}

/* Returns what a link says; None where blanks must be put in order, or it is too long. */
static PyObject *link_summary(PyObject *text, PyObject *url) {
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    if (!PyUnicode_Check(url) || !length || Py_UNICODE_ISSPACE(PyUnicode_READ_CHAR(text, 0)) || is_string(text, url))
        Py_RETURN_NONE;
    PyObject *told = with_arrow(text, url);
    int is_inside = length < SHORT_LINK && PyUnicode_READ_CHAR(url, 0) == '#'; /* as long as it may be */
    if (told != NULL && !is_inside && !is_tidy(told))
        Py_SETREF(told, Py_NewRef(Py_None));
    return told;
}

static PyObject *summary_of(const Page *page, const Counted *counted, PyObject *content) {
    PyObject *told = Py_NewRef(Py_None);
    PyObject *text = PyDict_Check(content) ? PyDict_GetItemWithError(content, strings.text) : NULL;
    if (text != NULL && PyUnicode_Check(text)) {
        PyObject *url = counted->is_link ? PyDict_GetItemWithError(content, strings.url) : NULL;
        if (counted->is_plain)
            Py_SETREF(told, PyUnicode_GET_LENGTH(text) > MAX_SUMMARY ? clipped(text) : Py_NewRef(text));
        else if (url != NULL)
            Py_SETREF(told, link_summary(text, url));
    }
    if (told != Py_None || PyErr_Occurred())
        return told;
    Py_SETREF(told, PyObject_CallFunctionObjArgs(page->summary_of, counted->name, content, NULL));
    return told;
}

/* Elements */

static PyObject *metadata_of(const Page *page, PyObject *box) {
    PyObject *metadata = PyDict_New(), *place = metadata == NULL ? NULL : tenths_of(box);
    if (place == NULL || PyDict_SetItem(metadata, strings.bbox, place) ||
        PyDict_SetItem(metadata, strings.page_width, page->width) ||
        PyDict_SetItem(metadata, strings.page_height, page->height))
        Py_CLEAR(metadata);
    Py_XDECREF(place);
    return metadata;
}

static PyObject *element_of(Page *page, PyObject *piece) {
    if (!record_check(&piece_record, piece))
        return NULL;
    PyObject *category = record_get(&piece_record, piece, PIECE_CATEGORY);
    PyObject *content = category == NULL ? NULL : record_get(&piece_record, piece, PIECE_CONTENT);
    PyObject *box = content == NULL ? NULL : record_get(&piece_record, piece, PIECE_BOX);
    Counted *counted = box == NULL ? NULL : counted_as(page, category);
    if (counted == NULL)
        return NULL;
    counted->count++;
    PyObject *values[ELEMENT_FIELDS] = {
        [ELEMENT_ID] = id_of(page, counted),
        [ELEMENT_CATEGORY] = Py_NewRef(category),
        [ELEMENT_CONTENT] = Py_NewRef(content),
        [ELEMENT_SUMMARY] = summary_of(page, counted, content),
        [ELEMENT_METADATA] = metadata_of(page, box),
    };
    return record_make(&element_record, values);
}

static PyObject *elements_of(PyObject *module, PyObject *arguments) {
    PyObject *pieces;
    Page page = {.known = 0};
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!sOOO!O", &PyList_Type, &pieces, &page.page, &page.width, &page.height, &PyDict_Type,
                          &page.prefixes, &page.summary_of))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(pieces);
    PyObject *elements = PyList_New(count);
    for (Py_ssize_t number = 0; elements != NULL && number < count; number++) {
        PyObject *element = element_of(&page, PyList_GET_ITEM(pieces, number));
        if (element == NULL)
            Py_CLEAR(elements);
        else
            PyList_SET_ITEM(elements, number, element);
    }
    return elements;
}

PyMethodDef element_functions[] = {
    {"elements_of", elements_of, METH_VARARGS,
     "elements_of(pieces, page, width, height, prefixes, summary_of)\n--\n\n"
     "Return pieces as elements; their ids begin with `page`, and count by category."},
    {NULL, NULL, 0, NULL},
};
