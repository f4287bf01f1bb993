// Statuses as exceptions.

#include "binding.h"

#include <cerrno>
#include <cstring>
#include <utility>

// Of this module: they live as long as the interpreter.
static PyObject *format_error, *cancelled;

// The library's names, and the arguments of the package that they come from.
static const char *const arguments[][2] = {{"work.threads", "threads"},
                                           {"gravitational_constant", "g"},
                                           {"output_count is 0", "outputs is empty"},
                                           {"sources.positions", "positions"},
                                           {"sources.m", "masses"},
                                           {"sources.q", "charges"},
                                           {"sources.softening", "softening"},
                                           {"targets.positions", "targets"},
                                           {"targets.m", "target_masses"},
                                           {"targets.q", "target_charges"},
                                           {"targets.softening", "target_softening"},
                                           {"source_directions", "directions"},
                                           {"rows.positions", "positions"},
                                           {"rows.m", "masses"},
                                           {"rows.q", "charges"},
                                           {"columns.positions", "columns"},
                                           {"columns.m", "column_masses"},
                                           {"columns.q", "column_charges"}};

static std::string with_arguments(std::string message)
{
    for (const auto &[name, argument] : arguments)
        for (size_t at = 0; (at = message.find(name, at)) != std::string::npos;)
            message.replace(at, strlen(name), argument);
    return message;
}

// As Python's own open() has them: the message ends with the reason of the system.
static PyObject *file_error(const std::string &message)
{
    const std::pair<int, PyObject *> errors[] = {{ENOENT, PyExc_FileNotFoundError},
                                                 {EACCES, PyExc_PermissionError}};
    for (const auto &[number, type] : errors) {
        const std::string reason = strerror(number);
        if (message.size() > reason.size() &&
            message.compare(message.size() - reason.size(), reason.size(), reason) == 0)
            return type;
    }
    return PyExc_OSError;
}

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
        type = file_error(message);
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
    PyErr_SetString(type, with_arguments(message).c_str());
    throw nb::python_error();
}

static const char format_error_doc[] = R"(A file that has been read does not follow its format.

The message names the line or the item. It is a ValueError.

Examples
--------
>>> import kith, pathlib, tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = pathlib.Path(folder, "bodies.csv")
...     _ = path.write_text("x,w")
...     try:
...         kith.read(path)
...     except kith.FormatError as error:
...         print("line 1" in str(error))
True
)";

static const char cancelled_doc[] = R"(A call was cancelled by its context.

Examples
--------
>>> import kith
>>> context = kith.Context("cpu")
>>> simulation = kith.Simulation(kith.make("two-body"), dt=0.01, context=context)
>>> context.cancel()
>>> try:
...     simulation.step()
... except kith.Cancelled:
...     print("cancelled")
cancelled
)";

void add_status(nb::module_ &module)
{
    format_error =
        PyErr_NewExceptionWithDoc("kith.FormatError", format_error_doc, PyExc_ValueError, NULL);
    cancelled =
        PyErr_NewExceptionWithDoc("kith.Cancelled", cancelled_doc, PyExc_RuntimeError, NULL);
    module.attr("FormatError") = nb::borrow(format_error);
    module.attr("Cancelled") = nb::borrow(cancelled);
}
