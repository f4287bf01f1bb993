// Contexts of the ranks of a job, whose messages a Python object passes: python/kith/_ranks.py.

#include "binding.h"

#include <nanobind/stl/shared_ptr.h>

// Calls a method of the object. One that fails ends the job: the other ranks wait for it.
template <class... Arguments>
static void pass(void *state, const char *method, Arguments... arguments)
{
    const nb::gil_scoped_acquire acquire;
    const nb::handle messages(static_cast<PyObject *>(state));
    try {
        messages.attr(method)(arguments()...);
    } catch (nb::python_error &error) {
        error.restore();
        PyErr_Print();
        messages.attr("abort")();
    }
}

// Arguments are made while Python's lock is held.
static auto number(int64_t value)
{
    return [value] { return nb::int_(value); };
}

// PyBUF_READ and PyBUF_WRITE, which headers of the stable ABI have from Python 3.11 on.
enum { read_only = 0x100, writable = 0x200 };

static auto memory(const void *data, int64_t bytes, int flags)
{
    static char none;
    char *const start = data ? static_cast<char *>(const_cast<void *>(data)) : &none;
    return [=] {
        PyObject *seen = PyMemoryView_FromMemory(start, bytes, flags);
        if (!seen)
            throw nb::python_error();
        return nb::steal<nb::object>(seen);
    };
}

static void post_send(void *state, int32_t batch, int32_t to, int32_t tag, const void *data,
                      int64_t bytes)
{
    pass(state, "post_send", number(batch), number(to), number(tag),
         memory(data, bytes, read_only));
}

static void post_receive(void *state, int32_t batch, int32_t from, int32_t tag, void *data,
                         int64_t bytes)
{
    pass(state, "post_receive", number(batch), number(from), number(tag),
         memory(data, bytes, writable));
}

static void post_maximum(void *state, int32_t batch, int64_t *values, int32_t count)
{
    pass(state, "post_maximum", number(batch),
         memory(values, count * (int64_t)sizeof *values, writable));
}

static void progress(void *state)
{
    pass(state, "progress");
}

static void wait(void *state, int32_t batch)
{
    pass(state, "wait", number(batch));
}

static void broadcast(void *state, void *data, int64_t bytes)
{
    pass(state, "broadcast", memory(data, bytes, writable));
}

static void gather(void *state, void *data, int64_t element_bytes, const int64_t *first)
{
    int32_t size = 0;
    {
        const nb::gil_scoped_acquire acquire;
        size = nb::cast<int32_t>(nb::handle(static_cast<PyObject *>(state)).attr("size"));
    }
    pass(state, "gather", memory(data, first[size] * element_bytes, writable),
         number(element_bytes), memory(first, (size + 1) * (int64_t)sizeof *first, read_only));
}

static void add(void *state, unsigned long long *values, int64_t count)
{
    pass(state, "add", memory(values, count * (int64_t)sizeof *values, writable));
}

static const kith_messages messages_of_python = {
    "mpi4py", post_send, post_receive, post_maximum, progress,
    wait,     broadcast, gather,       add,          nullptr,
};

static void join(context &where, nb::object messages, int32_t size, int32_t rank)
{
    where.messages = messages.inc_ref().ptr();
    calling(where, [&] {
        return kith_context_join(where.handle, &messages_of_python, where.messages, size, rank);
    });
}

void add_ranks(nb::module_ &module)
{
    module.def("join", join, nb::arg("context"), nb::arg("messages"), nb::arg("size"),
               nb::arg("rank"));
}
