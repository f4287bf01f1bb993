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

/* The kernels of an instruction set, by kind. */
struct law_sums_kernels {
    law_sums_kernel *in_float[law_built_in_count], *in_double[law_built_in_count];
    int vector_bytes;
};

#define LAW_DECLARE_SUMS(isa)                                                                      \
    extern const struct law_sums_kernels law_sums_##isa, law_jerk_##isa, law_systems_##isa;
KITH_EACH_ISA(LAW_DECLARE_SUMS)
#undef LAW_DECLARE_SUMS

#endif
