/* The characters of one open page: its text, its lines and words with their places, and the fonts of some of them.
 *
 * It says what the class of the same name in characters.py says, in a tenth of the time.
 */

#include "characters.h"

#include <math.h>
#include <stddef.h>
#include <structmember.h>

enum { NAME = 128 };

/* Text */

static int read_text(Characters *self, int most) {
    int count = pdfium.FPDFText_CountChars(self->page);
    count = count > most ? most : count;
    self->is_direct = 1;
    if (count <= 0)
        return (self->text = PyUnicode_New(0, 0)) != NULL;
    unsigned short *units = PyMem_Malloc(sizeof *units * ((size_t)count + 1));
    if (units == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    int written = pdfium.FPDFText_GetText(self->page, 0, count, units) - 1, is_paired = 0;
    written = written < 0 ? 0 : written;
    for (int at = 0; at < written; at++)
        is_paired |= (units[at] & 0xF800) == 0xD800;
    if (is_paired) {
        int order = PY_BIG_ENDIAN ? 1 : -1;
        self->text = PyUnicode_DecodeUTF16((char *)units, 2 * (Py_ssize_t)written, "surrogatepass", &order);
    } else {
        self->text = PyUnicode_FromKindAndData(PyUnicode_2BYTE_KIND, units, written);
    }
    PyMem_Free(units);
    if (self->text == NULL)
        return 0;
    Py_ssize_t length = PyUnicode_GET_LENGTH(self->text);
    self->is_direct = written == 0 || (written == count && length == count);
    self->is_wide = PyUnicode_MAX_CHAR_VALUE(self->text) > 0xFFFF;
    return 1;
}

/* Places */

int index_of(Characters *self, Py_ssize_t position) {
    if (self->is_direct)
        return (int)position;
    Py_ssize_t units = position;
    if (self->is_wide)
        for (Py_ssize_t at = 0; at < position && at < PyUnicode_GET_LENGTH(self->text); at++)
            units += PyUnicode_READ_CHAR(self->text, at) > 0xFFFF;
    int index = pdfium.FPDFText_GetCharIndexFromTextIndex(self->page, (int)units);
    return index < 0 ? 0 : index;
}

Box box_at(Characters *self, Py_ssize_t position) {
    Box box = {0, 0, 0, 0};
    pdfium.FPDFText_GetLooseCharBox(self->page, index_of(self, position), &box);
    if (is_place(box.left) && is_place(box.top) && is_place(box.right) && is_place(box.bottom))
        return box;
    return (Box){0, 0, 0, 0};
}

Box united(Box first, Box second) {
    return (Box){
        first.left < second.left ? first.left : second.left,
        first.top > second.top ? first.top : second.top,
        first.right > second.right ? first.right : second.right,
        first.bottom < second.bottom ? first.bottom : second.bottom,
    };
}

int shown(Characters *self, Box box, double *to) {
    if (self->is_plain) {
        to[0] = box.left + self->right_of, to[1] = self->top_of - box.top;
        to[2] = box.right + self->right_of, to[3] = self->top_of - box.bottom;
        return 1;
    }
    PyObject *found = PyObject_CallFunction(self->box, "dddd", (double)box.left, (double)box.bottom, (double)box.right,
                                            (double)box.top);
    int good = found != NULL && read_numbers(found, to, 4);
    Py_XDECREF(found);
    return good;
}

double size_at(Characters *self, int index) {
    Matrix matrix;
    double size = pdfium.FPDFText_GetFontSize(self->page, index);
    if (pdfium.FPDFText_GetMatrix(self->page, index, &matrix)) {
        double b = matrix.b, d = matrix.d;
        size *= b == 0 ? fabs(d) : pow(b * b + d * d, 0.5);
    }
    size = fabs(size); /* a negative size is legal: it turns the letters, and the matrix turns them back */
    return is_place(size) ? trunc(size * 10 + 0.5) / 10 : 0;
}

/* Fonts */

int fonts_open(Fonts *fonts, PyObject *book) {
    fonts->book = book, fonts->count = 0;
    fonts->on_page = PyObject_GetAttrString(book, "on_page");
    fonts->known = fonts->on_page == NULL ? NULL : PyObject_GetAttrString(book, "known");
    if (fonts->known != NULL && PyDict_Check(fonts->on_page) && PyDict_Check(fonts->known))
        return 1;
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "the fonts of a page are a dict");
    return 0;
}

void fonts_close(Fonts *fonts) { Py_XDECREF(fonts->on_page), Py_XDECREF(fonts->known); }

/* Returns the font that is known by its name and flags, as a new reference; NULL where it is not, or with an error. */
static PyObject *known_font(Characters *self, Fonts *fonts, int index) {
    char name[NAME];
    int flags = 0;
    unsigned long length = pdfium.FPDFText_GetFontInfo(self->page, index, name, NAME, &flags);
    if (!length || length > NAME)
        return NULL;
    PyObject *key = Py_BuildValue("(yi)", name, flags);
    PyObject *font = key == NULL ? NULL : Py_XNewRef(PyDict_GetItemWithError(fonts->known, key));
    Py_XDECREF(key);
    return font;
}

PyObject *font_of(Characters *self, Fonts *fonts, int index, Handle handle) {
    for (int number = 0; number < fonts->count; number++)
        if (fonts->handles[number] == handle)
            return Py_NewRef(fonts->fonts[number]);
    PyObject *key = handle == NULL ? Py_NewRef(Py_None) : PyLong_FromVoidPtr(handle);
    if (key == NULL)
        return NULL;
    PyObject *font = Py_XNewRef(PyDict_GetItemWithError(fonts->on_page, key));
    if (font == NULL && !PyErr_Occurred()) {
        font = known_font(self, fonts, index);
        if (font != NULL && PyDict_SetItem(fonts->on_page, key, font))
            Py_CLEAR(font);
        if (font == NULL && !PyErr_Occurred())
            font = PyObject_CallMethod(fonts->book, "look_up", "OOiO", self->engine, self->number, index, key);
    }
    Py_DECREF(key);
    if (font != NULL && fonts->count < KEPT) {
        fonts->handles[fonts->count] = handle;
        fonts->fonts[fonts->count++] = font;
    }
    return font;
}

Handle font_handle(Characters *self, int index) {
    return pdfium.FPDFTextObj_GetFont(pdfium.FPDFText_GetTextObject(self->page, index));
}

static PyObject *fonts_at(Characters *self, PyObject *const *arguments, Py_ssize_t count) {
    Fonts fonts = {.count = 0};
    if (count != 2) {
        PyErr_SetString(PyExc_TypeError, "expected a book of fonts and positions");
        return NULL;
    }
    PyObject *positions = PySequence_Fast(arguments[1], "expected positions");
    if (positions == NULL)
        return NULL;
    PyObject *found = fonts_open(&fonts, arguments[0]) ? PyList_New(PySequence_Fast_GET_SIZE(positions)) : NULL;
    for (Py_ssize_t number = 0; found != NULL && number < PySequence_Fast_GET_SIZE(positions); number++) {
        Py_ssize_t position = PyLong_AsSsize_t(PySequence_Fast_GET_ITEM(positions, number));
        PyObject *font = NULL;
        if (!PyErr_Occurred()) {
            int index = index_of(self, position);
            font = font_of(self, &fonts, index, font_handle(self, index));
        }
        if (font == NULL)
            Py_CLEAR(found);
        else
            PyList_SET_ITEM(found, number, font);
    }
    fonts_close(&fonts);
    Py_DECREF(positions);
    return found;
}

static PyObject *index_method(Characters *self, PyObject *position) {
    Py_ssize_t at = PyLong_AsSsize_t(position);
    return PyErr_Occurred() ? NULL : PyLong_FromLong(index_of(self, at));
}

static PyObject *span(Characters *self, PyObject *position) {
    Py_ssize_t at = PyLong_AsSsize_t(position);
    double place[4];
    if (PyErr_Occurred() || !shown(self, box_at(self, at), place))
        return NULL;
    return Py_BuildValue("(dd)", place[0], place[2]);
}

/* The type */

static int set_frame(Characters *self, PyObject *frame) {
    PyObject *matrix = PyObject_GetAttrString(frame, "matrix"), *plain = PyObject_GetAttrString(frame, "is_plain");
    double a, b, c, d;
    int good = matrix != NULL && plain != NULL && is_tuple(matrix) &&
               PyArg_ParseTuple(matrix, "dddddd", &a, &b, &c, &d, &self->right_of, &self->top_of);
    if (good)
        self->is_plain = plain == Py_True, self->box = PyObject_GetAttrString(frame, "box");
    Py_XDECREF(matrix), Py_XDECREF(plain);
    return good && self->box != NULL;
}

static PyObject *make(PyTypeObject *type, PyObject *arguments, PyObject *keywords) {
    PyObject *engine, *number, *frame;
    int most;
    (void)keywords;
    if (!PyArg_ParseTuple(arguments, "OOOi", &engine, &number, &frame, &most))
        return NULL;
    Characters *self = (Characters *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    self->engine = Py_NewRef(engine), self->number = Py_NewRef(number);
    self->page = handle_of(number);
    if (PyErr_Occurred() || !set_frame(self, frame) || !read_text(self, most))
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void end(Characters *self) {
    Py_XDECREF(self->engine), Py_XDECREF(self->number), Py_XDECREF(self->box), Py_XDECREF(self->text);
    Py_TYPE(self)->tp_free(self);
}

static PyMemberDef members[] = {
    {"text", T_OBJECT_EX, offsetof(Characters, text), READONLY, "All text of the page."},
    {NULL, 0, 0, 0, NULL},
};

static PyMethodDef methods[] = {
    {"lines", (PyCFunction)lines, METH_O, "lines(fonts)\n--\n\nReturn the lines in the order of the content stream."},
    {"words", (PyCFunction)words, METH_O, "words(lines)\n--\n\nReturn the words of each line with their boxes."},
    {"span", (PyCFunction)span, METH_O,
     "span(position)\n--\n\nReturn where a character begins and ends from left to right."},
    {"fonts_at", (PyCFunction)(void (*)(void))fonts_at, METH_FASTCALL,
     "fonts_at(fonts, positions)\n--\n\nReturn the fonts of characters."},
    {"index", (PyCFunction)index_method, METH_O, "index(position)\n--\n\nReturn how PDFium counts a character."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject CharactersType = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "a2c_smcp.documents.pdf._native.Characters",
    .tp_doc = "Characters(engine, text_page, frame, most)\n--\n\nThe characters of one open page by their positions in its text.",
    .tp_basicsize = sizeof(Characters),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = make,
    .tp_dealloc = (destructor)end,
    .tp_members = members,
    .tp_methods = methods,
};
