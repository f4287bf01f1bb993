#ifndef LAW_LAW_REFERENCE_H
#define LAW_LAW_REFERENCE_H

#include "law/formula.h"
#include "law/law.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A pair of particles: d = x_j − x_i, s² = |d|² + ε². */
struct law_reference_pair {
    double d[3], s2;
    double m_i, m_j, q_i, q_j;
};

/* What of a pair was requested; else 0. */
struct law_reference_result {
    double value;    /* V */
    double force[3]; /* on i */
    double rate[3];  /* dF/dt while d changes at the rate u */
};

/* V, force and rate of a pair in double precision and with the C library's functions, for tests and
 * other references.
 *
 *   u      read for the rate only
 *   wants  of formula_wants; a rate of laws that has_rate
 *
 * Cost: the operations of what is requested, each once. */
struct law_reference_result law_reference_evaluate(const struct law_view *view,
                                                   const struct law_reference_pair *pair,
                                                   const double u[3], unsigned wants);

/* V alone. */
double law_reference_value(const struct law_view *view, const struct law_reference_pair *pair);

#ifdef __cplusplus
}
#endif

#endif
