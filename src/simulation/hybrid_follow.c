/* Close encounters of hybrid, followed by the Gauss-Radau method: hybrid.h has the formulas. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulation/hybrid_group.h"

/* The planets and pairs of all groups, in chains that end with −1. */
struct chains {
    int32_t *root, *first_member, *next_member, *first_pair, *next_pair, *place;
};

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

/* Position and velocity component c of a member of a group. */
static double *position_of(const struct hybrid_group *group, int32_t member, int32_t c)
{
    return member < 0 ? &group->leg->star[c] : &group->leg->q[c][member];
}

static double *velocity_of(const struct hybrid_group *group, int32_t member, int32_t c)
{
    return member < 0 ? &group->leg->star_velocity[c] : &group->leg->v[c][member];
}

static void gather(const struct hybrid_group *group)
{
    for (int32_t array = 0; array < RADAU_ARRAYS; array++)
        memset(group->array[array], 0, (size_t)(3 * group->stride) * sizeof(double));
    for (int32_t c = 0; c < 3; c++)
        for (int64_t k = 0; k < group->count; k++) {
            group->array[RADAU_POSITION][c * group->stride + k] =
                *position_of(group, group->member[k], c);
            group->array[RADAU_VELOCITY][c * group->stride + k] =
                *velocity_of(group, group->member[k], c);
        }
}

static void scatter(const struct hybrid_group *group)
{
    for (int32_t c = 0; c < 3; c++)
        for (int64_t k = 0; k < group->count; k++) {
            const int64_t at = c * group->stride + k;
            *position_of(group, group->member[k], c) =
                group->array[RADAU_POSITION][at] + group->array[RADAU_LOST_POSITION][at];
            *velocity_of(group, group->member[k], c) =
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

/* Numbers for a group of so many bodies. */
static kith_status make_room(struct hybrid_group *group)
{
    struct hybrid_memory *memory = group->leg->memory;
    group->stride = (group->count + hybrid_lanes - 1) / hybrid_lanes * hybrid_lanes;
    if (group->stride > memory->stride) {
        free(memory->numbers);
        memory->numbers = NULL;
        memory->stride = 0;
        KITH_TRY(kith_allocate((RADAU_ARRAYS + RADAU_ACCELERATION) * 3 * group->stride,
                               sizeof *memory->numbers, "close encounters", &memory->numbers));
        memory->stride = group->stride;
    }
    for (int32_t array = 0; array < RADAU_ARRAYS; array++)
        group->array[array] = memory->numbers + array * 3 * group->stride;
    for (int32_t array = 0; array < RADAU_ACCELERATION; array++)
        group->start[array] = memory->numbers + (RADAU_ARRAYS + array) * 3 * group->stride;
    return KITH_OK;
}

static kith_status follow_group(struct hybrid_group *group)
{
    KITH_TRY(make_room(group));
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

/* Two bodies of the simulation, at two places of a group. */
static void add_bond(struct hybrid_group *group, int64_t i, int64_t j, int32_t a, int32_t b)
{
    const struct hybrid_leg *leg = group->leg;
    const struct watch *watch = leg->simulation->watch;
    const struct watch_followed *followed =
        hybrid_is_watched(leg->simulation) ? watch_find_followed(&watch->followed, i, j) : NULL;
    group->bond[group->bonds++] = (struct hybrid_bond){
        .a = a,
        .b = b,
        .gm_a = i == 0 ? leg->star_gm : leg->planets->gm[i - 1],
        .gm_b = leg->planets->gm[j - 1],
        .i = i,
        .j = j,
        .is_off = followed && followed->touches && watch->on_collision == KITH_ON_COLLISION_MERGE};
}

static int32_t root_of(int32_t *root, int32_t i)
{
    while (root[i] != i)
        i = root[i] = root[root[i]];
    return i;
}

/* Chains of the planets connected by pairs, ascending; the root of a group is its first planet. */
static void link_groups(const struct hybrid_leg *leg, struct chains *chains)
{
    const struct hybrid_pairs *pairs = &leg->close->pairs;
    const int32_t count = (int32_t)leg->planets->count;
    for (int32_t i = 0; i < count; i++) {
        chains->root[i] = i;
        chains->first_member[i] = chains->first_pair[i] = -1;
    }
    for (int64_t k = 0; k < pairs->count; k++) {
        const int32_t a = root_of(chains->root, pairs->pair[k].i);
        const int32_t b = root_of(chains->root, pairs->pair[k].j);
        chains->root[a < b ? b : a] = a < b ? a : b;
    }
    for (int32_t i = count - 1; i >= 0; i--) {
        const int32_t root = root_of(chains->root, i);
        chains->next_member[i] = chains->first_member[root];
        chains->first_member[root] = i;
    }
    for (int32_t k = (int32_t)pairs->count - 1; k >= 0; k--) {
        const int32_t root = root_of(chains->root, pairs->pair[k].i);
        chains->next_pair[k] = chains->first_pair[root];
        chains->first_pair[root] = k;
    }
}

static kith_status follow_connected(struct hybrid_group *group, struct chains *chains)
{
    const struct hybrid_leg *leg = group->leg;
    const int32_t count = (int32_t)leg->planets->count;
    link_groups(leg, chains);
    group->center_gm = leg->star_gm;
    for (int32_t root = 0; root < count; root++) {
        group->count = group->bonds = 0;
        if (chains->first_pair[root] < 0)
            continue;
        for (int32_t i = chains->first_member[root]; i >= 0; i = chains->next_member[i]) {
            chains->place[i] = (int32_t)group->count;
            group->member[group->count++] = i;
        }
        for (int32_t k = chains->first_pair[root]; k >= 0; k = chains->next_pair[k]) {
            const struct hybrid_pair *pair = &leg->close->pairs.pair[k];
            add_bond(group, pair->i + 1, pair->j + 1, chains->place[pair->i],
                     chains->place[pair->j]);
        }
        KITH_TRY(follow_group(group));
    }
    return KITH_OK;
}

static kith_status follow_all(struct hybrid_group *group)
{
    const struct hybrid_leg *leg = group->leg;
    group->count = leg->planets->count + 1;
    group->member[0] = -1;
    for (int32_t i = 1; i < group->count; i++) {
        group->member[i] = i - 1;
        add_bond(group, 0, i, 0, i);
    }
    for (int64_t k = 0; k < leg->close->pairs.count; k++) {
        const struct hybrid_pair *pair = &leg->close->pairs.pair[k];
        add_bond(group, pair->i + 1, pair->j + 1, pair->i + 1, pair->j + 1);
    }
    return follow_group(group);
}

kith_status hybrid_memory_make(int64_t planets, struct hybrid_memory *memory)
{
    return kith_allocate(6 * (planets + 1), sizeof *memory->integers, "close encounters",
                         &memory->integers);
}

void hybrid_memory_free(struct hybrid_memory *memory)
{
    free(memory->numbers);
    free(memory->integers);
    free(memory->next_pair);
    free(memory->bond);
}

static kith_status grow(struct hybrid_memory *memory, int64_t planets, int64_t pairs)
{
    if (memory->bond && pairs <= memory->room)
        return KITH_OK;
    free(memory->bond);
    free(memory->next_pair);
    memory->bond = NULL;
    memory->next_pair = NULL;
    memory->room = 2 * pairs + 16;
    KITH_TRY(kith_allocate(planets + memory->room, sizeof *memory->bond, "close encounters",
                           &memory->bond));
    return kith_allocate(memory->room, sizeof *memory->next_pair, "close encounters",
                         &memory->next_pair);
}

kith_status hybrid_follow(struct hybrid_leg *leg)
{
    const int64_t planets = leg->planets->count;
    struct hybrid_memory *memory = leg->memory;
    KITH_TRY(grow(memory, planets, leg->close->pairs.count));
    struct hybrid_group group = {.leg = leg, .bond = memory->bond, .member = memory->integers};
    struct chains chains = {.next_pair = memory->next_pair};
    int32_t **const each[] = {&chains.root, &chains.first_member, &chains.next_member,
                              &chains.first_pair, &chains.place};
    for (int64_t k = 0; k < 5; k++)
        *each[k] = memory->integers + (k + 1) * (planets + 1);
    return leg->close->at_star ? follow_all(&group) : follow_connected(&group, &chains);
}

kith_status hybrid_watch_pairs(struct kith_simulation *simulation, const struct hybrid_close *close)
{
    if (!hybrid_is_watched(simulation))
        return KITH_OK;
    struct watch *watch = simulation->watch;
    watch->followed.count = watch->passed.count = 0;
    for (int64_t i = 1; close->at_star && i < simulation->count; i++)
        KITH_TRY(watch_add_followed(&watch->followed, &(struct watch_followed){.i = 0, .j = i}));
    for (int64_t k = 0; k < close->pairs.count; k++)
        KITH_TRY(watch_add_followed(&watch->followed,
                                    &(struct watch_followed){.i = close->pairs.pair[k].i + 1,
                                                             .j = close->pairs.pair[k].j + 1}));
    return KITH_OK;
}
