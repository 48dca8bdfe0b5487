/* The paths of a page: which are drawn, and of what segments they consist. */

#include "native.h"

/* Returns what `ask` says of each path, as a list. */
static PyObject *each_of(PyObject *handles, PyObject *(*ask)(Handle)) {
    if (!PyList_Check(handles))
        return PyErr_Format(PyExc_TypeError, "expected a list of handles, not %R", (PyObject *)Py_TYPE(handles));
    PyObject *found = PyList_New(PyList_GET_SIZE(handles));
    for (Py_ssize_t number = 0; found != NULL && number < PyList_GET_SIZE(handles); number++) {
        Handle path = handle_of(PyList_GET_ITEM(handles, number));
        PyObject *said = PyErr_Occurred() ? NULL : ask(path);
        if (said == NULL)
            Py_CLEAR(found);
        else
            PyList_SET_ITEM(found, number, said);
    }
    return found;
}

static PyObject *is_drawn(Handle path) {
    int fill = 0, stroke = 0;
    pdfium.FPDFPath_GetDrawMode(path, &fill, &stroke);
    return PyBool_FromLong(fill || stroke);
}

static PyObject *count_of(Handle path) { return PyLong_FromLong(pdfium.FPDFPath_CountSegments(path)); }

static PyObject *are_drawn(PyObject *module, PyObject *handles) {
    (void)module;
    return each_of(handles, is_drawn);
}

static PyObject *segment_counts(PyObject *module, PyObject *handles) {
    (void)module;
    return each_of(handles, count_of);
}

static PyObject *segments_of(PyObject *module, PyObject *arguments) {
    PyObject *handle;
    int count;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "Oi", &handle, &count))
        return NULL;
    Handle path = handle_of(handle);
    if (PyErr_Occurred())
        return NULL;
    count = count < 0 ? 0 : count;
    PyObject *kinds = PyList_New(count), *points = PyList_New(count);
    int good = kinds != NULL && points != NULL;
    for (int number = 0; good && number < count; number++) {
        float x = 0, y = 0;
        Handle segment = pdfium.FPDFPath_GetPathSegment(path, number);
        pdfium.FPDFPathSegment_GetPoint(segment, &x, &y);
        PyObject *kind = PyLong_FromLong(pdfium.FPDFPathSegment_GetType(segment));
        PyObject *point = Py_BuildValue("(dd)", (double)x, (double)y);
        good = kind != NULL && point != NULL;
        PyList_SET_ITEM(kinds, number, kind);
        PyList_SET_ITEM(points, number, point);
    }
    if (good)
        return Py_BuildValue("(NN)", kinds, points);
    Py_XDECREF(kinds), Py_XDECREF(points);
    return NULL;
}

PyMethodDef path_functions[] = {
    {"are_drawn", are_drawn, METH_O, "are_drawn(handles)\n--\n\nReturn which paths are filled or stroked; others only clip."},
    {"segment_counts", segment_counts, METH_O, "segment_counts(handles)\n--\n\nReturn how many segments each path has."},
    {"segments_of", segments_of, METH_VARARGS,
     "segments_of(handle, count)\n--\n\nReturn the kinds of the segments of a path, and the points where they end."},
    {NULL, NULL, 0, NULL},
};
