// Live views: a simulation or the frames of a file in a browser.

#include "binding.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <optional>

// The last of its owners is destroyed with the interpreter's lock held.
seen::~seen()
{
    const nb::gil_scoped_release release;
    kith_view_close(handle);
    kith_trajectory_close(trajectory);
}

static kith_view_options options_of(int32_t port, const std::string &title, double until,
                                    double steps_per_second)
{
    kith_view_options options = {};
    options.port = port;
    options.title = title.c_str();
    options.until = until;
    options.steps_per_second = steps_per_second;
    return options;
}

static seen_ref open_simulation(const bodies &start, int32_t port, const std::string &title,
                                double until, double steps_per_second)
{
    auto opened = std::make_shared<seen>();
    const kith_view_options options = options_of(port, title, until, steps_per_second);
    calling([&] { return kith_view_open(&options, start.handle, &opened->handle); });
    return opened;
}

static seen_ref open_file(const std::string &path, std::optional<int64_t> system, int32_t port,
                          const std::string &title)
{
    auto opened = std::make_shared<seen>();
    const kith_view_options options = options_of(port, title, 0, 0);
    calling([&] {
        kith_status status = kith_trajectory_open(path.c_str(), &opened->trajectory);
        if (status == KITH_OK && system)
            status = kith_trajectory_choose_system(opened->trajectory, *system);
        return status == KITH_OK
                   ? kith_view_open_trajectory(&options, opened->trajectory, &opened->handle)
                   : status;
    });
    return opened;
}

void add_view(nb::module_ &module)
{
    nb::class_<seen>(module, "ViewHandle").def_prop_ro("address", [](const seen &of) {
        return std::string(kith_view_address(of.handle));
    });
    module.def("view_simulation", open_simulation, nb::arg("start"), nb::arg("port"),
               nb::arg("title"), nb::arg("until"), nb::arg("steps_per_second"));
    module.def("view_file", open_file, nb::arg("path"), nb::arg("system").none(), nb::arg("port"),
               nb::arg("title"));
}
