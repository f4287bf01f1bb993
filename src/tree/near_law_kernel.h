#ifndef TREE_NEAR_LAW_KERNEL_H
#define TREE_NEAR_LAW_KERNEL_H

#include "core/isa.h"
#include "law/law_kinds.h"
#include "tree/near_law_problem.h"

/* The kernels of an instruction set, by the kind of law. */
struct tree_near_law_kernels {
    tree_near_law_kernel *in_float[law_built_in_count], *in_double[law_built_in_count];
};

#define TREE_DECLARE_NEAR_LAW(isa) extern const struct tree_near_law_kernels tree_near_law_##isa;
KITH_EACH_ISA(TREE_DECLARE_NEAR_LAW)
#undef TREE_DECLARE_NEAR_LAW

#endif
