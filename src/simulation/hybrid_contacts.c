/* Bodies that touch or pass each other within a close encounter of hybrid. */

#include <math.h>

#include "simulation/contact.h"
#include "simulation/hybrid_group.h"

static double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static double length(const double vector[3])
{
    return sqrt(dot(vector, vector));
}

/* The distance at which two bodies touch; 0 if collisions are passed over. */
static double touching_of(const struct hybrid_group *group, const struct hybrid_bond *bond)
{
    const struct kith_simulation *simulation = group->leg->simulation;
    const struct watch *watch = simulation->watch;
    return watch->on_collision == KITH_ON_COLLISION_PASS
               ? 0
               : (watch->radius[watch->row[bond->i]] + watch->radius[watch->row[bond->j]]) /
                     simulation->units.length;
}

/* The vector of b relative to a. */
static void between(const struct hybrid_group *group, const struct hybrid_bond *bond,
                    const double *vectors, double relative[3])
{
    for (int32_t c = 0; c < 3; c++)
        relative[c] = vectors[c * group->stride + bond->b] - vectors[c * group->stride + bond->a];
}

/* The path of b relative to a in the last step, unless it stays farther than reach: it is within
 * the hull of x, x + h v / 3 of both its ends. */
static bool come_near(const struct hybrid_group *group, const struct hybrid_bond *bond, double h,
                      double reach, struct contact_path *path)
{
    double x[2][3], v[2][3], way[3][3];
    between(group, bond, group->start[RADAU_POSITION], x[0]);
    between(group, bond, group->start[RADAU_VELOCITY], v[0]);
    between(group, bond, group->array[RADAU_POSITION], x[1]);
    between(group, bond, group->array[RADAU_VELOCITY], v[1]);
    for (int32_t c = 0; c < 3; c++) {
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

/* Of the whole step. */
static double fraction_at(const struct hybrid_group *group, double time)
{
    return group->leg->from + time / group->leg->h;
}

/* A contact of a bond in the last step that does not bounce, or its pericenter. */
static kith_status look_at(const struct hybrid_group *group, struct hybrid_bond *bond,
                           const struct radau_clock *clock, bool *broke)
{
    const struct kith_simulation *simulation = group->leg->simulation;
    struct watch *watch = simulation->watch;
    const double unit = simulation->units.length, h = clock->last_step;
    const double touching = hybrid_bounces(simulation) ? 0 : touching_of(group, bond);
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
                                        .s = fraction_at(group, clock->previous_time + s * h),
                                        .distance = length(p) * unit,
                                        .speed = length(slope) / fabs(h) * unit};
    if (!collides)
        return seen.distance < watch->encounter ? watch_add_followed(&watch->passed, &seen)
                                                : KITH_OK;
    *followed = seen;
    *broke |= bond->is_off = watch->on_collision == KITH_ON_COLLISION_MERGE;
    return KITH_OK;
}

/* Bodies that have merged, as the group that is not shared has found before. */
static void look_at_shared(const struct hybrid_group *group, struct hybrid_bond *bond,
                           const struct radau_clock *clock, bool *broke)
{
    const struct watch *watch = group->leg->simulation->watch;
    const struct watch_followed *followed = watch_find_followed(&watch->followed, bond->i, bond->j);
    if (bond->is_off || !followed->touches || watch->on_collision != KITH_ON_COLLISION_MERGE ||
        fraction_at(group, clock->time) < followed->s)
        return;
    *broke = bond->is_off = true;
}

kith_status hybrid_look(const struct hybrid_group *group, const struct radau_clock *clock,
                        bool *broke)
{
    for (int64_t k = 0; k < group->bonds; k++)
        if (group->bond[k].is_shared)
            look_at_shared(group, &group->bond[k], clock, broke);
        else if (!group->bond[k].is_off)
            KITH_TRY(look_at(group, &group->bond[k], clock, broke));
    return KITH_OK;
}

/* Whether bodies at p from each other come nearer, by more than rounding. */
static bool approach(const struct hybrid_group *group, const struct hybrid_bond *bond,
                     const double p[3], const double slope[3], double h)
{
    const double *v = group->start[RADAU_VELOCITY];
    double speeds = 0;
    for (int32_t c = 0; c < 3; c++)
        speeds += fabs(v[c * group->stride + bond->a]) + fabs(v[c * group->stride + bond->b]);
    return dot(p, slope) < -0x1p-44 * speeds * fabs(h) * length(p);
}

/* Position and velocity of b relative to a at s of the last step, by its polynomials (radau.h). */
static void relative_at(const struct hybrid_group *group, const struct hybrid_bond *bond,
                        double last_step, double s, double p[3], double slope[3])
{
    double x[3], v[3], a[3], term[3];
    between(group, bond, group->start[RADAU_POSITION], x);
    between(group, bond, group->start[RADAU_VELOCITY], v);
    between(group, bond, group->array[RADAU_START], a);
    for (int32_t c = 0; c < 3; c++) {
        const double h2 = last_step * last_step;
        p[c] = x[c] + s * (last_step * v[c] + s * h2 * a[c] / 2);
        slope[c] = last_step * v[c] + s * h2 * a[c];
    }
    double power = s * s;
    for (int k = 0; k < radau_terms; k++) {
        between(group, bond, group->array[RADAU_TERMS + k], term);
        for (int32_t c = 0; c < 3; c++) {
            slope[c] += power * term[c] / (k + 2);
            p[c] += power * s * term[c] / ((k + 2) * (k + 3));
        }
        power *= s;
    }
}

/* From where the cubic path touches to where the polynomials do, by Newton's method; a path that
 * only grazes stays as it is. */
static double refine(const struct hybrid_group *group, const struct hybrid_bond *bond,
                     double last_step, double reach, double s)
{
    double refined = s, p[3], slope[3];
    for (int iteration = 0; iteration < 4; iteration++) {
        relative_at(group, bond, last_step, refined, p, slope);
        const double along = dot(p, slope);
        if (!(along < 0))
            return s;
        refined -= (dot(p, p) - reach * reach) / (2 * along);
        if (!(refined > 0 && refined <= 1))
            return s;
    }
    return refined;
}

/* Bodies at less of the distance at which they touch overlapped before, and go on until they are
 * apart: others are at it but for errors of steps. */
static const double least_touching = 1 - 0x1p-10;

/* Whether bodies of a bond bounce in the last step, and when. Those that touched at its start, and
 * moved apart, do so where they come as near as they were. */
static bool find_contact(const struct hybrid_group *group, const struct hybrid_bond *bond,
                         const struct radau_clock *clock, double *time)
{
    const double h = clock->last_step, touching = touching_of(group, bond);
    struct contact_path path;
    double s = 0, p[3], slope[3], reach = touching;
    if (!(touching > 0) || !come_near(group, bond, h, touching, &path))
        return false;
    contact_path_at(&path, 0, p, slope);
    const double start = length(p);
    if (start < least_touching * touching)
        return false;
    if (start <= touching) {
        *time = clock->previous_time;
        if (approach(group, bond, p, slope, h))
            return true;
        reach = start * (1 - 0x1p-40);
    }
    if (!contact_begins(&path, reach, &s))
        return false;
    *time = clock->previous_time + refine(group, bond, h, reach, s) * h;
    return *time != clock->previous_time;
}

struct hybrid_bounce hybrid_find_bounce(const struct hybrid_group *group,
                                        const struct radau_clock *clock)
{
    struct hybrid_bounce first = {NULL, 0};
    for (int64_t k = 0; k < group->bonds; k++) {
        double time = 0;
        if (find_contact(group, &group->bond[k], clock, &time) &&
            (!first.bond || fabs(time) < fabs(first.time)))
            first = (struct hybrid_bounce){&group->bond[k], time};
    }
    return first;
}

/* The speed apart. Bodies that attract each other would bounce without end in a finite time if
 * each bounce were slower than the last: the speed is such that they stay apart for a step of the
 * Gauss-Radau method, or not smaller than that of approach (a limit as in Luding & McNamara 1998,
 * Granular Matter 1, 113). */
static double speed_apart(const struct hybrid_group *group, const struct hybrid_bond *bond,
                          const double normal[3], double speed, const struct radau_clock *clock)
{
    double acceleration[3];
    between(group, bond, group->array[RADAU_ACCELERATION], acceleration);
    const double pull = fmax(0, -dot(acceleration, normal));
    const double least = fmin(speed, pull * clock->next_step / 2);
    return fmax(group->leg->simulation->watch->restitution * speed, least);
}

kith_status hybrid_bounce(const struct hybrid_group *group, const struct hybrid_bond *bond,
                          const struct radau_clock *clock)
{
    const struct kith_simulation *simulation = group->leg->simulation;
    const double unit = simulation->units.length, sign = copysign(1, group->leg->h);
    double p[3], u[3], normal[3];
    between(group, bond, group->array[RADAU_POSITION], p);
    between(group, bond, group->array[RADAU_VELOCITY], u);
    const double distance = length(p), all = bond->gm_a + bond->gm_b;
    for (int32_t c = 0; c < 3; c++)
        normal[c] = p[c] / distance;
    const double speed = -sign * dot(u, normal);
    if (!(speed > 0))
        return KITH_OK;
    const double change = sign * (speed + speed_apart(group, bond, normal, speed, clock));
    for (int32_t c = 0; c < 3; c++) {
        const int64_t at = c * group->stride;
        group->array[RADAU_VELOCITY][at + bond->a] -= bond->gm_b / all * change * normal[c];
        group->array[RADAU_VELOCITY][at + bond->b] += bond->gm_a / all * change * normal[c];
    }
    const struct watch_followed seen = {.i = bond->i,
                                        .j = bond->j,
                                        .touches = true,
                                        .s = fraction_at(group, clock->time),
                                        .distance = distance * unit,
                                        .speed = length(u) * unit};
    return bond->is_shared ? KITH_OK : watch_add_followed(&simulation->watch->passed, &seen);
}
