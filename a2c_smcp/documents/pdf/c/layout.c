/* What is asked of the lines of every page: their looks, their places, and their text as one. */

#include "native.h"

static PyObject *text_in(PyObject *line) { return record_get(&line_record, line, TEXT); }

static int is_list_of_lines(PyObject *lines) {
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

static int is_true(const Record *record, PyObject *instance, int field) {
    return record_get(record, instance, field) == Py_True;
}

/* Boxes and texts */

static PyObject *box_of(PyObject *module, PyObject *lines) {
    (void)module;
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

static int is_wide(Py_UCS4 sign) {
    return (sign >= 0x2E80 && sign <= 0x30FF) || (sign >= 0x3400 && sign <= 0x9FFF) || (sign >= 0xF900 && sign <= 0xFAFF) ||
           (sign >= 0xFF00 && sign <= 0xFFEF);
}

/* Returns lines as one paragraph; None where a word is divided, or a text has line ends of its own. */
static PyObject *joined_text(PyObject *module, PyObject *lines) {
    (void)module;
    if (!is_list_of_lines(lines))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(lines);
    for (Py_ssize_t number = 0; number < count; number++) {
        PyObject *line = PyList_GET_ITEM(lines, number), *text = text_in(line);
        Py_ssize_t length = PyUnicode_GET_LENGTH(text);
        if (!length || PyUnicode_FindChar(text, '\n', 0, length, 1) != -1 ||
            (number < count - 1 && is_true(&line_record, line, JOINED)))
            Py_RETURN_NONE;
    }
    PyObject *parts = PyList_New(0), *blank = PyUnicode_FromOrdinal(' '), *empty = PyUnicode_New(0, 0), *found = NULL;
    int good = parts != NULL && blank != NULL && empty != NULL;
    Py_UCS4 last = 0;
    for (Py_ssize_t number = 0; good && number < count; number++) {
        PyObject *text = text_in(PyList_GET_ITEM(lines, number));
        if (number && !(is_wide(last) && is_wide(PyUnicode_READ_CHAR(text, 0))))
            good = !PyList_Append(parts, blank);
        last = PyUnicode_READ_CHAR(text, PyUnicode_GET_LENGTH(text) - 1);
        good = good && !PyList_Append(parts, text);
    }
    if (good)
        found = PyUnicode_Join(empty, parts);
    Py_XDECREF(parts), Py_XDECREF(blank), Py_XDECREF(empty);
    return found;
}

/* Looks */

/* Returns how much text there is of each size, how much is bold and how much monospaced, and all. */
static PyObject *shares_of(PyObject *module, PyObject *lines) {
    (void)module;
    if (!is_list_of_lines(lines))
        return NULL;
    PyObject *sizes = PyDict_New();
    Py_ssize_t bold = 0, mono = 0, total = 0;
    for (Py_ssize_t number = 0; sizes != NULL && number < PyList_GET_SIZE(lines); number++) {
        PyObject *line = PyList_GET_ITEM(lines, number), *font = record_get(&line_record, line, FONT);
        PyObject *size = record_get(&line_record, line, SIZE), *letters = record_get(&line_record, line, LENGTH);
        Py_ssize_t length = letters == NULL ? -1 : PyLong_AsSsize_t(letters);
        if (PyErr_Occurred() || !record_check(&font_record, font)) {
            Py_CLEAR(sizes);
            break;
        }
        total += length;
        bold += is_true(&font_record, font, BOLD) ? length : 0;
        mono += is_true(&font_record, font, MONO) ? length : 0;
        PyObject *before = PyDict_GetItemWithError(sizes, size);
        PyObject *after = PyErr_Occurred() ? NULL : PyLong_FromSsize_t(length + (before ? PyLong_AsSsize_t(before) : 0));
        if (after == NULL || PyDict_SetItem(sizes, size, after))
            Py_CLEAR(sizes);
        Py_XDECREF(after);
    }
    return sizes == NULL ? NULL : Py_BuildValue("(Nnnn)", sizes, bold, mono, total);
}

/* Returns how far down each line of a size is below the one before, where that is between two ways. */
static PyObject *steps_of(PyObject *module, PyObject *arguments) {
    PyObject *lines;
    double size, least, most;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "Oddd", &lines, &size, &least, &most) || !is_list_of_lines(lines))
        return NULL;
    PyObject *steps = PyList_New(0);
    Place last = {0}, line;
    for (Py_ssize_t number = 0; steps != NULL && number < PyList_GET_SIZE(lines); number++, last = line) {
        if (!line_place(PyList_GET_ITEM(lines, number), &line)) {
            Py_CLEAR(steps);
            break;
        }
        double down = number ? line.y0 - last.y0 : 0;
        if (!number || line.size != size || !(least < down && down < most))
            continue;
        PyObject *step = PyFloat_FromDouble(down);
        if (step == NULL || PyList_Append(steps, step))
            Py_CLEAR(steps);
        Py_XDECREF(step);
    }
    return steps;
}

/* Returns the lines that end above a height, those between, and those that begin below another. */
static PyObject *parted(PyObject *module, PyObject *arguments) {
    PyObject *lines;
    double upper, lower;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "Odd", &lines, &upper, &lower) || !is_list_of_lines(lines))
        return NULL;
    PyObject *above = PyList_New(0), *inside = PyList_New(0), *below = PyList_New(0);
    int good = above != NULL && inside != NULL && below != NULL;
    for (Py_ssize_t number = 0; good && number < PyList_GET_SIZE(lines); number++) {
        PyObject *line = PyList_GET_ITEM(lines, number);
        Place place;
        good = line_place(line, &place) &&
               !PyList_Append(place.y1 < upper ? above : place.y0 > lower ? below : inside, line);
    }
    if (good)
        return Py_BuildValue("(NNN)", above, inside, below);
    Py_XDECREF(above), Py_XDECREF(inside), Py_XDECREF(below);
    return NULL;
}

PyMethodDef layout_functions[] = {
    {"box_of", box_of, METH_O, "box_of(lines)\n--\n\nReturn the place of all lines."},
    {"joined_text", joined_text, METH_O,
     "joined_text(lines)\n--\n\nReturn lines as one paragraph; None where a word is divided."},
    {"shares_of", shares_of, METH_O,
     "shares_of(lines)\n--\n\nReturn how much text there is of each size, how much is bold, how much monospaced, and all."},
    {"steps_of", steps_of, METH_VARARGS,
     "steps_of(lines, size, least, most)\n--\n\nReturn the ways down to lines of a size that are between two."},
    {"parted", parted, METH_VARARGS,
     "parted(lines, upper, lower)\n--\n\nReturn the lines above a height, those between, and those below another."},
    {NULL, NULL, 0, NULL},
};
