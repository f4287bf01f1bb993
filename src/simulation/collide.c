/* What happens to bodies within a step: collisions, encounters, escapes. */

#include "simulation/collide.h"

#include <stdlib.h>

#include "core/memory.h"
#include "simulation/integrator.h"

/* The weights of two bodies in their center of mass. */
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
    KITH_TRY(collide_add_event(step, KITH_EVENT_MERGE, contact->s, i, j));
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
    const struct contact_path path = collide_path_of(step, i, j);
    double line[3], slope[3], apart = 0, at_end = 0;
    contact_path_at(&path, contact->s, line, slope);
    const double distance = collide_length(line);
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
    KITH_TRY(collide_add_event(step, KITH_EVENT_BOUNCE, contact->s, i, j));
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
    return collide_add_event(step, KITH_EVENT_STOP, contact->s, contact->i, contact->j);
}

static bool overlap_at_end(const struct done_step *step, int64_t i, int64_t j)
{
    const struct contact_path path = collide_path_of(step, i, j);
    double p[3], slope[3];
    contact_path_at(&path, 1, p, slope);
    return collide_length(p) <= collide_touching(step->watch, i, j);
}

/* Merged bodies have a new position and size: they also merge with bodies that they overlap now. */
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

/* Position and velocity of the center of mass of the remaining bodies: [0] and [1]. */
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
        if (step->is_gone[i] || !(collide_length(x) > watch->escape))
            continue;
        const int64_t body = watch->row[i];
        const kith_event event = {.kind = KITH_EVENT_ESCAPE,
                                  .step = step->simulation->steps,
                                  .time = step->time + step->h,
                                  .body = body,
                                  .other = -1,
                                  .distance = collide_length(x),
                                  .speed = collide_length(v),
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
    KITH_TRY(collide_find(step));
    const int64_t before = watch->collisions;
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
    KITH_TRY(collide_make_search(watch));
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
