#ifndef FORCES_SYSTEMS_KERNEL_H
#define FORCES_SYSTEMS_KERNEL_H

#include "core/isa.h"
#include "forces/problem.h"

/* Computes the outputs of the systems begin … end − 1 (and of some past end, up to
 * kith_padded(end)). begin is a multiple of kith_padding. The result of a system depends only on
 * that system. */
typedef void forces_systems_kernel(const struct forces_problem *problem, int64_t begin,
                                   int64_t end);

#define FORCES_DECLARE_SYSTEMS(isa)                                                                \
    extern forces_systems_kernel forces_systems_double_##isa, forces_systems_float_##isa;
KITH_EACH_ISA(FORCES_DECLARE_SYSTEMS)
#undef FORCES_DECLARE_SYSTEMS

#endif
