/* What elements hold on one line, for those that a page has most of; what `_summary` of pieces.py does. */

#include "native.h"

enum { MAX_SUMMARY = 100, LOOKED_AT = 8 * MAX_SUMMARY, SHORT_LINK = 40, MANY_ITEMS = 20 };
enum { ARROW = 0x2192, ELLIPSIS = 0x2026, MIDDLE_DOT = 0xB7 };

Telling telling_of(PyObject *category) {
    if (is_string(category, strings.text) || is_string(category, strings.heading) || is_string(category, strings.header) ||
        is_string(category, strings.footer))
        return TELL_TEXT;
    return is_string(category, strings.link)   ? TELL_LINK
           : is_string(category, strings.code) ? TELL_LISTING
           : is_string(category, strings.list) ? TELL_ITEMS
                                               : TELL_NOTHING;
}

/* A line that grows, up to one sign more than fits; blanks are put in order. It is what `clip` does. */
typedef struct {
    Py_UCS4 signs[MAX_SUMMARY + 2];
    Py_ssize_t count, seen;
    int is_blank;   /* whether a blank stands before the next sign */
    int is_changed; /* whether another sign became a blank */
} Clip;

static void add_sign(Clip *clip, Py_UCS4 sign) {
    if (clip->count > MAX_SUMMARY || ++clip->seen > LOOKED_AT)
        return;
    if (Py_UNICODE_ISSPACE(sign)) {
        clip->is_blank = clip->count > 0;
        clip->is_changed = clip->is_changed || sign != ' ';
        return;
    }
    if (clip->is_blank)
        clip->signs[clip->count++] = ' ';
    if (clip->count <= MAX_SUMMARY)
        clip->signs[clip->count++] = sign;
    clip->is_blank = 0;
}

static void add_text(Clip *clip, PyObject *text, Py_ssize_t start, Py_ssize_t end) {
    int kind = PyUnicode_KIND(text);
    const void *signs = PyUnicode_DATA(text);
    for (Py_ssize_t at = start; at < end && clip->count <= MAX_SUMMARY && clip->seen <= LOOKED_AT; at++)
        add_sign(clip, PyUnicode_READ(kind, signs, at));
}

static void add_signs(Clip *clip, const char *signs) {
    for (; *signs; signs++)
        add_sign(clip, (Py_UCS4)*signs);
}

static void add_count(Clip *clip, Py_ssize_t count, const char *one) {
    char room[24];
    int at = (int)sizeof room;
    Py_ssize_t rest = count;
    room[--at] = 0;
    do
        room[--at] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    add_signs(clip, room + at), add_signs(clip, " "), add_signs(clip, one);
    add_signs(clip, count == 1 ? ": " : "s: ");
}

/* Returns the line, cut between words where it is too long and has any. */
static PyObject *clipped(Clip *clip) {
    Py_ssize_t end = clip->count;
    if (end > MAX_SUMMARY) {
        Py_ssize_t blank = MAX_SUMMARY - 2;
        while (blank >= 0 && clip->signs[blank] != ' ')
            blank--;
        end = MAX_SUMMARY - 1;
        if (blank * 10 > MAX_SUMMARY * 7 || blank == end - 1)
            end = blank;
        clip->signs[end++] = ELLIPSIS;
    }
    return PyUnicode_FromKindAndData(PyUnicode_4BYTE_KIND, clip->signs, end);
}

static PyObject *text_summary(PyObject *text) {
    Clip clip = {.count = 0};
    if (PyUnicode_GET_LENGTH(text) <= MAX_SUMMARY)
        return Py_NewRef(text);
    add_text(&clip, text, 0, PyUnicode_GET_LENGTH(text));
    return clipped(&clip);
}

/* Returns what a link says; None where Python tells it. */
static PyObject *link_summary(PyObject *content, PyObject *text) {
    PyObject *url = PyDict_GetItemWithError(content, strings.url);
    Py_ssize_t length = PyUnicode_GET_LENGTH(text);
    if (PyErr_Occurred())
        return NULL;
    if (url == NULL || !PyUnicode_Check(url) || !length || is_string(text, url))
        Py_RETURN_NONE;
    Clip clip = {.count = 0};
    add_text(&clip, text, 0, length);
    add_sign(&clip, ' '), add_sign(&clip, ARROW), add_sign(&clip, ' ');
    add_text(&clip, url, 0, PyUnicode_GET_LENGTH(url));
    int is_whole = !clip.is_changed && clip.count == length + 3 + PyUnicode_GET_LENGTH(url);
    if (!is_whole && length < SHORT_LINK && PyUnicode_READ_CHAR(url, 0) == '#')
        Py_RETURN_NONE; /* blanks of a short link inside of the document stay as they are */
    return clipped(&clip);
}

/* Whether a sign ends a line; other than that of `splitlines` where it is no plain line end. */
static int is_line_end(Py_UCS4 sign) {
    return (sign >= '\n' && sign <= '\r') || (sign >= 0x1C && sign <= 0x1E) || sign == 0x85 || sign == 0x2028 || sign == 0x2029;
}

/* Returns how many lines a listing has, and the first; None where Python tells it. */
static PyObject *listing_summary(PyObject *content, PyObject *text) {
    int kind = PyUnicode_KIND(text);
    const void *signs = PyUnicode_DATA(text);
    Py_ssize_t length = PyUnicode_GET_LENGTH(text), lines = 1, first = 0, end = length;
    if (!length || PyDict_GET_SIZE(content) > 1) /* it may tell its language */
        Py_RETURN_NONE;
    while (first < length && Py_UNICODE_ISSPACE(PyUnicode_READ(kind, signs, first)))
        first++;
    for (Py_ssize_t at = 0; at < length; at++) {
        Py_UCS4 sign = PyUnicode_READ(kind, signs, at);
        if (!is_line_end(sign))
            continue;
        if (sign != '\n' || at == length - 1)
            Py_RETURN_NONE;
        end = end == length && at > first ? at : end;
        lines++;
    }
    Clip clip = {.count = 0};
    add_count(&clip, lines, "line");
    add_text(&clip, text, first, end);
    return clipped(&clip);
}

/* Returns how many items a list has, and the first of them; None where Python tells it. */
static PyObject *items_summary(PyObject *content) {
    PyObject *items = PyDict_GetItemString(content, "items");
    if (items == NULL || !PyList_Check(items))
        Py_RETURN_NONE;
    Clip clip = {.count = 0};
    add_count(&clip, PyList_GET_SIZE(items), "item");
    for (Py_ssize_t number = 0; number < PyList_GET_SIZE(items) && number < MANY_ITEMS; number++) {
        PyObject *item = PyList_GET_ITEM(items, number);
        item = PyDict_Check(item) ? PyDict_GetItemWithError(item, strings.text) : item;
        if (item == NULL || !PyUnicode_Check(item)) {
            if (PyErr_Occurred())
                return NULL;
            Py_RETURN_NONE;
        }
        if (number)
            add_sign(&clip, ' '), add_sign(&clip, MIDDLE_DOT), add_sign(&clip, ' ');
        add_text(&clip, item, 0, PyUnicode_GET_LENGTH(item));
    }
    return clipped(&clip);
}

PyObject *summary_of(Telling telling, PyObject *content) {
    if (telling == TELL_NOTHING || !PyDict_Check(content))
        Py_RETURN_NONE;
    if (telling == TELL_ITEMS)
        return items_summary(content);
    PyObject *text = PyDict_GetItemWithError(content, strings.text);
    if (PyErr_Occurred())
        return NULL;
    if (text == NULL || !PyUnicode_Check(text))
        Py_RETURN_NONE;
    return telling == TELL_TEXT   ? text_summary(text)
           : telling == TELL_LINK ? link_summary(content, text)
                                  : listing_summary(content, text);
}
