/* What the cells of a table say: their words row by row, without the marks of divided words. */

#include "grid.h"

/* A word of a cell, and the sign that stands before it: a blank, a hyphen or none. */
typedef struct {
    PyObject *text;
    Py_UCS4 before;
} Piece;

/* Whether a sign is Chinese, Japanese or the like, which wraps anywhere. */
static int is_wide(Py_UCS4 sign) {
    return (sign >= 0x2E80 && sign <= 0x9FFF) || (sign >= 0xF900 && sign <= 0xFAFF) || (sign >= 0xFF00 && sign <= 0xFFEF);
}

/* Returns the text of a word or a line, borrowed; NULL and an error if it has none. */
static PyObject *text_in(const Record *record, PyObject *instance) {
    PyObject *text = record_get(record, instance, TEXT);
    if (text == NULL || PyUnicode_Check(text))
        return text;
    PyErr_SetString(PyExc_TypeError, "a text is a string");
    return NULL;
}

/* Returns the first sign of a text, or its last. */
static Py_UCS4 sign_of(PyObject *text, int is_last) {
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    return length ? PyUnicode_READ_CHAR(text, is_last ? length - 1 : 0) : 0;
}

/* Whether a word is divided at the end of its line; -1 and an error if that is no line. */
static int is_parted(PyObject *line, PyObject *word) {
    if (!record_check(&line_record, line))
        return -1;
    PyObject *joined = record_get(&line_record, line, JOINED), *whole;
    if (joined == NULL || joined == Py_False)
        return joined == NULL ? -1 : 0;
    if ((whole = text_in(&line_record, line)) == NULL)
        return -1;
    return (int)PyUnicode_Tailmatch(whole, word, 0, PY_SSIZE_T_MAX, 1);
}

/* Puts what stands between two words into the piece of the second: nothing where a word was divided, or Chinese wraps. */
static int glue(PyObject *first, PyObject *second, const Piece *before, Piece *after) {
    PyObject *line = record_get(&word_record, first, LINE), *next = record_get(&word_record, second, LINE);
    double above, below;
    after->before = ' ';
    if (line == NULL || next == NULL || line == next)
        return line != NULL && next != NULL;
    Py_UCS4 last = sign_of(before->text, 1), sign = sign_of(after->text, 0);
    int parted = is_parted(line, before->text);
    if (parted < 0 || !record_number(&word_record, first, Y0, &above) || !record_number(&word_record, second, Y0, &below))
        return 0;
    if (parted)
        after->before = Py_UNICODE_ISLOWER(sign) ? 0 : '-';
    else if (is_wide(last) && is_wide(sign) && below > above)
        after->before = 0;
    return 1;
}

/* Puts the words of rows into `pieces`, which has room for them. */
static int read_pieces(PyObject *rows, Piece *pieces) {
    PyObject *previous = NULL;
    for (Py_ssize_t number = 0; number < PyList_GET_SIZE(rows); number++) {
        PyObject *words = words_of_row(PyList_GET_ITEM(rows, number));
        for (Py_ssize_t at = 0; words != NULL && at < PyList_GET_SIZE(words); at++, pieces++) {
            PyObject *word = PyList_GET_ITEM(words, at);
            *pieces = (Piece){text_in(&word_record, word), 0};
            if (pieces->text == NULL || (previous != NULL && !glue(previous, word, pieces - 1, pieces)))
                return 0;
            previous = word;
        }
        if (words == NULL)
            return 0;
    }
    return 1;
}

static PyObject *text_of_pieces(const Piece *pieces, Py_ssize_t count) {
    Py_ssize_t length = 0, at = 0;
    Py_UCS4 most = 0x7F;
    for (Py_ssize_t number = 0; number < count; number++) {
        Py_UCS4 own = PyUnicode_MAX_CHAR_VALUE(pieces[number].text);
        most = own > most ? own : most;
        length += PyUnicode_GET_LENGTH(pieces[number].text) + (pieces[number].before != 0);
    }
    PyObject *text = PyUnicode_New(length, most);
    for (Py_ssize_t number = 0; text != NULL && number < count; number++) {
        Py_ssize_t own = PyUnicode_GET_LENGTH(pieces[number].text);
        if (pieces[number].before)
            PyUnicode_WRITE(PyUnicode_KIND(text), PyUnicode_DATA(text), at++, pieces[number].before);
        if (PyUnicode_CopyCharacters(text, at, pieces[number].text, 0, own) < 0)
            Py_CLEAR(text);
        at += own;
    }
    return text;
}

static PyObject *cell_text(PyObject *module, PyObject *words) {
    (void)module;
    if (!are_words(words))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(words);
    if (count == 0)
        return PyUnicode_New(0, 0);
    if (count == 1) {
        PyObject *only = PyList_GET_ITEM(words, 0);
        return record_check(&word_record, only) ? Py_XNewRef(text_in(&word_record, only)) : NULL;
    }
    PyObject *rows = rows_from(words), *text = NULL;
    Piece *pieces = rows == NULL ? NULL : PyMem_Calloc((size_t)count, sizeof *pieces);
    if (rows != NULL && pieces == NULL)
        PyErr_NoMemory();
    else if (rows != NULL && read_pieces(rows, pieces))
        text = text_of_pieces(pieces, count);
    PyMem_Free(pieces);
    Py_XDECREF(rows);
    return text;
}

static PyObject *row_texts(PyObject *module, PyObject *row) {
    if (!are_words(row))
        return NULL;
    PyObject *texts = PyList_New(PyList_GET_SIZE(row));
    for (Py_ssize_t column = 0; texts != NULL && column < PyList_GET_SIZE(texts); column++) {
        PyObject *text = cell_text(module, PyList_GET_ITEM(row, column));
        if (text == NULL)
            Py_CLEAR(texts);
        else
            PyList_SET_ITEM(texts, column, text);
    }
    return texts;
}

static PyObject *cell_texts(PyObject *module, PyObject *cells) {
    if (!are_words(cells))
        return NULL;
    PyObject *texts = PyList_New(PyList_GET_SIZE(cells));
    for (Py_ssize_t number = 0; texts != NULL && number < PyList_GET_SIZE(texts); number++) {
        PyObject *row = row_texts(module, PyList_GET_ITEM(cells, number));
        if (row == NULL)
            Py_CLEAR(texts);
        else
            PyList_SET_ITEM(texts, number, row);
    }
    return texts;
}

PyMethodDef text_functions[] = {
    {"cell_text", cell_text, METH_O, "cell_text(words)\n--\n\nReturn the words of a cell, row by row."},
    {"cell_texts", cell_texts, METH_O, "cell_texts(cells)\n--\n\nReturn what cells say, by row and column."},
    {NULL, NULL, 0, NULL},
};
