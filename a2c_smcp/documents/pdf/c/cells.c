/* Words on their way into tables: rows of them, and the gaps between those of one row. */

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
    *gap = PyFloat_AsDouble(arguments[1]);
    *words = PyErr_Occurred() ? NULL : words_of_row(arguments[0]);
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

/* Rows */

/* Words of one line that stand at one height, which belong to one row. */
typedef struct {
    double depth, top, bottom, size;
    Py_ssize_t number;
    PyObject *words;
} Strip;

static int by_depth(const void *first, const void *second) {
    const Strip *one = first, *other = second;
    if (one->depth != other->depth)
        return one->depth < other->depth ? -1 : 1;
    return one->number < other->number ? -1 : 1;
}

static void forget_strips(Strip *strips, Py_ssize_t count) {
    for (Py_ssize_t number = 0; number < count; number++)
        Py_XDECREF(strips[number].words);
    PyMem_Free(strips);
}

/* Returns the strips of words, whose number is put into `count`; NULL where that failed. */
static Strip *strips_of(PyObject *words, Py_ssize_t *count) {
    Py_ssize_t all = PyList_GET_SIZE(words), made = 0;
    Strip *strips = PyMem_Calloc((size_t)all + 1, sizeof *strips);
    PyObject *line = NULL;
    int good = strips != NULL;
    if (!good)
        PyErr_NoMemory();
    for (Py_ssize_t at = 0; good && at < all; at++) {
        PyObject *word = PyList_GET_ITEM(words, at);
        double top, bottom;
        good = record_check(&word_record, word) && number_of(word, Y0, &top) && number_of(word, Y1, &bottom);
        if (!good)
            break;
        PyObject *own = record_get(&word_record, word, LINE);
        double size;
        Strip *last = strips + made - 1;
        if (made && own == line && last->top == top && last->bottom == bottom) {
            good = !PyList_Append(last->words, word);
            continue;
        }
        good = own != NULL && record_check(&line_record, own) && record_number(&line_record, own, SIZE, &size);
        if (!good)
            break;
        line = own;
        strips[made] = (Strip){top + bottom, top, bottom, size, made, PyList_New(1)};
        good = strips[made].words != NULL;
        if (good)
            PyList_SET_ITEM(strips[made].words, 0, Py_NewRef(word));
        made++;
    }
    if (good) {
        *count = made;
        return strips;
    }
    if (strips != NULL)
        forget_strips(strips, made);
    return NULL;
}

/* Puts words of a row in order from left to right. */
static int sort_words(PyObject *words) {
    Py_ssize_t count = PyList_GET_SIZE(words), at;
    double before = 0, x0;
    for (at = 0; at < count; at++, before = x0) {
        if (!number_of(PyList_GET_ITEM(words, at), X0, &x0))
            return 0;
        if (at && x0 < before)
            break;
    }
    if (at == count) /* as most are */
        return 1;
    Strip *places = PyMem_Calloc((size_t)count, sizeof *places);
    if (places == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    for (at = 0; at < count; at++) {
        places[at].number = at, places[at].words = PyList_GET_ITEM(words, at);
        if (!number_of(places[at].words, X0, &places[at].depth)) {
            PyMem_Free(places);
            return 0;
        }
    }
    qsort(places, (size_t)count, sizeof *places, by_depth);
    for (at = 0; at < count; at++) /* the same objects in another order: none is gained or lost */
        PyList_SET_ITEM(words, at, places[at].words);
    PyMem_Free(places);
    return 1;
}

/* Adds a strip to one of the last two rows where it overlaps that by half, else as a row; a row stands where its largest
 * words do.
 */
static Py_ssize_t add_strip(Strip *rows, Py_ssize_t count, const Strip *strip) {
    for (Strip *row = rows + (count > 2 ? count - 2 : 0); row < rows + count; row++) {
        double low = row->bottom < strip->bottom ? row->bottom : strip->bottom;
        double overlap = low - (row->top > strip->top ? row->top : strip->top);
        if (!(overlap > 0.5 * (row->bottom - row->top) || overlap > 0.5 * (strip->bottom - strip->top)))
            continue;
        Py_ssize_t end = PyList_GET_SIZE(row->words);
        if (PyList_SetSlice(row->words, end, end, strip->words))
            return -1;
        if (strip->size >= row->size)
            row->top = strip->top, row->bottom = strip->bottom, row->size = strip->size;
        return count;
    }
    rows[count] = *strip;
    rows[count].number = count, rows[count].words = Py_NewRef(strip->words);
    return count + 1;
}

static PyObject *row_of(Strip *row) {
    if (!sort_words(row->words))
        return NULL;
    PyObject *values[ROW_FIELDS] = {
        [ROW_WORDS] = Py_NewRef(row->words),
        [ROW_Y0] = PyFloat_FromDouble(row->top),
        [ROW_Y1] = PyFloat_FromDouble(row->bottom),
        [ROW_SIZE] = PyFloat_FromDouble(row->size),
    };
    return record_make(&row_record, values);
}

PyObject *rows_from(PyObject *words) {
    Py_ssize_t strip_count, count = 0;
    PyObject *found = NULL;
    Strip *strips = strips_of(words, &strip_count);
    if (strips == NULL)
        return NULL;
    Strip *rows = PyMem_Calloc((size_t)strip_count + 1, sizeof *rows);
    if (rows == NULL)
        PyErr_NoMemory();
    else
        qsort(strips, (size_t)strip_count, sizeof *strips, by_depth);
    int good = rows != NULL;
    for (Py_ssize_t number = 0; good && number < strip_count; number++) {
        Py_ssize_t now = add_strip(rows, count, strips + number);
        good = now >= 0;
        count = good ? now : count;
    }
    if (good && count < strip_count) {
        for (Py_ssize_t number = 0; number < count; number++)
            rows[number].depth = rows[number].top + rows[number].bottom;
        qsort(rows, (size_t)count, sizeof *rows, by_depth);
    }
    if (good)
        found = PyList_New(count);
    for (Py_ssize_t number = 0; found != NULL && number < count; number++) {
        PyObject *row = row_of(rows + number);
        if (row == NULL)
            Py_CLEAR(found);
        else
            PyList_SET_ITEM(found, number, row);
    }
    forget_strips(strips, strip_count);
    if (rows != NULL)
        forget_strips(rows, count);
    return found;
}

static PyObject *rows_of(PyObject *module, PyObject *words) {
    (void)module;
    return are_words(words) ? rows_from(words) : NULL;
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

/* Returns the entry of a word's line in a dictionary by the ids of lines, borrowed: a new list where `is_made`, else NULL
 * where it has none; that is an error only if one is set.
 */
static PyObject *entry_of(PyObject *lines, PyObject *word, int is_made) {
    PyObject *line = record_check(&word_record, word) ? record_get(&word_record, word, LINE) : NULL;
    PyObject *id = line == NULL ? NULL : PyLong_FromVoidPtr(line);
    PyObject *entry = id == NULL ? NULL : PyDict_GetItemWithError(lines, id);
    if (entry == NULL && is_made && !PyErr_Occurred()) {
        PyObject *made = PyList_New(0);
        entry = made == NULL ? NULL : PyDict_SetDefault(lines, id, made);
        Py_XDECREF(made);
    }
    Py_XDECREF(id);
    return entry;
}

static PyObject *words_beside(PyObject *module, PyObject *arguments) {
    PyObject *words, *taken;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!O!", &PyList_Type, &words, &PySet_Type, &taken))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(words);
    PyObject *lines = PyDict_New();
    char *are_taken = PyMem_Calloc((size_t)count + 1, 1);
    int good = lines != NULL && are_taken != NULL;
    if (are_taken == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t number = 0; good && number < count; number++) {
        int is_taken = is_among(taken, PyList_GET_ITEM(words, number));
        are_taken[number] = is_taken > 0;
        good = is_taken >= 0 && (!is_taken || entry_of(lines, PyList_GET_ITEM(words, number), 1) != NULL);
    }
    for (Py_ssize_t number = 0; good && number < count; number++) {
        PyObject *word = PyList_GET_ITEM(words, number), *entry = are_taken[number] ? NULL : entry_of(lines, word, 0);
        good = entry == NULL ? !PyErr_Occurred() : !PyList_Append(entry, word);
    }
    PyMem_Free(are_taken);
    if (!good)
        Py_CLEAR(lines);
    return lines;
}

PyMethodDef cell_functions[] = {
    {"rows_of", rows_of, METH_O, "rows_of(words)\n--\n\nReturn words in rows from top to bottom."},
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
