/* Steps of hybrid with close encounters: hybrid.h has the method. */

#include <string.h>

#include "simulation/hybrid.h"

/* Pairs by their second planet, in chains that end with −1. */
struct seconds {
    int32_t *first, *next;
};

static struct seconds link_seconds(const struct hybrid_step *step, const struct hybrid_pairs *pairs)
{
    const struct seconds seconds = {step->memory.integers, step->memory.next_pair};
    for (int64_t i = 0; i < step->planets.count; i++)
        seconds.first[i] = -1;
    for (int32_t k = (int32_t)pairs->count - 1; k >= 0; k--) {
        seconds.next[k] = seconds.first[pairs->pair[k].j];
        seconds.first[pairs->pair[k].j] = k;
    }
    return seconds;
}

/* Lets a source attract, or not. */
static void turn(const struct hybrid_planets *planets, int32_t planet, bool is_on)
{
    if (planets->source[planet] >= 0)
        planets->source_gm[planets->source[planet]] = is_on ? planets->gm[planet] : 0;
}

/* v += h times the attraction of the planets that are not close, at q. */
static void kick(const struct hybrid_step *step, const struct hybrid_pairs *pairs, double h)
{
    const struct hybrid_planets *planets = &step->planets;
    const struct seconds seconds = link_seconds(step, pairs);
    for (int64_t i = 0; i < planets->count; i++)
        for (int32_t c = 0; c < 3 && planets->source[i] >= 0; c++)
            planets->source_q[c][planets->source[i]] = planets->q[c][i];
    int64_t begin = 0, end = 0;
    for (int64_t i = 0; i < planets->count; i++, begin = end) {
        double acceleration[3];
        while (end < pairs->count && pairs->pair[end].i == i)
            turn(planets, pairs->pair[end++].j, false);
        for (int32_t k = seconds.first[i]; k >= 0; k = seconds.next[k])
            turn(planets, pairs->pair[k].i, false);
        step->kernels->pull(planets, i, acceleration);
        for (int64_t k = begin; k < end; k++)
            turn(planets, pairs->pair[k].j, true);
        for (int32_t k = seconds.first[i]; k >= 0; k = seconds.next[k])
            turn(planets, pairs->pair[k].i, true);
        for (int32_t c = 0; c < 3; c++)
            planets->v[c][i] += h * acceleration[c];
    }
}

/* Σ m_j u_j / by */
static double weighted(const struct hybrid_planets *planets, const double *u, double by)
{
    double sum = 0;
    for (int64_t i = 0; i < planets->count; i++)
        sum += planets->mass[i] * u[i];
    return sum / by;
}

static void copy_planet(const struct hybrid_step *step, int32_t i)
{
    for (int32_t c = 0; c < 3; c++) {
        step->planets.q[c][i] = step->near_q[c][i];
        step->planets.v[c][i] = step->near_v[c][i];
    }
}

/* Planets move on their orbits, those of close pairs together. */
static kith_status drift(struct hybrid_step *step, struct hybrid_leg *leg)
{
    struct hybrid_planets *planets = &step->planets;
    const size_t bytes = (size_t)planets->count * sizeof(double);
    for (int32_t c = 0; c < 3; c++) {
        leg->q[c] = memcpy(step->near_q[c], planets->q[c], bytes);
        leg->v[c] = memcpy(step->near_v[c], planets->v[c], bytes);
    }
    KITH_TRY(hybrid_follow(leg));
    step->kernels->drift(planets, (leg->to - leg->from) * leg->h);
    for (int64_t k = 0; k < leg->close->pairs.count; k++) {
        const struct hybrid_pair *pair = &leg->close->pairs.pair[k];
        const bool is_felt = planets->source[pair->i] >= 0 && planets->source[pair->j] >= 0;
        if (is_felt || planets->source[pair->i] < 0)
            copy_planet(step, pair->i);
        if (is_felt || planets->source[pair->j] < 0)
            copy_planet(step, pair->j);
    }
    return KITH_OK;
}

/* The star moves with the planets' momentum. */
static void jump(const struct hybrid_step *step, double h)
{
    const struct hybrid_planets *planets = &step->planets;
    for (int32_t c = 0; c < 3; c++) {
        const double way = h * weighted(planets, planets->v[c], step->star_mass);
        for (int64_t i = 0; i < planets->count; i++)
            planets->q[c][i] += way;
    }
}

/* A(h/2) B(h) A(h/2) in democratic heliocentric coordinates. star is where the center of mass is
 * relative to the star's start, which ends as the star's displacement. */
static kith_status step_about_star(struct hybrid_step *step, struct hybrid_leg *leg, double star[3],
                                   double star_velocity[3])
{
    struct hybrid_planets *planets = &step->planets;
    const int64_t count = planets->count;
    double center[3], velocity[3];
    double all = step->star_mass;
    for (int64_t i = 0; i < count; i++)
        all += planets->mass[i];
    for (int32_t c = 0; c < 3; c++) {
        center[c] = weighted(planets, planets->q[c], all);
        velocity[c] = weighted(planets, planets->v[c], all);
        for (int64_t i = 0; i < count; i++)
            planets->v[c][i] -= velocity[c];
    }
    leg->to = 0.5;
    KITH_TRY(drift(step, leg));
    jump(step, step->h / 2);
    kick(step, &leg->close->pairs, step->h);
    jump(step, step->h / 2);
    leg->from = 0.5;
    leg->to = 1;
    KITH_TRY(drift(step, leg));
    for (int32_t c = 0; c < 3; c++) {
        const double moved = velocity[c] + star_velocity[c];
        star[c] += step->h * moved + (center[c] - weighted(planets, planets->q[c], all));
        star_velocity[c] = moved - weighted(planets, planets->v[c], step->star_mass);
        for (int64_t i = 0; i < count; i++)
            planets->v[c][i] += moved;
    }
    return KITH_OK;
}

/* The same with the star and all planets followed in A, in the star's frame at the start. */
static kith_status step_with_star(struct hybrid_step *step, struct hybrid_leg *leg, double star[3],
                                  double star_velocity[3])
{
    struct hybrid_planets *planets = &step->planets;
    for (int32_t c = 0; c < 3; c++) {
        leg->q[c] = planets->q[c];
        leg->v[c] = planets->v[c];
    }
    leg->to = 0.5;
    KITH_TRY(hybrid_follow(leg));
    kick(step, &leg->close->pairs, step->h);
    leg->from = 0.5;
    leg->to = 1;
    KITH_TRY(hybrid_follow(leg));
    for (int32_t c = 0; c < 3; c++) {
        for (int64_t i = 0; i < planets->count; i++) {
            planets->q[c][i] -= leg->star[c];
            planets->v[c][i] += star_velocity[c];
        }
        star[c] += step->h * star_velocity[c] + leg->star[c];
        star_velocity[c] += leg->star_velocity[c];
    }
    return KITH_OK;
}

kith_status hybrid_encounter(struct hybrid_step *step, const struct hybrid_close *close)
{
    struct kith_simulation *simulation = step->simulation;
    struct hybrid_planets *planets = &step->planets;
    struct hybrid_leg leg = {.simulation = simulation,
                             .memory = &step->memory,
                             .close = close,
                             .planets = planets,
                             .star_gm = step->star_gm,
                             .h = step->h};
    double star[3] = {0}, star_velocity[3] = {0};
    for (int32_t c = 0; c < simulation->dimensions; c++) {
        star[c] = step->start_x[c][0];
        star_velocity[c] = step->start_v[c][0];
        for (int64_t i = 0; i < planets->count; i++) {
            planets->q[c][i] = step->start_x[c][i + 1] - star[c];
            planets->v[c][i] = step->start_v[c][i + 1] - star_velocity[c];
        }
    }
    KITH_TRY(close->at_star ? step_with_star(step, &leg, star, star_velocity)
                            : step_about_star(step, &leg, star, star_velocity));
    for (int32_t c = 0; c < simulation->dimensions; c++) {
        double *x = simulation->vector[POSITION][c], *v = simulation->vector[VELOCITY][c];
        x[0] = star[c];
        v[0] = star_velocity[c];
        for (int64_t i = 0; i < planets->count; i++) {
            x[i + 1] = planets->q[c][i] + star[c];
            v[i + 1] = planets->v[c][i];
        }
    }
    return KITH_OK;
}
