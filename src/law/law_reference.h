#ifndef LAW_LAW_REFERENCE_H
#define LAW_LAW_REFERENCE_H

#include "law/law.h"

/* A pair of particles: d = x_j − x_i, s² = |d|² + ε². */
struct law_reference_pair {
    double d[3], s2;
    double m_i, m_j, q_i, q_j;
};

/* V of a pair and the force on i, in double precision and with the C library's functions. For tests
 * and other references: it looks at the law anew for each pair. */
double law_reference_value(const struct law_view *view, const struct law_reference_pair *pair);
void law_reference_force(const struct law_view *view, const struct law_reference_pair *pair,
                         double force[3]);

/* dF/dt of that force while d changes at the rate u, of a law that has_rate. */
void law_reference_rate(const struct law_view *view, const struct law_reference_pair *pair,
                        const double u[3], double rate[3]);

#endif
