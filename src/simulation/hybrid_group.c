/* The steps of bodies that hybrid follows together, by the Gauss-Radau method: hybrid.h has the
 * formulas. */

#include "simulation/hybrid_group.h"

#include <math.h>
#include <string.h>

static kith_status evaluate(void *user, int32_t position, int32_t acceleration)
{
    const struct hybrid_group *group = user;
    const int64_t stride = group->stride;
    const double *x = group->array[position];
    double *a = group->array[acceleration];
    for (int64_t i = 0; i < group->count; i++) {
        const double u = x[i], v = x[stride + i], w = x[2 * stride + i];
        const double r2 = u * u + v * v + w * w;
        const double factor = group->center_gm > 0 ? -group->center_gm / (r2 * sqrt(r2)) : 0;
        a[i] = factor * u;
        a[stride + i] = factor * v;
        a[2 * stride + i] = factor * w;
    }
    for (int64_t k = 0; k < group->bonds; k++) {
        const struct hybrid_bond *bond = &group->bond[k];
        double d[3], r2 = 0;
        if (bond->is_off)
            continue;
        for (int32_t c = 0; c < 3; c++) {
            d[c] = x[c * stride + bond->b] - x[c * stride + bond->a];
            r2 += d[c] * d[c];
        }
        const double factor = 1 / (r2 * sqrt(r2));
        for (int32_t c = 0; c < 3; c++) {
            a[c * stride + bond->a] += bond->gm_b * factor * d[c];
            a[c * stride + bond->b] -= bond->gm_a * factor * d[c];
        }
    }
    return KITH_OK;
}

static void gather(const struct hybrid_group *group)
{
    const struct hybrid_leg *leg = group->leg;
    double *x = group->array[RADAU_POSITION], *v = group->array[RADAU_VELOCITY];
    for (int32_t array = 0; array < RADAU_ARRAYS; array++)
        memset(group->array[array], 0, (size_t)(3 * group->stride) * sizeof(double));
    for (int32_t c = 0; c < 3; c++)
        for (int64_t k = 0; k < group->count; k++) {
            const int32_t member = group->member[k];
            const int64_t at = c * group->stride + k;
            x[at] = member < 0 ? leg->star[c] : leg->planets->q[c][member];
            v[at] = member < 0 ? leg->star_velocity[c] : leg->planets->v[c][member];
        }
}

static void scatter(const struct hybrid_group *group)
{
    struct hybrid_leg *leg = group->leg;
    for (int32_t c = 0; c < 3; c++)
        for (int64_t k = group->shared; k < group->count; k++) {
            const int32_t member = group->member[k];
            const int64_t at = c * group->stride + k;
            *(member < 0 ? &leg->star[c] : &leg->q[c][member]) =
                group->array[RADAU_POSITION][at] + group->array[RADAU_LOST_POSITION][at];
            *(member < 0 ? &leg->star_velocity[c] : &leg->v[c][member]) =
                group->array[RADAU_VELOCITY][at] + group->array[RADAU_LOST_VELOCITY][at];
        }
}

static kith_status fail_stuck(const struct hybrid_group *group, const struct radau_clock *clock)
{
    const struct hybrid_leg *leg = group->leg;
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "an encounter of body %lld (from 0) became too close for hybrid at time "
                     "%.15g: bodies collide; give radii, and what collisions do",
                     (long long)(group->bonds > 0 ? group->bond[0].j : group->member[0] + 1),
                     kith_simulation_time(leg->simulation) + leg->from * leg->h + clock->time);
}

/* Two bodies at the same position attract each other with no limit: steps would see nothing of
 * it. */
static bool has_coincident_bodies(const struct hybrid_group *group)
{
    const double *x = group->array[RADAU_POSITION];
    for (int64_t k = 0; k < group->bonds; k++) {
        const struct hybrid_bond *bond = &group->bond[k];
        int32_t equal = 0;
        for (int32_t c = 0; c < 3; c++)
            equal += x[c * group->stride + bond->a] == x[c * group->stride + bond->b];
        if (equal == 3 && !bond->is_off)
            return true;
    }
    return false;
}

/* A step of a group, until a bounce or a time at the latest. */
static kith_status step_group(struct hybrid_group *group, struct radau_problem *problem,
                              double until, struct radau_clock *clock)
{
    const struct kith_simulation *simulation = group->leg->simulation;
    const struct radau_leg one = {hybrid_is_watched(simulation) ? 1 : INT64_MAX, until,
                                  (double)INFINITY};
    return radau_kernels_of(simulation->context)->of_any(problem, &one, clock) == radau_done
               ? KITH_OK
               : fail_stuck(group, clock);
}

static void copy_arrays(const struct hybrid_group *group, double *const *from, double *const *to)
{
    for (int32_t array = 0; array < RADAU_ACCELERATION; array++)
        memcpy(to[array], from[array], (size_t)(3 * group->stride) * sizeof(double));
}

/* After velocities or attractions have changed, there is nothing to continue. */
static void begin_again(struct hybrid_group *group, struct radau_clock *clock)
{
    clock->last_step = 0;
    evaluate(group, RADAU_POSITION, RADAU_ACCELERATION);
}

/* A step that is watched. One in which bodies bounce is done again until they touch, so that they
 * turn where they do: energies and momenta stay as they are. */
static kith_status watch_step(struct hybrid_group *group, struct radau_problem *problem,
                              double until, struct radau_clock *clock)
{
    const struct radau_clock begin = *clock;
    struct hybrid_bounce bounce = {NULL, 0};
    bool broke = false;
    copy_arrays(group, group->array, group->start);
    KITH_TRY(step_group(group, problem, until, clock));
    if (hybrid_bounces(group->leg->simulation))
        bounce = hybrid_find_bounce(group, clock);
    if (bounce.bond) {
        copy_arrays(group, group->start, group->array);
        *clock = begin;
        begin_again(group, clock);
    }
    while (bounce.bond && clock->time != bounce.time) {
        copy_arrays(group, group->array, group->start);
        KITH_TRY(step_group(group, problem, bounce.time, clock));
        KITH_TRY(hybrid_look(group, clock, &broke));
    }
    if (bounce.bond)
        KITH_TRY(hybrid_bounce(group, bounce.bond, clock));
    else
        KITH_TRY(hybrid_look(group, clock, &broke));
    if (bounce.bond || broke)
        begin_again(group, clock);
    return KITH_OK;
}

kith_status hybrid_follow_group(struct hybrid_group *group)
{
    const struct hybrid_leg *leg = group->leg;
    const double until = (leg->to - leg->from) * leg->h;
    const bool is_watched = hybrid_is_watched(leg->simulation);
    const struct forces_problem forces = {.dimensions = 3};
    struct radau_clock clock = {.next_step = fabs(until)};
    struct radau_problem problem = {
        .forces = &forces, .stride = group->stride, .evaluate = evaluate, .user = group};
    for (int32_t array = 0; array < RADAU_ARRAYS; array++)
        problem.array[array] = group->array[array];
    gather(group);
    if ((!is_watched || hybrid_bounces(leg->simulation)) && has_coincident_bodies(group))
        return fail_stuck(group, &clock);
    evaluate(group, RADAU_POSITION, RADAU_ACCELERATION);
    while (clock.time != until)
        KITH_TRY(is_watched ? watch_step(group, &problem, until, &clock)
                            : step_group(group, &problem, until, &clock));
    scatter(group);
    return KITH_OK;
}
