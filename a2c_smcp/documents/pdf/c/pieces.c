/* From blocks of lines to pieces of a page: what `_pieces_of` of pieces.py does. */

#include "native.h"

/* What Python does: text with line ends of its own, listings of lines without text, and lists of items. */
typedef struct {
    PyObject *text_of, *listing_of, *lists_of;
    PyObject *pieces, *items;
} Making;

/* Returns what a function says of lines; where it says nothing, what one of Python does. */
static PyObject *told(PyObject *(*function)(PyObject *), PyObject *python, PyObject *lines) {
    PyObject *text = function(lines);
    if (text == Py_None)
        Py_SETREF(text, PyObject_CallOneArg(python, lines));
    return text;
}

/* Adds a piece of lines; takes the reference to its content, also when it fails. */
static int add_piece(Making *making, PyObject *category, PyObject *content, PyObject *lines) {
    PyObject *values[PIECE_FIELDS] = {
        [PIECE_CATEGORY] = Py_NewRef(category),
        [PIECE_CONTENT] = content,
        [PIECE_BOX] = content == NULL ? NULL : box_of_lines(lines),
    };
    PyObject *piece = record_make(&piece_record, values);
    int good = piece != NULL && !PyList_Append(making->pieces, piece);
    Py_XDECREF(piece);
    return good;
}

/* Returns a content of text, and of a level where there is one; takes the reference to the text. */
static PyObject *content_of(PyObject *level, PyObject *text) {
    PyObject *content = text == NULL ? NULL : PyDict_New();
    if (content != NULL && ((level != NULL && PyDict_SetItem(content, strings.level, level)) ||
                            PyDict_SetItem(content, strings.text, text)))
        Py_CLEAR(content);
    Py_XDECREF(text);
    return content;
}

/* Adds the items that were kept as lists. */
static int add_lists(Making *making) {
    Py_ssize_t end = PyList_GET_SIZE(making->pieces);
    PyObject *lists = PyObject_CallOneArg(making->lists_of, making->items);
    int good = lists != NULL && !PyList_SetSlice(making->pieces, end, end, lists);
    Py_XDECREF(lists);
    Py_SETREF(making->items, PyList_New(0)); /* the ones before may be held by Python */
    return good && making->items != NULL;
}

/* Whether the items that were kept end before a block of this kind. */
static int ends_items(const Making *making, PyObject *kind) {
    if (!PyList_GET_SIZE(making->items))
        return 0;
    PyObject *first = record_get(&block_record, PyList_GET_ITEM(making->items, 0), BLOCK_KIND);
    return first == NULL || !is_string(kind, first);
}

static int add_block(Making *making, PyObject *block) {
    PyObject *kind = record_check(&block_record, block) ? record_get(&block_record, block, BLOCK_KIND) : NULL;
    PyObject *lines = kind == NULL ? NULL : record_get(&block_record, block, BLOCK_LINES);
    PyObject *level = lines == NULL ? NULL : record_get(&block_record, block, BLOCK_LEVEL);
    if (level == NULL || (ends_items(making, kind) && !add_lists(making)))
        return 0;
    if (is_string(kind, strings.text))
        return add_piece(making, strings.text, content_of(NULL, told(text_of_lines, making->text_of, lines)), lines);
    if (is_string(kind, strings.heading))
        return add_piece(making, strings.heading, content_of(level, told(text_of_lines, making->text_of, lines)), lines);
    if (is_string(kind, strings.code))
        return add_piece(making, strings.code, content_of(NULL, told(listing_of_lines, making->listing_of, lines)), lines);
    return !PyList_Append(making->items, block); /* an item, or a line of a table of contents */
}

static PyObject *pieces_of(PyObject *module, PyObject *arguments) {
    PyObject *blocks;
    Making making = {.pieces = NULL};
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!OOO", &PyList_Type, &blocks, &making.text_of, &making.listing_of, &making.lists_of))
        return NULL;
    making.pieces = PyList_New(0), making.items = PyList_New(0);
    int good = making.pieces != NULL && making.items != NULL;
    for (Py_ssize_t number = 0; good && number < PyList_GET_SIZE(blocks); number++)
        good = add_block(&making, PyList_GET_ITEM(blocks, number));
    if (!good || (PyList_GET_SIZE(making.items) && !add_lists(&making)))
        Py_CLEAR(making.pieces);
    Py_XDECREF(making.items);
    return making.pieces;
}

PyMethodDef piece_functions[] = {
    {"pieces_of", pieces_of, METH_VARARGS,
     "pieces_of(blocks, text_of, listing_of, lists_of)\n--\n\nReturn blocks as pieces, items of one kind together."},
    {NULL, NULL, 0, NULL},
};
