/* Close encounters of hybrid, followed by the Gauss-Radau method: hybrid.h has the formulas. */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "simulation/contact.h"
#include "simulation/hybrid.h"

/* Two bodies of a group that attract each other. */
struct hybrid_bond {
    int32_t a, b; /* in the group */
    double gm_a, gm_b;
    int64_t i, j; /* bodies of the simulation */
    bool is_off;  /* they have merged */
};

/* Bodies that are followed together. */
struct group {
    struct hybrid_leg *leg;
    struct hybrid_bond *bond;
    int32_t *member; /* planets; −1: the star */
    double *array[RADAU_ARRAYS], *start_x, *start_v;
    int64_t count, bonds, stride;
    double center_gm; /* of the star, if it is at the origin */
};

/* The planets and pairs of all groups, in chains that end with −1. */
struct chains {
    int32_t *root, *first_member, *next_member, *first_pair, *next_pair, *place;
};

static kith_status evaluate(void *user, int32_t position, int32_t acceleration)
{
    const struct group *group = user;
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
static double *position_of(const struct group *group, int32_t member, int32_t c)
{
    return member < 0 ? &group->leg->star[c] : &group->leg->q[c][member];
}

static double *velocity_of(const struct group *group, int32_t member, int32_t c)
{
    return member < 0 ? &group->leg->star_velocity[c] : &group->leg->v[c][member];
}

static void gather(const struct group *group)
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

static void scatter(const struct group *group)
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

static double length(const double vector[3])
{
    return sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
}

/* The path of b relative to a in the last step, unless it stays farther than reach: it is within
 * the hull of x, x + h v / 3 of both its ends. */
static bool come_near(const struct group *group, const struct hybrid_bond *bond, double h,
                      double reach, struct contact_path *path)
{
    double x[2][3], v[2][3], way[3][3];
    for (int32_t c = 0; c < 3; c++) {
        const int64_t a = c * group->stride + bond->a, b = c * group->stride + bond->b;
        x[0][c] = group->start_x[b] - group->start_x[a];
        v[0][c] = group->start_v[b] - group->start_v[a];
        x[1][c] = group->array[RADAU_POSITION][b] - group->array[RADAU_POSITION][a];
        v[1][c] = group->array[RADAU_VELOCITY][b] - group->array[RADAU_VELOCITY][a];
        way[0][c] = h * v[0][c] / 3;
        way[1][c] = x[1][c] - x[0][c];
        way[2][c] = way[1][c] - h * v[1][c] / 3;
    }
    const double farthest = fmax(fmax(length(way[0]), length(way[1])), length(way[2]));
    if (length(x[0]) - farthest * (1 + 1e-12) > reach)
        return false;
    *path = contact_path_of(x[0], v[0], x[1], v[1], h);
    return true;
}

/* Of a bond in the last step, which began at a fraction of the whole: whether it broke. */
static kith_status look_at(const struct group *group, struct hybrid_bond *bond,
                           const struct radau_clock *clock, bool *broke)
{
    const struct kith_simulation *simulation = group->leg->simulation;
    struct watch *watch = simulation->watch;
    const double unit = simulation->units.length, h = clock->last_step;
    const double touching =
        watch->on_collision == KITH_ON_COLLISION_PASS
            ? 0
            : (watch->radius[watch->row[bond->i]] + watch->radius[watch->row[bond->j]]) / unit;
    struct watch_followed *followed = watch_find_followed(&watch->followed, bond->i, bond->j);
    struct contact_path path;
    double s = 0, p[3], slope[3];
    if (!come_near(group, bond, h, fmax(touching, watch->encounter / unit), &path))
        return KITH_OK;
    const bool touches = touching > 0 && !followed->touches && contact_begins(&path, touching, &s);
    const bool begins = group->leg->from == 0 && clock->previous_time == 0;
    /* Those that overlap already do so since the step began, or a simulation stopped at them. */
    const bool is_old =
        s == 0 &&
        (!begins || (watch->on_collision == KITH_ON_COLLISION_STOP && simulation->steps > 0));
    const bool collides = touches && !is_old;
    if (!collides && !(watch->encounter > 0 && contact_nearest(&path, &s)))
        return KITH_OK;
    contact_path_at(&path, s, p, slope);
    const struct watch_followed seen = {.i = bond->i,
                                        .j = bond->j,
                                        .touches = collides,
                                        .s = group->leg->from +
                                             (clock->previous_time + s * h) / group->leg->h,
                                        .distance = length(p) * unit,
                                        .speed = length(slope) / fabs(h) * unit};
    if (!collides)
        return seen.distance < watch->encounter ? watch_add_followed(&watch->passed, &seen)
                                                : KITH_OK;
    *followed = seen;
    *broke |= bond->is_off = watch->on_collision == KITH_ON_COLLISION_MERGE;
    return KITH_OK;
}

static bool is_watched(const struct kith_simulation *simulation)
{
    const struct watch *watch = simulation->watch;
    return watch && (watch->on_collision != KITH_ON_COLLISION_PASS || watch->encounter > 0);
}

static kith_status fail_stuck(const struct group *group, const struct radau_clock *clock)
{
    const struct hybrid_leg *leg = group->leg;
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "an encounter of body %lld (from 0) became too close for hybrid at time "
                     "%.15g: bodies collide; give radii, and what collisions do",
                     (long long)(group->bonds > 0 ? group->bond[0].j : group->member[0] + 1),
                     kith_simulation_time(leg->simulation) + leg->from * leg->h + clock->time);
}

/* Two bodies at one place attract each other with no limit: steps would see nothing of it. */
static bool has_coincident_bodies(const struct group *group)
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

static kith_status follow_group(struct group *group)
{
    const struct hybrid_leg *leg = group->leg;
    const struct kith_simulation *simulation = leg->simulation;
    const size_t bytes = (size_t)(3 * group->stride) * sizeof(double);
    const double until = (leg->to - leg->from) * leg->h;
    const bool watched = is_watched(simulation);
    const struct radau_leg steps = {watched ? 1 : INT64_MAX, until, (double)INFINITY};
    const struct forces_problem forces = {.dimensions = 3};
    struct radau_clock clock = {.next_step = fabs(until)};
    struct radau_problem problem = {
        .forces = &forces, .stride = group->stride, .evaluate = evaluate, .user = group};
    for (int32_t array = 0; array < RADAU_ARRAYS; array++)
        problem.array[array] = group->array[array];
    gather(group);
    if (!watched && has_coincident_bodies(group))
        return fail_stuck(group, &clock);
    evaluate(group, RADAU_POSITION, RADAU_ACCELERATION);
    while (clock.time != until) {
        bool broke = false;
        memcpy(group->start_x, group->array[RADAU_POSITION], bytes);
        memcpy(group->start_v, group->array[RADAU_VELOCITY], bytes);
        if (radau_kernels_of(simulation->context)->of_any(&problem, &steps, &clock) != radau_done)
            return fail_stuck(group, &clock);
        for (int64_t k = 0; watched && k < group->bonds; k++)
            if (!group->bond[k].is_off)
                KITH_TRY(look_at(group, &group->bond[k], &clock, &broke));
        if (broke) {
            clock.last_step = 0;
            evaluate(group, RADAU_POSITION, RADAU_ACCELERATION);
        }
    }
    scatter(group);
    return KITH_OK;
}

/* Two bodies of the simulation, at two places of a group. */
static void add_bond(struct group *group, int64_t i, int64_t j, int32_t a, int32_t b)
{
    const struct hybrid_leg *leg = group->leg;
    const struct watch *watch = leg->simulation->watch;
    const struct watch_followed *followed =
        is_watched(leg->simulation) ? watch_find_followed(&watch->followed, i, j) : NULL;
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

static kith_status follow_connected(struct group *group, struct chains *chains)
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
        group->stride = (group->count + hybrid_lanes - 1) / hybrid_lanes * hybrid_lanes;
        KITH_TRY(follow_group(group));
    }
    return KITH_OK;
}

static kith_status follow_all(struct group *group)
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
    group->stride = (group->count + hybrid_lanes - 1) / hybrid_lanes * hybrid_lanes;
    return follow_group(group);
}

static int64_t wide_of(int64_t planets)
{
    return (planets + hybrid_lanes) / hybrid_lanes * hybrid_lanes;
}

kith_status hybrid_memory_make(int64_t planets, struct hybrid_memory *memory)
{
    KITH_TRY(kith_allocate((RADAU_ARRAYS + 2) * 3 * wide_of(planets), sizeof *memory->numbers,
                           "close encounters", &memory->numbers));
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
    const int64_t planets = leg->planets->count, wide = wide_of(planets);
    struct hybrid_memory *memory = leg->memory;
    KITH_TRY(grow(memory, planets, leg->close->pairs.count));
    struct group group = {.leg = leg, .bond = memory->bond, .member = memory->integers};
    for (int32_t array = 0; array < RADAU_ARRAYS; array++)
        group.array[array] = memory->numbers + array * 3 * wide;
    group.start_x = memory->numbers + RADAU_ARRAYS * 3 * wide;
    group.start_v = group.start_x + 3 * wide;
    struct chains chains = {.next_pair = memory->next_pair};
    int32_t **const each[] = {&chains.root, &chains.first_member, &chains.next_member,
                              &chains.first_pair, &chains.place};
    for (int64_t k = 0; k < 5; k++)
        *each[k] = memory->integers + (k + 1) * (planets + 1);
    return leg->close->at_star ? follow_all(&group) : follow_connected(&group, &chains);
}

kith_status hybrid_watch_pairs(struct kith_simulation *simulation, const struct hybrid_close *close)
{
    if (!is_watched(simulation))
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
