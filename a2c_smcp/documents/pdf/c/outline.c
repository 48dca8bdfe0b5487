/* The entries of a document's outline: what `_walk` of outline.py does. */

#include "native.h"

enum { TITLE_BYTES = 2048 };

typedef struct {
    Handle document;
    PyObject *seen, *entries;
    Py_ssize_t most;
    long deepest;
} Outline;

/* An entry that waits until those before it are done. */
typedef struct {
    Handle bookmark;
    long level;
} Waiting;

/* Returns the title of an entry; empty where it is too long. */
static PyObject *title_of(Handle bookmark) {
    char room[TITLE_BYTES];
    unsigned long length = pdfium.FPDFBookmark_GetTitle(bookmark, room, TITLE_BYTES);
    int order = -1; /* the lower byte comes first */
    if (length > TITLE_BYTES || length < 2)
        return PyUnicode_New(0, 0);
    return PyUnicode_DecodeUTF16(room, (Py_ssize_t)length - 2, "replace", &order);
}

/* Returns whether an entry is new; -1 and an error where that cannot be told. */
static int is_new(Outline *outline, PyObject *handle) {
    int known = PySet_Contains(outline->seen, handle);
    if (known)
        return known < 0 ? -1 : 0; /* a broken outline may lead back into itself */
    return PySet_Add(outline->seen, handle) ? -1 : 1;
}

/* Adds an entry; returns whether it is new, or -1 and an error. */
static int add_entry(Outline *outline, const Waiting *entry) {
    PyObject *handle = PyLong_FromVoidPtr(entry->bookmark);
    int found = handle == NULL ? -1 : is_new(outline, handle);
    if (found > 0) {
        PyObject *title = title_of(entry->bookmark);
        PyObject *told = title == NULL ? NULL : Py_BuildValue("(OOl)", handle, title, entry->level);
        if (told == NULL || PyList_Append(outline->entries, told))
            found = -1;
        Py_XDECREF(title), Py_XDECREF(told);
    }
    Py_XDECREF(handle);
    return found;
}

static int walk(Outline *outline) {
    /* One waits at each level, and one below the deepest. */
    Waiting *waiting = PyMem_Calloc((size_t)outline->deepest + 2, sizeof *waiting);
    long count = 1;
    int found = 0;
    if (waiting == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    waiting[0] = (Waiting){pdfium.FPDFBookmark_GetFirstChild(outline->document, NULL), 1};
    while (count && found >= 0 && PySet_GET_SIZE(outline->seen) < outline->most) {
        Waiting entry = waiting[--count];
        if (entry.bookmark == NULL || (found = add_entry(outline, &entry)) <= 0)
            continue;
        waiting[count++] = (Waiting){pdfium.FPDFBookmark_GetNextSibling(outline->document, entry.bookmark), entry.level};
        if (entry.level < outline->deepest)
            waiting[count++] =
                (Waiting){pdfium.FPDFBookmark_GetFirstChild(outline->document, entry.bookmark), entry.level + 1};
    }
    PyMem_Free(waiting);
    return found >= 0;
}

static PyObject *bookmarks(PyObject *module, PyObject *arguments) {
    PyObject *document;
    Outline outline = {.entries = NULL};
    (void)module;
    if (!PyArg_ParseTuple(arguments, "Onl", &document, &outline.most, &outline.deepest))
        return NULL;
    if (outline.deepest < 1 || outline.deepest > 1000) {
        PyErr_SetString(PyExc_ValueError, "an outline has 1 to 1000 levels");
        return NULL;
    }
    outline.document = handle_of(document);
    if (PyErr_Occurred())
        return NULL;
    outline.seen = PySet_New(NULL), outline.entries = PyList_New(0);
    if (outline.seen == NULL || outline.entries == NULL || !walk(&outline))
        Py_CLEAR(outline.entries);
    Py_XDECREF(outline.seen);
    return outline.entries;
}

PyMethodDef outline_functions[] = {
    {"bookmarks", bookmarks, METH_VARARGS,
     "bookmarks(document, most, deepest)\n--\n\nReturn the handle, the title and the level of every entry in reading order."},
    {NULL, NULL, 0, NULL},
};
