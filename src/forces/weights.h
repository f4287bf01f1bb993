#ifndef FORCES_WEIGHTS_H
#define FORCES_WEIGHTS_H

#include "forces/problem.h"

#ifdef __cplusplus
extern "C" {
#endif

/* V = strength w_i w_j / s, or strength w_i w_j ln s, and the columns of the weights; NULL: ones.
 * Or V = w_i w_j u(s) of the law `any`. */
struct forces_weights {
    bool is_logarithm;
    double strength;
    const void *source, *target;
    const kith_law *any;
};

/* Whether the problem's law is one of these, and which. */
bool forces_find_weights(const struct forces_problem *problem, struct forces_weights *found);

/* The same, or V = w_i w_j u(s) with any central u, from the table or a formula. */
bool forces_find_weights_of_any(const struct forces_problem *problem, struct forces_weights *found);

#ifdef __cplusplus
}
#endif

#endif
