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

/* Adds the handle of an object and its rule. */
static int add_rule(PyObject *list, PyObject *drawn, PyTypeObject *type, double start, double end, double at) {
    PyObject *rule = rule_of(type, start, end, at), *entry = NULL;
    if (rule != NULL)
        entry = PyTuple_Pack(2, PyTuple_GET_ITEM(drawn, 0), rule);
    int failed = entry == NULL || PyList_Append(list, entry);
    Py_XDECREF(rule), Py_XDECREF(entry);
    return !failed;
}

static PyObject *kinds_of(PyObject *module, PyObject *arguments) {
    PyObject *drawn, *boxes;
    PyTypeObject *rule;
    double thin, dot, least, place[4];
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!O!O!ddd", &PyList_Type, &drawn, &PyList_Type, &boxes, &PyType_Type, &rule, &thin,
                          &dot, &least))
        return NULL;
    if (!is_rule_type(rule))
        return NULL;
    if (PyList_GET_SIZE(drawn) != PyList_GET_SIZE(boxes)) {
        PyErr_SetString(PyExc_ValueError, "expected as many boxes as objects");
        return NULL;
    }
    PyObject *across = PyList_New(0), *down = PyList_New(0), *others = PyList_New(0);
    int good = across != NULL && down != NULL && others != NULL;
    for (Py_ssize_t number = 0; good && number < PyList_GET_SIZE(boxes); number++) {
        PyObject *one = PyList_GET_ITEM(drawn, number), *box = PyList_GET_ITEM(boxes, number);
        if (box == Py_None)
            continue;
        good = is_tuple(one) && PyTuple_GET_SIZE(one) && read_numbers(box, place, 4);
        double wide = good ? place[2] - place[0] : 0, high = good ? place[3] - place[1] : 0;
        if (good && high <= thin) {
            good = wide <= dot || add_rule(across, one, rule, place[0], place[2], (place[1] + place[3]) / 2);
        } else if (good && wide <= thin) {
            good = high <= least || add_rule(down, one, rule, place[1], place[3], (place[0] + place[2]) / 2);
        } else if (good) {
            PyObject *entry = PyTuple_Pack(2, one, box);
            good = entry != NULL && !PyList_Append(others, entry);
            Py_XDECREF(entry);
        }
    }
    if (good)
        return Py_BuildValue("(NNN)", across, down, others);
    Py_XDECREF(across), Py_XDECREF(down), Py_XDECREF(others);
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "expected objects and their boxes");
    return NULL;
}

PyMethodDef object_functions[] = {
    {"objects_of", objects_of, METH_VARARGS,
     "objects_of(holder, is_form, most)\n--\n\nReturn the paths, images and forms of a page or a form."},
    {"boxes_of", boxes_of, METH_VARARGS,
     "boxes_of(drawn, is_plain, right_of, top_of, shown)\n--\n\nReturn where objects are; None where one has no box."},
    {"kinds_of", kinds_of, METH_VARARGS,
     "kinds_of(drawn, boxes, rule, thin, dot, short)\n--\n\n"
     "Return the paths that are no more than a line across, those that are one down, and others with their boxes."},
    {NULL, NULL, 0, NULL},
};
