#ifndef SIMULATION_RADAU_CONTROL_H
#define SIMULATION_RADAU_CONTROL_H

/* How ias15 comes from step to step: iterations, lengths, times. Included after the functions that
 * it calls,
 *
 *     guess_terms, pass_node, largest_lane, largest_of_ranks, shortest_time2, finish_step,
 *
 * which a kernel has for the numbers in its reach, and the host for those on a GPU. */

#include <float.h>
#include <math.h>

#include "simulation/radau.h"

/* (7! ε)^{1/7} with ε = 10⁻⁹. */
static const double step_fraction = 0.1750857064;

/* A step is at least this fraction of the desired one, and the next at most its inverse. */
static const double least_fraction = 0.25;

/* Changes of b_6 in units of a_0: the effect of rounding (the largest radau_weight times an ulp or
 * two), and the change that needs no further iteration. */
static const double noise = 0x1p-41;
static const double next_change = 0x1p-45;

enum { most_iterations = 12, most_attempts = 400 };

SIMD_INLINE double add_time(double a, double b, double *lost)
{
    const double sum = a + b, of_b = sum - a;
    *lost += (a - (sum - of_b)) + (b - of_b);
    return sum;
}

/* h to 24 bits (Dekker 1971), so that h² is exact. */
SIMD_INLINE double shortened(double h)
{
    const double t = h * 0x20000001p0;
    return isfinite(t) ? t - (t - h) : h;
}

/* Forces at some positions, or a failure. */
typedef bool evaluate_function(void *argument, int32_t position, int32_t lost,
                               int32_t acceleration);

/* Iterates to the terms of a step of h. The largest h² a_0 is in *scale. */
SIMD_INLINE bool iterate(const struct attempt *at, double h, evaluate_function *evaluate,
                         void *argument, double *scale)
{
    double last = (double)INFINITY;
    struct found found = {simd_all(0.0), simd_all(0.0)};
    pass_node(at, 0, h, &found);
    for (int32_t iteration = 1;; iteration++) {
        found.change = found.scale = simd_all(0.0);
        SIMD_UNROLL
        for (int32_t n = 1; n <= radau_terms; n++) {
            if (!evaluate(argument, RADAU_STAGE, RADAU_LOST_STAGE, RADAU_STAGE_ACCELERATION))
                return false;
            pass_node(at, n, h, &found);
        }
        double largest[] = {largest_lane(at, found.change), largest_lane(at, found.scale)};
        largest_of_ranks(at, largest, 2);
        const double change = largest[0];
        *scale = largest[1];
        /* Changes shrink by the same factor each time: the next one would be change² / last. */
        const double last_or_this = iteration > 1 ? last : change;
        const bool is_next_small = change * change <= next_change * *scale * last_or_this;
        if (!(change > noise * *scale) || is_next_small || (iteration > 2 && change >= last) ||
            iteration == most_iterations)
            return true;
        last = change;
    }
}

/* The length of the next step after terms were found for one of h. */
SIMD_INLINE double wanted_step(const struct attempt *at, double h, double scale)
{
    const double length = fabs(h);
    if (!(scale <= DBL_MAX))
        return length / 16;
    if (scale == 0)
        return length;
    double opposite = -shortest_time2(at, h, scale);
    largest_of_ranks(at, &opposite, 1);
    const double time2 = -opposite;
    if (!(time2 > 0))
        return length / 16;
    const double wanted = step_fraction * sqrt(time2) * length;
    const double most = time2 < (double)INFINITY ? length / least_fraction : length;
    return wanted < length / 16 ? length / 16 : wanted < most ? wanted : most;
}

/* The length of the step to try: the one wanted, or shorter to end at until, and then the last two
 * have equal lengths, instead of a tiny last one. */
SIMD_INLINE double step_towards(const struct radau_clock *clock, double until, double wanted,
                                bool *lands, bool *is_free)
{
    const double left = (until - clock->time) - clock->lost_time, way = fabs(left);
    *lands = way <= wanted * (1 + 0x1p-30);
    *is_free = !*lands && way >= 2 * wanted;
    if (*lands)
        return left;
    return shortened(copysign(*is_free ? wanted : way / 2, left));
}

/* One step of whatever length suits. */
SIMD_INLINE enum radau_end take_step(const struct attempt *at, const struct radau_leg *leg,
                                     struct radau_clock *clock, evaluate_function *evaluate,
                                     void *argument)
{
    double wanted = clock->next_step, next = 0, h = 0;
    bool lands = false, is_free = false;
    for (int32_t attempts = 0;; attempts++) {
        double scale = 0;
        h = step_towards(clock, leg->until, wanted, &lands, &is_free);
        if (h == 0 || (!lands && clock->time + h == clock->time) || attempts == most_attempts)
            return radau_stuck;
        guess_terms(at, clock->last_step == 0 ? 0 : h / clock->last_step);
        if (!iterate(at, h, evaluate, argument, &scale))
            return radau_failed;
        next = wanted_step(at, h, scale);
        if (next >= least_fraction * fabs(h) || scale == 0)
            break;
        wanted = next;
    }
    const double q = clock->last_step == 0 ? 0 : h / clock->last_step;
    finish_step(at, h, q != 0 && fabs(q) <= RADAU_MOST_CONTINUED);
    clock->previous_time = clock->time;
    clock->last_step = h;
    /* A shortened step is no evidence against the desired length. */
    if (is_free)
        clock->next_step = next;
    else
        clock->next_step = next >= fabs(h) && wanted > next ? wanted : next;
    if (lands) {
        clock->time = leg->until;
        clock->lost_time = 0;
    } else {
        double lost = 0;
        const double step = add_time(h, clock->lost_time, &lost);
        clock->time = add_time(clock->time, step, &lost);
        clock->lost_time = lost;
    }
    if (is_free) {
        const double length = fabs(h);
        clock->least_step =
            clock->least_step > 0 && clock->least_step < length ? clock->least_step : length;
        clock->most_step = clock->most_step > length ? clock->most_step : length;
    }
    return evaluate(argument, RADAU_POSITION, RADAU_LOST_POSITION, RADAU_ACCELERATION)
               ? radau_done
               : radau_failed;
}

SIMD_INLINE enum radau_end take_leg(const struct attempt *at, const struct radau_leg *leg,
                                    struct radau_clock *clock, struct radau_problem *problem,
                                    evaluate_function *evaluate, void *argument)
{
    for (int64_t step = 0; step < leg->steps; step++) {
        if (clock->time == leg->until || clock->time >= leg->pause)
            break;
        const enum radau_end end = take_step(at, leg, clock, evaluate, argument);
        if (end != radau_done)
            return end;
        problem->steps++;
    }
    return radau_done;
}

#endif
