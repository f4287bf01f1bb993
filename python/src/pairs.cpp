// Pairs nearer to each other than a cutoff.

#include "binding.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <vector>

// What to list and of what, as the Python side says it.
struct pairs_request {
    kith_pairs_options options = {};
    bool has_cell = false;
    std::vector<kith_cell> cells; // one for each system
    std::vector<input> keep;
};

static std::shared_ptr<pairs_request> request(double cutoff, double skin, unsigned quantities,
                                              bool half, bool unsorted, bool narrow, int method,
                                              int64_t memory_limit, const input &cells,
                                              const input &periodic)
{
    auto made = std::make_shared<pairs_request>();
    kith_pairs_options &options = made->options;
    options.cutoff = cutoff;
    options.skin = skin;
    options.quantities = quantities;
    options.half = half;
    options.unsorted = unsorted;
    options.narrow = narrow;
    options.method = (kith_pairs_method)method;
    options.memory_limit = memory_limit;
    if (!cells.is_valid())
        return made;
    // systems × 3 × 3 doubles and systems × 3 int32, dense
    const double *vectors = static_cast<const double *>(cells.data());
    const int32_t *along = static_cast<const int32_t *>(periodic.data());
    made->has_cell = true;
    made->cells.resize(cells.shape(0));
    for (kith_cell &cell : made->cells)
        for (int k = 0; k < 3; k++) {
            cell.periodic[k] = *along++ != 0;
            for (int l = 0; l < 3; l++)
                cell.vectors[k][l] = *vectors++;
        }
    return made;
}

// The arrays that only some requests have, by the name of the option.
static void add_option(pairs_request &made, const std::string &name, const input &array)
{
    const kith_array taken = array_of(name.c_str(), array);
    made.keep.push_back(array);
    kith_pairs_options &options = made.options;
    if (name == "queries")
        options.queries = taken;
    else if (name == "radii")
        options.radii = taken;
    else if (name == "query_radii")
        options.query_radii = taken;
    else if (name == "exclusion_offsets")
        options.exclusion_offsets = taken;
    else if (name == "exclusions")
        options.exclusions = taken;
    else if (name == "system_offsets")
        options.system_offsets = taken;
    else if (name == "query_system_offsets")
        options.query_system_offsets = taken;
    else
        throw nb::key_error(name.c_str());
}

static const kith_cell *cells_of(const pairs_request &made)
{
    return made.has_cell ? made.cells.data() : nullptr;
}

static void compute(pairs &list, const pairs_request &made, const input &positions)
{
    const kith_array of = array_of("positions", positions);
    calling(*list.where, [&] {
        return kith_pairs_compute(list.where->handle, &made.options, of, cells_of(made),
                                  &list.handle);
    });
}

static bool update(pairs &list, const pairs_request &made, const input &positions)
{
    const kith_array of = array_of("positions", positions);
    bool rebuilt = false;
    calling(*list.where, [&] {
        return kith_pairs_update(list.where->handle, &made.options, of, cells_of(made),
                                 &list.handle, &rebuilt);
    });
    return rebuilt;
}

static void nearest(pairs &list, const pairs_request &made, const input &positions, int64_t k)
{
    const kith_array of = array_of("positions", positions);
    calling(*list.where, [&] {
        return kith_pairs_nearest(list.where->handle, &made.options, of, cells_of(made), k,
                                  &list.handle);
    });
}

static std::shared_ptr<pairs> create(context_ref where)
{
    auto made = std::make_shared<pairs>();
    made->where = std::move(where);
    return made;
}

// A list of arrays that were a list's. The arrays stay the caller's, and no search may use it.
static std::shared_ptr<pairs> of_arrays(int64_t count, const input &offsets, const input &i,
                                        const input &j, const input &shifts, const input &vectors,
                                        const input &distances)
{
    auto made = std::make_shared<pairs>();
    kith_pairs &list = made->stored;
    list.offsets = array_of("offsets", offsets);
    list.i = array_of("i", i);
    list.j = array_of("j", j);
    list.shifts = array_of("shifts", shifts);
    list.vectors = array_of("vectors", vectors);
    list.distances = array_of("distances", distances);
    list.row_count = list.offsets.shape[0] - 1;
    list.count = count;
    made->keep = {offsets, i, j, shifts, vectors, distances};
    made->handle = &list;
    return made;
}

// An array of the list's, None if it was not requested.
template <kith_array kith_pairs::*column>
static std::optional<view> column_of(nb::handle_t<pairs> self)
{
    const pairs &list = nb::cast<const pairs &>(self);
    if (!list.handle || kith_array_is_none(list.handle->*column))
        return std::nullopt;
    return view_of(list.handle->*column, self);
}

void add_pairs(nb::module_ &module)
{
    nb::class_<pairs_request>(module, "PairsRequest")
        .def("add", add_option, nb::arg("name"), nb::arg("array"));
    module.def("request_pairs", request, nb::arg("cutoff"), nb::arg("skin"), nb::arg("quantities"),
               nb::arg("half"), nb::arg("unsorted"), nb::arg("narrow"), nb::arg("method"),
               nb::arg("memory_limit"), nb::arg("cells").none(), nb::arg("periodic").none());
    nb::class_<pairs>(module, "PairsList")
        .def("compute", compute, nb::arg("request"), nb::arg("positions"))
        .def("update", update, nb::arg("request"), nb::arg("positions"))
        .def("nearest", nearest, nb::arg("request"), nb::arg("positions"), nb::arg("k"))
        .def_prop_ro("row_count", [](const pairs &p) { return p.handle ? p.handle->row_count : 0; })
        .def_prop_ro("count", [](const pairs &p) { return p.handle ? p.handle->count : 0; })
        .def_prop_ro("offsets", column_of<&kith_pairs::offsets>)
        .def_prop_ro("i", column_of<&kith_pairs::i>)
        .def_prop_ro("j", column_of<&kith_pairs::j>)
        .def_prop_ro("shifts", column_of<&kith_pairs::shifts>)
        .def_prop_ro("vectors", column_of<&kith_pairs::vectors>)
        .def_prop_ro("distances", column_of<&kith_pairs::distances>);
    module.def("create_pairs", create, nb::arg("context"));
    module.def("pairs_of_arrays", of_arrays, nb::arg("count"), nb::arg("offsets"),
               nb::arg("i").none(), nb::arg("j").none(), nb::arg("shifts").none(),
               nb::arg("vectors").none(), nb::arg("distances").none());
    nb::dict methods, quantities;
    methods["auto"] = (int)KITH_PAIRS_AUTO;
    methods["cells"] = (int)KITH_PAIRS_CELLS;
    methods["brute-force"] = (int)KITH_PAIRS_BRUTE_FORCE;
    methods["reference"] = (int)KITH_PAIRS_REFERENCE;
    quantities["i"] = (int)KITH_PAIRS_I;
    quantities["j"] = (int)KITH_PAIRS_J;
    quantities["S"] = (int)KITH_PAIRS_SHIFTS;
    quantities["D"] = (int)KITH_PAIRS_VECTORS;
    quantities["d"] = (int)KITH_PAIRS_DISTANCES;
    module.attr("pairs_methods") = methods;
    module.attr("pairs_quantities") = quantities;
    module.attr("pairs_counts") = (int)KITH_PAIRS_COUNTS;
}
