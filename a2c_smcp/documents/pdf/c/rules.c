/* Ruling lines: made one where they are pieces of one, and those together that cross or touch one another. */

#include "grid.h"

#include <math.h>

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

/* Rules that touch one another, and the box around them. */
typedef struct {
    PyObject *across, *down;
    double x0, y0, x1, y1;
} Group;

static void widen(Group *group, double x0, double y0, double x1, double y1) {
    group->x0 = x0 < group->x0 ? x0 : group->x0, group->y0 = y0 < group->y0 ? y0 : group->y0;
    group->x1 = x1 > group->x1 ? x1 : group->x1, group->y1 = y1 > group->y1 ? y1 : group->y1;
}

/* Adds a rule to the group of its tree. */
static int add_to_group(Group *group, PyObject *rule, const Rule *place, int is_down) {
    PyObject **list = is_down ? &group->down : &group->across;
    if (group->across == NULL && group->down == NULL)
        *group = (Group){NULL, NULL, HUGE_VAL, HUGE_VAL, -HUGE_VAL, -HUGE_VAL};
    if (*list == NULL && (*list = PyList_New(0)) == NULL)
        return 0;
    if (is_down)
        widen(group, place->at, place->start, place->at, place->end);
    else
        widen(group, place->start, place->at, place->end, place->at);
    return !PyList_Append(*list, rule);
}

/* Returns the groups with rules in both directions, two across at least: each its box, and its rules. */
static PyObject *groups_as_list(const Group *groups, Py_ssize_t count) {
    PyObject *found = PyList_New(0);
    for (Py_ssize_t number = 0; found != NULL && number < count; number++) {
        const Group *group = groups + number;
        if (group->down == NULL || group->across == NULL || PyList_GET_SIZE(group->across) < 2)
            continue;
        PyObject *across = PyList_AsTuple(group->across), *down = PyList_AsTuple(group->down), *entry = NULL;
        if (across != NULL && down != NULL)
            entry = Py_BuildValue("(ddddOO)", group->x0, group->y0, group->x1, group->y1, across, down);
        if (entry == NULL || PyList_Append(found, entry))
            Py_CLEAR(found);
        Py_XDECREF(entry), Py_XDECREF(across), Py_XDECREF(down);
    }
    return found;
}

/* Sorts rules into groups, in the order in which the first of each comes. */
static PyObject *group_rules(PyObject *across, PyObject *down, const Rule *first, const Rule *second, double touch) {
    Py_ssize_t wide = PyList_GET_SIZE(across), high = PyList_GET_SIZE(down), all = wide + high, count = 0;
    Py_ssize_t *parents = PyMem_Calloc(2 * (size_t)all + 1, sizeof *parents);
    Py_ssize_t *by_root = parents == NULL ? NULL : parents + all;
    Group *groups = PyMem_Calloc((size_t)all + 1, sizeof *groups);
    PyObject *found = NULL;
    int good = parents != NULL && groups != NULL;
    if (good)
        connect(first, wide, second, high, touch, parents);
    else
        PyErr_NoMemory();
    for (Py_ssize_t number = 0; good && number < all; number++) {
        Py_ssize_t root = root_of(parents, number);
        by_root[root] = by_root[root] ? by_root[root] : ++count;
        int is_down = number >= wide;
        PyObject *rule = is_down ? PyList_GET_ITEM(down, number - wide) : PyList_GET_ITEM(across, number);
        good = add_to_group(groups + by_root[root] - 1, rule, is_down ? second + number - wide : first + number, is_down);
    }
    if (good)
        found = groups_as_list(groups, count);
    for (Py_ssize_t number = 0; groups != NULL && number < count; number++)
        Py_XDECREF(groups[number].across), Py_XDECREF(groups[number].down);
    PyMem_Free(parents), PyMem_Free(groups);
    return found;
}

static PyObject *crossing_groups(PyObject *module, PyObject *arguments) {
    PyObject *across, *down, *found = NULL;
    double touch;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!O!d", &PyList_Type, &across, &PyList_Type, &down, &touch))
        return NULL;
    Rule *first = read_rules(across, PyList_GET_SIZE(across));
    Rule *second = first == NULL ? NULL : read_rules(down, PyList_GET_SIZE(down));
    if (second != NULL)
        found = group_rules(across, down, first, second, touch);
    PyMem_Free(first), PyMem_Free(second);
    return found;
}

/* Rules of one length */

static int by_ends(const void *first, const void *second) {
    const Rule *one = first, *other = second;
    if (one->start != other->start)
        return one->start < other->start ? -1 : 1;
    if (one->end != other->end)
        return one->end < other->end ? -1 : 1;
    return one->number < other->number ? -1 : one->number > other->number;
}

static int by_order(const void *first, const void *second) {
    Py_ssize_t one = *(const Py_ssize_t *)first, other = *(const Py_ssize_t *)second;
    return one < other ? -1 : one > other;
}

/* Returns stacks of rules in the order in which the first of each comes; `firsts` has room for where each begins. */
static PyObject *stacks_in(PyObject *list, const Rule *rules, Py_ssize_t count, Py_ssize_t least, Py_ssize_t (*firsts)[2]) {
    Py_ssize_t made = 0, next;
    for (Py_ssize_t first = 0; first < count; first = next) {
        for (next = first + 1; next < count; next++)
            if (rules[next].start != rules[first].start || rules[next].end != rules[first].end)
                break;
        if (next - first >= least)
            firsts[made][0] = rules[first].number, firsts[made++][1] = first;
    }
    qsort(firsts, (size_t)made, sizeof *firsts, by_order);
    PyObject *stacks = PyList_New(made);
    for (Py_ssize_t number = 0; stacks != NULL && number < made; number++) {
        PyObject *stack = PyList_New(0);
        const Rule *rule = rules + firsts[number][1], *begin = rule;
        int good = stack != NULL;
        for (; good && rule < rules + count && rule->start == begin->start && rule->end == begin->end; rule++)
            good = !PyList_Append(stack, PyList_GET_ITEM(list, rule->number));
        PyList_SET_ITEM(stacks, number, stack);
        if (!good)
            Py_CLEAR(stacks);
    }
    return stacks;
}

static PyObject *stacks_of(PyObject *module, PyObject *arguments) {
    PyObject *list, *found = NULL;
    double shortest;
    Py_ssize_t least, count = 0;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!dn", &PyList_Type, &list, &shortest, &least))
        return NULL;
    Rule *rules = read_rules(list, PyList_GET_SIZE(list));
    Py_ssize_t(*firsts)[2] = PyMem_Calloc((size_t)PyList_GET_SIZE(list) + 1, sizeof *firsts);
    for (Py_ssize_t number = 0; rules != NULL && number < PyList_GET_SIZE(list); number++)
        if (rules[number].end - rules[number].start > shortest)
            rules[count++] = (Rule){rint(rules[number].start / 4), rint(rules[number].end / 4), 0, number};
    if (rules != NULL && firsts == NULL)
        PyErr_NoMemory();
    if (rules != NULL && firsts != NULL) {
        qsort(rules, (size_t)count, sizeof *rules, by_ends);
        found = stacks_in(list, rules, count, least, firsts);
    }
    PyMem_Free(rules), PyMem_Free(firsts);
    return found;
}

/* Rules in no table */

/* Whether a rule goes down through a place; rules are in order from the left. */
static int is_crossed(const Rule *down, const Cuts *places, double x, double y, double touch) {
    Py_ssize_t last = cuts_before(places, x + touch);
    for (Py_ssize_t number = cuts_until(places, x - touch); number < last; number++)
        if (down[number].start - touch <= y && y <= down[number].end + touch)
            return 1;
    return 0;
}

static int is_on(const Rule *rule, double (*boxes)[4], Py_ssize_t count) {
    for (double *box = *boxes; count > 0; count--, box += 4)
        if (box[1] - 2 <= rule->at && rule->at <= box[3] + 2 && rule->start < box[2] && rule->end > box[0])
            return 1;
    return 0;
}

static double (*read_boxes(PyObject *list))[4] {
    double(*boxes)[4] = PyMem_Calloc((size_t)PyList_GET_SIZE(list) + 1, sizeof *boxes);
    if (boxes == NULL)
        PyErr_NoMemory();
    for (Py_ssize_t number = 0; boxes != NULL && number < PyList_GET_SIZE(list); number++) {
        if (!read_numbers(PyList_GET_ITEM(list, number), boxes[number], 4)) {
            PyMem_Free(boxes);
            return NULL;
        }
    }
    return boxes;
}

static PyObject *free_rules(PyObject *module, PyObject *arguments) {
    PyObject *across, *down, *taken, *found = NULL;
    double shortest, touch;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!O!O!dd", &PyList_Type, &across, &PyList_Type, &down, &PyList_Type, &taken, &shortest,
                          &touch))
        return NULL;
    Py_ssize_t count = PyList_GET_SIZE(across);
    Rule *first = read_rules(across, count), *second = first == NULL ? NULL : read_rules(down, PyList_GET_SIZE(down));
    double(*boxes)[4] = second == NULL ? NULL : read_boxes(taken);
    Cuts places = {PyList_GET_SIZE(down), PyMem_Calloc((size_t)PyList_GET_SIZE(down) + 1, sizeof *places.at)};
    if (boxes != NULL && places.at == NULL)
        PyErr_NoMemory();
    else if (boxes != NULL)
        found = PyList_New(0);
    for (Py_ssize_t number = 0; found != NULL && number < places.count; number++)
        places.at[number] = second[number].at;
    for (Py_ssize_t number = 0; found != NULL && number < count; number++) {
        const Rule *rule = first + number;
        if (!(rule->end - rule->start > shortest) || is_on(rule, boxes, PyList_GET_SIZE(taken)) ||
            (is_crossed(second, &places, rule->start, rule->at, touch) &&
             is_crossed(second, &places, rule->end, rule->at, touch)))
            continue;
        if (PyList_Append(found, PyList_GET_ITEM(across, number)))
            Py_CLEAR(found);
    }
    PyMem_Free(first), PyMem_Free(second), PyMem_Free(boxes), PyMem_Free(places.at);
    return found;
}

PyMethodDef rule_functions[] = {
    {"merged", merged, METH_VARARGS,
     "merged(rules, rule, tolerance)\n--\n\nReturn rules with those that continue or cover one another made one."},
    {"crossing_groups", crossing_groups, METH_VARARGS,
     "crossing_groups(across, down, touch)\n--\n\nReturn rules across and down that cross or touch one another, and where."},
    {"stacks_of", stacks_of, METH_VARARGS,
     "stacks_of(rules, shortest, least)\n--\n\nReturn longer rules that begin and end at the same places, so many at least."},
    {"free_rules", free_rules, METH_VARARGS,
     "free_rules(across, down, taken, shortest, touch)\n--\n\n"
     "Return longer rules across that are in no box and no edges of one."},
    {NULL, NULL, 0, NULL},
};
