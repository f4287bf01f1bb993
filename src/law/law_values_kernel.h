#ifndef LAW_LAW_VALUES_KERNEL_H
#define LAW_LAW_VALUES_KERNEL_H

#include "core/isa.h"
#include "law/law_values_problem.h"

/* Values and forces of pairs, one after the other. */
typedef void law_values_kernel(const struct law_values_problem *problem);

/* The kernels of an instruction set. */
struct law_values_kernels {
    law_values_kernel *in_float[law_built_in_count], *in_double[law_built_in_count];
};

#define LAW_DECLARE_VALUES(isa) extern const struct law_values_kernels law_values_##isa;
KITH_EACH_ISA(LAW_DECLARE_VALUES)
#undef LAW_DECLARE_VALUES

#endif
