/* Where in a line a place is, and what stands between two. */

#include "characters.h"

/* Where a character begins and ends from left to right. */
static int span_of(Characters *self, Py_ssize_t position, double *left, double *right) {
    double place[4];
    if (!shown(self, box_at(self, position), place))
        return 0;
    *left = place[0], *right = place[2];
    return 1;
}

static long steps(double way) { return way > 1e6 ? 1000000 : !(way > -1e6) ? -1000000 : (long)way; }

/* Puts how many letters of a line are left of `x`, by their middles, into `to`; looks first where `x` should be. */
static int letters_left_of(Characters *self, const Place *line, double x, Py_ssize_t *to) {
    double left, right, width = (line->x1 - line->x0) / (double)(line->length > 0 ? line->length : 1);
    width = width > 0.01 ? width : 0.01;
    Py_ssize_t low = 0, high = line->length; /* so many are left of it at least, and at most */
    Py_ssize_t at = steps((x - line->x0) / width);
    while (low < high) {
        at = at < low ? low : at >= high ? high - 1 : at;
        if (!span_of(self, line->position + at, &left, &right))
            return 0;
        double way = x - (left + right) / 2;
        if (way > 0) {
            low = at + 1;
            at = low + steps(way / width);
        } else {
            high = at;
            at = high - 1 + steps(way / width);
        }
    }
    *to = low;
    return 1;
}

PyObject *nearest(Characters *self, PyObject *const *arguments, Py_ssize_t count) {
    Place line;
    Py_ssize_t left;
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "expected a line and a place");
        return NULL;
    }
    double x;
    if (!read_number(arguments[1], &x) || !line_whole(arguments[0], &line) || !letters_left_of(self, &line, x, &left))
        return NULL;
    return PyLong_FromSsize_t(left);
}

/* Returns what stands between two places of a line; Py_None where it must be cleaned. */
static PyObject *part_of(Characters *self, const Place *line, double x0, double x1) {
    Py_ssize_t start, end, length = PyUnicode_GET_LENGTH(self->text);
    if (!letters_left_of(self, line, x0 - 0.5, &start) || !letters_left_of(self, line, x1 + 0.5, &end))
        return NULL;
    start += line->position, end += line->position;
    end = end < length ? end : length;
    while (start < end && Py_UNICODE_ISSPACE(PyUnicode_READ_CHAR(self->text, start)))
        start++;
    while (start < end && Py_UNICODE_ISSPACE(PyUnicode_READ_CHAR(self->text, end - 1)))
        end--;
    if (!self->is_clean || (start < end && PyUnicode_FindChar(self->text, HYPHEN, start, end, 1) >= 0))
        Py_RETURN_NONE;
    return PyUnicode_Substring(self->text, start, end);
}

int read_places(PyObject *lines, Place *places) {
    for (Py_ssize_t number = 0; number < PyTuple_GET_SIZE(lines); number++)
        if (!line_whole(PyTuple_GET_ITEM(lines, number), places + number))
            return 0;
    return 1;
}

PyObject *text_between(Characters *self, PyObject *lines, const Place *places, const double *box) {
    PyObject *found = NULL;
    for (Py_ssize_t number = 0; number < PyTuple_GET_SIZE(lines); number++) {
        const Place *place = places + number;
        double middle = place->y0 + place->y1;
        if (middle < 2 * box[1] || middle > 2 * box[3] || place->x1 <= box[0] || place->x0 >= box[2])
            continue;
        int is_whole = box[0] <= place->x0 + 1 && place->x1 - 1 <= box[2];
        PyObject *part = is_whole ? Py_XNewRef(record_get(&line_record, PyTuple_GET_ITEM(lines, number), TEXT))
                                  : part_of(self, place, box[0], box[2]);
        if (part == NULL || !PyUnicode_Check(part)) { /* None, where it must be cleaned */
            Py_XDECREF(found);
            return part;
        }
        if (found == NULL || !PyUnicode_GET_LENGTH(found))
            Py_XSETREF(found, part);
        else if (!PyUnicode_GET_LENGTH(part))
            Py_DECREF(part);
        else {
            Py_SETREF(found, PyUnicode_FromFormat("%U %U", found, part));
            Py_DECREF(part);
        }
        if (found == NULL)
            return NULL;
    }
    return found == NULL ? Py_NewRef(strings.empty) : found;
}

PyObject *text_in(Characters *self, PyObject *arguments) {
    PyObject *lines;
    double box[4];
    if (!PyArg_ParseTuple(arguments, "O!(dddd)", &PyList_Type, &lines, box, box + 1, box + 2, box + 3))
        return NULL;
    PyObject *kept = PyList_AsTuple(lines), *text = NULL;
    Place *places = kept == NULL ? NULL : PyMem_Malloc(((size_t)PyTuple_GET_SIZE(kept) + 1) * sizeof *places);
    if (places == NULL)
        PyErr_NoMemory();
    else if (read_places(kept, places))
        text = text_between(self, kept, places, box);
    PyMem_Free(places);
    Py_XDECREF(kept);
    return text;
}

PyObject *widest_gap(Characters *self, PyObject *of) {
    Place line;
    if (!line_whole(of, &line))
        return NULL;
    double best = 0, middle = 0, left, right, unused;
    Py_ssize_t stop = line.position + line.length * 3 / 4, length = PyUnicode_GET_LENGTH(self->text);
    stop = stop < length - 1 ? stop : length - 1;
    for (Py_ssize_t at = line.position + line.length / 4; at < stop; at++) {
        if (at < 1 || PyUnicode_READ_CHAR(self->text, at) != ' ')
            continue;
        if (!span_of(self, at - 1, &unused, &left) || !span_of(self, at + 1, &right, &unused))
            return NULL;
        if (right - left > best)
            best = right - left, middle = (right + left) / 2;
    }
    return Py_BuildValue("(ddd)", middle, best, line.size);
}
