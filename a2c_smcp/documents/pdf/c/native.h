/* What the parts of the module share: PDFium's functions, and the records of Python that are made and read here. */

#ifndef A2C_NATIVE_H
#define A2C_NATIVE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

typedef void *Handle;

typedef struct {
    float left, top, right, bottom;
} Box;

typedef struct {
    float a, b, c, d, e, f;
} Matrix;

/* The functions are those of the library that the package pypdfium2 has loaded; `bind` is told where they are. */
#define PDFIUM_FUNCTIONS(F)                                                                                            \
    F(int, FPDFText_CountChars, (Handle text))                                                                         \
    F(int, FPDFText_GetText, (Handle text, int start, int count, unsigned short *to))                                  \
    F(int, FPDFText_GetCharIndexFromTextIndex, (Handle text, int position))                                            \
    F(int, FPDFText_GetLooseCharBox, (Handle text, int index, Box *to))                                                \
    F(double, FPDFText_GetFontSize, (Handle text, int index))                                                          \
    F(int, FPDFText_GetMatrix, (Handle text, int index, Matrix *to))                                                   \
    F(Handle, FPDFText_GetTextObject, (Handle text, int index))                                                        \
    F(unsigned long, FPDFText_GetFontInfo, (Handle text, int index, void *to, unsigned long size, int *flags))         \
    F(Handle, FPDFTextObj_GetFont, (Handle object))                                                                    \
    F(int, FPDFPage_CountObjects, (Handle page))                                                                       \
    F(Handle, FPDFPage_GetObject, (Handle page, int number))                                                           \
    F(int, FPDFFormObj_CountObjects, (Handle form))                                                                    \
    F(Handle, FPDFFormObj_GetObject, (Handle form, unsigned long number))                                              \
    F(int, FPDFPageObj_GetType, (Handle object))                                                                       \
    F(int, FPDFPageObj_GetBounds, (Handle object, float *left, float *bottom, float *right, float *top))               \
    F(int, FPDFPath_GetDrawMode, (Handle path, int *fill, int *stroke))                                                \
    F(Handle, FPDFBookmark_GetFirstChild, (Handle document, Handle bookmark))                                          \
    F(Handle, FPDFBookmark_GetNextSibling, (Handle document, Handle bookmark))                                         \
    F(unsigned long, FPDFBookmark_GetTitle, (Handle bookmark, void *to, unsigned long size))                           \
    F(int, FPDFPageObj_GetMatrix, (Handle object, Matrix *to))                                                         \
    F(int, FPDFPath_CountSegments, (Handle path))                                                                      \
    F(Handle, FPDFPath_GetPathSegment, (Handle path, int number))                                                      \
    F(int, FPDFPathSegment_GetType, (Handle segment))                                                                  \
    F(int, FPDFPathSegment_GetPoint, (Handle segment, float *x, float *y))                                             \
    F(int, FPDFLink_Enumerate, (Handle page, int *position, Handle *link))                                             \
    F(int, FPDFLink_GetAnnotRect, (Handle link, Box *to))                                                              \
    F(Handle, FPDFLink_GetDest, (Handle document, Handle link))                                                        \
    F(Handle, FPDFLink_GetAction, (Handle link))                                                                       \
    F(unsigned long, FPDFAction_GetType, (Handle action))                                                              \
    F(unsigned long, FPDFAction_GetURIPath, (Handle document, Handle action, void *to, unsigned long size))            \
    F(unsigned long, FPDFAction_GetFilePath, (Handle action, void *to, unsigned long size))

#define DECLARE(result, name, arguments) result(*name) arguments;
typedef struct {
    PDFIUM_FUNCTIONS(DECLARE)
} Pdfium;
#undef DECLARE

extern Pdfium pdfium;

/* The fields of a line of text, and of a word, whose first are the same. */
enum { TEXT, X0, Y0, X1, Y1, SIZE, FONT, POSITION, LENGTH, JOINED, LINE_FIELDS };
enum { LINE = SIZE, WORD_FIELDS };

/* A dataclass with slots: where in an instance each of its fields is. */
typedef struct {
    PyTypeObject *type;
    Py_ssize_t offsets[LINE_FIELDS];
    int count;
} Record;

extern Record line_record, word_record;

/* Returns a new instance; takes the references in `values`, also when it fails. */
PyObject *record_make(const Record *record, PyObject **values);

/* Returns 0 and sets an error if an object is no such record. */
int record_check(const Record *record, PyObject *instance);
/* Sets the error of a field that was deleted. */
void record_miss(const Record *record);

/* Returns a field of a record, borrowed; NULL and an error if it was deleted. */
static inline PyObject *record_get(const Record *record, PyObject *instance, int field) {
    PyObject *value = *(PyObject **)((char *)instance + record->offsets[field]);
    if (value == NULL)
        record_miss(record);
    return value;
}

/* How far from its origin anything on a page can be, in points; `bind` gets it from engine.py. What PDFium says to be
 * farther away, or nowhere, is refused where it enters.
 */
extern double farthest;

static inline int is_place(double number) { return number >= -farthest && number <= farthest; }

/* Puts a number of Python into `to`; returns 0 and sets an error if it is none, or not finite. */
static inline int read_number(PyObject *value, double *to) {
    *to = PyFloat_AsDouble(value);
    if (*to == -1.0 && PyErr_Occurred())
        return 0;
    if (*to - *to == 0)
        return 1;
    PyErr_SetString(PyExc_ValueError, "number is not finite");
    return 0;
}

/* What PyArg_ParseTuple takes for granted. */
static inline int is_tuple(PyObject *object) {
    if (PyTuple_Check(object))
        return 1;
    PyErr_Format(PyExc_TypeError, "expected a tuple, not %R", (PyObject *)Py_TYPE(object));
    return 0;
}

/* Returns four numbers as a tuple: Py_BuildValue takes three times as long. */
static inline PyObject *four(double first, double second, double third, double fourth) {
    double numbers[] = {first, second, third, fourth};
    PyObject *tuple = PyTuple_New(4);
    for (int at = 0; tuple != NULL && at < 4; at++) {
        PyObject *number = PyFloat_FromDouble(numbers[at]);
        if (number == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, at, number);
    }
    return tuple;
}

/* Reads the numbers of a tuple of so many; returns 0 and sets an error if it is none. */
static inline int read_numbers(PyObject *tuple, double *to, Py_ssize_t count) {
    if (!is_tuple(tuple))
        return 0;
    if (PyTuple_GET_SIZE(tuple) != count) {
        PyErr_Format(PyExc_TypeError, "expected %zd numbers, not %zd", count, PyTuple_GET_SIZE(tuple));
        return 0;
    }
    for (Py_ssize_t at = 0; at < count; at++)
        if (!read_number(PyTuple_GET_ITEM(tuple, at), to + at))
            return 0;
    return 1;
}

static inline Handle handle_of(PyObject *number) {
    return number == Py_None ? NULL : PyLong_AsVoidPtr(number);
}

extern PyTypeObject CharactersType;

/* The functions of the module, a table for each file that has some. */
#define TABLES(T) T(link) T(object) T(outline) T(path)

#define TABLE(name) extern PyMethodDef name##_functions[];
TABLES(TABLE)
#undef TABLE

#endif
