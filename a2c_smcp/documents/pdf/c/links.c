/* The links of a page: what each leads to, where it is, and what is written there. */

#include "characters.h"

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

/* Pieces */

typedef struct {
    Characters *characters;
    PyObject *kept; /* the lines as a tuple */
    Place *places;  /* where they are */
    PyObject *lines, *url_of, *text_in; /* what Python is asked for: addresses and texts that must be cleaned */
    PyObject *pieces;
} Linking;

/* Whether `clean` and `strip` would leave an address as it is. */
static int is_tidy(PyObject *address) {
    if (!PyUnicode_Check(address) || !PyUnicode_IS_ASCII(address) || !PyUnicode_GET_LENGTH(address))
        return 0;
    const char *signs = PyUnicode_DATA(address);
    Py_ssize_t length = PyUnicode_GET_LENGTH(address);
    for (Py_ssize_t at = 0; at < length; at++)
        if (signs[at] < ' ' || signs[at] > '~')
            return 0;
    return signs[0] != ' ' && signs[length - 1] != ' ';
}

/* Returns what a link leads to; empty where that is nowhere. */
static PyObject *url_of(const Linking *linking, PyObject *destination, PyObject *index, PyObject *address) {
    if (index != Py_None) {
        long number = PyLong_AsLong(index);
        if (number >= 0 || PyErr_Occurred())
            return PyErr_Occurred() ? NULL : PyUnicode_FromFormat("#page=%ld", number + 1);
    }
    if (is_tidy(address))
        return Py_NewRef(address);
    return PyObject_CallFunctionObjArgs(linking->url_of, destination, address, NULL);
}

static PyObject *text_at(const Linking *linking, const double *box, PyObject *place) {
    PyObject *text = text_between(linking->characters, linking->kept, linking->places, box);
    if (text == Py_None)
        Py_SETREF(text, PyObject_CallFunctionObjArgs(linking->text_in, linking->lines, place, NULL));
    if (text != NULL && !PyUnicode_Check(text)) {
        PyErr_SetString(PyExc_TypeError, "the text of a link is a string");
        Py_CLEAR(text);
    }
    return text;
}

/* Returns the content of the last link if this one goes on with it, borrowed. */
static PyObject *last_content(const Linking *linking, PyObject *text, PyObject *url) {
    Py_ssize_t count = PyList_GET_SIZE(linking->pieces);
    if (!count || !PyUnicode_GET_LENGTH(text) || PyUnicode_READ_CHAR(url, 0) == '#')
        return NULL;
    PyObject *content = record_get(&piece_record, PyList_GET_ITEM(linking->pieces, count - 1), PIECE_CONTENT);
    PyObject *before = content == NULL ? NULL : PyDict_GetItemWithError(content, strings.url);
    return before != NULL && is_string(before, url) ? content : NULL;
}

/* A link that goes on in the next line is drawn as two. */
static int go_on(const Linking *linking, PyObject *content, PyObject *text, const double *box) {
    PyObject *piece = PyList_GET_ITEM(linking->pieces, PyList_GET_SIZE(linking->pieces) - 1);
    PyObject **place = (PyObject **)((char *)piece + piece_record.offsets[PIECE_BOX]);
    PyObject *before = PyDict_GetItemWithError(content, strings.text);
    PyObject *both = before == NULL ? NULL : PyUnicode_FromFormat("%U %U", before, text);
    PyObject *whole = both == NULL ? NULL : PyObject_CallMethod(both, "strip", NULL), *united_box = NULL;
    double other[4];
    if (whole != NULL && !PyDict_SetItem(content, strings.text, whole) && read_numbers(*place, other, 4))
        united_box = four(box[0] < other[0] ? box[0] : other[0], box[1] < other[1] ? box[1] : other[1],
                          box[2] > other[2] ? box[2] : other[2], box[3] > other[3] ? box[3] : other[3]);
    Py_XDECREF(both), Py_XDECREF(whole);
    if (united_box == NULL)
        return 0;
    Py_SETREF(*place, united_box);
    return 1;
}

/* Adds a piece; takes the reference to its place. */
static int add_piece(const Linking *linking, PyObject *text, PyObject *url, PyObject *place) {
    PyObject *content = PyDict_New();
    if (content != NULL && (PyDict_SetItem(content, strings.text, text) || PyDict_SetItem(content, strings.url, url)))
        Py_CLEAR(content);
    PyObject *values[PIECE_FIELDS] = {
        [PIECE_CATEGORY] = Py_NewRef(strings.link), [PIECE_CONTENT] = content, [PIECE_BOX] = place};
    PyObject *piece = record_make(&piece_record, values);
    int good = piece != NULL && !PyList_Append(linking->pieces, piece);
    Py_XDECREF(piece);
    return good;
}

static int add_link(const Linking *linking, PyObject *url, PyObject *rectangle) {
    double place[4], box[4];
    if (!read_numbers(rectangle, place, 4))
        return 0;
    Box in_file = {(float)place[0], (float)place[3], (float)place[2], (float)place[1]};
    if (!shown(linking->characters, in_file, place))
        return 0;
    int is_right = place[0] <= place[2], is_up = place[1] <= place[3];
    box[0] = place[is_right ? 0 : 2], box[1] = place[is_up ? 1 : 3];
    box[2] = place[is_right ? 2 : 0], box[3] = place[is_up ? 3 : 1];
    PyObject *as_shown = four(box[0], box[1], box[2], box[3]);
    PyObject *text = as_shown == NULL ? NULL : text_at(linking, box, as_shown);
    PyObject *last = text == NULL ? NULL : last_content(linking, text, url);
    int good = text != NULL && !PyErr_Occurred();
    if (good && last == NULL)
        good = add_piece(linking, text, url, Py_NewRef(as_shown));
    else if (good)
        good = go_on(linking, last, text, box);
    Py_XDECREF(as_shown), Py_XDECREF(text);
    return good;
}

PyObject *link_pieces(Characters *self, PyObject *arguments) {
    PyObject *links;
    Linking linking = {.characters = self};
    if (!PyArg_ParseTuple(arguments, "O!O!OO", &PyList_Type, &links, &PyList_Type, &linking.lines, &linking.url_of,
                          &linking.text_in))
        return NULL;
    linking.kept = PyList_AsTuple(linking.lines), linking.pieces = PyList_New(0);
    if (linking.kept != NULL && linking.pieces != NULL) {
        linking.places = PyMem_Malloc(((size_t)PyTuple_GET_SIZE(linking.kept) + 1) * sizeof *linking.places);
        if (linking.places == NULL)
            PyErr_NoMemory();
    }
    int good = linking.places != NULL && read_places(linking.kept, linking.places);
    for (Py_ssize_t number = 0; good && number < PyList_GET_SIZE(links); number++) {
        PyObject *destination, *index, *address, *rectangle, *url = NULL;
        PyObject *link = PyList_GET_ITEM(links, number);
        good = is_tuple(link) && PyArg_ParseTuple(link, "OOOO", &destination, &index, &address, &rectangle) &&
               (url = url_of(&linking, destination, index, address)) != NULL;
        if (good && rectangle != Py_None && PyUnicode_Check(url) && PyUnicode_GET_LENGTH(url))
            good = add_link(&linking, url, rectangle);
        Py_XDECREF(url);
    }
    PyMem_Free(linking.places);
    Py_XDECREF(linking.kept);
    if (!good)
        Py_CLEAR(linking.pieces);
    return linking.pieces;
}

PyMethodDef link_functions[] = {
    {"links_of", links_of, METH_VARARGS,
     "links_of(document, page, known, most)\n--\n\n"
     "Return what each link leads to inside the document, the index of that page where it is known, what it opens\n"
     "outside, and left, bottom, right and top; None where there is none."},
    {NULL, NULL, 0, NULL},
};
