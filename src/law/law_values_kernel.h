#ifndef LAW_LAW_VALUES_KERNEL_H
#define LAW_LAW_VALUES_KERNEL_H

#include "core/isa.h"
#include "law/law_kinds.h"

/* Pairs of particles as columns of floats or doubles, readable up to kith_padded(count). */
struct law_values_problem {
    struct law_numbers numbers;
    enum law_weighting weighting;
    double softening2;
    int64_t count;
    const void *d[3];       /* x_j − x_i */
    const void *w_i, *w_j;  /* weights; of a custom law the masses */
    const void *q_i, *q_j;  /* charges, for custom laws */
    void *value, *force[3]; /* [out], written up to kith_padded(count) */
};

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
