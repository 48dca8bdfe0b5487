/* Words of rows by column, and what columns of words look like. */

#include "grid.h"

#include <math.h>

/* Words of one row without a wide gap between them, from one number until before another. */
typedef struct {
    PyObject *words;
    Py_ssize_t row, first, last;
    double x0, x1;
} Segment;

typedef struct {
    PyObject *rows;
    Cuts cuts;
    double gap;
    Segment *segments;
    Py_ssize_t count, room;
    double *starts;
    PyObject *cells, *merged;
} Division;

static int add_segment(Division *all, const Segment *segment) {
    if (all->count == all->room) {
        Py_ssize_t room = 2 * all->room + 32;
        Segment *larger = PyMem_Realloc(all->segments, (size_t)room * sizeof *larger);
        if (larger == NULL) {
            PyErr_NoMemory();
            return 0;
        }
        all->segments = larger, all->room = room;
    }
    all->segments[all->count++] = *segment;
    return 1;
}

/* Adds the segments of a row; the first of its words begins one, and each that stands far enough from those before. */
static int read_row(Division *all, Py_ssize_t row) {
    PyObject *words = words_of_row(PyList_GET_ITEM(all->rows, row)), *line = NULL;
    Segment segment = {words, row, 0, 0, 0, 0};
    double room = 0;
    if (words == NULL)
        return 0;
    for (Py_ssize_t number = 0; number < PyList_GET_SIZE(words); number++) {
        PyObject *word = PyList_GET_ITEM(words, number);
        Place place;
        if (!word_place(word, &place) || !room_after(word, &line, all->gap, &room))
            return 0;
        if (number > segment.first && place.x0 - segment.x1 > room) {
            if (!add_segment(all, &segment))
                return 0;
            segment.first = number;
        }
        if (number == segment.first)
            segment.x0 = place.x0, segment.x1 = place.x1;
        segment.x1 = place.x1 > segment.x1 ? place.x1 : segment.x1;
        segment.last = number + 1;
    }
    return segment.last == 0 || add_segment(all, &segment);
}

/* Where a segment begins, to the nearest point. */
typedef struct {
    Py_ssize_t column, number;
    double at;
} Start;

static int by_column(const void *first, const void *second) {
    const Start *one = first, *other = second;
    if (one->column != other->column)
        return one->column < other->column ? -1 : 1;
    if (one->at != other->at)
        return one->at < other->at ? -1 : 1;
    return one->number < other->number ? -1 : 1;
}

/* Notes where each column mostly begins: at the first of the places that most segments have, if more than two do. */
static void count_starts(Division *all, Start *begins) {
    Py_ssize_t column = -1, most = 2, earliest = 0, next;
    for (Py_ssize_t first = 0; first < all->count; first = next) {
        const Start *begin = begins + first;
        for (next = first + 1; next < all->count; next++)
            if (begins[next].column != begin->column || begins[next].at != begin->at)
                break;
        if (begin->column != column)
            column = begin->column, most = 2, earliest = all->count;
        if (next - first > most || (next - first == most && most > 2 && begin->number < earliest))
            most = next - first, earliest = begin->number, all->starts[column] = begin->at;
    }
}

static int find_starts(Division *all) {
    if (all->starts != NULL)
        return 1;
    Start *begins = PyMem_Calloc((size_t)all->count + 1, sizeof *begins);
    all->starts = PyMem_Calloc((size_t)all->cuts.count + 1, sizeof *all->starts);
    if (begins == NULL || all->starts == NULL) {
        PyMem_Free(begins);
        PyErr_NoMemory();
        return 0;
    }
    for (Py_ssize_t number = 0; number < all->count; number++) {
        double x0 = all->segments[number].x0;
        begins[number] = (Start){cuts_until(&all->cuts, x0 + 1), number, rint(x0)};
    }
    for (Py_ssize_t column = 0; column <= all->cuts.count; column++)
        all->starts[column] = -1e9; /* nowhere */
    qsort(begins, (size_t)all->count, sizeof *begins, by_column);
    count_starts(all, begins);
    PyMem_Free(begins);
    return 1;
}

/* Whether the words of a segment tell that a cut divides it: by a wide gap there, or where a column begins; -1 and an
 * error if they are none.
 */
static int tells_cut(const Segment *segment, double cut, double start, int is_at_start) {
    double left = -HUGE_VAL, right = HUGE_VAL, size;
    int is_crossed = 0;
    for (Py_ssize_t number = segment->first; number < segment->last; number++) {
        Place place;
        if (!word_place(PyList_GET_ITEM(segment->words, number), &place))
            return -1;
        if (is_at_start && number > segment->first && fabs(place.x0 - start) < 1)
            return 1;
        is_crossed = is_crossed || (place.x0 < cut && cut < place.x1);
        left = place.x1 <= cut && place.x1 > left ? place.x1 : left;
        right = place.x0 >= cut && place.x0 < right ? place.x0 : right;
    }
    PyObject *line = record_get(&word_record, PyList_GET_ITEM(segment->words, segment->first), LINE);
    if (line == NULL || !record_check(&line_record, line) || !record_number(&line_record, line, SIZE, &size))
        return -1;
    return !is_crossed && right - left >= 0.4 * size;
}

/* Whether they tell so of each cut in the segment. */
static int fits_words(Division *all, const Segment *segment) {
    const Cuts *cuts = &all->cuts;
    if (!find_starts(all))
        return -1;
    int is_at_start = fabs(segment->x0 - all->starts[cuts_until(cuts, segment->x0 + 1)]) < 1.5, fits = 1;
    for (Py_ssize_t number = 0; fits > 0 && number < cuts->count; number++)
        if (segment->x0 + 1 < cuts->at[number] && cuts->at[number] < segment->x1 - 1)
            fits = tells_cut(segment, cuts->at[number], all->starts[number + 1], is_at_start);
    return fits;
}

/* Puts the words of a segment across several columns into each of them; or all into the first, which is one with them. */
static int put_apart(Division *all, const Segment *segment, PyObject *line, Py_ssize_t first, Py_ssize_t last) {
    int good = 1, fits = fits_words(all, segment);
    if (fits < 0)
        return 0;
    for (Py_ssize_t number = segment->first; good && number < segment->last; number++) {
        PyObject *word = PyList_GET_ITEM(segment->words, number);
        Place place;
        good = word_place(word, &place);
        Py_ssize_t column = good && fits ? cuts_until(&all->cuts, (place.x0 + place.x1) / 2) : first;
        good = good && !PyList_Append(PyList_GET_ITEM(line, column), word);
    }
    if (fits || !good)
        return good;
    PyObject *span = Py_BuildValue("(nnn)", segment->row, first, last - first + 1);
    good = span != NULL && !PyList_Append(all->merged, span);
    Py_XDECREF(span);
    return good;
}

static int put(Division *all, const Segment *segment) {
    PyObject *line = PyList_GET_ITEM(all->cells, segment->row);
    Py_ssize_t first = cuts_until(&all->cuts, segment->x0 + 1), last = cuts_until(&all->cuts, segment->x1 - 1);
    if (first != last)
        return put_apart(all, segment, line, first, last);
    for (Py_ssize_t number = segment->first; number < segment->last; number++)
        if (PyList_Append(PyList_GET_ITEM(line, first), PyList_GET_ITEM(segment->words, number)))
            return 0;
    return 1;
}

static int divide(Division *all) {
    Py_ssize_t count = PyList_GET_SIZE(all->rows);
    all->cells = PyList_New(count), all->merged = PyList_New(0);
    if (all->cells == NULL || all->merged == NULL)
        return 0;
    for (Py_ssize_t row = 0; row < count; row++) {
        PyObject *line = empty_lists(all->cuts.count + 1);
        if (line == NULL)
            return 0;
        PyList_SET_ITEM(all->cells, row, line);
        if (!read_row(all, row))
            return 0;
    }
    for (Py_ssize_t number = 0; number < all->count; number++)
        if (!put(all, all->segments + number))
            return 0;
    return 1;
}

static PyObject *divided(PyObject *module, PyObject *arguments) {
    PyObject *cuts, *found = NULL;
    Division all = {.count = 0};
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!Od", &PyList_Type, &all.rows, &cuts, &all.gap) || !read_cuts(cuts, &all.cuts))
        return NULL;
    if (divide(&all))
        found = PyTuple_Pack(2, all.cells, all.merged);
    PyMem_Free(all.cuts.at), PyMem_Free(all.segments), PyMem_Free(all.starts);
    Py_XDECREF(all.cells), Py_XDECREF(all.merged);
    return found;
}

/* Puts how wide the text of a cell is into `to`; returns 0 where it has none, and -1 with an error if it is no cell. */
static int width_of(PyObject *row, Py_ssize_t column, double *to) {
    PyObject *cell = column < PyList_GET_SIZE(row) ? PyList_GET_ITEM(row, column) : NULL;
    if (cell == NULL || !PyList_Check(cell)) {
        PyErr_SetString(PyExc_TypeError, "expected a list of words in each column");
        return -1;
    }
    Py_ssize_t count = PyList_GET_SIZE(cell);
    Place first, last;
    if (!count)
        return 0;
    if (!word_place(PyList_GET_ITEM(cell, 0), &first) || !word_place(PyList_GET_ITEM(cell, count - 1), &last))
        return -1;
    *to = last.x1 - first.x0;
    return 1;
}

/* Returns the width of a column, and in how many rows it has text. */
static PyObject *look_of(PyObject *cells, Py_ssize_t column) {
    double widest = 0, width;
    Py_ssize_t filled = 0;
    for (Py_ssize_t row = 0; row < PyList_GET_SIZE(cells); row++) {
        PyObject *line = PyList_GET_ITEM(cells, row);
        int has_text = are_words(line) ? width_of(line, column, &width) : -1;
        if (has_text < 0)
            return NULL;
        if (has_text) {
            widest = !filled || width > widest ? width : widest;
            filled++;
        }
    }
    return Py_BuildValue("(dn)", widest, filled);
}

static PyObject *looks_of(PyObject *module, PyObject *cells) {
    (void)module;
    if (!are_words(cells) || (PyList_GET_SIZE(cells) && !are_words(PyList_GET_ITEM(cells, 0))))
        return NULL;
    Py_ssize_t width = PyList_GET_SIZE(cells) ? PyList_GET_SIZE(PyList_GET_ITEM(cells, 0)) : 0;
    PyObject *looks = PyList_New(width);
    for (Py_ssize_t column = 0; looks != NULL && column < width; column++) {
        PyObject *look = look_of(cells, column);
        if (look == NULL)
            Py_CLEAR(looks);
        else
            PyList_SET_ITEM(looks, column, look);
    }
    return looks;
}

PyMethodDef column_functions[] = {
    {"divided", divided, METH_VARARGS,
     "divided(rows, cuts, gap)\n--\n\nReturn words by row and column, and the segments across several columns."},
    {"looks_of", looks_of, METH_O,
     "looks_of(cells)\n--\n\nReturn how wide the text of each column is, and in how many rows it has some."},
    {NULL, NULL, 0, NULL},
};
