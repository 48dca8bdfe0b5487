/* Words on their way into tables: the gaps between those of one row, and what is left when some are in tables. */

#include "grid.h"

static int number_of(PyObject *word, int field, double *to) { return record_number(&word_record, word, field, to); }

int room_after(PyObject *word, PyObject **line, double gap, double *to) {
    PyObject *own = record_get(&word_record, word, LINE);
    double size;
    if (own == *line && own != NULL)
        return 1;
    if (own == NULL || !record_check(&line_record, own) || !record_number(&line_record, own, SIZE, &size))
        return 0;
    *line = own;
    *to = gap * (size > 1.0 ? size : 1.0);
    return 1;
}

PyObject *words_of_row(PyObject *row) {
    if (!record_check(&row_record, row))
        return NULL;
    PyObject *words = record_get(&row_record, row, ROW_WORDS);
    if (words == NULL || PyList_Check(words))
        return words;
    PyErr_SetString(PyExc_TypeError, "the words of a row are a list");
    return NULL;
}

static int parse(PyObject *const *arguments, Py_ssize_t count, PyObject **words, double *gap) {
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "expected a row and a gap");
        return 0;
    }
    *words = read_number(arguments[1], gap) ? words_of_row(arguments[0]) : NULL;
    return *words != NULL;
}

int are_divided(PyObject *words, double gap) {
    PyObject *line = NULL;
    double room = 0, end = 0, x0, x1;
    for (Py_ssize_t number = 0; number < PyList_GET_SIZE(words); number++) {
        PyObject *word = PyList_GET_ITEM(words, number);
        if (!record_check(&word_record, word) || !number_of(word, X0, &x0) || !number_of(word, X1, &x1) ||
            !room_after(word, &line, gap, &room))
            return -1;
        if (number && x0 - end > room)
            return 1;
        end = !number || x1 > end ? x1 : end;
    }
    return 0;
}

static PyObject *is_divided(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    PyObject *words;
    double gap;
    (void)module;
    if (!parse(arguments, count, &words, &gap))
        return NULL;
    int answer = are_divided(words, gap);
    return answer < 0 ? NULL : PyBool_FromLong(answer);
}

/* Adds words of a row from `first` until before `last` as a segment. */
static int add_segment(PyObject *segments, PyObject *words, Py_ssize_t first, Py_ssize_t last, double end) {
    PyObject *values[SEGMENT_FIELDS] = {
        [SEGMENT_WORDS] = PyList_GetSlice(words, first, last),
        [SEGMENT_X0] = Py_XNewRef(record_get(&word_record, PyList_GET_ITEM(words, first), X0)),
        [SEGMENT_X1] = PyFloat_FromDouble(end),
    };
    PyObject *segment = record_make(&segment_record, values);
    int failed = segment == NULL || PyList_Append(segments, segment);
    Py_XDECREF(segment);
    return !failed;
}

static PyObject *segments_of(PyObject *module, PyObject *const *arguments, Py_ssize_t count) {
    PyObject *words, *line = NULL;
    double gap, room = 0, end = 0, x0, x1;
    (void)module;
    if (!parse(arguments, count, &words, &gap))
        return NULL;
    PyObject *segments = PyList_New(0);
    int good = segments != NULL;
    Py_ssize_t first = 0, number = 0;
    for (; good && number < PyList_GET_SIZE(words); number++) {
        PyObject *word = PyList_GET_ITEM(words, number);
        good = record_check(&word_record, word) && number_of(word, X0, &x0) && number_of(word, X1, &x1) &&
               room_after(word, &line, gap, &room);
        if (good && number > first && x0 - end > room) {
            good = add_segment(segments, words, first, number, end);
            first = number;
        }
        end = number == first || x1 > end ? x1 : end;
    }
    if (good && number > first)
        good = add_segment(segments, words, first, number, end);
    if (!good)
        Py_CLEAR(segments);
    return segments;
}

/* Words in tables and others */

/* Whether the id of an object is in a set; -1 and an error if it is none. */
static int is_among(PyObject *ids, PyObject *object) {
    PyObject *id = PyLong_FromVoidPtr(object);
    int found = id == NULL ? -1 : PySet_Contains(ids, id);
    Py_XDECREF(id);
    return found;
}

/* Returns a row with the words of it that are left, itself where all are. */
static PyObject *row_with(PyObject *row, PyObject *words, PyObject *left) {
    if (PyList_GET_SIZE(words) == PyList_GET_SIZE(left))
        return Py_NewRef(row);
    PyObject *values[ROW_FIELDS] = {
        [ROW_WORDS] = Py_NewRef(left),
        [ROW_Y0] = Py_XNewRef(record_get(&row_record, row, ROW_Y0)),
        [ROW_Y1] = Py_XNewRef(record_get(&row_record, row, ROW_Y1)),
        [ROW_SIZE] = Py_XNewRef(record_get(&row_record, row, ROW_SIZE)),
    };
    return record_make(&row_record, values);
}

/* Adds what is left of a row without words that are taken, if anything is. */
static int add_left(PyObject *found, PyObject *row, PyObject *taken) {
    PyObject *words = words_of_row(row), *left = words == NULL ? NULL : PyList_New(0), *made = NULL;
    int good = left != NULL;
    for (Py_ssize_t number = 0; good && number < PyList_GET_SIZE(words); number++) {
        PyObject *word = PyList_GET_ITEM(words, number);
        int is_taken = is_among(taken, word);
        good = is_taken >= 0 && (is_taken || !PyList_Append(left, word));
    }
    if (good && (PyList_GET_SIZE(left) || !PyList_GET_SIZE(words)))
        good = (made = row_with(row, words, left)) != NULL && !PyList_Append(found, made);
    Py_XDECREF(left), Py_XDECREF(made);
    return good;
}

static PyObject *rows_without(PyObject *module, PyObject *arguments) {
    PyObject *rows, *taken;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!O!", &PyList_Type, &rows, &PySet_Type, &taken))
        return NULL;
    PyObject *found = PyList_New(0);
    for (Py_ssize_t number = 0; found != NULL && number < PyList_GET_SIZE(rows); number++)
        if (!add_left(found, PyList_GET_ITEM(rows, number), taken))
            Py_CLEAR(found);
    return found;
}

/* The lists of a dictionary by the ids of lines; words of one line mostly follow one another. */
typedef struct {
    PyObject *lists, *line, *list;
} Lines;

/* Puts the list of a word's line into `list`: a new one where `is_made`, else NULL where there is none. */
static int look_up(Lines *lines, PyObject *word, int is_made) {
    PyObject *line = record_check(&word_record, word) ? record_get(&word_record, word, LINE) : NULL;
    if (line == NULL || line == lines->line)
        return line != NULL;
    PyObject *id = PyLong_FromVoidPtr(line), *made = is_made && id != NULL ? PyList_New(0) : NULL;
    lines->line = line, lines->list = NULL;
    if (made != NULL)
        lines->list = PyDict_SetDefault(lines->lists, id, made);
    else if (id != NULL && !is_made)
        lines->list = PyDict_GetItemWithError(lines->lists, id);
    Py_XDECREF(id), Py_XDECREF(made);
    return lines->list != NULL || !PyErr_Occurred();
}

static PyObject *words_beside(PyObject *module, PyObject *arguments) {
    PyObject *words, *taken;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!O!", &PyList_Type, &words, &PySet_Type, &taken))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(words);
    Lines lines = {PyDict_New(), NULL, NULL};
    char *are_taken = PyMem_Calloc((size_t)count + 1, 1);
    int good = lines.lists != NULL && are_taken != NULL;
    if (are_taken == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t number = 0; good && number < count; number++) {
        int is_taken = is_among(taken, PyList_GET_ITEM(words, number));
        are_taken[number] = is_taken > 0;
        good = is_taken >= 0 && (!is_taken || look_up(&lines, PyList_GET_ITEM(words, number), 1));
    }
    lines.line = NULL;
    for (Py_ssize_t number = 0; good && number < count; number++) {
        PyObject *word = PyList_GET_ITEM(words, number);
        good = are_taken[number] || look_up(&lines, word, 0);
        if (good && !are_taken[number] && lines.list != NULL)
            good = !PyList_Append(lines.list, word);
    }
    PyMem_Free(are_taken);
    if (!good)
        Py_CLEAR(lines.lists);
    return lines.lists;
}

PyMethodDef cell_functions[] = {
    {"rows_without", rows_without, METH_VARARGS,
     "rows_without(rows, taken)\n--\n\nReturn rows without words that are in tables, told by their ids."},
    {"words_beside", words_beside, METH_VARARGS,
     "words_beside(words, taken)\n--\n\nReturn the other words of each line with words in tables, by its id."},
    {"is_divided", (PyCFunction)(void (*)(void))is_divided, METH_FASTCALL,
     "is_divided(row, gap)\n--\n\nReturn whether `segments_of` would return more than one part."},
    {"segments_of", (PyCFunction)(void (*)(void))segments_of, METH_FASTCALL,
     "segments_of(row, gap)\n--\n\nReturn the parts of a row between gaps wider than `gap` times the size of its text."},
    {NULL, NULL, 0, NULL},
};
