/* Words in rows: those of one line at one height belong together, and what is level with them. */

#include "grid.h"

/* Words of one line that stand at one height, which follow one another; or a row, with all of its words. */
typedef struct {
    double depth, top, bottom, size;
    Py_ssize_t number, first, last;
    PyObject *words;
    int may_have_gap;
} Strip;

static int by_depth(const void *first, const void *second) {
    const Strip *one = first, *other = second;
    if (one->depth != other->depth)
        return one->depth < other->depth ? -1 : 1;
    return one->number < other->number ? -1 : 1;
}

/* Puts the strip that begins with a word into `to`. */
static int begin(Strip *to, Py_ssize_t number, PyObject *words, Py_ssize_t at, const Place *place) {
    PyObject *line = record_get(&word_record, PyList_GET_ITEM(words, at), LINE);
    double size;
    if (line == NULL || !record_check(&line_record, line) || !record_number(&line_record, line, SIZE, &size))
        return 0;
    *to = (Strip){place->y0 + place->y1, place->y0, place->y1, size, number, at, at + 1, NULL, 0};
    return 1;
}

/* Whether a word stands apart from those before it, or left of one: its strip may be no row without gaps. */
static int is_apart(const Place *place, const Place *before, double end, double room) {
    return place->x0 - end > room || place->x0 < before->x0;
}

/* Returns the strips of words from top to bottom, whose number is put into `count`; NULL where that failed. */
static Strip *strips_of(PyObject *words, double gap, Py_ssize_t *count) {
    Py_ssize_t all = PyList_GET_SIZE(words), made = 0;
    Strip *strips = PyMem_Calloc((size_t)all + 1, sizeof *strips);
    PyObject *line = NULL;
    Place place, before = {.x0 = 0};
    double end = 0;
    if (strips == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    for (Py_ssize_t at = 0; at < all; at++, before = place) {
        PyObject *word = PyList_GET_ITEM(words, at);
        Strip *last = strips + made - 1;
        if (!word_place(word, &place))
            goto failed;
        PyObject *own = record_get(&word_record, word, LINE);
        if (made && own == line && last->top == place.y0 && last->bottom == place.y1) {
            double room = gap * (last->size > 1.0 ? last->size : 1.0);
            last->may_have_gap = last->may_have_gap || is_apart(&place, &before, end, room);
            last->last = at + 1;
            end = place.x1 > end ? place.x1 : end;
            continue;
        }
        if (!begin(strips + made, made, words, at, &place))
            goto failed;
        line = own, end = place.x1;
        made++;
    }
    qsort(strips, (size_t)made, sizeof *strips, by_depth);
    *count = made;
    return strips;
failed:
    PyMem_Free(strips);
    return NULL;
}

/* Puts words of a row in order from left to right. */
static int sort_words(PyObject *words) {
    Py_ssize_t count = PyList_GET_SIZE(words), at;
    double before = 0, x0;
    for (at = 0; at < count; at++, before = x0) {
        if (!record_number(&word_record, PyList_GET_ITEM(words, at), X0, &x0))
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
        if (!record_number(&word_record, places[at].words, X0, &places[at].depth)) {
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

/* Returns which row a strip belongs to: one of the last two where it overlaps that by half, else a new one. A row stands
 * where its largest words do.
 */
static Py_ssize_t row_for(Strip *rows, Py_ssize_t count, const Strip *strip) {
    for (Py_ssize_t number = count > 2 ? count - 2 : 0; number < count; number++) {
        Strip *row = rows + number;
        double low = row->bottom < strip->bottom ? row->bottom : strip->bottom;
        double overlap = low - (row->top > strip->top ? row->top : strip->top);
        if (!(overlap > 0.5 * (row->bottom - row->top) || overlap > 0.5 * (strip->bottom - strip->top)))
            continue;
        if (strip->size >= row->size)
            row->top = strip->top, row->bottom = strip->bottom, row->size = strip->size;
        row->may_have_gap = 1;
        return number;
    }
    rows[count] = *strip;
    rows[count].number = count;
    return count;
}

/* Adds the words of a strip to those of a row. */
static int add_words(Strip *row, const Strip *strip, PyObject *words) {
    PyObject *own = PyList_GetSlice(words, strip->first, strip->last);
    if (own == NULL || row->words == NULL) {
        row->words = own;
        return own != NULL;
    }
    Py_ssize_t end = PyList_GET_SIZE(row->words);
    int failed = PyList_SetSlice(row->words, end, end, own);
    Py_DECREF(own);
    return !failed;
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
    Strip *strips = strips_of(words, 0, &strip_count);
    Strip *rows = strips == NULL ? NULL : PyMem_Calloc((size_t)strip_count + 1, sizeof *rows);
    int good = rows != NULL;
    if (strips != NULL && rows == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t number = 0; good && number < strip_count; number++) {
        Py_ssize_t row = row_for(rows, count, strips + number);
        count = row == count ? count + 1 : count;
        good = add_words(rows + row, strips + number, words);
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
    for (Py_ssize_t number = 0; number < count; number++)
        Py_XDECREF(rows[number].words);
    PyMem_Free(strips), PyMem_Free(rows);
    return found;
}

int may_have_gaps(PyObject *words, double gap) {
    Py_ssize_t strip_count, count = 0, gapped = 0;
    Strip *strips = strips_of(words, gap, &strip_count);
    Strip *rows = strips == NULL ? NULL : PyMem_Calloc((size_t)strip_count + 1, sizeof *rows);
    if (strips != NULL && rows == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t number = 0; rows != NULL && number < strip_count; number++)
        count += row_for(rows, count, strips + number) == count;
    for (Py_ssize_t number = 0; number < count; number++)
        gapped += rows[number].may_have_gap;
    int answer = rows == NULL ? -1 : count >= 3 && (double)gapped >= 0.6 * (double)count;
    PyMem_Free(strips), PyMem_Free(rows);
    return answer;
}

static PyObject *rows_of(PyObject *module, PyObject *words) {
    (void)module;
    return are_words(words) ? rows_from(words) : NULL;
}

PyMethodDef row_functions[] = {
    {"rows_of", rows_of, METH_O, "rows_of(words)\n--\n\nReturn words in rows from top to bottom."},
    {NULL, NULL, 0, NULL},
};
