#ifndef TESTS_LAW_VALUES_H
#define TESTS_LAW_VALUES_H

/* The values of pairs by the laws of the table, a kernel each. */

#include "core/isa.h"
#include "law/law_values_problem.h"

/* The kernels of an instruction set. */
struct law_values_kernels {
    law_values_kernel *in_float[law_built_in_count], *in_double[law_built_in_count];
};

#define LAW_DECLARE_VALUES(isa) extern const struct law_values_kernels law_values_##isa;
KITH_EACH_ISA(LAW_DECLARE_VALUES)
#undef LAW_DECLARE_VALUES

#endif
