// Contexts, and what this build and this machine can do.

#include "binding.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

static unsigned long main_thread;
static const std::chrono::milliseconds between_polls(50);

bool has_signal(void *raised)
{
    if (PyThread_get_thread_ident() != main_thread)
        return false;
    const nb::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() == 0)
        return false;
    static_cast<raised_by_signal *>(raised)->emplace();
    return true;
}

using_context::using_context(context &where, raised_by_signal &raised)
    : where_(where), raised_(raised)
{
    while (!where.busy.try_lock_for(between_polls))
        if (has_signal(&raised))
            return;
    is_taken_ = true;
    where.user = std::this_thread::get_id();
    if (PyThread_get_thread_ident() == main_thread)
        kith_context_set_poll(where.handle, has_signal, &raised);
}

using_context::~using_context()
{
    if (!is_taken_)
        return;
    kith_context_set_poll(where_.handle, nullptr, nullptr);
    if (raised_)
        kith_context_clear_cancel(where_.handle);
    for (const auto &free : where_.unused)
        free();
    where_.unused.clear();
    where_.user = std::thread::id();
    where_.busy.unlock();
}

context::~context()
{
    kith_context_free(handle);
    if (!messages || !nb::is_alive())
        return;
    const nb::gil_scoped_acquire acquire;
    Py_DECREF(messages);
}

// Not before the end of a call that it would let go on.
static void clear_cancel(context &where)
{
    if (where.is_mine())
        return;
    const nb::gil_scoped_release release;
    const std::lock_guard<std::timed_mutex> alone(where.busy);
    kith_context_clear_cancel(where.handle);
}

static context_ref create(int32_t device_kind, int32_t device_index, int32_t threads,
                          uintptr_t stream, const std::vector<int32_t> &peers)
{
    kith_context_options options = {};
    options.device = {(kith_device_kind)device_kind, device_index};
    options.threads = threads;
    options.stream = reinterpret_cast<void *>(stream);
    context_ref created = std::make_shared<context>();
    calling([&] { return kith_context_create(&options, &created->handle); });
    calling([&] {
        return kith_context_add_peers(created->handle, peers.data(), (int32_t)peers.size());
    });
    return created;
}

// The device that suits a piece of work on the host's arrays, and why.
static nb::tuple choose(int kind, double units, double rows, bool is_single, int32_t threads)
{
    kith_work work = {};
    work.kind = (kith_work_kind)kind;
    work.units = units;
    work.rows = rows;
    work.dtype = is_single ? KITH_F32 : KITH_F64;
    work.threads = threads;
    kith_device device = {};
    char reason[KITH_REASON_BYTES];
    calling([&] { return kith_device_choose(&work, &device, reason); });
    return nb::make_tuple(device.kind == KITH_CPU ? "cpu" : "cuda", reason);
}

static nb::tuple device_of(const context &where)
{
    const kith_device device = kith_context_device(where.handle);
    return nb::make_tuple((int)device.kind, device.index);
}

static nb::dict describe(const kith_backend_info &backend, int32_t index)
{
    nb::dict found;
    const bool is_cpu = std::string(backend.name) == "cpu";
    found["kind"] = backend.name;
    found["index"] = index;
    kith_device_info info;
    if (!is_cpu && kith_device_describe({KITH_CUDA, index}, &info)) {
        found["name"] = (const char *)info.name;
        found["architecture"] = (const char *)info.architecture;
        found["multiprocessors"] = info.multiprocessors;
        found["memory_bytes"] = info.memory_bytes;
    }
    return found;
}

// Every device of this machine, the one that "auto" selects first.
static nb::list devices()
{
    nb::list found;
    kith_backend_info backend;
    for (int32_t k = 0; kith_backend_describe(k, &backend); k++)
        for (int32_t index = 0; index < backend.device_count; index++)
            found.append(describe(backend, index));
    return found;
}

// The backends, and why one has no device.
static nb::list backends()
{
    nb::list found;
    kith_backend_info backend;
    for (int32_t k = 0; kith_backend_describe(k, &backend); k++) {
        nb::dict row;
        row["name"] = backend.name;
        row["built"] = backend.built;
        row["device_count"] = backend.device_count;
        row["note"] = backend.note ? nb::object(nb::str(backend.note)) : nb::none();
        found.append(row);
    }
    return found;
}

static nb::list isas()
{
    nb::list found;
    int64_t count = 0;
    const kith_isa *list = kith_isa_list(&count);
    for (int64_t k = 0; k < count; k++) {
        nb::dict row;
        row["name"] = list[k].name;
        row["description"] = list[k].description;
        row["supported"] = list[k].supported;
        found.append(row);
    }
    return found;
}

void add_context(nb::module_ &module)
{
    nb::class_<context>(module, "Context")
        .def_prop_ro("device", device_of)
        .def_prop_ro("threads",
                     [](const context &where) { return kith_context_threads(where.handle); })
        .def_prop_ro("isa", [](const context &where) { return kith_context_isa(where.handle); })
        .def_prop_ro("stream",
                     [](const context &where) {
                         return reinterpret_cast<uintptr_t>(kith_context_stream(where.handle));
                     })
        .def("synchronize",
             [](context &where) {
                 calling(where, [&] { return kith_context_synchronize(where.handle); });
             })
        .def("cancel", [](context &where) { kith_context_cancel(where.handle); })
        .def("clear_cancel", clear_cancel);
    main_thread = nb::cast<unsigned long>(
        nb::module_::import_("threading").attr("main_thread")().attr("ident"));
    module.def("create_context", create, nb::arg("device_kind"), nb::arg("device_index"),
               nb::arg("threads"), nb::arg("stream"), nb::arg("peers"));
    module.def("choose_device", choose, nb::arg("kind"), nb::arg("units"), nb::arg("rows"),
               nb::arg("is_single"), nb::arg("threads"));
    nb::dict works;
    works["forces"] = (int)KITH_WORK_FORCES;
    works["steps"] = (int)KITH_WORK_STEPS;
    works["product"] = (int)KITH_WORK_PRODUCT;
    works["matrix"] = (int)KITH_WORK_MATRIX;
    works["pairs"] = (int)KITH_WORK_PAIRS;
    works["collisions"] = (int)KITH_WORK_COLLISIONS;
    works["sums"] = (int)KITH_WORK_SUMS;
    works["near"] = (int)KITH_WORK_NEAR;
    works["near_steps"] = (int)KITH_WORK_NEAR_STEPS;
    works["images"] = (int)KITH_WORK_IMAGES;
    works["images_steps"] = (int)KITH_WORK_IMAGES_STEPS;
    module.attr("works") = works;
    module.def("devices", devices);
    module.def("backends", backends);
    module.def("isas", isas);
    module.def("has_hdf5", kith_build_has_hdf5);
    module.def("memory_available", kith_memory_available);
}
