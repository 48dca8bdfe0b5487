/* What is drawn on a page: its objects by kind, and where they are. */

#include "native.h"

enum { PATH = 2, IMAGE = 3, FORM = 5 };

static int add_handle(PyObject *list, Handle handle) {
    PyObject *number = PyLong_FromVoidPtr(handle);
    int failed = number == NULL || PyList_Append(list, number);
    Py_XDECREF(number);
    return !failed;
}

static PyObject *objects_of(PyObject *module, PyObject *arguments) {
    PyObject *holder;
    int is_form, most;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "Opi", &holder, &is_form, &most))
        return NULL;
    Handle within = handle_of(holder);
    if (PyErr_Occurred())
        return NULL;
    PyObject *paths = PyList_New(0), *images = PyList_New(0), *forms = PyList_New(0);
    int good = paths != NULL && images != NULL && forms != NULL;
    int count = is_form ? pdfium.FPDFFormObj_CountObjects(within) : pdfium.FPDFPage_CountObjects(within);
    for (int number = 0; good && number < count && number < most; number++) {
        Handle object = is_form ? pdfium.FPDFFormObj_GetObject(within, (unsigned long)number)
                                : pdfium.FPDFPage_GetObject(within, number);
        switch (pdfium.FPDFPageObj_GetType(object)) {
        case PATH:
            good = add_handle(paths, object);
            break;
        case IMAGE:
            good = add_handle(images, object);
            break;
        case FORM:
            good = add_handle(forms, object);
            break;
        }
    }
    if (good)
        return Py_BuildValue("(NNN)", paths, images, forms);
    Py_XDECREF(paths), Py_XDECREF(images), Py_XDECREF(forms);
    return NULL;
}

/* Reads an object of a page: its handle, and the matrices of the forms around it, borrowed. */
static int is_drawn(PyObject *drawn, PyObject **handle, PyObject **matrices) {
    if (!is_tuple(drawn))
        return 0;
    if (PyTuple_GET_SIZE(drawn) != 2 || !PyTuple_Check(PyTuple_GET_ITEM(drawn, 1))) {
        PyErr_SetString(PyExc_TypeError, "expected a handle and matrices");
        return 0;
    }
    *handle = PyTuple_GET_ITEM(drawn, 0), *matrices = PyTuple_GET_ITEM(drawn, 1);
    return 1;
}

/* Returns where objects are as shown; None where one has no box. An object is its handle, and the matrices of the forms
 * around it. On a plain page one without any is only shifted; of others `shown` is asked.
 */
static PyObject *boxes_of(PyObject *module, PyObject *arguments) {
    PyObject *drawn, *shown;
    double right_of, top_of;
    int is_plain;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!pddO", &PyList_Type, &drawn, &is_plain, &right_of, &top_of, &shown))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(drawn);
    PyObject *boxes = PyList_New(count);
    for (Py_ssize_t number = 0; boxes != NULL && number < count; number++) {
        PyObject *handle, *matrices, *box = NULL;
        float left, bottom, right, top;
        PyObject *one = PyList_GET_ITEM(drawn, number);
        if (is_drawn(one, &handle, &matrices)) {
            Handle object = handle_of(handle);
            if (PyErr_Occurred())
                box = NULL;
            else if (!pdfium.FPDFPageObj_GetBounds(object, &left, &bottom, &right, &top) || !is_place(left) ||
                     !is_place(bottom) || !is_place(right) || !is_place(top))
                box = Py_NewRef(Py_None);
            else if (is_plain && !PyTuple_GET_SIZE(matrices))
                box = four(left + right_of, top_of - top, right + right_of, top_of - bottom);
            else
                box = PyObject_CallFunction(shown, "ddddO", (double)left, (double)bottom, (double)right, (double)top, matrices);
        }
        if (box == NULL)
            Py_CLEAR(boxes);
        else
            PyList_SET_ITEM(boxes, number, box);
    }
    return boxes;
}

PyMethodDef object_functions[] = {
    {"objects_of", objects_of, METH_VARARGS,
     "objects_of(holder, is_form, most)\n--\n\nReturn the paths, images and forms of a page or a form."},
    {"boxes_of", boxes_of, METH_VARARGS,
     "boxes_of(drawn, is_plain, right_of, top_of, shown)\n--\n\nReturn where objects are; None where one has no box."},
    {NULL, NULL, 0, NULL},
};
