// Sums of pair functions, and updates of columns.

#include "binding.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

using named_formulas = std::vector<std::pair<std::string, std::string>>;
using named_arrays = std::vector<std::pair<std::string, input>>;
using named_outputs = std::vector<std::pair<std::string, output>>;
using named_numbers = std::vector<std::pair<std::string, double>>;

static std::vector<kith_named_formula> formulas_of(const named_formulas &given)
{
    std::vector<kith_named_formula> formulas;
    for (const auto &[name, formula] : given)
        formulas.push_back({name.c_str(), formula.c_str()});
    return formulas;
}

static std::vector<kith_law_parameter> parameters_of(const named_numbers &given)
{
    std::vector<kith_law_parameter> parameters;
    for (const auto &[name, value] : given)
        parameters.push_back({name.c_str(), value});
    return parameters;
}

static kith_particles particles_of(const char *name, const input &positions,
                                   const named_arrays &columns)
{
    kith_particles particles = {};
    particles.positions = array_of(name, positions);
    if (columns.size() > KITH_MAX_COLUMNS)
        raise(KITH_INVALID_ARGUMENT, std::string(name) + " has " + std::to_string(columns.size()) +
                                         " columns; give at most " +
                                         std::to_string(KITH_MAX_COLUMNS));
    for (size_t k = 0; k < columns.size(); k++)
        particles.columns[k] = {columns[k].first.c_str(),
                                array_of(columns[k].first.c_str(), columns[k].second)};
    return particles;
}

kith_cell cell_from(const input &vectors, const input &periodic)
{
    kith_cell cell = {};
    const double *from = static_cast<const double *>(vectors.data());
    const int32_t *along = static_cast<const int32_t *>(periodic.data());
    for (int k = 0; k < 3; k++) {
        cell.periodic[k] = along[k] != 0;
        for (int c = 0; c < 3; c++)
            cell.vectors[k][c] = from[3 * k + c];
    }
    return cell;
}

static void compute(context &where, const input &targets, const named_arrays &target_columns,
                    const input &sources, const named_arrays &columns,
                    const named_formulas &outputs, const output &results, double cutoff,
                    const input &cell, const input &periodic, int reduction, bool include_self,
                    const named_formulas &lets, const named_numbers &parameters, int method,
                    const input &offsets, const input &j, const input &shifts)
{
    const std::vector<kith_named_formula> wanted = formulas_of(outputs), named = formulas_of(lets);
    const std::vector<kith_law_parameter> numbers = parameters_of(parameters);
    const kith_particles at = particles_of("targets", targets, target_columns);
    const kith_particles of = particles_of("positions", sources, columns);
    const kith_array to = array_of("results", results);
    const bool has_cell = cell.is_valid();
    const kith_cell space = has_cell ? cell_from(cell, periodic) : kith_cell{};
    kith_pairs list = {};
    if (offsets.is_valid()) {
        list.offsets = array_of("pairs.offsets", offsets);
        list.j = array_of("pairs.j", j);
        if (shifts.is_valid())
            list.shifts = array_of("pairs.shifts", shifts);
        list.row_count = list.offsets.shape[0] - 1;
        list.count = list.j.shape[0];
    }
    kith_sums_options options = {};
    options.cutoff = cutoff;
    options.cell = has_cell ? &space : nullptr;
    options.reduction = (kith_sums_reduction)reduction;
    options.include_self = include_self;
    options.method = (kith_sums_method)method;
    options.pairs = offsets.is_valid() ? &list : nullptr;
    options.let_count = (int64_t)named.size();
    options.lets = named.data();
    options.parameter_count = (int64_t)numbers.size();
    options.parameters = numbers.data();
    calling(where, [&] {
        return kith_sums_compute(where.handle, &options, &at, &of, (int64_t)wanted.size(),
                                 wanted.data(), to);
    });
}

static void update(context &where, const named_outputs &updated, const named_arrays &others,
                   const named_formulas &updates, const named_formulas &lets,
                   const named_numbers &parameters)
{
    const std::vector<kith_named_formula> wanted = formulas_of(updates), named = formulas_of(lets);
    const std::vector<kith_law_parameter> numbers = parameters_of(parameters);
    std::vector<kith_particle_column> columns;
    for (const auto &[name, values] : updated)
        columns.push_back({name.c_str(), array_of(name.c_str(), values)});
    for (const auto &[name, values] : others)
        columns.push_back({name.c_str(), array_of(name.c_str(), values)});
    kith_update_options options = {};
    options.let_count = (int64_t)named.size();
    options.lets = named.data();
    options.parameter_count = (int64_t)numbers.size();
    options.parameters = numbers.data();
    calling(where, [&] {
        return kith_columns_update(where.handle, &options, (int64_t)columns.size(), columns.data(),
                                   (int64_t)wanted.size(), wanted.data());
    });
}

void add_sums(nb::module_ &module)
{
    module.def("update", update, nb::arg("context"), nb::arg("updated"), nb::arg("others"),
               nb::arg("updates"), nb::arg("lets"), nb::arg("parameters"));
    module.def("sums", compute, nb::arg("context"), nb::arg("targets").none(),
               nb::arg("target_columns"), nb::arg("sources"), nb::arg("columns"),
               nb::arg("outputs"), nb::arg("results"), nb::arg("cutoff"), nb::arg("cell").none(),
               nb::arg("periodic").none(), nb::arg("reduction"), nb::arg("include_self"),
               nb::arg("lets"), nb::arg("parameters"), nb::arg("method"), nb::arg("offsets").none(),
               nb::arg("j").none(), nb::arg("shifts").none());
    nb::dict reductions, methods;
    reductions["sum"] = (int)KITH_SUMS_SUM;
    reductions["min"] = (int)KITH_SUMS_MIN;
    reductions["max"] = (int)KITH_SUMS_MAX;
    reductions["count"] = (int)KITH_SUMS_COUNT;
    reductions["logsumexp"] = (int)KITH_SUMS_LOGSUMEXP;
    module.attr("sums_reductions") = reductions;
    methods["auto"] = (int)KITH_SUMS_AUTO;
    methods["reference"] = (int)KITH_SUMS_REFERENCE;
    module.attr("sums_methods") = methods;
}
