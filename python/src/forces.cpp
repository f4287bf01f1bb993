// All-pairs forces.

#include "binding.h"

#include <nanobind/stl/shared_ptr.h>

static void compute(context &where, const input &targets, const input &sources, const input &masses,
                    const output &acceleration, const output &potential, const law_ref &law,
                    double g, double softening, const input &source_softening,
                    const input &target_softening, const input &source_charges,
                    const input &target_charges, const input &target_masses, int method,
                    int32_t block, int32_t unroll, bool only_values)
{
    kith_forces_options options = {};
    options.gravitational_constant = g;
    options.softening = softening;
    options.source_softening = array_of("softening", source_softening);
    options.target_softening = array_of("target_softening", target_softening);
    options.method = (kith_forces_method)method;
    options.block = block;
    options.unroll = unroll;
    options.law = handle_of(law);
    options.sum = only_values ? KITH_FORCES_SUM_VALUE : KITH_FORCES_SUM_FORCE;
    options.source_charges = array_of("charges", source_charges);
    options.target_charges = array_of("target_charges", target_charges);
    options.target_masses = array_of("target_masses", target_masses);

    const kith_array at = array_of("targets", targets), of = array_of("positions", sources);
    const kith_array weighing = array_of("masses", masses);
    const kith_array to = array_of("acceleration", acceleration);
    const kith_array also_to = array_of("potential", potential);
    calling(where, [&] {
        return kith_forces_compute(where.handle, &options, at, of, weighing, to, also_to);
    });
}

void add_forces(nb::module_ &module)
{
    module.def("forces", compute, nb::arg("context"), nb::arg("targets").none(), nb::arg("sources"),
               nb::arg("masses").none(), nb::arg("acceleration").none(),
               nb::arg("potential").none(), nb::arg("law").none(), nb::arg("g"),
               nb::arg("softening"), nb::arg("source_softening").none(),
               nb::arg("target_softening").none(), nb::arg("source_charges").none(),
               nb::arg("target_charges").none(), nb::arg("target_masses").none(), nb::arg("method"),
               nb::arg("block"), nb::arg("unroll"), nb::arg("only_values"));
    nb::dict methods;
    methods["auto"] = (int)KITH_FORCES_AUTO;
    methods["direct"] = (int)KITH_FORCES_DIRECT;
    methods["reference"] = (int)KITH_FORCES_REFERENCE;
    methods["split"] = (int)KITH_FORCES_SPLIT;
    methods["symmetric"] = (int)KITH_FORCES_SYMMETRIC;
    methods["tile-p"] = (int)KITH_FORCES_TILE_P;
    methods["tile-p2"] = (int)KITH_FORCES_TILE_P2;
    module.attr("forces_methods") = methods;
}
