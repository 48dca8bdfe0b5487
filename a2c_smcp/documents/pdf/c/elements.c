/* From pieces of a page to elements with ids: what `_elements_of` of pieces.py does. */

#include "native.h"

#include <stdio.h>

enum { CATEGORIES = 19, LONGEST_ID = 64 };

/* A category on one page. */
typedef struct {
    PyObject *name; /* borrowed from the prefixes */
    const char *prefix;
    long count;
    Telling telling;
} Counted;

typedef struct {
    PyObject *prefixes, *summary_of, *width, *height;
    const char *page;
    Counted counted[CATEGORIES];
    int known;
} Page;

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
    *counted = (Counted){category, written, 0, telling_of(category)};
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

/* Elements */

static PyObject *summary_in(const Page *page, const Counted *counted, PyObject *content) {
    PyObject *told = summary_of(counted->telling, content);
    if (told == Py_None)
        Py_SETREF(told, PyObject_CallFunctionObjArgs(page->summary_of, counted->name, content, NULL));
    return told;
}

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
        [ELEMENT_SUMMARY] = summary_in(page, counted, content),
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
