// kith._kith: the library as Python's side of the package calls it.

#include "binding.h"

NB_MODULE(_kith, module)
{
    // Objects that live until the interpreter ends, as a law in PyTorch's graph of a tensor, are
    // not leaks.
    nb::set_leak_warnings(false);
    module.doc() = "The library kith, as the package's Python files call it.";
    module.attr("version") = kith_version();
    add_status(module);
    add_sums(module);
    add_array(module);
    add_context(module);
    add_ranks(module);
    add_law(module);
    add_forces(module);
    add_matrix(module);
    add_megno(module);
    add_orbits(module);
    add_pairs(module);
    add_collisions(module);
    add_sparse(module);
    add_bodies(module);
    add_simulation(module);
    add_trajectory(module);
    add_view(module);
}
