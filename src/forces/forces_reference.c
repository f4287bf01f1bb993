#include "forces/forces_reference.h"

#include <math.h>

#include "device/context.h"
#include "forces/cutoff.h"
#include "forces/law_sums.h"
#include "forces/solver.h"

struct vector {
    double x, y, z;
};

static struct vector vector_at(const void *const components[3], int64_t i)
{
    const double *x = components[0], *y = components[1], *z = components[2];
    return (struct vector){x ? x[i] : 0, y ? y[i] : 0, z ? z[i] : 0};
}

static void store_vector(const struct forces_problem *problem, void *const components[3], int64_t i,
                         struct vector value)
{
    const double g = problem->gravitational_constant;
    forces_store(problem, components[0], i, g * value.x);
    forces_store(problem, components[1], i, g * value.y);
    forces_store(problem, components[2], i, g * value.z);
}

static struct vector difference(struct vector a, struct vector b)
{
    return (struct vector){a.x - b.x, a.y - b.y, a.z - b.z};
}

static double dot(struct vector a, struct vector b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

/* sum += factor · a */
static void add(struct vector *sum, double factor, struct vector a)
{
    sum->x += factor * a.x;
    sum->y += factor * a.y;
    sum->z += factor * a.z;
}

static double softening2_of(const struct forces_problem *problem, int64_t i, int64_t j)
{
    const double *half_i = problem->target_half_softening2;
    const double *half_j = problem->source_half_softening2;
    return half_i ? half_i[i] + half_j[j] : problem->softening2;
}

static void forces_at_target(const struct forces_problem *problem, int64_t i)
{
    const double *mass = problem->source_mass;
    const struct vector x_i = vector_at(problem->target_position, i);
    const struct vector v_i = vector_at(problem->target_velocity, i);
    struct vector acceleration = {0}, jerk = {0};
    double potential = 0;

    for (int64_t j = 0; j < problem->source_count; j++) {
        if (problem->self && i == j)
            continue;
        const struct vector d = difference(vector_at(problem->source_position, j), x_i);
        const struct vector u = difference(vector_at(problem->source_velocity, j), v_i);
        const double s2 = dot(d, d) + softening2_of(problem, i, j);
        if (s2 == 0)
            continue;
        const double s = sqrt(s2), s3 = s2 * s, s5 = s3 * s2;
        add(&acceleration, mass[j] / s3, d);
        potential -= mass[j] / s;
        add(&jerk, mass[j] / s3, u);
        add(&jerk, -3 * mass[j] * dot(d, u) / s5, d);
    }

    store_vector(problem, problem->acceleration, i, acceleration);
    store_vector(problem, problem->jerk, i, jerk);
    forces_store(problem, problem->potential, i, problem->gravitational_constant * potential);
}

kith_status forces_reference(kith_context *context, const struct forces_problem *problem)
{
    if (problem->dtype != KITH_F64)
        return kith_fail(KITH_INVALID_ARGUMENT, "the problem is not in double precision");
    if (problem->space.cutoff > 0)
        return forces_cutoff_reference(context, problem);
    if (problem->law)
        return forces_law_reference(context, problem);
    for (int64_t i = 0; i < problem->target_count; i++) {
        KITH_TRY(kith_context_check_cancelled(context));
        forces_at_target(problem, i);
    }
    return KITH_OK;
}

static kith_status suits(const kith_context *context, const struct forces_problem *problem)
{
    (void)context;
    if (problem->system_count > 0)
        return kith_fail(
            KITH_UNSUPPORTED,
            "solver is reference, which supports a single system, but there are %lld; use auto",
            (long long)problem->system_count);
    if (problem->space.cutoff > 0 && (problem->jerk[0] || problem->potential_rate))
        return kith_fail(
            KITH_UNSUPPORTED,
            "cutoff is %g, but forces with a cutoff have no derivatives; leave the cutoff out",
            problem->space.cutoff);
    return KITH_OK;
}

static kith_status evaluate(kith_context *context, void *prepared,
                            const struct forces_problem *problem)
{
    (void)prepared;
    return forces_reference(context, problem);
}

const struct kith_solver forces_solver_reference = {
    .name = "reference",
    .summary = "every pair, the formula as a loop: double precision, on the host, one thread",
    .has_cutoff = true,
    .on_host = true,
    .suits = suits,
    .evaluate = evaluate,
};
