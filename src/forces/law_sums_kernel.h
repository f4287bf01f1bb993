#ifndef FORCES_LAW_SUMS_KERNEL_H
#define FORCES_LAW_SUMS_KERNEL_H

#include "core/isa.h"
#include "forces/law_sums_problem.h"

/* Computes the outputs of the targets begin … end − 1 (and of some behind end, up to
 * kith_padded(end)) from all sources. begin is a multiple of kith_padding. The result at a target
 * depends only on the problem. */
typedef void law_sums_kernel(const struct law_sums_problem *problem, long long begin,
                             long long end);

typedef law_sums_kernel *law_sums_find(enum law_kind kind, enum law_weighting weighting);

/* The kernels of an instruction set. */
struct law_sums_kernels {
    law_sums_find *find_in_float, *find_in_double;
    int vector_bytes;
};

#define LAW_DECLARE_SUMS(isa) extern const struct law_sums_kernels law_sums_##isa;
KITH_EACH_ISA(LAW_DECLARE_SUMS)
#undef LAW_DECLARE_SUMS

#endif
