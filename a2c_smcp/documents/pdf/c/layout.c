/* The place of lines, and their text as one. */

#include "native.h"

static PyObject *text_in(PyObject *line) { return record_get(&line_record, line, TEXT); }

int is_list_of_lines(PyObject *lines) {
    if (!PyList_Check(lines)) {
        PyErr_SetString(PyExc_TypeError, "expected a list of lines");
        return 0;
    }
    for (Py_ssize_t number = 0; number < PyList_GET_SIZE(lines); number++) {
        PyObject *line = PyList_GET_ITEM(lines, number);
        PyObject *text = record_check(&line_record, line) ? text_in(line) : NULL;
        if (text == NULL)
            return 0;
        if (!PyUnicode_Check(text)) {
            PyErr_SetString(PyExc_TypeError, "the text of a line is a string");
            return 0;
        }
    }
    return 1;
}

PyObject *box_of_lines(PyObject *lines) {
    if (!is_list_of_lines(lines))
        return NULL;
    if (!PyList_GET_SIZE(lines)) {
        PyErr_SetString(PyExc_IndexError, "no lines");
        return NULL;
    }
    double box[4] = {0, 0, 0, 0};
    for (Py_ssize_t number = 0; number < PyList_GET_SIZE(lines); number++) {
        Place line;
        if (!line_place(PyList_GET_ITEM(lines, number), &line))
            return NULL;
        box[0] = !number || line.x0 < box[0] ? line.x0 : box[0];
        box[1] = !number || line.y0 < box[1] ? line.y0 : box[1];
        box[2] = !number || line.x1 > box[2] ? line.x1 : box[2];
        box[3] = !number || line.y1 > box[3] ? line.y1 : box[3];
    }
    return four(box[0], box[1], box[2], box[3]);
}

static PyObject *box_of(PyObject *module, PyObject *lines) {
    (void)module;
    return box_of_lines(lines);
}

static int is_wide(Py_UCS4 sign) {
    return (sign >= 0x2E80 && sign <= 0x30FF) || (sign >= 0x3400 && sign <= 0x9FFF) || (sign >= 0xF900 && sign <= 0xFAFF) ||
           (sign >= 0xFF00 && sign <= 0xFFEF);
}

/* Returns what stands between the texts of a line and of the next one; 0 for nothing. */
static Py_UCS4 between(PyObject *line, PyObject *next) {
    PyObject *text = text_in(line);
    Py_UCS4 last = PyUnicode_READ_CHAR(text, PyUnicode_GET_LENGTH(text) - 1), first = PyUnicode_READ_CHAR(text_in(next), 0);
    if (record_get(&line_record, line, JOINED) == Py_True) /* a name or a number after the hyphen was no divided word */
        return Py_UNICODE_ISLOWER(first) ? 0 : '-';
    return is_wide(last) && is_wide(first) ? 0 : ' ';
}

PyObject *text_of_lines(PyObject *lines) {
    if (!is_list_of_lines(lines))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(lines), length = count ? count - 1 : 0, at = 0;
    Py_UCS4 largest = 0;
    for (Py_ssize_t number = 0; number < count; number++) {
        PyObject *text = text_in(PyList_GET_ITEM(lines, number));
        Py_ssize_t size = PyUnicode_GET_LENGTH(text);
        if (!size || PyUnicode_FindChar(text, '\n', 0, size, 1) != -1)
            Py_RETURN_NONE;
        length += size;
        largest = PyUnicode_MAX_CHAR_VALUE(text) > largest ? PyUnicode_MAX_CHAR_VALUE(text) : largest;
    }
    if (count == 1)
        return Py_NewRef(text_in(PyList_GET_ITEM(lines, 0)));
    for (Py_ssize_t number = 0; number < count - 1; number++)
        length -= !between(PyList_GET_ITEM(lines, number), PyList_GET_ITEM(lines, number + 1));
    PyObject *whole = PyUnicode_New(length, largest);
    for (Py_ssize_t number = 0; whole != NULL && number < count; number++) {
        PyObject *line = PyList_GET_ITEM(lines, number), *text = text_in(line);
        Py_ssize_t size = PyUnicode_GET_LENGTH(text);
        if (PyUnicode_CopyCharacters(whole, at, text, 0, size) < 0)
            Py_CLEAR(whole);
        at += size;
        Py_UCS4 sign = number < count - 1 ? between(line, PyList_GET_ITEM(lines, number + 1)) : 0;
        if (whole != NULL && sign)
            PyUnicode_WRITE(PyUnicode_KIND(whole), PyUnicode_DATA(whole), at++, sign);
    }
    if (PyErr_Occurred()) /* whether a line is joined may be missing */
        Py_CLEAR(whole);
    return whole;
}

static PyObject *joined_text(PyObject *module, PyObject *lines) {
    (void)module;
    return text_of_lines(lines);
}

PyMethodDef layout_functions[] = {
    {"box_of", box_of, METH_O, "box_of(lines)\n--\n\nReturn the place of all lines."},
    {"joined_text", joined_text, METH_O,
     "joined_text(lines)\n--\n\nReturn lines as one paragraph; None where a text has line ends of its own."},
    {NULL, NULL, 0, NULL},
};
