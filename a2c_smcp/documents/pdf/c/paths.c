/* The ruling lines that paths draw: a path is one, or a box with edges, or consists of lines. */

#include "native.h"

/* As in graphics.py, where they are told. */
static const double DOT = 5.0, SHORT = 4.0;
enum { BOX_SEGMENTS = 5, MAX_SEGMENTS = 2000, LINE_TO = 0, BEZIER_TO = 1 };

typedef struct {
    double x, y;
} Point;

typedef struct {
    PyTypeObject *type;
    PyObject *across, *down;
    double width, height, way[6];
} Drawing;

static int add(const Drawing *drawing, PyObject *list, double start, double end, double at) {
    PyObject *rule = rule_of(drawing->type, start, end, at);
    int failed = rule == NULL || PyList_Append(list, rule);
    Py_XDECREF(rule);
    return !failed;
}

/* Whether a path is filled or stroked: others only clip; -1 and an error if it is none. */
static int is_seen(PyObject *handle) {
    int fill = 0, stroke = 0;
    Handle path = handle_of(handle);
    if (PyErr_Occurred())
        return -1;
    pdfium.FPDFPath_GetDrawMode(path, &fill, &stroke);
    return fill || stroke;
}

/* Adds the paths that are lines themselves, and long enough, to `to`. */
static int add_lines(PyObject *to, PyObject *lines, double shortest) {
    for (Py_ssize_t number = 0; number < PyList_GET_SIZE(lines); number++) {
        PyObject *line = PyList_GET_ITEM(lines, number);
        double place[3];
        if (!is_tuple(line) || PyTuple_GET_SIZE(line) != 2 || !read_numbers(PyTuple_GET_ITEM(line, 1), place, 3))
            return 0;
        int seen = place[1] - place[0] < shortest ? 0 : is_seen(PyTuple_GET_ITEM(line, 0));
        if (seen < 0 || (seen && PyList_Append(to, PyTuple_GET_ITEM(line, 1))))
            return 0;
    }
    return 1;
}

/* Adds the edges of a box, unless it is the page's own. */
static int add_edges(const Drawing *drawing, const double *box) {
    double wide = box[2] - box[0], high = box[3] - box[1];
    if (wide <= 8 || high <= SHORT || (wide > drawing->width * 0.95 && high > drawing->height * 0.9))
        return 1;
    return add(drawing, drawing->across, box[0], box[2], box[1]) && add(drawing, drawing->across, box[0], box[2], box[3]) &&
           add(drawing, drawing->down, box[1], box[3], box[0]) && add(drawing, drawing->down, box[1], box[3], box[2]);
}

static void move(Point *points, int count, const double *m) {
    if (m[0] == 1 && m[1] == 0 && m[2] == 0 && m[3] == 1 && m[4] == 0 && m[5] == 0)
        return;
    for (Point *point = points; point < points + count; point++)
        *point = (Point){m[0] * point->x + m[2] * point->y + m[4], m[1] * point->x + m[3] * point->y + m[5]};
}

/* Moves points of a path to where they are shown. */
static int show(const Drawing *drawing, Handle path, PyObject *around, Point *points, int count) {
    Matrix own;
    double matrix[6];
    if (pdfium.FPDFPageObj_GetMatrix(path, &own))
        move(points, count, (double[]){own.a, own.b, own.c, own.d, own.e, own.f});
    for (Py_ssize_t number = 0; number < PyTuple_GET_SIZE(around); number++) {
        if (!read_numbers(PyTuple_GET_ITEM(around, number), matrix, 6))
            return 0;
        move(points, count, matrix);
    }
    move(points, count, drawing->way);
    return 1;
}

/* Adds what goes from one point to another if it is level or upright, and no stroke of a letter. */
static int add_stroke(const Drawing *drawing, Point from, Point to) {
    double right = to.x - from.x, down = to.y - from.y;
    if (-1 < down && down < 1) {
        if (-8 <= right && right <= 8)
            return 1;
        return add(drawing, drawing->across, to.x < from.x ? to.x : from.x, to.x > from.x ? to.x : from.x, (from.y + to.y) / 2);
    }
    if (!(-1 < right && right < 1) || (-4 <= down && down <= 4))
        return 1;
    return add(drawing, drawing->down, to.y < from.y ? to.y : from.y, to.y > from.y ? to.y : from.y, (from.x + to.x) / 2);
}

static int add_segments(const Drawing *drawing, Handle path, PyObject *around, int count) {
    Point points[MAX_SEGMENTS];
    char kinds[MAX_SEGMENTS];
    for (int number = 0; number < count; number++) {
        float x = 0, y = 0;
        Handle segment = pdfium.FPDFPath_GetPathSegment(path, number);
        kinds[number] = (char)pdfium.FPDFPathSegment_GetType(segment);
        pdfium.FPDFPathSegment_GetPoint(segment, &x, &y);
        points[number] = (Point){x, y};
    }
    if (!show(drawing, path, around, points, count))
        return 0;
    for (int number = 0; number < count; number++)
        if (!is_place(points[number].x) || !is_place(points[number].y))
            return 1; /* it leads nowhere */
    for (int number = 1; number < count; number++)
        if (kinds[number] == LINE_TO && kinds[number - 1] != BEZIER_TO &&
            !add_stroke(drawing, points[number - 1], points[number]))
            return 0;
    return 1;
}

/* Adds what a path that is no line draws; it has a handle, the matrices of the forms around it, and a box. */
static int add_path(const Drawing *drawing, PyObject *path) {
    double box[4];
    if (!is_tuple(path) || PyTuple_GET_SIZE(path) != 2 || !read_numbers(PyTuple_GET_ITEM(path, 1), box, 4))
        return 0;
    if (box[2] - box[0] < DOT && box[3] - box[1] < DOT)
        return 1;
    PyObject *drawn = PyTuple_GET_ITEM(path, 0);
    if (!is_tuple(drawn) || PyTuple_GET_SIZE(drawn) != 2 || !is_tuple(PyTuple_GET_ITEM(drawn, 1)))
        return 0;
    int seen = is_seen(PyTuple_GET_ITEM(drawn, 0));
    if (seen <= 0)
        return !seen;
    Handle handle = handle_of(PyTuple_GET_ITEM(drawn, 0));
    int count = pdfium.FPDFPath_CountSegments(handle);
    if (count <= BOX_SEGMENTS)
        return add_edges(drawing, box);
    return count > MAX_SEGMENTS || add_segments(drawing, handle, PyTuple_GET_ITEM(drawn, 1), count);
}

static PyObject *rules_of(PyObject *module, PyObject *arguments) {
    PyObject *across, *down, *others, *way;
    Drawing drawing;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!O!O!O!ddO", &PyList_Type, &across, &PyList_Type, &down, &PyList_Type, &others,
                          &PyType_Type, &drawing.type, &drawing.width, &drawing.height, &way) ||
        !is_rule_type(drawing.type) || !read_numbers(way, drawing.way, 6))
        return NULL;
    drawing.across = PyList_New(0), drawing.down = PyList_New(0);
    int good = drawing.across != NULL && drawing.down != NULL && add_lines(drawing.across, across, 0) &&
               add_lines(drawing.down, down, DOT);
    for (Py_ssize_t number = 0; good && number < PyList_GET_SIZE(others); number++)
        good = add_path(&drawing, PyList_GET_ITEM(others, number));
    if (good)
        return Py_BuildValue("(NN)", drawing.across, drawing.down);
    Py_XDECREF(drawing.across), Py_XDECREF(drawing.down);
    if (!PyErr_Occurred())
        PyErr_SetString(PyExc_TypeError, "expected paths and where they are");
    return NULL;
}

PyMethodDef path_functions[] = {
    {"rules_of", rules_of, METH_VARARGS,
     "rules_of(across, down, others, rule, width, height, way)\n--\n\nReturn the ruling lines across and down that are drawn."},
    {NULL, NULL, 0, NULL},
};
