/* Which bodies touch within a step. */

#include "simulation/collide.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "simulation/state.h"

/* For up to this many bodies every pair is tested; for more, those near each other are listed
 * first. */
enum { most_looked_at = 256 };

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

kith_status collide_make_search(struct watch *watch)
{
    if (watch->search)
        return KITH_OK;
    KITH_TRY(kith_allocate(1, sizeof *watch->search, "collisions", &watch->search));
    KITH_TRY(kith_allocate(watch->rows, watch->dimensions * (int64_t)sizeof(double), "collisions",
                           &watch->search->middle));
    return kith_allocate(watch->rows, sizeof(double), "collisions", &watch->search->reach);
}

struct contact_path collide_path_of(const struct done_step *step, int64_t i, int64_t j)
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

static double radius_of(const struct watch *watch, int64_t i)
{
    return watch->radius[watch->row[i]];
}

double collide_touching(const struct watch *watch, int64_t i, int64_t j)
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

kith_status collide_add_event(const struct done_step *step, kith_event_kind kind, double s,
                              int64_t i, int64_t j)
{
    const struct watch *watch = step->watch;
    const struct contact_path path = collide_path_of(step, i, j);
    double p[3], slope[3];
    contact_path_at(&path, s, p, slope);
    const struct watch_followed seen = {.i = i,
                                        .j = j,
                                        .s = s,
                                        .distance = collide_length(p),
                                        .speed = collide_length(slope) / fabs(step->h)};
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

/* A pair whose paths come near each other: collides, or passes at less than the encounter. */
static kith_status look_at(const struct done_step *step, int64_t i, int64_t j)
{
    const struct watch *watch = step->watch;
    if (watch_find_followed(&watch->followed, i, j))
        return KITH_OK;
    const struct contact_path path = collide_path_of(step, i, j);
    const double reach = collide_touching(watch, i, j);
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
    return collide_length(p) < watch->encounter
               ? collide_add_event(step, KITH_EVENT_ENCOUNTER, s, i, j)
               : KITH_OK;
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

static int compare_seen(const void *a, const void *b)
{
    const struct watch_followed *one = a, *other = b;
    return compare_contacts(&(struct contact){one->s, one->i, one->j},
                            &(struct contact){other->s, other->i, other->j});
}

/* What the integrator saw of pairs that it followed itself, and bounces that it did. */
static kith_status take_followed(const struct done_step *step)
{
    struct watch *watch = step->watch;
    if (watch->passed.count > 1)
        qsort(watch->passed.pair, (size_t)watch->passed.count, sizeof *watch->passed.pair,
              compare_seen);
    for (int64_t k = 0; k < watch->followed.count; k++) {
        const struct watch_followed *pair = &watch->followed.pair[k];
        if (pair->touches)
            KITH_TRY(add_contact(watch->search, (struct contact){pair->s, pair->i, pair->j}));
    }
    for (int64_t k = 0; k < watch->passed.count; k++) {
        const struct watch_followed *pair = &watch->passed.pair[k];
        KITH_TRY(
            add_seen_event(step, pair->touches ? KITH_EVENT_BOUNCE : KITH_EVENT_ENCOUNTER, pair));
        watch->collisions += pair->touches;
    }
    return KITH_OK;
}

kith_status collide_find(const struct done_step *step)
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
