/* What words are asked on their way into the cells of a table. */

#ifndef A2C_GRID_H
#define A2C_GRID_H

#include "native.h"

/* Reads where a word is, without its size; returns 0 and sets an error if it is no word. */
static inline int word_place(PyObject *word, Place *place) {
    return record_check(&word_record, word) && record_number(&word_record, word, X0, &place->x0) &&
           record_number(&word_record, word, Y0, &place->y0) && record_number(&word_record, word, X1, &place->x1) &&
           record_number(&word_record, word, Y1, &place->y1);
}

/* What a function that takes words is given; returns 0 and sets an error if it is no list. */
static inline int are_words(PyObject *words) {
    if (PyList_Check(words))
        return 1;
    PyErr_SetString(PyExc_TypeError, "expected a list of words");
    return 0;
}

/* Numbers in order: where columns or rows are divided. */
typedef struct {
    Py_ssize_t count;
    double *at;
} Cuts;

/* Reads cuts, which are to be freed; returns 0 and sets an error if they are no list of numbers. */
int read_cuts(PyObject *list, Cuts *cuts);
/* Returns how many cuts are less than a number, or not more. */
Py_ssize_t cuts_before(const Cuts *cuts, double number);
Py_ssize_t cuts_until(const Cuts *cuts, double number);

/* Returns so many empty lists. */
PyObject *empty_lists(Py_ssize_t count);
/* Returns the list of words of a row, borrowed; NULL and an error if it is no row. */
PyObject *words_of_row(PyObject *row);
/* Returns words in rows, as `rows_of` does. */
PyObject *rows_from(PyObject *words);
/* Whether words may stand in three or more rows most of which have gaps, in less time; -1 and an error if they are none. */
int may_have_gaps(PyObject *words, double gap);
/* Whether words side by side have a gap among them; -1 and an error if they are no words. */
int are_divided(PyObject *words, double gap);
/* Puts how much room words of a line may have between them into `to`; the line of the last word is in `line`. */
int room_after(PyObject *word, PyObject **line, double gap, double *to);

#endif
