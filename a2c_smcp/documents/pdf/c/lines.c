/* The lines of a page, and the words of lines, with their places. */

#include "characters.h"

#include <math.h>

/* Boxes are as high as the size tells, so that lines of one font whose ends are alike share their size. */
typedef struct {
    Handle handle;
    long first, last;
    double size;
    int is_known;
} Alike;

/* The sizes of a page by what tells them: a table of a power of two of places, of which half are free. */
typedef struct {
    Alike *places;
    size_t room, count;
} Sizes;

static Alike *place_of(const Sizes *sizes, const Alike *alike) {
    size_t mix = (size_t)alike->handle / 16 * 31 + (size_t)alike->first * 1009 + (size_t)alike->last * 9176741;
    for (size_t at = mix;; at++) {
        Alike *place = sizes->places + (at & (sizes->room - 1));
        if (!place->is_known ||
            (place->handle == alike->handle && place->first == alike->first && place->last == alike->last))
            return place;
    }
}

static int make_room(Sizes *sizes) {
    Sizes larger = {NULL, sizes->room ? sizes->room * 4 : 64, sizes->count};
    larger.places = PyMem_Calloc(larger.room, sizeof *larger.places);
    if (larger.places == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    for (size_t at = 0; at < sizes->room; at++)
        if (sizes->places[at].is_known)
            *place_of(&larger, sizes->places + at) = sizes->places[at];
    PyMem_Free(sizes->places);
    *sizes = larger;
    return 1;
}

typedef struct {
    Characters *characters;
    PyObject *lines;
    Fonts fonts;
    Sizes sizes;
} Lines;

static long fiftieths(double high) { return fabs(high) < 1e6 ? (long)(high * 50) : 0; }

/* Puts the size of a line into `to`. */
static int size_of(Lines *made, int index, Handle handle, Box first, Box last, double *to) {
    Alike alike = {
        .handle = handle,
        .first = fiftieths((double)first.top - first.bottom),
        .last = fiftieths((double)last.top - last.bottom),
        .is_known = 1,
    };
    if (made->sizes.count * 2 >= made->sizes.room && !make_room(&made->sizes))
        return 0;
    Alike *place = place_of(&made->sizes, &alike);
    if (!place->is_known || place->size == 0) {
        made->sizes.count += !place->is_known;
        alike.size = size_at(made->characters, index);
        *place = alike;
    }
    *to = place->size;
    return 1;
}

/* Adds the line from `start` until before `end`. */
static int add_line(Lines *made, Py_ssize_t start, Py_ssize_t end, int joined) {
    Characters *self = made->characters;
    Py_ssize_t half = start + (end - start) / 2;
    /* A blank that PDFium has put in has no font. */
    int middle = index_of(self, PyUnicode_READ_CHAR(self->text, half) == ' ' ? half - 1 : half);
    Handle handle = font_handle(self, middle);
    Box first = box_at(self, start), last = box_at(self, end - 1);
    double place[4], size;
    if (!shown(self, united(first, last), place) || !size_of(made, middle, handle, first, last, &size))
        return 0;
    PyObject *values[LINE_FIELDS] = {
        [TEXT] = PyUnicode_Substring(self->text, start, end),
        [X0] = PyFloat_FromDouble(place[0]),
        [Y0] = PyFloat_FromDouble(place[1]),
        [X1] = PyFloat_FromDouble(place[2]),
        [Y1] = PyFloat_FromDouble(place[3]),
        [SIZE] = PyFloat_FromDouble(size),
        [FONT] = font_of(self, &made->fonts, middle, handle),
        [POSITION] = PyLong_FromSsize_t(start),
        [LENGTH] = PyLong_FromSsize_t(end - start),
        [JOINED] = PyBool_FromLong(joined),
    };
    PyObject *line = record_make(&line_record, values);
    int failed = line == NULL || PyList_Append(made->lines, line);
    Py_XDECREF(line);
    return !failed;
}

PyObject *lines(Characters *self, PyObject *book) {
    Lines made = {.characters = self, .lines = PyList_New(0)};
    int good = made.lines != NULL && fonts_open(&made.fonts, book);
    int kind = PyUnicode_KIND(self->text);
    const void *signs = PyUnicode_DATA(self->text);
    Py_ssize_t length = PyUnicode_GET_LENGTH(self->text), begin = 0;
    /* What PDFium puts where a word was divided ends a line as well; no other line end is written there. */
    for (Py_ssize_t at = 0; good && at <= length; at++) {
        Py_UCS4 sign = at < length ? PyUnicode_READ(kind, signs, at) : '\r';
        int is_end = at == length || (sign == '\r' && at + 1 < length && PyUnicode_READ(kind, signs, at + 1) == '\n');
        if (!is_end && sign != HYPHEN)
            continue;
        Py_ssize_t start = begin, end = at;
        while (start < end && Py_UNICODE_ISSPACE(PyUnicode_READ(kind, signs, start)))
            start++;
        while (start < end && Py_UNICODE_ISSPACE(PyUnicode_READ(kind, signs, end - 1)))
            end--;
        if (start < end)
            good = add_line(&made, start, end, !is_end);
        at += is_end;
        begin = at + 1;
    }
    fonts_close(&made.fonts);
    PyMem_Free(made.sizes.places);
    if (!good)
        Py_CLEAR(made.lines);
    return made.lines;
}

/* Words */

/* Whether words are as high as their line: those of a plain line are. -1 and an error where the line cannot tell. */
static int is_level(Characters *self, PyObject *line) {
    if (!self->is_direct || !self->is_plain)
        return 0;
    PyObject *is_upright = PyObject_GetAttrString(line, "is_upright");
    int level = is_upright == NULL ? -1 : PyObject_IsTrue(is_upright);
    Py_XDECREF(is_upright);
    return level;
}

static PyObject *word_of(Characters *self, PyObject *line, int level, Py_ssize_t start, Py_ssize_t end) {
    double place[4];
    if (!shown(self, united(box_at(self, start), box_at(self, end - 1)), place))
        return NULL;
    PyObject *values[WORD_FIELDS] = {
        [TEXT] = PyUnicode_Substring(self->text, start, end),
        [X0] = PyFloat_FromDouble(place[0]),
        [Y0] = level ? Py_XNewRef(record_get(&line_record, line, Y0)) : PyFloat_FromDouble(place[1]),
        [X1] = PyFloat_FromDouble(place[2]),
        [Y1] = level ? Py_XNewRef(record_get(&line_record, line, Y1)) : PyFloat_FromDouble(place[3]),
        [LINE] = Py_NewRef(line),
    };
    return record_make(&word_record, values);
}

static PyObject *whole_line(PyObject *line) {
    PyObject *values[WORD_FIELDS];
    for (int field = TEXT; field <= Y1; field++)
        values[field] = Py_XNewRef(record_get(&line_record, line, field));
    values[LINE] = Py_NewRef(line);
    return record_make(&word_record, values);
}

/* Puts a field of a line that counts characters into `to`; returns 0 and sets an error if it is none. */
static int read_count(PyObject *line, int field, Py_ssize_t *to) {
    PyObject *value = record_get(&line_record, line, field);
    *to = value == NULL ? -1 : PyLong_AsSsize_t(value);
    if (*to < 0 && !PyErr_Occurred())
        PyErr_SetString(PyExc_ValueError, "line is not in the text");
    return *to >= 0;
}

static PyObject *words_in(Characters *self, PyObject *line) {
    Py_ssize_t at, length, stop;
    if (!record_check(&line_record, line) || !read_count(line, POSITION, &at) || !read_count(line, LENGTH, &length))
        return NULL;
    stop = PyUnicode_GET_LENGTH(self->text);
    if (at > stop || length > stop - at) {
        PyErr_SetString(PyExc_IndexError, "the line is not on this page");
        return NULL;
    }
    stop = at + length;
    int kind = PyUnicode_KIND(self->text), level = is_level(self, line);
    const void *signs = PyUnicode_DATA(self->text);
    if (level < 0)
        return NULL;
    PyObject *words = PyList_New(0);
    while (words != NULL && at < stop) {
        Py_UCS4 sign = PyUnicode_READ(kind, signs, at);
        if (sign == HYPHEN || Py_UNICODE_ISSPACE(sign)) {
            at++;
            continue;
        }
        Py_ssize_t start = at;
        while (at < stop && (sign = PyUnicode_READ(kind, signs, at)) != HYPHEN && !Py_UNICODE_ISSPACE(sign))
            at++;
        /* The box of a line that is one word is known. */
        PyObject *word = at - start == length ? whole_line(line) : word_of(self, line, level, start, at);
        if (word == NULL || PyList_Append(words, word))
            Py_CLEAR(words);
        Py_XDECREF(word);
    }
    return words;
}

PyObject *words(Characters *self, PyObject *lines) {
    PyObject *all = PySequence_Fast(lines, "expected lines");
    if (all == NULL)
        return NULL;
    Py_ssize_t count = PySequence_Fast_GET_SIZE(all);
    PyObject *found = PyList_New(count);
    for (Py_ssize_t number = 0; found != NULL && number < count; number++) {
        PyObject *inside = words_in(self, PySequence_Fast_GET_ITEM(all, number));
        if (inside == NULL)
            Py_CLEAR(found);
        else
            PyList_SET_ITEM(found, number, inside);
    }
    Py_DECREF(all);
    return found;
}
