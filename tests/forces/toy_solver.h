#ifndef TESTING_TOY_SOLVER_H
#define TESTING_TOY_SOLVER_H

/* A solver of one's own: every pair, a plain loop in double precision on the host. It is handed to
 * the library by its address; no table has it. */

#include <math.h>

#include "forces/forces_reference.h"
#include "forces/solver.h"

static kith_status toy_suits(const kith_context *context, const struct forces_problem *p)
{
    (void)context;
    if (p->law || p->jerk[0] || p->system_count > 0 || p->source_half_softening2)
        return kith_fail(KITH_UNSUPPORTED,
                         "toy has gravity of one system with one softening, and no jerk");
    return KITH_OK;
}

static void toy_sum(const struct forces_problem *p, int64_t i)
{
    double a[3] = {0}, potential = 0;
    for (int64_t j = 0; j < p->source_count; j++) {
        double d[3] = {0}, s2 = p->softening2;
        for (int32_t c = 0; c < p->dimensions; c++) {
            const double *x = p->source_position[c], *x_i = p->target_position[c];
            d[c] = x[j] - x_i[i];
            s2 += d[c] * d[c];
        }
        if (s2 == 0 || (p->self && i == j))
            continue;
        const double m_over_s =
            p->gravitational_constant * ((const double *)p->source_mass)[j] / sqrt(s2);
        for (int32_t c = 0; c < 3; c++)
            a[c] += m_over_s / s2 * d[c];
        potential -= m_over_s;
    }
    for (int32_t c = 0; c < p->dimensions; c++)
        forces_store(p, p->acceleration[c], i, a[c]);
    forces_store(p, p->potential, i, potential);
}

static kith_status toy_evaluate(kith_context *context, void *prepared,
                                const struct forces_problem *p)
{
    (void)context;
    (void)prepared;
    for (int64_t i = 0; i < p->target_count; i++)
        toy_sum(p, i);
    return KITH_OK;
}

static const struct kith_solver toy = {"toy", "every pair, a plain loop", .on_host = true,
                                       .suits = toy_suits, .evaluate = toy_evaluate};

#endif
