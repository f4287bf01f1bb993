// Bodies: made, read and written; their columns are seen in place.

#include "binding.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <optional>
#include <vector>

static std::shared_ptr<bodies> create(int64_t count, int32_t dimensions, unsigned columns)
{
    auto made = std::make_shared<bodies>();
    calling([&] { return kith_bodies_create(count, dimensions, columns, &made->handle); });
    return made;
}

static std::shared_ptr<bodies> make(const std::string &kind, std::optional<int64_t> count,
                                    uint64_t seed, int32_t dimensions, double eccentricity,
                                    double mass_ratio, const std::vector<double> &elements,
                                    double star, double g, int coordinates, double density,
                                    double temperature)
{
    kith_initial_options options = {};
    options.count = count.value_or(0);
    options.count_given = count.has_value();
    options.seed = seed;
    options.dimensions = dimensions;
    options.eccentricity = eccentricity;
    options.mass_ratio = mass_ratio;
    std::vector<kith_planet> planets(elements.size() / 7);
    for (size_t k = 0; k < planets.size(); k++) {
        const double *of = &elements[7 * k];
        planets[k] = {of[0], of[1], of[2], of[3], of[4], of[5], of[6]};
    }
    options.planets = planets.empty() ? nullptr : planets.data();
    options.planet_count = (int64_t)planets.size();
    options.star_mass = star;
    options.gravitational_constant = g;
    options.coordinates = static_cast<kith_orbit_coordinates>(coordinates);
    options.density = density;
    options.temperature = temperature;
    auto made = std::make_shared<bodies>();
    polling(options, [&] { return kith_initial_make(kind.c_str(), &options, &made->handle); });
    return made;
}

static std::shared_ptr<bodies> read_file(const std::string &path,
                                         const std::optional<std::string> &format, int64_t frame,
                                         std::optional<int64_t> system)
{
    kith_read_options options = {};
    options.format = format ? format->c_str() : nullptr;
    options.frame = frame;
    options.system = system.value_or(0);
    options.system_given = system.has_value();
    auto made = std::make_shared<bodies>();
    polling(options, [&] { return kith_bodies_read(path.c_str(), &options, &made->handle); });
    return made;
}

static void write_file(const bodies &from, const std::string &path,
                       const std::optional<std::string> &format)
{
    kith_write_options options = {};
    options.format = format ? format->c_str() : nullptr;
    polling(options, [&] { return kith_bodies_write(from.handle, path.c_str(), &options); });
}

template <double *kith_bodies::*column>
static std::optional<view> vectors_of(nb::handle_t<bodies> self)
{
    const kith_bodies *b = nb::cast<const bodies &>(self).handle;
    if (!(b->*column) && b->count > 0)
        return std::nullopt;
    return view_of(kith_array_matrix(b->*column, KITH_F64, b->count, b->dimensions), self);
}

template <double *kith_bodies::*column>
static std::optional<view> numbers_of(nb::handle_t<bodies> self)
{
    const kith_bodies *b = nb::cast<const bodies &>(self).handle;
    if (!(b->*column) && b->count > 0)
        return std::nullopt;
    return view_of(kith_array_vector(b->*column, KITH_F64, b->count), self);
}

static std::optional<view> ids_of(nb::handle_t<bodies> self)
{
    const kith_bodies *b = nb::cast<const bodies &>(self).handle;
    if (!b->id && b->count > 0)
        return std::nullopt;
    return view_of(kith_array_vector(b->id, KITH_I64, b->count), self);
}

static std::optional<std::vector<std::string>> names_of(const bodies &of)
{
    if (!of.handle->name)
        return std::nullopt;
    std::vector<std::string> names;
    for (int64_t i = 0; i < of.handle->count; i++)
        names.emplace_back(of.handle->name[i]);
    return names;
}

static void set_names(bodies &of, const std::vector<std::string> &names)
{
    for (int64_t i = 0; i < of.handle->count && i < (int64_t)names.size(); i++) {
        std::memset(of.handle->name[i], 0, KITH_NAME_BYTES);
        std::strncpy(of.handle->name[i], names[(size_t)i].c_str(), KITH_NAME_BYTES - 1);
    }
}

// Nine numbers, or None.
static std::optional<std::vector<double>> cell_of(const bodies &of)
{
    if (!of.handle->has_cell)
        return std::nullopt;
    return std::vector<double>(of.handle->cell, of.handle->cell + 9);
}

static std::vector<bool> periodic_of(const bodies &of)
{
    return std::vector<bool>(of.handle->periodic, of.handle->periodic + 3);
}

static void set_cell(bodies &of, const std::vector<double> &cell, const std::vector<bool> &periodic)
{
    of.handle->has_cell = true;
    for (size_t k = 0; k < 9; k++)
        of.handle->cell[k] = cell.at(k);
    for (size_t k = 0; k < 3; k++)
        of.handle->periodic[k] = periodic.at(k);
}

// Three names, of length, time and mass; ValueError if one is too long to be stored.
static std::vector<std::string> units_of(const bodies &of)
{
    const kith_units &units = of.handle->units;
    return {units.length, units.time, units.mass};
}

static void set_units(bodies &of, const std::vector<std::string> &names)
{
    kith_units units = of.handle->units;
    char *const places[] = {units.length, units.time, units.mass};
    if (names.size() != 3)
        throw nb::value_error("units are not three names; give those of length, time and mass");
    for (size_t k = 0; k < 3; k++) {
        if (names[k].size() >= KITH_NAME_BYTES)
            throw nb::value_error("the name of a unit is longer than 31 bytes");
        std::memset(places[k], 0, KITH_NAME_BYTES);
        std::memcpy(places[k], names[k].data(), names[k].size());
    }
    of.handle->units = units;
}

static nb::list kinds()
{
    nb::list found;
    int64_t count = 0;
    const kith_initial *list = kith_initial_list(&count);
    for (int64_t k = 0; k < count; k++)
        found.append(nb::make_tuple(list[k].name, list[k].description));
    return found;
}

static nb::list formats()
{
    nb::list found;
    int64_t count = 0;
    const kith_format *list = kith_format_list(&count);
    for (int64_t k = 0; k < count; k++)
        found.append(
            nb::make_tuple(list[k].name, list[k].description, list[k].reads, list[k].writes));
    return found;
}

void add_bodies(nb::module_ &module)
{
    nb::class_<bodies>(module, "BodiesTable")
        .def_prop_ro("count", [](const bodies &b) { return b.handle->count; })
        .def_prop_ro("dimensions", [](const bodies &b) { return b.handle->dimensions; })
        .def_prop_rw(
            "time", [](const bodies &b) { return b.handle->time; },
            [](bodies &b, double time) { b.handle->time = time; })
        .def_prop_rw(
            "g", [](const bodies &b) { return b.handle->units.gravitational_constant; },
            [](bodies &b, double g) { b.handle->units.gravitational_constant = g; })
        .def_prop_rw("units", units_of, set_units)
        .def_prop_ro("positions", vectors_of<&kith_bodies::position>)
        .def_prop_ro("velocities", vectors_of<&kith_bodies::velocity>)
        .def_prop_ro("masses", numbers_of<&kith_bodies::mass>)
        .def_prop_ro("charges", numbers_of<&kith_bodies::charge>)
        .def_prop_ro("softening", numbers_of<&kith_bodies::softening>)
        .def_prop_ro("radii", numbers_of<&kith_bodies::radius>)
        .def_prop_ro("epsilon", numbers_of<&kith_bodies::epsilon>)
        .def_prop_ro("sigma", numbers_of<&kith_bodies::sigma>)
        .def_prop_ro("ids", ids_of)
        .def_prop_rw("names", names_of, set_names)
        .def_prop_ro("cell", cell_of)
        .def_prop_ro("periodic", periodic_of)
        .def("set_cell", set_cell, nb::arg("cell"), nb::arg("periodic"))
        .def("write", write_file, nb::arg("path"), nb::arg("format").none());
    module.def("create_bodies", create, nb::arg("count"), nb::arg("dimensions"),
               nb::arg("columns"));
    module.def("make_bodies", make, nb::arg("kind"), nb::arg("count").none(), nb::arg("seed"),
               nb::arg("dimensions"), nb::arg("eccentricity"), nb::arg("mass_ratio"),
               nb::arg("elements"), nb::arg("star"), nb::arg("g"), nb::arg("coordinates"),
               nb::arg("density"), nb::arg("temperature"));
    module.def("read_bodies", read_file, nb::arg("path"), nb::arg("format").none(),
               nb::arg("frame"), nb::arg("system").none());
    nb::dict columns;
    columns["velocities"] = (int)KITH_VELOCITY;
    columns["masses"] = (int)KITH_MASS;
    columns["charges"] = (int)KITH_CHARGE;
    columns["softening"] = (int)KITH_SOFTENING;
    columns["radii"] = (int)KITH_RADIUS;
    columns["epsilon"] = (int)KITH_EPSILON;
    columns["sigma"] = (int)KITH_SIGMA;
    columns["ids"] = (int)KITH_ID;
    columns["names"] = (int)KITH_NAME;
    module.attr("bodies_columns") = columns;
    module.def("initial_kinds", kinds);
    module.def("formats", formats);
}
