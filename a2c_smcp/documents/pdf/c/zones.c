/* Which lines of a page look like rows of a table: they have more room than their letters need, or stand side by side. */

#include "native.h"

#include <math.h>

/* As in zones.py, where they are told. */
static const double ROOMY = 1.25, TIGHT = 0.95, TIGHT_WIDE = 1.04;
enum { SHORT_TEXT = 60, RUN = 4 };

typedef struct {
    PyObject *line, *text;
    Place place;
    int is_mono, is_ascii;
    double row;
} Short;

typedef struct {
    double narrow, wide, reach;
    int is_mono;
    PyObject *marked, *runs, *run;
    Place last;
    Short *shorts;
    Py_ssize_t short_count;
} Search;

static Py_ssize_t coded_length(PyObject *text) {
    Py_ssize_t length = 0;
    for (Py_ssize_t at = 0; at < PyUnicode_GET_LENGTH(text); at++) {
        Py_UCS4 sign = PyUnicode_READ_CHAR(text, at);
        length += sign < 0x80 || (sign >= 0xD800 && sign <= 0xDFFF) ? 1 : sign < 0x800 ? 2 : sign < 0x10000 ? 3 : 4;
    }
    return length;
}

static int mark(Search *search, double top, double bottom) {
    PyObject *zone = Py_BuildValue("(dd)", top, bottom);
    int failed = zone == NULL || PyList_Append(search->marked, zone);
    Py_XDECREF(zone);
    return !failed;
}

static const Short *found_at(const Search *search, double row) {
    for (Py_ssize_t number = 0; number < search->short_count; number++)
        if (search->shorts[number].row == row)
            return search->shorts + number;
    return NULL;
}

/* Keeps a short line, or marks it together with one at its height that it does not touch. */
static int add_short(Search *search, Short *line) {
    const Place *place = &line->place;
    line->row = rint((place->y0 + place->y1) / (place->size != 0 ? 2 * place->size : 1));
    const Short *other = found_at(search, line->row);
    other = other != NULL ? other : found_at(search, line->row - 1);
    other = other != NULL ? other : found_at(search, line->row + 1);
    if (other == NULL) {
        search->shorts[search->short_count++] = *line;
        return 1;
    }
    int is_apart = place->x0 > other->place.x1 || other->place.x0 > place->x1;
    if (!is_apart || (line->is_mono && other->is_mono && !search->is_mono))
        return 1;
    return mark(search, place->y0 < other->place.y0 ? place->y0 : other->place.y0,
                place->y1 > other->place.y1 ? place->y1 : other->place.y1);
}

/* Adds a line to the run of those that begin at one place below one another, or begins another run. */
static int add_to_run(Search *search, const Short *line) {
    double right = line->place.x0 - search->last.x0, down = line->place.y0 - search->last.y0;
    if (search->run == NULL || !(-3 < right && right < 3 && 0 < down && down < search->reach)) {
        Py_XDECREF(search->run);
        search->run = PyList_New(0);
        if (search->run == NULL || PyList_Append(search->runs, search->run))
            return 0;
    }
    search->last = line->place;
    return !PyList_Append(search->run, line->line);
}

static int look_at(Search *search, Short *line) {
    const Place *place = &line->place;
    double width = place->x1 - place->x0, size = place->size;
    Py_ssize_t length = PyUnicode_GET_LENGTH(line->text);
    double natural = 0.5 * (double)length;
    if (width >= search->wide && width <= (ROOMY * natural + 2) * size)
        return 1; /* running text, as most lines are */
    int is_loose = width > TIGHT * natural * size;
    if (is_loose && !line->is_ascii) {
        Py_ssize_t coded = coded_length(line->text);
        natural = 0.5 * natural + 0.25 * (double)coded;
        is_loose = width > ((double)coded > 1.6 * (double)length ? TIGHT_WIDE : TIGHT) * natural * size;
    }
    int has_blank = PyUnicode_FindChar(line->text, ' ', 0, length, 1) >= 0;
    if (width > (ROOMY * natural + 2) * size && has_blank) {
        if ((search->is_mono || !line->is_mono || !line->is_ascii) && !mark(search, place->y0, place->y1))
            return 0;
    } else if (width < search->narrow && length < SHORT_TEXT && !add_short(search, line)) {
        return 0;
    }
    /* Words with a gap among them are wider than such without, but those of a font for code are wide as well. */
    return !(width < search->wide && (is_loose || line->is_mono) && has_blank) || add_to_run(search, line);
}

static int read_line(PyObject *object, Short *line) {
    line->line = object;
    if (!line_place(object, &line->place))
        return 0;
    PyObject *font = record_get(&line_record, object, FONT);
    line->text = record_get(&line_record, object, TEXT);
    if (font == NULL || line->text == NULL || !record_check(&font_record, font))
        return 0;
    if (!PyUnicode_Check(line->text)) {
        PyErr_SetString(PyExc_TypeError, "the text of a line is a string");
        return 0;
    }
    line->is_mono = record_get(&font_record, font, MONO) == Py_True;
    line->is_ascii = PyUnicode_IS_ASCII(line->text);
    return !PyErr_Occurred();
}

/* Leaves out the runs of too few lines. */
static int drop_short_runs(PyObject *runs) {
    for (Py_ssize_t number = PyList_GET_SIZE(runs) - 1; number >= 0; number--)
        if (PyList_GET_SIZE(PyList_GET_ITEM(runs, number)) < RUN && PyList_SetSlice(runs, number, number + 1, NULL))
            return 0;
    return 1;
}

static PyObject *marked_lines(PyObject *module, PyObject *arguments) {
    PyObject *lines;
    Search search = {.run = NULL};
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!dddp", &PyList_Type, &lines, &search.narrow, &search.wide, &search.reach,
                          &search.is_mono))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(lines);
    search.shorts = PyMem_Calloc((size_t)count + 1, sizeof *search.shorts);
    if (search.shorts == NULL)
        return PyErr_NoMemory();
    search.marked = PyList_New(0), search.runs = PyList_New(0);
    int good = search.marked != NULL && search.runs != NULL;
    for (Py_ssize_t number = 0; good && number < count; number++) {
        Short line;
        good = read_line(PyList_GET_ITEM(lines, number), &line) && look_at(&search, &line);
    }
    Py_XDECREF(search.run);
    PyMem_Free(search.shorts);
    if (good && drop_short_runs(search.runs))
        return Py_BuildValue("(NN)", search.marked, search.runs);
    Py_XDECREF(search.marked), Py_XDECREF(search.runs);
    return NULL;
}

PyMethodDef zone_functions[] = {
    {"marked_lines", marked_lines, METH_VARARGS,
     "marked_lines(lines, narrow, wide, reach, is_mono)\n--\n\n"
     "Return where lines look like rows, and runs of short ones below one another that begin at one place."},
    {NULL, NULL, 0, NULL},
};
