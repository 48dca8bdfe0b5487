/* From words and ruling lines to cells: which words a region has, between which cuts they are, and which cells are one. */

#include "grid.h"

int read_cuts(PyObject *list, Cuts *cuts) {
    *cuts = (Cuts){0, NULL};
    if (!PyList_Check(list)) {
        PyErr_SetString(PyExc_TypeError, "expected a list of numbers");
        return 0;
    }
    Py_ssize_t count = PyList_GET_SIZE(list);
    double *at = PyMem_Calloc((size_t)count + 1, sizeof *at);
    if (at == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    for (Py_ssize_t number = 0; number < count; number++) {
        if (!read_number(PyList_GET_ITEM(list, number), at + number)) {
            PyMem_Free(at);
            return 0;
        }
    }
    *cuts = (Cuts){count, at};
    return 1;
}

Py_ssize_t cuts_before(const Cuts *cuts, double number) {
    Py_ssize_t low = 0, high = cuts->count;
    while (low < high) {
        Py_ssize_t middle = (low + high) / 2;
        if (cuts->at[middle] < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

Py_ssize_t cuts_until(const Cuts *cuts, double number) {
    Py_ssize_t low = 0, high = cuts->count;
    while (low < high) {
        Py_ssize_t middle = (low + high) / 2;
        if (number < cuts->at[middle])
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

PyObject *empty_lists(Py_ssize_t count) {
    PyObject *lists = PyList_New(count);
    for (Py_ssize_t number = 0; lists != NULL && number < count; number++) {
        PyObject *list = PyList_New(0);
        if (list == NULL)
            Py_CLEAR(lists);
        else
            PyList_SET_ITEM(lists, number, list);
    }
    return lists;
}

/* Returns the words of a list whose places a function takes. */
static PyObject *words_where(PyObject *words, int (*is_taken)(const Place *, const void *), const void *of) {
    PyObject *found = PyList_New(0);
    for (Py_ssize_t number = 0; found != NULL && number < PyList_GET_SIZE(words); number++) {
        PyObject *word = PyList_GET_ITEM(words, number);
        Place place;
        if (!word_place(word, &place) || (is_taken(&place, of) && PyList_Append(found, word)))
            Py_CLEAR(found);
    }
    return found;
}

typedef struct {
    double left, right, top, bottom;
} Inside; /* twice where middles are */

static int is_inside(const Place *place, const void *of) {
    const Inside *inside = of;
    double wide = place->x0 + place->x1, high = place->y0 + place->y1;
    return inside->top <= high && high <= inside->bottom && inside->left <= wide && wide <= inside->right;
}

static PyObject *words_inside(PyObject *module, PyObject *arguments) {
    PyObject *words;
    Inside of;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!dddd", &PyList_Type, &words, &of.left, &of.right, &of.top, &of.bottom))
        return NULL;
    return words_where(words, is_inside, &of);
}

typedef struct {
    Cuts places;
    double border;
} Across;

static int is_across(const Place *place, const void *of) {
    const Across *across = of;
    return cuts_until(&across->places, place->x0 + across->border) < cuts_before(&across->places, place->x1 - across->border);
}

static PyObject *words_across(PyObject *module, PyObject *arguments) {
    PyObject *words, *list;
    Across of;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!Od", &PyList_Type, &words, &list, &of.border) || !read_cuts(list, &of.places))
        return NULL;
    PyObject *found = words_where(words, is_across, &of);
    PyMem_Free(of.places.at);
    return found;
}

/* Returns words by row and column: those before the first cut are in the first. */
static PyObject *sort_into_cells(PyObject *words, const Cuts *xs, const Cuts *ys) {
    PyObject *cells = PyList_New(ys->count + 1);
    for (Py_ssize_t row = 0; cells != NULL && row <= ys->count; row++) {
        PyObject *lists = empty_lists(xs->count + 1);
        if (lists == NULL)
            Py_CLEAR(cells);
        else
            PyList_SET_ITEM(cells, row, lists);
    }
    for (Py_ssize_t number = 0; cells != NULL && number < PyList_GET_SIZE(words); number++) {
        PyObject *word = PyList_GET_ITEM(words, number);
        Place place;
        int good = word_place(word, &place);
        if (good) {
            PyObject *row = PyList_GET_ITEM(cells, cuts_until(ys, (place.y0 + place.y1) / 2));
            good = !PyList_Append(PyList_GET_ITEM(row, cuts_until(xs, (place.x0 + place.x1) / 2)), word);
        }
        if (!good)
            Py_CLEAR(cells);
    }
    return cells;
}

static PyObject *words_between(PyObject *module, PyObject *arguments) {
    PyObject *words, *first, *second, *cells = NULL;
    Cuts xs = {0, NULL}, ys = {0, NULL};
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!OO", &PyList_Type, &words, &first, &second))
        return NULL;
    if (read_cuts(first, &xs) && read_cuts(second, &ys))
        cells = sort_into_cells(words, &xs, &ys);
    PyMem_Free(xs.at), PyMem_Free(ys.at);
    return cells;
}

/* Columns that only gaps divide */

/* Adds the rows of words to `found` if most of them have gaps. */
static int add_gapped(PyObject *found, PyObject *words, Py_ssize_t few, double gap) {
    int may = PyList_GET_SIZE(words) < few ? 0 : may_have_gaps(words, gap);
    if (may <= 0)
        return !may;
    PyObject *rows = rows_from(words);
    Py_ssize_t count = rows == NULL ? 0 : PyList_GET_SIZE(rows), divided = 0;
    int good = rows != NULL;
    for (Py_ssize_t number = 0; good && number < count; number++) {
        PyObject *own = words_of_row(PyList_GET_ITEM(rows, number));
        int is_divided = own == NULL ? -1 : are_divided(own, gap);
        good = is_divided >= 0;
        divided += is_divided > 0;
    }
    if (good && (double)divided >= 0.6 * (double)count)
        good = !PyList_Append(found, rows);
    Py_XDECREF(rows);
    return good;
}

/* Whether so many words are between two cuts somewhere; -1 and an error if they are none. */
static int has_many(PyObject *words, const Cuts *ys, Py_ssize_t few) {
    Py_ssize_t *counts = PyMem_Calloc((size_t)ys->count + 1, sizeof *counts);
    int answer = counts == NULL ? -1 : 0;
    if (counts == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t number = 0; !answer && number < PyList_GET_SIZE(words); number++) {
        Place place;
        if (!word_place(PyList_GET_ITEM(words, number), &place))
            answer = -1;
        else
            answer = ++counts[cuts_until(ys, (place.y0 + place.y1) / 2)] >= few;
    }
    PyMem_Free(counts);
    return answer;
}

/* Adds the rows of a column that mostly have gaps: of all of it, and of what is between two rules. */
static int add_column(PyObject *found, PyObject *column, const Cuts *ys, Py_ssize_t few, double gap) {
    static const Cuts none = {0, NULL};
    if (PyList_GET_SIZE(column) < few)
        return 1;
    if (ys->count > 2 && !add_gapped(found, column, few, gap))
        return 0;
    int many = has_many(column, ys, few);
    if (many <= 0)
        return !many;
    PyObject *bands = sort_into_cells(column, &none, ys);
    int good = bands != NULL;
    for (Py_ssize_t band = 1; good && band < ys->count; band++)
        good = add_gapped(found, PyList_GET_ITEM(PyList_GET_ITEM(bands, band), 0), few, gap);
    Py_XDECREF(bands);
    return good;
}

static PyObject *gapped_rows(PyObject *module, PyObject *arguments) {
    PyObject *words, *first, *second, *columns = NULL, *found = NULL;
    Cuts xs = {0, NULL}, ys = {0, NULL}, none = {0, NULL};
    Py_ssize_t few;
    double gap;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!OOnd", &PyList_Type, &words, &first, &second, &few, &gap))
        return NULL;
    if (read_cuts(first, &xs) && read_cuts(second, &ys))
        columns = sort_into_cells(words, &xs, &none);
    if (columns != NULL)
        found = PyList_New(0);
    for (Py_ssize_t number = 1; found != NULL && number < xs.count; number++)
        if (!add_column(found, PyList_GET_ITEM(PyList_GET_ITEM(columns, 0), number), &ys, few, gap))
            Py_CLEAR(found);
    PyMem_Free(xs.at), PyMem_Free(ys.at);
    Py_XDECREF(columns);
    return found;
}

/* Cells that no rule divides */

/* For each place where rules may be, between which of the cuts across them one is, and whether one is at all. */
typedef struct {
    Py_ssize_t places, width;
    char *is_ruled, *is_any;
} Parts;

static int add_part(const Parts *parts, PyObject *rule, const Cuts *places, const Cuts *middles, double near) {
    double numbers[3];
    if (!read_numbers(rule, numbers, 3))
        return 0;
    Py_ssize_t first = cuts_before(middles, numbers[0] - 1), last = cuts_until(middles, numbers[1] + 1);
    Py_ssize_t end = cuts_until(places, numbers[2] + near);
    for (Py_ssize_t number = cuts_before(places, numbers[2] - near); number < end && first < last; number++) {
        memset(parts->is_ruled + number * parts->width + first, 1, (size_t)(last - first));
        parts->is_any[number] = 1;
    }
    return 1;
}

/* Finds where rules are; returns 0 and sets an error if some are none. What it allocates is to be freed. */
static int read_parts(Parts *parts, PyObject *rules, const Cuts *places, const Cuts *across, double near) {
    Py_ssize_t width = across->count > 0 ? across->count - 1 : 0;
    Cuts middles = {width, PyMem_Calloc((size_t)width + 1, sizeof *middles.at)};
    parts->places = places->count, parts->width = width;
    parts->is_any = PyMem_Calloc((size_t)places->count + 1, 1);
    parts->is_ruled = PyMem_Calloc((size_t)(places->count * width) + 1, 1);
    int good = middles.at != NULL && parts->is_any != NULL && parts->is_ruled != NULL;
    if (!good)
        PyErr_NoMemory();
    for (Py_ssize_t number = 0; good && number < width; number++)
        middles.at[number] = (across->at[number] + across->at[number + 1]) / 2;
    for (Py_ssize_t number = 0; good && number < PyTuple_GET_SIZE(rules); number++)
        good = add_part(parts, PyTuple_GET_ITEM(rules, number), places, &middles, near);
    PyMem_Free(middles.at);
    return good;
}

/* Whether the rules between the outer ones go from one end to the other, as in most tables. */
static int are_whole(const Parts *parts) {
    for (Py_ssize_t place = 1; place < parts->places - 1; place++)
        if (parts->is_any[place] && memchr(parts->is_ruled + place * parts->width, 0, (size_t)parts->width) != NULL)
            return 0;
    return 1;
}

static int is_at(const Parts *parts, Py_ssize_t place, Py_ssize_t part) {
    return parts->is_ruled[place * parts->width + part];
}

/* Returns the last column of the cell that begins in a row at a column. */
static Py_ssize_t right_of(const Parts *xs, PyObject *const *spans, Py_ssize_t top, Py_ssize_t left, Py_ssize_t width) {
    Py_ssize_t right = left;
    while (right + 1 < width && xs->is_any[right + 1] && !is_at(xs, right + 1, top) && spans[top * width + right + 1] == NULL)
        right++;
    return right;
}

/* Returns its last row, where the cell goes from one column to another. */
static Py_ssize_t bottom_of(const Parts *xs, const Parts *ys, Py_ssize_t top, Py_ssize_t left, Py_ssize_t right) {
    Py_ssize_t bottom = top;
    for (; bottom + 2 < ys->places && ys->is_any[bottom + 1]; bottom++) {
        for (Py_ssize_t column = left; column <= right; column++)
            if (is_at(ys, bottom + 1, column) || (column > left && is_at(xs, column, bottom + 1)))
                return bottom;
    }
    return bottom;
}

/* Puts the larger cell that each cell is part of into `spans`. */
static int find_spans(PyObject **spans, const Parts *xs, const Parts *ys) {
    Py_ssize_t height = xs->width, width = ys->width;
    for (Py_ssize_t cell = 0; cell < height * width; cell++) {
        Py_ssize_t top = cell / width, left = cell % width;
        if (spans[cell] != NULL)
            continue;
        Py_ssize_t right = right_of(xs, spans, top, left, width), bottom = bottom_of(xs, ys, top, left, right);
        if (right == left && bottom == top)
            continue;
        PyObject *span = Py_BuildValue("(nnnn)", top, left, bottom - top + 1, right - left + 1);
        if (span == NULL)
            return 0;
        for (Py_ssize_t row = top; row <= bottom; row++)
            for (Py_ssize_t column = left; column <= right; column++)
                Py_XSETREF(spans[row * width + column], Py_NewRef(span));
        Py_DECREF(span);
    }
    return 1;
}

static PyObject *spans_by_cell(const Parts *xs, const Parts *ys) {
    Py_ssize_t height = xs->width, width = ys->width;
    PyObject *found = PyDict_New();
    if (found == NULL || (are_whole(xs) && are_whole(ys)))
        return found;
    PyObject **spans = PyMem_Calloc((size_t)(height * width) + 1, sizeof *spans);
    int good = spans != NULL && find_spans(spans, xs, ys);
    if (spans == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t cell = 0; spans != NULL && cell < height * width; cell++) {
        if (good && spans[cell] != NULL) {
            PyObject *key = Py_BuildValue("(nn)", cell / width, cell % width);
            good = key != NULL && !PyDict_SetItem(found, key, spans[cell]);
            Py_XDECREF(key);
        }
        Py_XDECREF(spans[cell]);
    }
    PyMem_Free(spans);
    if (!good)
        Py_CLEAR(found);
    return found;
}

static PyObject *spans_of(PyObject *module, PyObject *arguments) {
    PyObject *down, *across, *first, *second, *found = NULL;
    Cuts xs = {0, NULL}, ys = {0, NULL};
    Parts at_x = {.is_ruled = NULL}, at_y = {.is_ruled = NULL};
    double near;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!O!OOd", &PyTuple_Type, &down, &PyTuple_Type, &across, &first, &second, &near))
        return NULL;
    if (read_cuts(first, &xs) && read_cuts(second, &ys) && read_parts(&at_x, down, &xs, &ys, near) &&
        read_parts(&at_y, across, &ys, &xs, near))
        found = spans_by_cell(&at_x, &at_y);
    PyMem_Free(xs.at), PyMem_Free(ys.at);
    PyMem_Free(at_x.is_any), PyMem_Free(at_x.is_ruled), PyMem_Free(at_y.is_any), PyMem_Free(at_y.is_ruled);
    return found;
}

PyMethodDef grid_functions[] = {
    {"words_inside", words_inside, METH_VARARGS,
     "words_inside(words, left, right, top, bottom)\n--\n\nReturn the words whose sides add up to what is between those."},
    {"words_across", words_across, METH_VARARGS,
     "words_across(words, places, border)\n--\n\nReturn the words that have one of the places inside, away from their ends."},
    {"words_between", words_between, METH_VARARGS,
     "words_between(words, xs, ys)\n--\n\nReturn words by row and column, which cuts divide."},
    {"gapped_rows", gapped_rows, METH_VARARGS,
     "gapped_rows(words, xs, ys, few, gap)\n--\n\nReturn the rows of each column, and each band of one, that mostly have gaps."},
    {"spans_of", spans_of, METH_VARARGS,
     "spans_of(down, across, xs, ys, near)\n--\n\nReturn the larger cell that a cell is part of, for each that is."},
    {NULL, NULL, 0, NULL},
};
