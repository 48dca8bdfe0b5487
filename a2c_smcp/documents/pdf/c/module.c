/* The module: it learns once where PDFium's functions are and what the records of Python look like. */

#include "native.h"

#include <errno.h>
#include <stdint.h>
#include <structmember.h>
#include <unistd.h>

#ifndef A2C_SOURCE
#define A2C_SOURCE "" /* the build tells what it was built from */
#endif

Pdfium pdfium;
double farthest;
Record line_record, word_record;

static const char *const line_fields[] = {"text", "x0", "y0", "x1", "y1", "size", "font", "position", "length", "joined"};
static const char *const word_fields[] = {"text", "x0", "y0", "x1", "y1", "line"};

/* In the order in which `learn` is told of them. */
static const struct {
    Record *record;
    const char *const *names;
    int count;
} records[] = {
    {&line_record, line_fields, LINE_FIELDS},
    {&word_record, word_fields, WORD_FIELDS},
};
enum { RECORDS = sizeof records / sizeof *records };

static int learn(Record *record, PyObject *type, const char *const *names, int count) {
    if (!PyType_Check(type)) {
        PyErr_SetString(PyExc_TypeError, "a record is a class");
        return 0;
    }
    for (int field = 0; field < count; field++) {
        PyObject *slot = PyObject_GetAttrString(type, names[field]);
        if (slot == NULL)
            return 0;
        int is_slot = Py_TYPE(slot) == &PyMemberDescr_Type && ((PyMemberDescrObject *)slot)->d_member->type == T_OBJECT_EX;
        if (is_slot)
            record->offsets[field] = ((PyMemberDescrObject *)slot)->d_member->offset;
        Py_DECREF(slot);
        if (!is_slot) {
            PyErr_Format(PyExc_TypeError, "%R has no slot %s", type, names[field]);
            return 0;
        }
    }
    record->type = (PyTypeObject *)Py_NewRef(type);
    record->count = count;
    return 1;
}

PyObject *record_make(const Record *record, PyObject **values) {
    PyObject *made = record->type->tp_alloc(record->type, 0);
    for (int field = 0; field < record->count; field++)
        if (values[field] == NULL)
            Py_CLEAR(made);
    for (int field = 0; field < record->count; field++) {
        if (made != NULL)
            *(PyObject **)((char *)made + record->offsets[field]) = values[field];
        else
            Py_XDECREF(values[field]);
    }
    return made;
}

int record_check(const Record *record, PyObject *instance) {
    if (Py_IS_TYPE(instance, record->type))
        return 1;
    PyErr_Format(PyExc_TypeError, "expected %R, not %R", (PyObject *)record->type, (PyObject *)Py_TYPE(instance));
    return 0;
}

void record_miss(const Record *record) {
    PyErr_Format(PyExc_AttributeError, "a field of %R is missing", (PyObject *)record->type);
}

static int bind_function(PyObject *addresses, const char *name, void *to) {
    PyObject *address = PyDict_GetItemString(addresses, name);
    void *found = address == NULL ? NULL : PyLong_AsVoidPtr(address);
    if (found == NULL) {
        if (!PyErr_Occurred())
            PyErr_Format(PyExc_KeyError, "%s", name);
        return 0;
    }
    memcpy(to, &found, sizeof found);
    return 1;
}

static PyObject *bind(PyObject *module, PyObject *arguments) {
    PyObject *addresses;
    (void)module;
    if (!PyArg_ParseTuple(arguments, "O!d", &PyDict_Type, &addresses, &farthest))
        return NULL;
#define BIND(result, name, arguments) && bind_function(addresses, #name, &pdfium.name)
    if (!(1 PDFIUM_FUNCTIONS(BIND)))
        return NULL;
#undef BIND
    Py_RETURN_NONE;
}

/* What PDFium reads an open file with: `FPDF_FILEACCESS.m_GetBlock`, whose parameter is the descriptor. */
static int read_block(void *parameter, unsigned long position, unsigned char *buffer, unsigned long size) {
    while (size > 0) {
        ssize_t count = pread((int)(intptr_t)parameter, buffer, size, (off_t)position);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return 0;
        buffer += count, position += (unsigned long)count, size -= (unsigned long)count;
    }
    return 1;
}

static PyObject *block_reader(PyObject *module, PyObject *nothing) {
    int (*function)(void *, unsigned long, unsigned char *, unsigned long) = read_block;
    void *address;
    (void)module, (void)nothing;
    memcpy(&address, &function, sizeof address);
    return PyLong_FromVoidPtr(address);
}

static PyObject *learn_records(PyObject *module, PyObject *const *types, Py_ssize_t count) {
    (void)module;
    if (count != RECORDS)
        return PyErr_Format(PyExc_TypeError, "expected %d records, not %zd", RECORDS, count);
    for (int number = 0; number < RECORDS; number++)
        if (!learn(records[number].record, types[number], records[number].names, records[number].count))
            return NULL;
    Py_RETURN_NONE;
}

static PyObject *functions(PyObject *module, PyObject *nothing) {
    (void)module, (void)nothing;
#define NAME(result, name, arguments) #name,
    static const char *const names[] = {PDFIUM_FUNCTIONS(NAME)};
#undef NAME
    Py_ssize_t count = (Py_ssize_t)(sizeof names / sizeof *names);
    PyObject *list = PyList_New(count);
    for (Py_ssize_t number = 0; list != NULL && number < count; number++) {
        PyObject *name = PyUnicode_FromString(names[number]);
        if (name == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, number, name);
    }
    return list;
}

static PyMethodDef module_functions[] = {
    {"functions", functions, METH_NOARGS, "functions()\n--\n\nReturn the names of the functions of PDFium that `bind` needs."},
    {"block_reader", block_reader, METH_NOARGS,
     "block_reader()\n--\n\nReturn the address of the function by which PDFium reads a descriptor."},
    {"bind", bind, METH_VARARGS,
     "bind(addresses, farthest)\n--\n\nLearn where the functions of PDFium are, and how far a place can be from the origin."},
    {"learn", (PyCFunction)(void (*)(void))learn_records, METH_FASTCALL,
     "learn(line, word)\n--\n\nLearn what the records of a page look like."},
    {NULL, NULL, 0, NULL},
};

/* Returns 0 and sets an error where another file has a function of the same name. */
static int are_new(PyObject *module, const PyMethodDef *functions) {
    for (; functions->ml_name != NULL; functions++)
        if (PyDict_GetItemString(PyModule_GetDict(module), functions->ml_name) != NULL) {
            PyErr_Format(PyExc_SystemError, "there are two functions %s", functions->ml_name);
            return 0;
        }
    return 1;
}

static int fill(PyObject *module) {
#define TABLE(name) name##_functions,
    PyMethodDef *const tables[] = {TABLES(TABLE) NULL};
#undef TABLE
    if (PyModule_AddStringConstant(module, "source", A2C_SOURCE) || PyModule_AddType(module, &CharactersType))
        return -1;
    for (int number = 0; tables[number] != NULL; number++)
        if (!are_new(module, tables[number]) || PyModule_AddFunctions(module, tables[number]))
            return -1;
    return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, fill}, {0, NULL}};

static PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "_native",
    .m_doc = "Questions to PDFium that a page puts by the hundred, asked in one go.",
    .m_methods = module_functions,
    .m_slots = slots,
};

PyMODINIT_FUNC PyInit__native(void) { return PyModuleDef_Init(&definition); }
