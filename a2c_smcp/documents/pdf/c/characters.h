/* One open page and the questions that its characters are asked. */

#ifndef A2C_CHARACTERS_H
#define A2C_CHARACTERS_H

#include "native.h"

enum { HYPHEN = 0xFFFE };

typedef struct {
    PyObject_HEAD
    PyObject *engine, *number, *box, *text;
    Handle page;
    double right_of, top_of;
    char is_plain, is_direct, is_wide;
} Characters;

/* How PDFium counts a character: it knows some that are not in the text, and counts text in units of UTF-16. */
int index_of(Characters *self, Py_ssize_t position);
Box box_at(Characters *self, Py_ssize_t position);
Box united(Box first, Box second);
/* Puts x0, y0, x1 and y1 of a box as it is shown into `to`. */
int shown(Characters *self, Box box, double *to);
/* The size of a character as shown, in tenths of a point. */
double size_at(Characters *self, int index);

enum { KEPT = 16 };

/* The fonts of a page, of which a few are at hand without a look into the book. */
typedef struct {
    PyObject *book, *on_page, *known;
    Handle handles[KEPT];
    PyObject *fonts[KEPT]; /* borrowed from `on_page` */
    int count;
} Fonts;

int fonts_open(Fonts *fonts, PyObject *book);
void fonts_close(Fonts *fonts);
Handle font_handle(Characters *self, int index);
/* Returns a new reference. */
PyObject *font_of(Characters *self, Fonts *fonts, int index, Handle handle);

PyObject *lines(Characters *self, PyObject *book);
PyObject *words(Characters *self, PyObject *lines);

#endif
