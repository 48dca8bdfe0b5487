/* Ruling lines: made one where they are pieces of one, and those together that cross or touch one another. */

#include "native.h"

int is_rule_type(PyTypeObject *type) {
    if (PyType_IsSubtype(type, &PyTuple_Type) && type->tp_itemsize == sizeof(PyObject *))
        return 1;
    PyErr_SetString(PyExc_TypeError, "a rule is a named tuple");
    return 0;
}

PyObject *rule_of(PyTypeObject *type, double start, double end, double at) {
    PyObject *numbers[] = {PyFloat_FromDouble(start), PyFloat_FromDouble(end), PyFloat_FromDouble(at)};
    PyObject *rule = type->tp_alloc(type, 3);
    for (int number = 0; number < 3; number++) {
        if (rule != NULL && numbers[number] != NULL) {
            PyTuple_SET_ITEM(rule, number, numbers[number]);
        } else {
            Py_XDECREF(numbers[number]);
            Py_CLEAR(rule);
        }
    }
    return rule;
}

typedef struct {
    double start, end, at;
    Py_ssize_t number;
} Rule;

static int by_place(const void *first, const void *second) {
    const Rule *one = first, *other = second;
    if (one->at != other->at)
        return one->at < other->at ? -1 : 1;
    if (one->start != other->start)
        return one->start < other->start ? -1 : 1;
    return one->number < other->number ? -1 : one->number > other->number;
}

/* Makes rules one that continue or cover one another; returns how many are left at the beginning. */
static Py_ssize_t join_rules(Rule *rules, Py_ssize_t count, Rule *open, double tolerance) {
    Py_ssize_t joined = 0, waiting = 0, number = 0;
    for (Py_ssize_t at = 0; at < count; at++) {
        Rule rule = rules[at];
        Py_ssize_t still = 0;
        for (Py_ssize_t other = 0; other < waiting; other++) {
            if (rule.at - open[other].at > tolerance) {
                rules[joined] = open[other];
                rules[joined++].number = number++;
            } else if (rule.start <= open[other].end + 3 && open[other].start <= rule.end + 3) {
                rule.start = rule.start < open[other].start ? rule.start : open[other].start;
                rule.end = rule.end > open[other].end ? rule.end : open[other].end;
                rule.at = open[other].at;
            } else {
                open[still++] = open[other];
            }
        }
        open[still++] = rule;
        waiting = still;
    }
    for (Py_ssize_t other = 0; other < waiting; other++) {
        rules[joined] = open[other];
        rules[joined++].number = number++;
    }
    qsort(rules, (size_t)joined, sizeof *rules, by_place);
    return joined;
}

static PyObject *rules_as_list(const Rule *rules, Py_ssize_t count, PyTypeObject *type) {
    PyObject *list = PyList_New(count);
    for (Py_ssize_t number = 0; list != NULL && number < count; number++) {
        PyObject *rule = rule_of(type, rules[number].start, rules[number].end, rules[number].at);
        if (rule == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, number, rule);
    }
    return list;
}

/* Returns rules, and as much room behind them; NULL where that failed. */
static Rule *read_rules(PyObject *list, Py_ssize_t count) {
    Rule *rules = PyMem_Calloc(2 * (size_t)count + 1, sizeof *rules);
    if (rules == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t at = 0; rules != NULL && at < count; at++) {
        double numbers[3];
        if (read_numbers(PyList_GET_ITEM(list, at), numbers, 3)) {
            rules[at] = (Rule){numbers[0], numbers[1], numbers[2], at};
        } else {
            PyMem_Free(rules);
            return NULL;
        }
    }
    return rules;
}

static PyObject *merged(PyObject *module, PyObject *arguments) {
    PyObject *list, *found = NULL;
    PyTypeObject *type;
    double tolerance;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!O!d", &PyList_Type, &list, &PyType_Type, &type, &tolerance) || !is_rule_type(type))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(list);
    Rule *rules = read_rules(list, count); /* half of it is room for those that may go on */
    if (rules == NULL)
        return NULL;
    qsort(rules, (size_t)count, sizeof *rules, by_place);
    found = rules_as_list(rules, join_rules(rules, count, rules + count, tolerance), type);
    PyMem_Free(rules);
    return found;
}

static Py_ssize_t root_of(Py_ssize_t *parents, Py_ssize_t number) {
    while (parents[number] != number) {
        parents[number] = parents[parents[number]];
        number = parents[number];
    }
    return number;
}

/* Puts rules that touch one another into one tree each; those down are in order from the left. */
static void connect(const Rule *across, Py_ssize_t wide, const Rule *down, Py_ssize_t high, double touch, Py_ssize_t *parents) {
    for (Py_ssize_t number = 0; number < wide + high; number++)
        parents[number] = number;
    for (Py_ssize_t number = 0; number < wide; number++) {
        const Rule *rule = across + number;
        Py_ssize_t own = number;
        for (Py_ssize_t other = 0; other < high && down[other].at <= rule->end + touch; other++) {
            if (down[other].at < rule->start - touch || down[other].start > rule->at + touch ||
                down[other].end < rule->at - touch)
                continue;
            Py_ssize_t root = root_of(parents, wide + other);
            parents[own] = root;
            own = root;
        }
    }
}

/* Adds a rule to the group of its tree, which is made when its first one comes. */
static int add_to_group(PyObject *groups, PyObject **by_root, Py_ssize_t root, int side, PyObject *rule) {
    if (by_root[root] == NULL) {
        PyObject *group = Py_BuildValue("([][])");
        int failed = group == NULL || PyList_Append(groups, group);
        Py_XDECREF(group);
        if (failed)
            return 0;
        by_root[root] = group; /* borrowed from the list */
    }
    return !PyList_Append(PyTuple_GET_ITEM(by_root[root], side), rule);
}

static PyObject *crossing_groups(PyObject *module, PyObject *arguments) {
    PyObject *across, *down;
    double touch;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!O!d", &PyList_Type, &across, &PyList_Type, &down, &touch))
        return NULL;
    Py_ssize_t wide = PyList_GET_SIZE(across), high = PyList_GET_SIZE(down), all = wide + high;
    Rule *first = read_rules(across, wide), *second = first == NULL ? NULL : read_rules(down, high);
    Py_ssize_t *parents = PyMem_Calloc((size_t)all + 1, sizeof *parents);
    PyObject **by_root = PyMem_Calloc((size_t)all + 1, sizeof *by_root), *groups = NULL;
    if (parents == NULL || by_root == NULL)
        PyErr_NoMemory();
    else if (second != NULL)
        groups = PyList_New(0);
    if (groups != NULL)
        connect(first, wide, second, high, touch, parents);
    for (Py_ssize_t number = 0; groups != NULL && number < all; number++) {
        int side = number >= wide;
        PyObject *rule = side ? PyList_GET_ITEM(down, number - wide) : PyList_GET_ITEM(across, number);
        if (!add_to_group(groups, by_root, root_of(parents, number), side, rule))
            Py_CLEAR(groups);
    }
    PyMem_Free(first), PyMem_Free(second), PyMem_Free(parents), PyMem_Free(by_root);
    return groups;
}

PyMethodDef rule_functions[] = {
    {"merged", merged, METH_VARARGS,
     "merged(rules, rule, tolerance)\n--\n\nReturn rules with those that continue or cover one another made one."},
    {"crossing_groups", crossing_groups, METH_VARARGS,
     "crossing_groups(across, down, touch)\n--\n\nReturn rules across and down that cross or touch one another."},
    {NULL, NULL, 0, NULL},
};
