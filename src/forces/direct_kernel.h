#ifndef FORCES_DIRECT_KERNEL_H
#define FORCES_DIRECT_KERNEL_H

#include "core/isa.h"
#include "forces/problem.h"

/* Computes the outputs of the targets begin … end − 1 (and of some past end, up to
 * kith_padded(end)) from all sources. begin is a multiple of kith_padding. The result at a target
 * depends only on the problem. */
typedef void forces_direct_kernel(const struct forces_problem *problem, int64_t begin, int64_t end);

/* The kernel of an instruction set and real type. */
struct forces_direct_kernels {
    forces_direct_kernel *compute;
    int32_t lanes;
};

#define FORCES_DECLARE_DIRECT(isa)                                                                 \
    extern const struct forces_direct_kernels forces_direct_double_##isa, forces_direct_float_##isa;
KITH_EACH_ISA(FORCES_DECLARE_DIRECT)
#undef FORCES_DECLARE_DIRECT

#endif
