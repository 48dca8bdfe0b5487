/* Lines of code as they are indented: what `_listing` of pieces.py does. */

#include "native.h"

#include <math.h>

enum { FARTHEST = 80 };

typedef struct {
    Place *places;
    double *widths;
    Py_ssize_t count;
    double left, wide;
} Listing;

/* Reads where lines are and how wide a letter is; returns 1, 0 and an error, or -1 where a line has no text. */
static int measure(Listing *listing, PyObject *lines) {
    for (Py_ssize_t number = 0; number < listing->count; number++) {
        PyObject *line = PyList_GET_ITEM(lines, number);
        Place *place = listing->places + number;
        if (!line_place(line, place))
            return 0;
        Py_ssize_t length = PyUnicode_GET_LENGTH(record_get(&line_record, line, TEXT));
        if (!length)
            return -1;
        listing->left = !number || place->x0 < listing->left ? place->x0 : listing->left;
        listing->widths[number] = (place->x1 - place->x0) / (double)length;
    }
    qsort(listing->widths, (size_t)listing->count, sizeof *listing->widths, by_number);
    listing->wide = listing->widths[listing->count / 2];
    listing->wide = listing->wide != 0 ? listing->wide : 1.0;
    return 1;
}

/* How many blanks are as wide as a gap. */
static Py_ssize_t blanks_in(const Listing *listing, double gap, Py_ssize_t least) {
    double blanks = rint(gap / listing->wide);
    return !(blanks > (double)least) ? least : blanks > FARTHEST ? FARTHEST : (Py_ssize_t)blanks;
}

/* Tells how many blanks stand before a line, and whether it goes on in the row of the last. */
static Py_ssize_t blanks_before(const Listing *listing, Py_ssize_t number, int *goes_on) {
    const Place *line = listing->places + number, *last = number ? line - 1 : NULL;
    *goes_on = last != NULL && fabs(line->y0 - last->y0) < 0.5 * line->size && line->x0 > last->x1;
    return *goes_on ? blanks_in(listing, line->x0 - last->x1, 1) : blanks_in(listing, line->x0 - listing->left, 0);
}

static void write_signs(PyObject *whole, Py_ssize_t *at, Py_ssize_t count, Py_UCS4 sign) {
    for (; count > 0; count--)
        PyUnicode_WRITE(PyUnicode_KIND(whole), PyUnicode_DATA(whole), (*at)++, sign);
}

static PyObject *written(const Listing *listing, PyObject *lines) {
    Py_ssize_t length = 0, at = 0;
    Py_UCS4 largest = 0;
    int goes_on;
    for (Py_ssize_t number = 0; number < listing->count; number++) {
        PyObject *line = PyList_GET_ITEM(lines, number), *text = record_get(&line_record, line, TEXT);
        length += blanks_before(listing, number, &goes_on) + PyUnicode_GET_LENGTH(text);
        length += goes_on ? 0 : (number > 0) + (record_get(&line_record, line, JOINED) == Py_True);
        largest = PyUnicode_MAX_CHAR_VALUE(text) > largest ? PyUnicode_MAX_CHAR_VALUE(text) : largest;
    }
    PyObject *whole = PyErr_Occurred() ? NULL : PyUnicode_New(length, largest);
    for (Py_ssize_t number = 0; whole != NULL && number < listing->count; number++) {
        PyObject *line = PyList_GET_ITEM(lines, number), *text = record_get(&line_record, line, TEXT);
        Py_ssize_t blanks = blanks_before(listing, number, &goes_on);
        write_signs(whole, &at, !goes_on && number, '\n');
        write_signs(whole, &at, blanks, ' ');
        if (PyUnicode_CopyCharacters(whole, at, text, 0, PyUnicode_GET_LENGTH(text)) < 0) {
            Py_CLEAR(whole);
            break;
        }
        at += PyUnicode_GET_LENGTH(text);
        write_signs(whole, &at, !goes_on && record_get(&line_record, line, JOINED) == Py_True, '-');
    }
    return whole;
}

PyObject *listing_of_lines(PyObject *lines) {
    PyObject *whole = NULL;
    if (!is_list_of_lines(lines))
        return NULL;
    Listing listing = {.count = PyList_GET_SIZE(lines)};
    if (!listing.count)
        Py_RETURN_NONE;
    listing.places = PyMem_Malloc((size_t)listing.count * (sizeof *listing.places + sizeof *listing.widths));
    if (listing.places == NULL)
        return PyErr_NoMemory();
    listing.widths = (double *)(listing.places + listing.count);
    int measured = measure(&listing, lines);
    if (measured > 0)
        whole = written(&listing, lines);
    else if (measured < 0)
        whole = Py_NewRef(Py_None);
    PyMem_Free(listing.places);
    return whole;
}
