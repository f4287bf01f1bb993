// All-pairs forces.

#include "binding.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <tuple>
#include <vector>

const kith_solver *solver_of(const std::string &name)
{
    const kith_solver *found = nullptr;
    const kith_status status = kith_solver_find(name.c_str(), &found);
    if (status != KITH_OK)
        raise(status, kith_error_message());
    return found;
}

kith_ewald ewald_of(double alpha, double absolute_error, int boundary,
                    const std::vector<int32_t> &grid)
{
    kith_ewald ewald = {};
    ewald.alpha = alpha;
    ewald.absolute_error = absolute_error;
    ewald.boundary = (kith_boundary)boundary;
    for (size_t c = 0; c < 3 && c < grid.size(); c++)
        ewald.grid[c] = grid[c];
    return ewald;
}

// The method that selects the solver of that name.
static const int by_reference = -1;

static kith_forces_options options_of(const law_ref &law, double g, double softening,
                                      const std::string &solver, int method, bool only_values)
{
    if (method == by_reference && solver != "auto" && solver != "reference")
        raise(KITH_INVALID_ARGUMENT,
              "method is 'reference', and solver is '" + solver + "'; leave the method out");
    kith_forces_options options = {};
    options.gravitational_constant = g;
    options.softening = softening;
    options.solver = solver_of(method == by_reference ? "reference" : solver);
    options.method = method == by_reference ? KITH_FORCES_AUTO : (kith_forces_method)method;
    options.law = handle_of(law);
    options.sum = only_values ? KITH_FORCES_SUM_VALUE : KITH_FORCES_SUM_FORCE;
    return options;
}

static std::optional<std::tuple<double, std::vector<double>, double>>
compute(context &where, const input &targets, const input &sources, const input &masses,
        const output &acceleration, const output &potential, const law_ref &law, double g,
        double softening, const input &source_softening, const input &target_softening,
        const input &source_charges, const input &target_charges, const input &target_masses,
        const input &epsilon, const input &sigma, const std::string &solver, double error,
        double theta, int32_t order, int method, int32_t block, int32_t unroll, bool only_values,
        double cutoff, int shift, bool tail, const input &cell, const input &periodic, double alpha,
        double absolute_error, int boundary, const std::vector<int32_t> &grid, const input &exclude,
        bool wants_totals)
{
    kith_forces_options options = options_of(law, g, softening, solver, method, only_values);
    const kith_cell around = cell.is_valid() ? cell_from(cell, periodic) : kith_cell{};
    options.cutoff = cutoff;
    options.shift = (kith_shift)shift;
    options.tail = tail;
    options.cell = cell.is_valid() ? &around : nullptr;
    options.ewald = ewald_of(alpha, absolute_error, boundary, grid);
    options.exclusions = array_of("exclude", exclude);
    options.accuracy = {error, theta, order};
    kith_forces_totals totals = {};
    options.totals = wants_totals ? &totals : nullptr;
    options.block = block;
    options.unroll = unroll;

    const kith_particles at = {array_of("targets", targets),
                               {{"m", array_of("target_masses", target_masses)},
                                {"q", array_of("target_charges", target_charges)},
                                {"softening", array_of("target_softening", target_softening)}}};
    const kith_particles of = {array_of("positions", sources),
                               {{"m", array_of("masses", masses)},
                                {"q", array_of("charges", source_charges)},
                                {"softening", array_of("softening", source_softening)},
                                {"epsilon", array_of("epsilon", epsilon)},
                                {"sigma", array_of("sigma", sigma)}}};
    const kith_array to = array_of("acceleration", acceleration);
    const kith_array also_to = array_of("potential", potential);
    calling(where,
            [&] { return kith_forces_compute(where.handle, &options, &at, &of, to, also_to); });
    if (!wants_totals)
        return std::nullopt;
    const std::vector<double> virial(totals.virial, totals.virial + 9);
    return std::make_tuple(totals.energy, virial, totals.volume);
}

static void derive(context &where, const input &targets, const input &sources, const input &masses,
                   const input &target_directions, const input &directions,
                   const output &acceleration, const output &potential, const law_ref &law,
                   double g, double softening, const input &source_softening,
                   const input &target_softening, const input &source_charges,
                   const input &target_charges, const input &target_masses, int method,
                   bool only_values)
{
    const kith_forces_options options = options_of(law, g, softening, "auto", method, only_values);
    const kith_particles at = {array_of("targets", targets),
                               {{"m", array_of("target_masses", target_masses)},
                                {"q", array_of("target_charges", target_charges)},
                                {"softening", array_of("target_softening", target_softening)}}};
    const kith_particles of = {array_of("positions", sources),
                               {{"m", array_of("masses", masses)},
                                {"q", array_of("charges", source_charges)},
                                {"softening", array_of("softening", source_softening)}}};
    const kith_array along_there = array_of("target_directions", target_directions);
    const kith_array along = array_of("directions", directions);
    const kith_array to = array_of("acceleration", acceleration);
    const kith_array also_to = array_of("potential", potential);
    calling(where, [&] {
        return kith_forces_derivative(where.handle, &options, &at, &of, along_there, along, to,
                                      also_to);
    });
}

void add_forces(nb::module_ &module)
{
    module.def(
        "forces", compute, nb::arg("context"), nb::arg("targets").none(), nb::arg("sources"),
        nb::arg("masses").none(), nb::arg("acceleration").none(), nb::arg("potential").none(),
        nb::arg("law").none(), nb::arg("g"), nb::arg("softening"),
        nb::arg("source_softening").none(), nb::arg("target_softening").none(),
        nb::arg("source_charges").none(), nb::arg("target_charges").none(),
        nb::arg("target_masses").none(), nb::arg("epsilon").none(), nb::arg("sigma").none(),
        nb::arg("solver"), nb::arg("error"), nb::arg("theta"), nb::arg("order"), nb::arg("method"),
        nb::arg("block"), nb::arg("unroll"), nb::arg("only_values"), nb::arg("cutoff"),
        nb::arg("shift"), nb::arg("tail"), nb::arg("cell").none(), nb::arg("periodic").none(),
        nb::arg("alpha"), nb::arg("absolute_error"), nb::arg("boundary"), nb::arg("grid"),
        nb::arg("exclude").none(), nb::arg("wants_totals"));
    module.def("forces_derivative", derive, nb::arg("context"), nb::arg("targets").none(),
               nb::arg("sources"), nb::arg("masses").none(), nb::arg("target_directions").none(),
               nb::arg("directions"), nb::arg("acceleration").none(), nb::arg("potential").none(),
               nb::arg("law").none(), nb::arg("g"), nb::arg("softening"),
               nb::arg("source_softening").none(), nb::arg("target_softening").none(),
               nb::arg("source_charges").none(), nb::arg("target_charges").none(),
               nb::arg("target_masses").none(), nb::arg("method"), nb::arg("only_values"));
    nb::dict boundaries;
    boundaries["tin-foil"] = (int)KITH_BOUNDARY_TIN_FOIL;
    boundaries["vacuum"] = (int)KITH_BOUNDARY_VACUUM;
    module.attr("forces_boundaries") = boundaries;
    nb::dict methods;
    methods["auto"] = (int)KITH_FORCES_AUTO;
    methods["direct"] = (int)KITH_FORCES_DIRECT;
    methods["reference"] = by_reference;
    methods["split"] = (int)KITH_FORCES_SPLIT;
    methods["symmetric"] = (int)KITH_FORCES_SYMMETRIC;
    methods["tensor"] = (int)KITH_FORCES_TENSOR;
    methods["tile-p"] = (int)KITH_FORCES_TILE_P;
    methods["tile-p2"] = (int)KITH_FORCES_TILE_P2;
    module.attr("forces_methods") = methods;
}
