/* Close encounters of hybrid, followed by the Gauss-Radau method: hybrid.h has the formulas. */

#include <stdatomic.h>
#include <stdlib.h>

#include "device/threads.h"
#include "simulation/hybrid_group.h"

/* What is followed by steps of its own: planets with mass that are connected by pairs of such, or
 * planets without mass, some of a group of connected ones, with those with mass. */
struct hybrid_job {
    int32_t root;         /* the first planet of those with mass, or of the group */
    int32_t first, count; /* of those without mass; count = 0: none */
};

/* The groups. Those of a group with mass are, in their order, order[begin] …, and then come those
 * without. Roots of felt groups are of those with mass, connected by pairs of such; a felt pair
 * belongs to this root, others to their planet without mass, in chains that end with −1. */
struct groups {
    int32_t *root, *massive, *massless, *begin; /* of a root: how many */
    int32_t *order, *place;                     /* place: in order, from begin on */
    int32_t *felt_root, *felt, *felt_place;     /* felt: how many */
    int32_t *first_pair, *first_felt, *next_pair;
};
enum { group_columns = 11 };

/* Two bodies of the simulation, at two places of a group. */
static void add_bond(struct hybrid_group *group, int64_t i, int64_t j, int32_t a, int32_t b)
{
    const struct hybrid_leg *leg = group->leg;
    const struct watch *watch = leg->simulation->watch;
    const struct watch_followed *followed =
        hybrid_is_watched(leg->simulation) ? watch_find_followed(&watch->followed, i, j) : NULL;
    group->bond[group->bonds++] =
        (struct hybrid_bond){.a = a,
                             .b = b,
                             .gm_a = i == 0 ? leg->star_gm : leg->planets->gm[i - 1],
                             .gm_b = leg->planets->gm[j - 1],
                             .i = i,
                             .j = j,
                             .is_off = followed && followed->touches && followed->s <= leg->from &&
                                       watch->on_collision == KITH_ON_COLLISION_MERGE};
}

static int32_t root_of(int32_t *root, int32_t i)
{
    while (root[i] != i)
        i = root[i] = root[root[i]];
    return i;
}

static bool has_mass(const struct hybrid_leg *leg, int32_t planet)
{
    return leg->planets->source[planet] >= 0;
}

static void link_pairs(const struct hybrid_leg *leg, struct groups *groups)
{
    const struct hybrid_pairs *pairs = &leg->close->pairs;
    for (int32_t i = 0; i < (int32_t)leg->planets->count; i++)
        groups->first_pair[i] = groups->first_felt[i] = -1;
    for (int32_t k = (int32_t)pairs->count - 1; k >= 0; k--) {
        const struct hybrid_pair *pair = &pairs->pair[k];
        int32_t *first = !has_mass(leg, pair->i) ? &groups->first_pair[pair->i]
                         : !has_mass(leg, pair->j)
                             ? &groups->first_pair[pair->j]
                             : &groups->first_felt[groups->felt_root[pair->i]];
        groups->next_pair[k] = *first;
        *first = k;
    }
}

static void unite(int32_t *root, const struct hybrid_pair *pair)
{
    const int32_t a = root_of(root, pair->i), b = root_of(root, pair->j);
    root[a < b ? b : a] = a < b ? a : b;
}

/* The root of each planet, in the end without ways to it. */
static void find_roots(const struct hybrid_leg *leg, struct groups *groups)
{
    const struct hybrid_pairs *pairs = &leg->close->pairs;
    const int32_t count = (int32_t)leg->planets->count;
    for (int32_t i = 0; i < count; i++)
        groups->root[i] = groups->felt_root[i] = i;
    for (int64_t k = 0; k < pairs->count; k++) {
        unite(groups->root, &pairs->pair[k]);
        if (has_mass(leg, pairs->pair[k].i) && has_mass(leg, pairs->pair[k].j))
            unite(groups->felt_root, &pairs->pair[k]);
    }
    for (int32_t i = 0; i < count; i++) {
        groups->root[i] = root_of(groups->root, i);
        groups->felt_root[i] = root_of(groups->felt_root, i);
    }
}

/* The planets connected by pairs, those of a group in their order; the root is the first. */
static void find_groups(const struct hybrid_leg *leg, struct groups *groups)
{
    const int32_t count = (int32_t)leg->planets->count;
    int32_t placed = 0;
    find_roots(leg, groups);
    for (int32_t i = 0; i < count; i++)
        groups->massive[i] = groups->massless[i] = groups->felt[i] = 0;
    for (int32_t i = 0; i < count; i++) {
        const int32_t root = groups->root[i];
        groups->place[i] = has_mass(leg, i) ? groups->massive[root]++ : groups->massless[root]++;
        groups->felt_place[i] = groups->felt[groups->felt_root[i]]++;
    }
    for (int32_t i = 0; i < count; i++) {
        const int32_t root = groups->root[i];
        if (root == i) {
            groups->begin[i] = placed;
            placed += groups->massive[i] + groups->massless[i];
        }
        groups->place[i] += has_mass(leg, i) ? 0 : groups->massive[root];
        groups->order[groups->begin[root] + groups->place[i]] = i;
    }
    link_pairs(leg, groups);
}

/* Groups that are followed, by the threads. */
struct following {
    struct hybrid_leg *leg;
    struct groups groups;
    int64_t jobs, stride, bonds; /* the most of a job */
    atomic_long next, failed;
};

/* Planets without mass of a job, or as many as have mass: few, so that those with a very close
 * encounter stop few others. */
enum { massless_of_job = 16 };

/* How many planets with mass a job has, and whether it has this one of its group. */
static int32_t massive_of(const struct groups *groups, const struct hybrid_job *job)
{
    return job->count > 0 ? groups->massive[job->root] : groups->felt[job->root];
}

static bool has_massive(const struct groups *groups, const struct hybrid_job *job, int32_t planet)
{
    return job->count > 0 || groups->felt_root[planet] == job->root;
}

/* The planets of a job's group: those with mass first. */
static const int32_t *group_of(const struct groups *groups, const struct hybrid_job *job)
{
    return groups->order + groups->begin[groups->root[job->root]];
}

static int64_t pairs_in(const struct groups *groups, int32_t first)
{
    int64_t pairs = 0;
    for (int32_t k = first; k >= 0; k = groups->next_pair[k])
        pairs++;
    return pairs;
}

static int64_t bonds_of(const struct groups *groups, const struct hybrid_job *job)
{
    const int32_t *planet = group_of(groups, job);
    const int32_t massive = groups->massive[groups->root[job->root]];
    int64_t bonds = 0;
    for (int32_t m = 0; m < massive; m++)
        if (has_massive(groups, job, planet[m]))
            bonds += pairs_in(groups, groups->first_felt[planet[m]]);
    for (int32_t m = 0; m < job->count; m++)
        bonds += pairs_in(groups, groups->first_pair[planet[massive + job->first + m]]);
    return bonds;
}

static void add_job(struct following *following, int32_t root, int32_t first, int32_t count)
{
    const struct hybrid_job job = {root, first, count};
    const int64_t bonds = bonds_of(&following->groups, &job);
    const int64_t bodies = massive_of(&following->groups, &job) + count;
    const int64_t stride = (bodies + hybrid_lanes - 1) / hybrid_lanes * hybrid_lanes;
    following->leg->memory->job[following->jobs++] = job;
    following->stride = stride > following->stride ? stride : following->stride;
    following->bonds = bonds > following->bonds ? bonds : following->bonds;
}

static void list_jobs(struct following *following)
{
    const struct groups *groups = &following->groups;
    for (int32_t root = 0; root < (int32_t)following->leg->planets->count; root++)
        if (groups->first_felt[root] >= 0)
            add_job(following, root, 0, 0);
    for (int32_t root = 0; root < (int32_t)following->leg->planets->count; root++) {
        const int32_t massless = groups->root[root] == root ? groups->massless[root] : 0;
        const int32_t each =
            groups->massive[root] > massless_of_job ? groups->massive[root] : massless_of_job;
        for (int32_t k = 0; k < massless && groups->massive[root] > 0; k += each)
            add_job(following, root, k, massless - k < each ? massless - k : each);
    }
}

/* Memory for a group on each thread, of at most stride numbers a component, and bonds. */
static kith_status make_room(struct hybrid_memory *memory, int64_t lanes, int64_t stride,
                             int64_t bonds)
{
    const int64_t numbers = lanes * (RADAU_ARRAYS + RADAU_ACCELERATION) * 3 * stride;
    if (numbers <= memory->number_room && lanes * bonds <= memory->bond_room)
        return KITH_OK;
    free(memory->numbers);
    free(memory->member);
    free(memory->bond);
    memory->numbers = NULL;
    memory->member = NULL;
    memory->bond = NULL;
    memory->number_room = memory->bond_room = 0;
    KITH_TRY(kith_allocate(numbers, sizeof *memory->numbers, "close encounters", &memory->numbers));
    KITH_TRY(
        kith_allocate(lanes * stride, sizeof *memory->member, "close encounters", &memory->member));
    KITH_TRY(kith_allocate(2 * lanes * bonds + 16, sizeof *memory->bond, "close encounters",
                           &memory->bond));
    memory->number_room = numbers;
    memory->bond_room = 2 * lanes * bonds + 16;
    return KITH_OK;
}

static struct hybrid_group group_of_lane(struct hybrid_leg *leg, int64_t lane, int64_t stride,
                                         int64_t bonds)
{
    const struct hybrid_memory *memory = leg->memory;
    const int64_t arrays = RADAU_ARRAYS + RADAU_ACCELERATION;
    struct hybrid_group group = {.leg = leg,
                                 .bond = memory->bond + lane * bonds,
                                 .member = memory->member + lane * stride,
                                 .stride = stride};
    double *numbers = memory->numbers + lane * arrays * 3 * stride;
    for (int32_t array = 0; array < RADAU_ARRAYS; array++)
        group.array[array] = numbers + array * 3 * stride;
    for (int32_t array = 0; array < RADAU_ACCELERATION; array++)
        group.start[array] = numbers + (RADAU_ARRAYS + array) * 3 * stride;
    return group;
}

/* The place of a planet in a job. */
static int32_t place_in(const struct groups *groups, const struct hybrid_job *job, int32_t planet)
{
    const int32_t place = groups->place[planet];
    return job->count == 0                      ? groups->felt_place[planet]
           : place < groups->massive[job->root] ? place
                                                : place - job->first;
}

static void add_pairs(const struct following *following, const struct hybrid_job *job,
                      int32_t first, bool is_shared, struct hybrid_group *group)
{
    const struct groups *groups = &following->groups;
    for (int32_t k = first; k >= 0; k = groups->next_pair[k]) {
        const struct hybrid_pair *pair = &following->leg->close->pairs.pair[k];
        add_bond(group, pair->i + 1, pair->j + 1, place_in(groups, job, pair->i),
                 place_in(groups, job, pair->j));
        group->bond[group->bonds - 1].is_shared = is_shared;
    }
}

static kith_status follow_job(struct following *following, const struct hybrid_job *job,
                              int64_t lane)
{
    const struct groups *groups = &following->groups;
    const int32_t *planet = group_of(groups, job);
    const int32_t massive = groups->massive[groups->root[job->root]];
    const bool has_massless = job->count > 0;
    struct hybrid_group group =
        group_of_lane(following->leg, lane, following->stride, following->bonds);
    group.center_gm = following->leg->star_gm;
    for (int32_t m = 0; m < massive; m++)
        if (has_massive(groups, job, planet[m])) {
            group.member[group.count++] = planet[m];
            add_pairs(following, job, groups->first_felt[planet[m]], has_massless, &group);
        }
    group.shared = has_massless ? massive : 0;
    for (int32_t m = 0; m < job->count; m++) {
        const int32_t other = planet[massive + job->first + m];
        group.member[group.count++] = other;
        add_pairs(following, job, groups->first_pair[other], false, &group);
    }
    return hybrid_follow_group(&group);
}

static void follow_in_lane(void *argument, int64_t lane)
{
    struct following *following = argument;
    for (;;) {
        const int64_t k = atomic_fetch_add(&following->next, 1);
        if (k >= following->jobs || kith_context_stops(following->leg->simulation->context))
            return;
        if (follow_job(following, &following->leg->memory->job[k], lane) != KITH_OK) {
            long failed = atomic_load(&following->failed);
            while (k < failed && !atomic_compare_exchange_weak(&following->failed, &failed, k)) {
            }
        }
    }
}

/* Of a planet without mass in a leg. */
static const double seconds_of_massless = 5e-6;

/* Those that are watched are followed in their order. The message of a failure is that of the first
 * job, which is done once more for it. */
static kith_status follow_connected(struct following *following)
{
    struct hybrid_leg *leg = following->leg;
    kith_context *context = leg->simulation->context;
    find_groups(leg, &following->groups);
    list_jobs(following);
    const double seconds = seconds_of_massless * (double)(following->jobs * following->stride);
    const int32_t lanes =
        hybrid_is_watched(leg->simulation) ? 1 : kith_threads_for(context, seconds);
    KITH_TRY(make_room(leg->memory, lanes, following->stride, following->bonds));
    for (int64_t k = 0; lanes == 1 && k < following->jobs; k++)
        KITH_TRY(follow_job(following, &leg->memory->job[k], 0));
    if (lanes == 1)
        return KITH_OK;
    following->failed = following->jobs;
    KITH_TRY(kith_for_each(context, lanes, lanes, follow_in_lane, following));
    const int64_t failed = following->failed;
    return failed < following->jobs ? follow_job(following, &leg->memory->job[failed], 0) : KITH_OK;
}

static kith_status follow_all(struct hybrid_leg *leg)
{
    const int64_t bodies = leg->planets->count + 1, pairs = leg->close->pairs.count;
    const int64_t stride = (bodies + hybrid_lanes - 1) / hybrid_lanes * hybrid_lanes;
    KITH_TRY(make_room(leg->memory, 1, stride, bodies + pairs));
    struct hybrid_group group = group_of_lane(leg, 0, stride, bodies + pairs);
    group.count = bodies;
    group.member[0] = -1;
    for (int32_t i = 1; i < group.count; i++) {
        group.member[i] = i - 1;
        add_bond(&group, 0, i, 0, i);
    }
    for (int64_t k = 0; k < pairs; k++) {
        const struct hybrid_pair *pair = &leg->close->pairs.pair[k];
        add_bond(&group, pair->i + 1, pair->j + 1, pair->i + 1, pair->j + 1);
    }
    return hybrid_follow_group(&group);
}

kith_status hybrid_memory_make(int64_t planets, struct hybrid_memory *memory)
{
    return kith_allocate(group_columns * (planets + 1), sizeof *memory->integers,
                         "close encounters", &memory->integers);
}

void hybrid_memory_free(struct hybrid_memory *memory)
{
    free(memory->numbers);
    free(memory->integers);
    free(memory->next_pair);
    free(memory->member);
    free(memory->bond);
    free(memory->job);
}

/* Of each pair there are two jobs at most. */
static kith_status grow(struct hybrid_memory *memory, int64_t pairs)
{
    if (memory->job && pairs <= memory->room)
        return KITH_OK;
    free(memory->next_pair);
    free(memory->job);
    memory->next_pair = NULL;
    memory->job = NULL;
    memory->room = 2 * pairs + 16;
    KITH_TRY(kith_allocate(memory->room, sizeof *memory->next_pair, "close encounters",
                           &memory->next_pair));
    return kith_allocate(2 * memory->room, sizeof *memory->job, "close encounters", &memory->job);
}

kith_status hybrid_follow(struct hybrid_leg *leg)
{
    struct hybrid_memory *memory = leg->memory;
    const int64_t column = leg->planets->count + 1;
    KITH_TRY(grow(memory, leg->close->pairs.count));
    if (leg->close->at_star)
        return follow_all(leg);
    struct following following = {.leg = leg, .groups.next_pair = memory->next_pair};
    int32_t **const each[group_columns] = {
        &following.groups.root,       &following.groups.massive,    &following.groups.massless,
        &following.groups.begin,      &following.groups.order,      &following.groups.place,
        &following.groups.first_pair, &following.groups.first_felt, &following.groups.felt_root,
        &following.groups.felt,       &following.groups.felt_place};
    for (int64_t k = 0; k < group_columns; k++)
        *each[k] = memory->integers + k * column;
    return follow_connected(&following);
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
