/* The links of a page: what each leads to, and where it is. */

#include "native.h"

enum { GO_TO_REMOTE = 2, URI = 3, LAUNCH = 4, SHORT = 1024, LONGEST = 65536 };

static unsigned long read_address(Handle document, Handle action, char *to, unsigned long size) {
    if (pdfium.FPDFAction_GetType(action) == URI)
        return pdfium.FPDFAction_GetURIPath(document, action, to, size);
    return pdfium.FPDFAction_GetFilePath(action, to, size);
}

/* Returns what a link opens outside of the document; None where it opens nothing. */
static PyObject *address_of(Handle document, Handle link) {
    Handle action = pdfium.FPDFLink_GetAction(link);
    unsigned long kind = action == NULL ? 0 : pdfium.FPDFAction_GetType(action);
    if (kind != URI && kind != GO_TO_REMOTE && kind != LAUNCH)
        Py_RETURN_NONE;
    char room[SHORT], *text = room;
    unsigned long length = read_address(document, action, room, SHORT);
    if (length > SHORT) { /* a buffer that is too small gets nothing, so that only the result can be cut */
        text = PyMem_Malloc(length);
        if (text == NULL)
            return PyErr_NoMemory();
        length = read_address(document, action, text, length);
    }
    length = length < LONGEST ? length : LONGEST;
    while (length && text[length - 1] == '\0')
        length--;
    PyObject *address = PyUnicode_DecodeUTF8(text, (Py_ssize_t)length, "replace");
    if (text != room)
        PyMem_Free(text);
    return address;
}

/* Returns what one link leads to, and where it is. */
static PyObject *told_of(Handle document, Handle link, PyObject *known) {
    Box box;
    int is_placed = pdfium.FPDFLink_GetAnnotRect(link, &box) && is_place(box.left) && is_place(box.bottom) &&
                    is_place(box.right) && is_place(box.top);
    Handle target = pdfium.FPDFLink_GetDest(document, link);
    PyObject *destination = target == NULL ? Py_NewRef(Py_None) : PyLong_FromVoidPtr(target);
    if (destination == NULL)
        return NULL;
    /* Most links lead to a page that others have led to. */
    PyObject *index = PyDict_GetItemWithError(known, destination), *address = NULL, *place = NULL, *told = NULL;
    if (!PyErr_Occurred())
        address = index != NULL ? Py_NewRef(Py_None) : address_of(document, link);
    if (address != NULL)
        place = is_placed ? four(box.left, box.bottom, box.right, box.top) : Py_NewRef(Py_None);
    if (place != NULL)
        told = PyTuple_Pack(4, destination, index == NULL ? Py_None : index, address, place);
    Py_DECREF(destination), Py_XDECREF(address), Py_XDECREF(place);
    return told;
}

static PyObject *links_of(PyObject *module, PyObject *arguments) {
    PyObject *document_number, *page_number, *known;
    int most, position = 0;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "OOO!i", &document_number, &page_number, &PyDict_Type, &known, &most))
        return NULL;
    Handle document = handle_of(document_number), page = handle_of(page_number), link = NULL;
    if (PyErr_Occurred())
        return NULL;
    PyObject *found = PyList_New(0);
    for (int count = 0; found != NULL && count < most && pdfium.FPDFLink_Enumerate(page, &position, &link); count++) {
        PyObject *told = told_of(document, link, known);
        if (told == NULL || PyList_Append(found, told))
            Py_CLEAR(found);
        Py_XDECREF(told);
    }
    return found;
}

PyMethodDef link_functions[] = {
    {"links_of", links_of, METH_VARARGS,
     "links_of(document, page, known, most)\n--\n\n"
     "Return what each link leads to inside the document, the index of that page where it is known, what it opens\n"
     "outside, and left, bottom, right and top; None where there is none."},
    {NULL, NULL, 0, NULL},
};
