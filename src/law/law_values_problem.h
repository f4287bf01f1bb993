#ifndef LAW_LAW_VALUES_PROBLEM_H
#define LAW_LAW_VALUES_PROBLEM_H

#include "law/law_kinds.h"

/* Pairs of particles as columns of floats or doubles in a backend's memory, on the CPU readable and
 * written up to kith_padded(count). Host code, CUDA and NVRTC read this. */
struct law_values_problem {
    struct law_numbers numbers;
    enum law_weighting weighting;
    double softening2;
    long long count;
    const void *d[3];       /* x_j − x_i */
    const void *w_i, *w_j;  /* weights; of a custom law the masses */
    const void *q_i, *q_j;  /* charges, for custom laws */
    void *value, *force[3]; /* [out] */
};

/* Values and forces of pairs, one after the other. */
typedef void law_values_kernel(const struct law_values_problem *problem);

#endif
