// Trajectories: the frames of a run's file.

#include "binding.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <cstdlib>
#include <cstring>
#include <optional>

struct trajectory {
    kith_trajectory *handle = nullptr;
    std::mutex busy; // a file is read by one thread at a time
    ~trajectory()
    {
        kith_trajectory_close(handle);
    }
};

static void check_signals()
{
    if (PyErr_CheckSignals() != 0)
        throw nb::python_error();
}

static std::shared_ptr<trajectory> open_file(const std::string &path, std::optional<int64_t> system)
{
    auto opened = std::make_shared<trajectory>();
    calling([&] {
        const kith_status status = kith_trajectory_open(path.c_str(), &opened->handle);
        return status == KITH_OK && system ? kith_trajectory_choose_system(opened->handle, *system)
                                           : status;
    });
    return opened;
}

static void read_frame(trajectory &of, int64_t frame, kith_bodies **into)
{
    calling([&] {
        const std::lock_guard<std::mutex> alone(of.busy);
        return kith_trajectory_read(of.handle, frame, into);
    });
}

static std::shared_ptr<bodies> bodies_of(trajectory &of, int64_t frame)
{
    auto made = std::make_shared<bodies>();
    read_frame(of, frame, &made->handle);
    return made;
}

// A frame's numbers to their row of an array of all frames.
static void keep(const std::optional<output> &all, int64_t frame, const double *numbers,
                 int64_t count)
{
    if (all && numbers)
        std::memcpy(static_cast<double *>(all->data()) + frame * count, numbers,
                    (size_t)count * sizeof *numbers);
}

// Reads every frame into arrays that have its shape after their first axis.
static void read_all(trajectory &of, const output &times, const std::optional<output> &positions,
                     const std::optional<output> &velocities)
{
    bodies frame;
    for (int64_t k = 0; k < (int64_t)times.shape(0); k++) {
        read_frame(of, k, &frame.handle);
        const int64_t count = frame.handle->count * frame.handle->dimensions;
        static_cast<double *>(times.data())[k] = frame.handle->time;
        keep(positions, k, frame.handle->position, count);
        keep(velocities, k, frame.handle->velocity, count);
        check_signals();
    }
}

// The number of components, and all values as a view of memory that is freed with it.
static nb::tuple observable(trajectory &of, const std::string &name)
{
    int64_t components = 0;
    double *values = nullptr;
    calling([&] {
        const std::lock_guard<std::mutex> alone(of.busy);
        return kith_trajectory_observable(of.handle, name.c_str(), &components, &values, nullptr);
    });
    const nb::capsule owner(values, [](void *memory) noexcept { std::free(memory); });
    const int64_t frames = kith_trajectory_frames(of.handle);
    return nb::make_tuple(components,
                          view_of(kith_array_matrix(values, KITH_F64, frames, components), owner));
}

void add_trajectory(nb::module_ &module)
{
    nb::class_<trajectory>(module, "TrajectoryFile")
        .def_prop_ro("frames",
                     [](const trajectory &of) { return kith_trajectory_frames(of.handle); })
        .def_prop_ro("systems",
                     [](const trajectory &of) { return kith_trajectory_systems(of.handle); })
        .def("read", bodies_of, nb::arg("frame"))
        .def("read_all", read_all, nb::arg("times"), nb::arg("positions").none(),
             nb::arg("velocities").none())
        .def("observable", observable, nb::arg("name"));
    module.def("open_trajectory", open_file, nb::arg("path"), nb::arg("system").none());
}
