// Statuses as exceptions.

#include "binding.h"

// Of this module: they live as long as the interpreter.
static PyObject *format_error, *cancelled;

[[noreturn]] void raise(kith_status status, const std::string &message)
{
    PyObject *type = PyExc_RuntimeError;
    switch (status) {
    case KITH_INVALID_ARGUMENT:
        type = PyExc_ValueError;
        break;
    case KITH_OUT_OF_MEMORY:
        type = PyExc_MemoryError;
        break;
    case KITH_IO_ERROR:
        type = PyExc_OSError;
        break;
    case KITH_BAD_FORMAT:
        type = format_error;
        break;
    case KITH_UNSUPPORTED:
        type = PyExc_NotImplementedError;
        break;
    case KITH_CANCELLED:
        type = cancelled;
        break;
    default: // no device, a bug
        break;
    }
    PyErr_SetString(type, message.c_str());
    throw nb::python_error();
}

void add_status(nb::module_ &module)
{
    format_error = PyErr_NewExceptionWithDoc(
        "kith.FormatError", "A file was read, and what it says is wrong.", PyExc_ValueError, NULL);
    cancelled = PyErr_NewExceptionWithDoc("kith.Cancelled", "A call was cancelled by its context.",
                                          PyExc_RuntimeError, NULL);
    module.attr("FormatError") = nb::borrow(format_error);
    module.attr("Cancelled") = nb::borrow(cancelled);
}
