#ifndef FORCES_LAW_SUMS_KERNEL_H
#define FORCES_LAW_SUMS_KERNEL_H

#include "core/isa.h"
#include "forces/law_sums_problem.h"

/* Computes, from all sources, what is requested of
 *
 *     law_sums_kernel.c     the targets begin … end − 1: acceleration, value
 *     law_jerk_kernel.c     the same targets: acceleration, jerk, value_rate
 *     law_systems_kernel.c  the systems begin … end − 1: all outputs
 *
 * and of some past end, up to kith_padded(end). begin is a multiple of kith_padding. The result
 * at a target, or of a system, depends only on the problem. */
typedef void law_sums_kernel(const struct law_sums_problem *problem, long long begin,
                             long long end);

/* The kernels of an instruction set and real type, by kind. */
struct law_sums_kernels {
    law_sums_kernel *of_kind[law_built_in_count];
    int lanes;
};

#define LAW_DECLARE_SUMS(isa)                                                                      \
    extern const struct law_sums_kernels law_sums_double_##isa, law_jerk_double_##isa,             \
        law_systems_double_##isa, law_sums_float_##isa, law_jerk_float_##isa,                      \
        law_systems_float_##isa;
KITH_EACH_ISA(LAW_DECLARE_SUMS)
#undef LAW_DECLARE_SUMS

#endif
