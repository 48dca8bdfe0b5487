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
enum { BOLD, ITALIC, MONO, FONT_FIELDS };
enum { ROW_WORDS, ROW_Y0, ROW_Y1, ROW_SIZE, ROW_FIELDS };
enum { SEGMENT_WORDS, SEGMENT_X0, SEGMENT_X1, SEGMENT_FIELDS };
enum { BLOCK_LINES, BLOCK_KIND, BLOCK_LEVEL, BLOCK_LABEL, BLOCK_GAP, BLOCK_FIELDS };
enum { PIECE_CATEGORY, PIECE_CONTENT, PIECE_BOX, PIECE_FIELDS };
enum { ELEMENT_ID, ELEMENT_CATEGORY, ELEMENT_CONTENT, ELEMENT_SUMMARY, ELEMENT_METADATA, ELEMENT_FIELDS };

/* A dataclass with slots: where in an instance each of its fields is. */
typedef struct {
    PyTypeObject *type;
    Py_ssize_t offsets[LINE_FIELDS];
    int count;
} Record;

extern Record line_record, word_record, font_record, row_record, segment_record, block_record, piece_record, element_record;

/* Strings that are asked for again and again: names of categories, of kinds of blocks and of keys. */
#define STRINGS(S)                                                                                                     \
    S(text) S(heading) S(list) S(code) S(contents) S(header) S(footer) S(link) S(level) S(url) S(bbox) S(page_width)     \
    S(page_height)

#define STRING(name) *name,
typedef struct {
    PyObject STRINGS(STRING) *empty;
} Strings;
#undef STRING

extern Strings strings;

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

/* How far from its origin anything on a page can be, in points; as in engine.py. What PDFium says to be farther away, or
 * nowhere, is refused where it enters: comparisons have no order for it, and whole numbers no room.
 */
#define FARTHEST_PLACE 1e9

static inline int is_place(double number) { return number >= -FARTHEST_PLACE && number <= FARTHEST_PLACE; }

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

/* Puts a number of a record into `to`; returns 0 and sets an error if it is none. */
static inline int record_number(const Record *record, PyObject *instance, int field, double *to) {
    PyObject *value = record_get(record, instance, field);
    return value != NULL && read_number(value, to);
}

typedef struct {
    double x0, y0, x1, y1, size;
    Py_ssize_t position, length;
} Place;

/* Reads where a line is on the page; returns 0 and sets an error if it is no line. */
int line_place(PyObject *line, Place *place);
/* Reads where it is in the text as well. */
int line_whole(PyObject *line, Place *place);

/* Whether a line runs from left to right. */
static inline int is_upright(const Place *place) {
    double high = place->y1 - place->y0;
    return high <= (place->size > 1 ? place->size : 1) * 2.2 || place->x1 - place->x0 > high;
}

/* Compares two numbers for qsort. */
int by_number(const void *first, const void *second);

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

/* Whether a string says the same as one of `strings`, which it mostly is. */
static inline int is_string(PyObject *object, PyObject *string) {
    return object == string || (PyUnicode_Check(object) && !PyUnicode_Compare(object, string));
}

/* Returns 0 and sets an error if an object is no list of lines. */
int is_list_of_lines(PyObject *lines);
/* Returns lines as one paragraph; None where a text has line ends of its own. */
PyObject *text_of_lines(PyObject *lines);
/* Returns the place of lines, one at least, as a tuple. */
PyObject *box_of_lines(PyObject *lines);
/* Which elements tell themselves in one line without Python. */
typedef enum { TELL_NOTHING, TELL_TEXT, TELL_LINK, TELL_LISTING, TELL_ITEMS } Telling;
Telling telling_of(PyObject *category);
/* Returns the summary of a content; None where Python tells it. */
PyObject *summary_of(Telling telling, PyObject *content);
/* Returns lines of code as they are indented; None where one has no text. */
PyObject *listing_of_lines(PyObject *lines);
/* Returns a box in tenths of a point as a list. */
PyObject *tenths_of(PyObject *box);

static inline Handle handle_of(PyObject *number) {
    return number == Py_None ? NULL : PyLong_AsVoidPtr(number);
}

/* Whether a class is that of rules, which are named tuples of where they start, end and stand. */
int is_rule_type(PyTypeObject *type);
PyObject *rule_of(PyTypeObject *type, double start, double end, double at);

extern PyTypeObject CharactersType;

/* The functions of the module, a table for each file that has some. */
#define TABLES(T)                                                                                                      \
    T(cell) T(column) T(element) T(grid) T(heading) T(layout) T(link) T(look) T(object) T(outline)            \
    T(paragraph) T(path) T(piece) T(row) T(rule) T(text) T(zone)

#define TABLE(name) extern PyMethodDef name##_functions[];
TABLES(TABLE)
#undef TABLE

#endif
