/* What the lines of a page look like, and how they stand: most of their text, the edges of the page, rows. */

#include "native.h"

static int is_true(const Record *record, PyObject *instance, int field) {
    return record_get(record, instance, field) == Py_True;
}

/* Looks */

enum { SIZES = 64 };

/* How much text there is of one size, and how many lines. */
typedef struct {
    double size;
    Py_ssize_t length, lines;
} Share;

typedef struct {
    Share shares[SIZES];
    int count;
    Py_ssize_t bold, mono, total;
} Looks;

/* Returns the share of a size; NULL where there are too many. */
static Share *share_of(Looks *looks, double size) {
    for (int number = 0; number < looks->count; number++)
        if (looks->shares[number].size == size)
            return looks->shares + number;
    if (looks->count == SIZES)
        return NULL;
    looks->shares[looks->count] = (Share){size, 0, 0};
    return looks->shares + looks->count++;
}

/* Adds the looks of a line; returns 1, 0 and an error, or -1 where there are too many sizes. */
static int add_looks(Looks *looks, PyObject *line, Place *place) {
    PyObject *font = line_whole(line, place) ? record_get(&line_record, line, FONT) : NULL;
    if (font == NULL || !record_check(&font_record, font))
        return 0;
    Share *share = share_of(looks, place->size);
    if (share == NULL)
        return -1;
    share->length += place->length, share->lines++;
    looks->total += place->length;
    looks->bold += is_true(&font_record, font, BOLD) ? place->length : 0;
    looks->mono += is_true(&font_record, font, MONO) ? place->length : 0;
    return !PyErr_Occurred();
}

/* Returns the way down that lines of a size usually have; `room` is for as many numbers as there are lines. */
static double leading_of(const Place *places, Py_ssize_t count, double size, double *room) {
    Py_ssize_t steps = 0;
    for (Py_ssize_t number = 1; number < count; number++) {
        double down = places[number].y0 - places[number - 1].y0;
        if (places[number].size == size && 0.8 * size < down && down < 2.5 * size)
            room[steps++] = down;
    }
    if (steps < 3)
        return 1.2 * size;
    qsort(room, (size_t)steps, sizeof *room, by_number);
    return steps % 2 ? room[steps / 2] : (room[steps / 2 - 1] + room[steps / 2]) / 2;
}

static PyObject *told_of(const Looks *looks, const Place *places, Py_ssize_t count, double *room) {
    double size = looks->count ? looks->shares[0].size : 10.0;
    Py_ssize_t most = looks->count ? looks->shares[0].length : 0;
    for (int number = 1; number < looks->count; number++)
        if (looks->shares[number].length > most)
            size = looks->shares[number].size, most = looks->shares[number].length;
    size = size != 0 ? size : 1.0;
    double largest = size, total = (double)looks->total;
    for (int number = 0; number < looks->count; number++) {
        const Share *share = looks->shares + number;
        if (share->size > largest && (double)share->length > 0.2 * total && share->lines > 2)
            largest = share->size;
    }
    double leading = leading_of(places, count, size, room);
    return Py_BuildValue("(dddOO)", size, largest, leading, (double)looks->bold > 0.6 * total ? Py_True : Py_False,
                         (double)looks->mono > 0.9 * total ? Py_True : Py_False);
}

static PyObject *page_looks(PyObject *module, PyObject *lines) {
    Looks looks = {.count = 0};
    PyObject *told = NULL;
    int good = 1;
    (void)module;
    if (!is_list_of_lines(lines))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(lines);
    Place *places = PyMem_Malloc(((size_t)count + 1) * (sizeof *places + sizeof(double)));
    if (places == NULL)
        return PyErr_NoMemory();
    for (Py_ssize_t number = 0; good > 0 && number < count; number++)
        good = add_looks(&looks, PyList_GET_ITEM(lines, number), places + number);
    if (good > 0)
        told = told_of(&looks, places, count, (double *)(places + count + 1));
    else if (good < 0)
        told = Py_NewRef(Py_None);
    PyMem_Free(places);
    return told;
}

/* Edges */

/* Returns the lines that end above a height, those that begin below another, and where the rest begins and ends. */
static PyObject *parted(PyObject *module, PyObject *arguments) {
    PyObject *lines;
    double upper, lower, top, bottom;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "Odddd", &lines, &upper, &lower, &top, &bottom) || !is_list_of_lines(lines))
        return NULL;
    PyObject *above = PyList_New(0), *below = PyList_New(0);
    int good = above != NULL && below != NULL;
    for (Py_ssize_t number = 0; good && number < PyList_GET_SIZE(lines); number++) {
        PyObject *line = PyList_GET_ITEM(lines, number);
        Place place;
        if (!(good = line_place(line, &place)))
            break;
        if (place.y1 < upper || place.y0 > lower) {
            good = !PyList_Append(place.y1 < upper ? above : below, line);
            continue;
        }
        top = place.y0 < top ? place.y0 : top;
        bottom = place.y1 > bottom ? place.y1 : bottom;
    }
    if (good)
        return Py_BuildValue("(NNdd)", above, below, top, bottom);
    Py_XDECREF(above), Py_XDECREF(below);
    return NULL;
}

/* Rows */

typedef struct {
    PyObject *line;
    Place place;
    Py_ssize_t number;
} Standing;

static int by_height(const void *first, const void *second) {
    const Standing *one = first, *other = second;
    double way = (one->place.y0 + one->place.y1) - (other->place.y0 + other->place.y1);
    return way != 0 ? (way > 0) - (way < 0) : (one->number > other->number) - (one->number < other->number);
}

static int by_left(const void *first, const void *second) {
    const Standing *one = first, *other = second;
    double way = one->place.x0 - other->place.x0;
    return way != 0 ? (way > 0) - (way < 0) : (one->number > other->number) - (one->number < other->number);
}

/* Adds lines as one row from left to right. */
static int add_row(PyObject *rows, Standing *lines, Py_ssize_t count) {
    PyObject *row = PyList_New(count);
    if (row == NULL)
        return 0;
    for (Py_ssize_t number = 0; number < count; number++)
        lines[number].number = number; /* lines at one place stay in their order from top to bottom */
    qsort(lines, (size_t)count, sizeof *lines, by_left);
    for (Py_ssize_t number = 0; number < count; number++)
        PyList_SET_ITEM(row, number, Py_NewRef(lines[number].line));
    int failed = PyList_Append(rows, row);
    Py_DECREF(row);
    return !failed;
}

static PyObject *line_rows(PyObject *module, PyObject *lines) {
    (void)module;
    if (!is_list_of_lines(lines))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(lines), first = 0;
    Standing *standing = PyMem_Malloc(((size_t)count + 1) * sizeof *standing);
    if (standing == NULL)
        return PyErr_NoMemory();
    PyObject *rows = PyList_New(0);
    int good = rows != NULL;
    for (Py_ssize_t number = 0; good && number < count; number++) {
        standing[number] = (Standing){.line = PyList_GET_ITEM(lines, number), .number = number};
        good = line_place(standing[number].line, &standing[number].place);
    }
    if (good)
        qsort(standing, (size_t)count, sizeof *standing, by_height);
    double low = 0;
    for (Py_ssize_t number = 0; good && number < count; number++) {
        const Place *place = &standing[number].place;
        if (number && (place->y0 + place->y1) / 2 < low)
            continue;
        if (number)
            good = add_row(rows, standing + first, number - first);
        low = place->y0 + 0.75 * (place->y1 - place->y0);
        first = number;
    }
    if (good && count)
        good = add_row(rows, standing + first, count - first);
    PyMem_Free(standing);
    if (!good)
        Py_CLEAR(rows);
    return rows;
}

PyMethodDef look_functions[] = {
    {"page_looks", page_looks, METH_O,
     "page_looks(lines)\n--\n\nReturn the size that there is most of, the largest that is much text, how far lines are apart,\n"
     "and whether most is bold or monospaced; None where there are too many sizes."},
    {"parted", parted, METH_VARARGS,
     "parted(lines, upper, lower, top, bottom)\n--\n\n"
     "Return the lines above a height, those below another, and where the rest begins and ends."},
    {"line_rows", line_rows, METH_O,
     "line_rows(lines)\n--\n\nReturn lines in rows from top to bottom, each from left to right."},
    {NULL, NULL, 0, NULL},
};
