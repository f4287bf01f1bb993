#ifndef TREE_NEAR_LAW_PROBLEM_H
#define TREE_NEAR_LAW_PROBLEM_H

#include "law/law_numbers.h"

/* The points of a leaf, and the points near to it, put together, by any central law with the value
 * u and the force f d of a pair of weights 1 (law/law_body.h):
 *
 *     φ_i += Σ_j w_j u(s²),     ∇φ_i −= Σ_j w_j f(s²) d,     m_i += Σ_j |w_j f(s²)| |d|
 *
 * as struct tree_near (tree/near_kernel.h), of `sources` points; what is read past them must be
 * finite and does not count. m, the magnitude, may be NULL. What is compiled at run time reads
 * this.
 */
struct tree_near_law {
    struct law_numbers numbers;
    double softening2;
    long long targets, sources;
    int self;
    const void *target[3], *source[3], *weight;
    void *potential, *gradient[3], *magnitude;
};

typedef void tree_near_law_kernel(const struct tree_near_law *near);

#endif
