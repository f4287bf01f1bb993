#include <math.h>

#include "core/context.h"
#include "forces/direct.h"

/* Element i of an array of doubles or floats. */
static double element(kith_dtype dtype, const void *array, int64_t i)
{
    return dtype == KITH_F64 ? ((const double *)array)[i] : (double)((const float *)array)[i];
}

static void set_element(kith_dtype dtype, void *array, int64_t i, double value)
{
    if (dtype == KITH_F64)
        ((double *)array)[i] = value;
    else
        ((float *)array)[i] = (float)value;
}

static void forces_at(const struct forces_problem *problem, int64_t i)
{
    const kith_dtype dtype = problem->dtype;
    double acceleration[3] = {0}, jerk[3] = {0}, potential = 0;

    for (int64_t j = 0; j < problem->source_count; j++) {
        if (problem->self && i == j)
            continue;
        double d[3] = {0}, u[3] = {0}, s2 = problem->softening2, d_dot_u = 0;
        if (problem->target_half_softening2)
            s2 = element(dtype, problem->target_half_softening2, i) +
                 element(dtype, problem->source_half_softening2, j);
        for (int32_t k = 0; k < problem->dimensions; k++) {
            d[k] = element(dtype, problem->source_position[k], j) -
                   element(dtype, problem->target_position[k], i);
            s2 += d[k] * d[k];
            if (problem->jerk[0])
                u[k] = element(dtype, problem->source_velocity[k], j) -
                       element(dtype, problem->target_velocity[k], i);
            d_dot_u += d[k] * u[k];
        }
        if (s2 == 0)
            continue;
        const double m_over_s = element(dtype, problem->source_mass, j) / sqrt(s2);
        potential -= m_over_s;
        for (int32_t k = 0; k < problem->dimensions; k++) {
            acceleration[k] += m_over_s / s2 * d[k];
            jerk[k] += m_over_s / s2 * (u[k] - 3 * d_dot_u / s2 * d[k]);
        }
    }

    const double g = problem->gravitational_constant;
    if (problem->potential)
        set_element(dtype, problem->potential, i, g * potential);
    for (int32_t k = 0; k < problem->dimensions; k++) {
        if (problem->acceleration[0])
            set_element(dtype, problem->acceleration[k], i, g * acceleration[k]);
        if (problem->jerk[0])
            set_element(dtype, problem->jerk[k], i, g * jerk[k]);
    }
}

kith_status forces_direct_cpu(kith_context *context, const struct forces_problem *problem)
{
    const int32_t threads = kith_context_threads(context);
#pragma omp parallel for num_threads(threads) if (problem->target_count > 256)
    for (int64_t i = 0; i < problem->target_count; i++)
        forces_at(problem, i);
    return KITH_OK;
}
