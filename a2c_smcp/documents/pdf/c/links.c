/* The links of a page: what each leads to inside the document, and where it is. */

#include "native.h"

static PyObject *links_of(PyObject *module, PyObject *arguments) {
    PyObject *document_number, *page_number;
    int most;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOi", &document_number, &page_number, &most))
        return NULL;
    Handle document = handle_of(document_number), page = handle_of(page_number), link = NULL;
    if (PyErr_Occurred())
        return NULL;
    PyObject *found = PyList_New(0);
    int position = 0;
    for (int count = 0; found != NULL && count < most && pdfium.FPDFLink_Enumerate(page, &position, &link); count++) {
        Box box;
        int is_placed = pdfium.FPDFLink_GetAnnotRect(link, &box);
        Handle target = pdfium.FPDFLink_GetDest(document, link);
        PyObject *place = is_placed ? Py_BuildValue("(dddd)", (double)box.left, (double)box.bottom, (double)box.right,
                                                    (double)box.top)
                                    : Py_NewRef(Py_None);
        PyObject *lead = target == NULL ? Py_NewRef(Py_None) : PyLong_FromVoidPtr(target);
        PyObject *entry = place == NULL || lead == NULL ? NULL : Py_BuildValue("(NOO)", PyLong_FromVoidPtr(link), lead, place);
        if (entry == NULL || PyList_Append(found, entry))
            Py_CLEAR(found);
        Py_XDECREF(place), Py_XDECREF(lead), Py_XDECREF(entry);
    }
    return found;
}

PyMethodDef link_functions[] = {
    {"links_of", links_of, METH_VARARGS,
     "links_of(document, page, most)\n--\n\n"
     "Return the handle of each link, what it leads to, and left, bottom, right and top; None where one has none."},
    {NULL, NULL, 0, NULL},
};
