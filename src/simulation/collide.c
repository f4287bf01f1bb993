/* What happens to bodies within a step: collisions, encounters, escapes. */

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "kith/pairs.h"
#include "simulation/contact.h"
#include "simulation/integrator.h"
#include "simulation/watch.h"

enum { START, END };

/* Up to so many bodies each pair is looked at; of more those near each other are listed first. */
enum { most_looked_at = 256 };

/* Two bodies that touch in a step, i before j. */
struct contact {
    double s; /* of the step, where it begins */
    int64_t i, j;
};

/* The pairs of one step. A body's way is within reach of middle. */
struct contact_search {
    double *middle, *reach;
    kith_pairs *pairs;
    struct contact *contact;
    int64_t count, room;
};

/* A step that was done, of the bodies that were left when it began. */
struct done_step {
    struct kith_simulation *simulation;
    struct watch *watch;
    double time, h;
    int64_t count;
    bool *has_collided, *is_gone; /* in this step */
};

void contact_search_free(struct contact_search *search)
{
    if (!search)
        return;
    free(search->middle);
    free(search->reach);
    free(search->contact);
    kith_pairs_free(search->pairs);
    free(search);
}

static kith_status make_search(struct watch *watch)
{
    if (watch->search)
        return KITH_OK;
    KITH_TRY(kith_allocate(1, sizeof *watch->search, "collisions", &watch->search));
    KITH_TRY(kith_allocate(watch->rows, watch->dimensions * (int64_t)sizeof(double), "collisions",
                           &watch->search->middle));
    return kith_allocate(watch->rows, sizeof(double), "collisions", &watch->search->reach);
}

/* The path of j relative to i. */
static struct contact_path path_of(const struct done_step *step, int64_t i, int64_t j)
{
    const struct watch *watch = step->watch;
    const int32_t d = watch->dimensions;
    double x[2][3] = {{0}}, v[2][3] = {{0}};
    for (int end = START; end <= END; end++)
        for (int32_t k = 0; k < d; k++) {
            x[end][k] = watch->position[end][j * d + k] - watch->position[end][i * d + k];
            v[end][k] = watch->velocity[end][j * d + k] - watch->velocity[end][i * d + k];
        }
    return contact_path_of(x[START], v[START], x[END], v[END], step->h);
}

static double length(const double vector[3])
{
    return sqrt(vector[0] * vector[0] + vector[1] * vector[1] + vector[2] * vector[2]);
}

static double radius_of(const struct watch *watch, int64_t i)
{
    return watch->radius[watch->row[i]];
}

static double touching(const struct watch *watch, int64_t i, int64_t j)
{
    return watch->on_collision == KITH_ON_COLLISION_PASS
               ? 0
               : radius_of(watch, i) + radius_of(watch, j);
}

static kith_status add_seen_event(const struct done_step *step, kith_event_kind kind,
                                  const struct watch_followed *seen)
{
    const struct watch *watch = step->watch;
    const int64_t body = watch->row[seen->i];
    const kith_event event = {.kind = kind,
                              .step = step->simulation->steps,
                              .time = step->time + seen->s * step->h,
                              .body = body,
                              .other = watch->row[seen->j],
                              .distance = seen->distance,
                              .speed = seen->speed,
                              .mass = watch->mass[body],
                              .radius = watch->radius[body]};
    return watch_add_event(step->watch, &event);
}

/* Of j relative to i, at s of the step. */
static kith_status add_event(const struct done_step *step, kith_event_kind kind, double s,
                             int64_t i, int64_t j)
{
    const struct watch *watch = step->watch;
    const struct contact_path path = path_of(step, i, j);
    double p[3], slope[3];
    contact_path_at(&path, s, p, slope);
    const struct watch_followed seen = {
        .i = i, .j = j, .s = s, .distance = length(p), .speed = length(slope) / fabs(step->h)};
    const struct watch_followed *followed = watch_find_followed(&watch->followed, i, j);
    const bool is_seen = followed && followed->touches && followed->s == s;
    return add_seen_event(step, kind, is_seen ? followed : &seen);
}

static kith_status add_contact(struct contact_search *search, struct contact contact)
{
    if (search->count == search->room) {
        const int64_t room = search->room > 0 ? 2 * search->room : 64;
        struct contact *grown = NULL;
        KITH_TRY(kith_allocate(room, sizeof *grown, "collisions", &grown));
        if (search->count > 0)
            memcpy(grown, search->contact, (size_t)search->count * sizeof *grown);
        free(search->contact);
        search->contact = grown;
        search->room = room;
    }
    search->contact[search->count++] = contact;
    return KITH_OK;
}

/* A pair whose ways come near each other: collides, or passes at less than the encounter. */
static kith_status look_at(const struct done_step *step, int64_t i, int64_t j)
{
    const struct watch *watch = step->watch;
    if (watch_find_followed(&watch->followed, i, j))
        return KITH_OK;
    const struct contact_path path = path_of(step, i, j);
    const double reach = touching(watch, i, j);
    double s = 0, p[3], slope[3];
    if (reach > 0 && contact_begins(&path, reach, &s)) {
        /* Those that a simulation stopped at before go on. */
        if (watch->on_collision == KITH_ON_COLLISION_STOP && s == 0 && step->simulation->steps > 1)
            return KITH_OK;
        return add_contact(watch->search, (struct contact){s, i, j});
    }
    if (!(watch->encounter > 0) || !contact_nearest(&path, &s))
        return KITH_OK;
    contact_path_at(&path, s, p, slope);
    return length(p) < watch->encounter ? add_event(step, KITH_EVENT_ENCOUNTER, s, i, j) : KITH_OK;
}

/* A cubic curve is within the hull of the points x, x + h v / 3 of both its ends. Of all bodies the
 * mean motion is taken off first, which pairs do not see. */
static void bound_ways(const struct done_step *step)
{
    const struct watch *watch = step->watch;
    const struct contact_search *search = watch->search;
    const int32_t d = watch->dimensions;
    double way[3] = {0}, first[3] = {0}, last[3] = {0};
    for (int64_t i = 0; i < step->count; i++)
        for (int32_t k = 0; k < d; k++) {
            const int64_t at = i * d + k;
            way[k] += (watch->position[END][at] - watch->position[START][at]) / (double)step->count;
            first[k] += step->h * watch->velocity[START][at] / (double)step->count;
            last[k] += step->h * watch->velocity[END][at] / (double)step->count;
        }
    for (int64_t i = 0; i < step->count; i++) {
        double reach2[4] = {0};
        for (int32_t k = 0; k < d; k++) {
            const int64_t at = i * d + k;
            const double a = watch->position[START][at], b = watch->position[END][at] - way[k];
            const double hull[4] = {a, a + (step->h * watch->velocity[START][at] - first[k]) / 3,
                                    b - (step->h * watch->velocity[END][at] - last[k]) / 3, b};
            search->middle[at] = a + (b - a) / 2;
            for (int c = 0; c < 4; c++)
                reach2[c] += (hull[c] - search->middle[at]) * (hull[c] - search->middle[at]);
        }
        const double farthest =
            fmax(fmax(reach2[0], reach2[1]), fmax(reach2[2], reach2[3])) * (1 + 1e-12);
        search->reach[i] =
            sqrt(farthest) +
            (watch->on_collision == KITH_ON_COLLISION_PASS ? 0 : radius_of(watch, i));
    }
}

static bool come_near(const struct done_step *step, int64_t i, int64_t j)
{
    const struct contact_search *search = step->watch->search;
    const int32_t d = step->watch->dimensions;
    const double reach = search->reach[i] + search->reach[j] + step->watch->encounter;
    double distance2 = 0;
    for (int32_t k = 0; k < d; k++) {
        const double way = search->middle[j * d + k] - search->middle[i * d + k];
        distance2 += way * way;
    }
    return distance2 <= reach * reach;
}

static kith_status look_at_all(const struct done_step *step)
{
    for (int64_t i = 0; i < step->count; i++)
        for (int64_t j = i + 1; j < step->count; j++)
            if (come_near(step, i, j))
                KITH_TRY(look_at(step, i, j));
    return KITH_OK;
}

/* Cells of the search are numbered up to 2^30 each way. */
static double least_cutoff(const struct done_step *step)
{
    const struct watch *watch = step->watch;
    double farthest = 0;
    for (int64_t k = 0; k < step->count * watch->dimensions; k++)
        farthest = fmax(farthest, fabs(watch->search->middle[k]));
    return farthest * 0x1p-26 + (double)FLT_MIN;
}

static kith_status look_at_near(const struct done_step *step)
{
    struct contact_search *search = step->watch->search;
    const kith_pairs_options options = {
        .cutoff = step->watch->encounter + least_cutoff(step),
        .half = true,
        .radii = kith_array_vector(search->reach, KITH_F64, step->count)};
    KITH_TRY(kith_pairs_compute(
        step->simulation->context, &options,
        kith_array_matrix(search->middle, KITH_F64, step->count, step->watch->dimensions), NULL,
        &search->pairs));
    const int64_t *i = search->pairs->i.data, *j = search->pairs->j.data;
    for (int64_t k = 0; k < search->pairs->count; k++)
        if (come_near(step, i[k], j[k]))
            KITH_TRY(look_at(step, i[k], j[k]));
    return KITH_OK;
}

static int compare_contacts(const void *a, const void *b)
{
    const struct contact *one = a, *other = b;
    if (one->s != other->s)
        return one->s < other->s ? -1 : 1;
    if (one->i != other->i)
        return one->i < other->i ? -1 : 1;
    return (one->j > other->j) - (one->j < other->j);
}

/* What the integrator saw of pairs that it followed itself. */
static kith_status take_followed(const struct done_step *step)
{
    const struct watch *watch = step->watch;
    for (int64_t k = 0; k < watch->followed.count; k++) {
        const struct watch_followed *pair = &watch->followed.pair[k];
        if (pair->touches)
            KITH_TRY(add_contact(watch->search, (struct contact){pair->s, pair->i, pair->j}));
    }
    for (int64_t k = 0; k < watch->passed.count; k++)
        KITH_TRY(add_seen_event(step, KITH_EVENT_ENCOUNTER, &watch->passed.pair[k]));
    return KITH_OK;
}

static kith_status find_contacts(const struct done_step *step)
{
    struct contact_search *search = step->watch->search;
    search->count = 0;
    if (step->watch->on_collision == KITH_ON_COLLISION_PASS && step->watch->encounter == 0)
        return KITH_OK;
    bound_ways(step);
    KITH_TRY(take_followed(step));
    KITH_TRY(step->count <= most_looked_at ? look_at_all(step) : look_at_near(step));
    if (search->count > 1)
        qsort(search->contact, (size_t)search->count, sizeof *search->contact, compare_contacts);
    return KITH_OK;
}

/* The weights of two bodies in their centre of mass. */
static double weight_of(double mass, double other)
{
    return mass + other > 0 ? mass / (mass + other) : 0.5;
}

static kith_status merge(const struct done_step *step, const struct contact *contact)
{
    struct watch *watch = step->watch;
    const int32_t d = watch->dimensions;
    const bool second_is_heavier =
        watch->mass[watch->row[contact->j]] > watch->mass[watch->row[contact->i]];
    const int64_t i = second_is_heavier ? contact->j : contact->i;
    const int64_t j = second_is_heavier ? contact->i : contact->j;
    const int64_t body = watch->row[i], other = watch->row[j];
    const double part = weight_of(watch->mass[other], watch->mass[body]);
    const double radius = watch->radius[body], added = watch->radius[other];
    watch->mass[body] += watch->mass[other];
    watch->charge[body] += watch->charge[other];
    watch->radius[body] =
        d == 3 ? cbrt(radius * radius * radius + added * added * added) : hypot(radius, added);
    KITH_TRY(add_event(step, KITH_EVENT_MERGE, contact->s, i, j));
    for (int32_t k = 0; k < d; k++) {
        double *x = watch->position[END] + k, *v = watch->velocity[END] + k;
        x[i * d] += part * (x[j * d] - x[i * d]);
        v[i * d] += part * (v[j * d] - v[i * d]);
    }
    step->has_collided[i] = step->is_gone[j] = true;
    watch->has_changed = true;
    return KITH_OK;
}

/* The velocity of approach turns round, in the restitution's measure. */
static kith_status bounce(const struct done_step *step, const struct contact *contact)
{
    struct watch *watch = step->watch;
    const int32_t d = watch->dimensions;
    const int64_t i = contact->i, j = contact->j;
    const struct contact_path path = path_of(step, i, j);
    double line[3], slope[3], apart = 0, at_end = 0;
    contact_path_at(&path, contact->s, line, slope);
    const double distance = length(line);
    if (distance == 0)
        return KITH_OK;
    for (int32_t k = 0; k < d; k++) {
        const double u = watch->velocity[END][j * d + k] - watch->velocity[END][i * d + k];
        at_end += step->h * u * line[k] / distance;
        apart += slope[k] * line[k] / distance;
    }
    /* The velocity at the end, if it is one of approach, keeps the energy of an elastic bounce. */
    apart = at_end < 0 ? at_end : apart;
    if (!(apart < 0))
        return KITH_OK;
    KITH_TRY(add_event(step, KITH_EVENT_BOUNCE, contact->s, i, j));
    const double mass = watch->mass[watch->row[i]], other = watch->mass[watch->row[j]];
    const double change = -(1 + watch->restitution) * apart / step->h;
    const double of_i = -change * weight_of(other, mass), of_j = change * weight_of(mass, other);
    const double rest = (1 - contact->s) * step->h;
    for (int32_t k = 0; k < d; k++) {
        const double normal = line[k] / distance;
        watch->velocity[END][i * d + k] += of_i * normal;
        watch->velocity[END][j * d + k] += of_j * normal;
        watch->position[END][i * d + k] += rest * of_i * normal;
        watch->position[END][j * d + k] += rest * of_j * normal;
    }
    step->has_collided[i] = step->has_collided[j] = true;
    watch->collisions++;
    return KITH_OK;
}

static kith_status collide(const struct done_step *step, const struct contact *contact)
{
    struct watch *watch = step->watch;
    if (watch->on_collision == KITH_ON_COLLISION_BOUNCE)
        return bounce(step, contact);
    watch->collisions++;
    if (watch->on_collision == KITH_ON_COLLISION_MERGE)
        return merge(step, contact);
    watch->has_stopped = true;
    return add_event(step, KITH_EVENT_STOP, contact->s, contact->i, contact->j);
}

static bool overlap_at_end(const struct done_step *step, int64_t i, int64_t j)
{
    const struct contact_path path = path_of(step, i, j);
    double p[3], slope[3];
    contact_path_at(&path, 1, p, slope);
    return length(p) <= touching(step->watch, i, j);
}

/* Bodies that have merged have another place and size: with whom they overlap now they merge, too.
 */
static kith_status merge_overlapping(const struct done_step *step)
{
    bool again = true;
    while (again) {
        again = false;
        for (int64_t i = 0; i < step->count; i++) {
            if (!step->has_collided[i] || step->is_gone[i])
                continue;
            step->has_collided[i] = false;
            for (int64_t j = 0; j < step->count && !step->is_gone[i]; j++) {
                if (j == i || step->is_gone[j] || !overlap_at_end(step, i, j))
                    continue;
                const struct contact contact = {1, i < j ? i : j, i < j ? j : i};
                KITH_TRY(collide(step, &contact));
                again = true;
            }
        }
    }
    return KITH_OK;
}

static kith_status resolve(const struct done_step *step)
{
    const struct watch *watch = step->watch;
    const struct contact_search *search = watch->search;
    const bool bounces = watch->on_collision == KITH_ON_COLLISION_BOUNCE;
    for (int64_t k = 0; k < search->count; k++) {
        struct contact contact = search->contact[k];
        const int64_t i = contact.i, j = contact.j;
        if (step->is_gone[i] || step->is_gone[j])
            continue;
        const bool is_later = step->has_collided[i] || step->has_collided[j];
        /* Those that overlapped at the start bounce as they are at the end. */
        if (is_later || (bounces && contact.s == 0)) {
            contact.s = 1;
            if (!overlap_at_end(step, i, j))
                continue;
        }
        KITH_TRY(collide(step, &contact));
    }
    return watch->on_collision == KITH_ON_COLLISION_MERGE ? merge_overlapping(step) : KITH_OK;
}

/* The place and velocity of the centre of mass of those left: [0] and [1]. */
static void find_center(const struct done_step *step, double center[2][3])
{
    const struct watch *watch = step->watch;
    const int32_t d = watch->dimensions;
    double total = 0;
    for (int64_t i = 0; i < step->count; i++)
        total += step->is_gone[i] ? 0 : watch->mass[watch->row[i]];
    for (int64_t i = 0; i < step->count && total > 0; i++)
        for (int32_t k = 0; k < d && !step->is_gone[i]; k++) {
            const double part = watch->mass[watch->row[i]] / total;
            center[0][k] += part * watch->position[END][i * d + k];
            center[1][k] += part * watch->velocity[END][i * d + k];
        }
}

static kith_status remove_escaped(const struct done_step *step)
{
    struct watch *watch = step->watch;
    const int32_t d = watch->dimensions;
    double center[2][3] = {{0}};
    if (watch->escape == 0)
        return KITH_OK;
    find_center(step, center);
    for (int64_t i = 0; i < step->count; i++) {
        double x[3] = {0}, v[3] = {0};
        for (int32_t k = 0; k < d; k++) {
            x[k] = watch->position[END][i * d + k] - center[0][k];
            v[k] = watch->velocity[END][i * d + k] - center[1][k];
        }
        if (step->is_gone[i] || !(length(x) > watch->escape))
            continue;
        const int64_t body = watch->row[i];
        const kith_event event = {.kind = KITH_EVENT_ESCAPE,
                                  .step = step->simulation->steps,
                                  .time = step->time + step->h,
                                  .body = body,
                                  .other = -1,
                                  .distance = length(x),
                                  .speed = length(v),
                                  .mass = watch->mass[body],
                                  .radius = watch->radius[body]};
        KITH_TRY(watch_add_event(watch, &event));
        step->is_gone[i] = watch->has_changed = true;
    }
    return KITH_OK;
}

/* Those left, in order. */
static int64_t close_ranks(const struct done_step *step)
{
    struct watch *watch = step->watch;
    const int32_t d = watch->dimensions;
    int64_t left = 0;
    for (int64_t i = 0; i < step->count; i++) {
        if (step->is_gone[i])
            continue;
        for (int32_t k = 0; k < d; k++) {
            watch->position[END][left * d + k] = watch->position[END][i * d + k];
            watch->velocity[END][left * d + k] = watch->velocity[END][i * d + k];
        }
        watch->row[left++] = watch->row[i];
    }
    return left;
}

static kith_status follow(const struct done_step *step)
{
    struct watch *watch = step->watch;
    const int64_t before = watch->collisions;
    KITH_TRY(find_contacts(step));
    KITH_TRY(resolve(step));
    KITH_TRY(remove_escaped(step));
    const int64_t left = close_ranks(step);
    const bool has_moved = watch->collisions > before && !watch->has_stopped;
    if (left == step->count && !has_moved)
        return KITH_OK;
    KITH_TRY(watch_fill(step->simulation, left, watch->position[END], watch->velocity[END]));
    return integrator_prepare(step->simulation);
}

static kith_status read_state(struct kith_simulation *simulation, int end)
{
    const struct system_range all = simulation_all(simulation);
    KITH_TRY(simulation_read_vectors(simulation, all, POSITION, simulation->watch->position[end]));
    return simulation_read_vectors(simulation, all, VELOCITY, simulation->watch->velocity[end]);
}

kith_status watch_before_step(struct kith_simulation *simulation)
{
    simulation->watch->has_stopped = false;
    if (!simulation->watch->knows_start)
        KITH_TRY(read_state(simulation, START));
    simulation->watch->knows_start = true;
    return KITH_OK;
}

kith_status watch_after_step(struct kith_simulation *simulation, double time, double h)
{
    struct watch *watch = simulation->watch;
    struct done_step step = {
        .simulation = simulation, .watch = watch, .time = time, .h = h, .count = simulation->count};
    bool *flags = NULL;
    KITH_TRY(make_search(watch));
    KITH_TRY(kith_allocate(step.count, 2 * (int64_t)sizeof *flags, "collisions", &flags));
    step.has_collided = flags;
    step.is_gone = flags + step.count;
    kith_status status = read_state(simulation, END);
    if (status == KITH_OK)
        status = follow(&step);
    free(flags);
    /* What the state rounds, the next step begins with. */
    watch->knows_start = status == KITH_OK && simulation->dtype == KITH_F64;
    double *const position = watch->position[START], *const velocity = watch->velocity[START];
    watch->position[START] = watch->position[END];
    watch->velocity[START] = watch->velocity[END];
    watch->position[END] = position;
    watch->velocity[END] = velocity;
    return status;
}
