/* The state between the ends of a step, from the polynomials of that step (radau.h). */

#include <math.h>
#include <stdlib.h>

#include "core/arguments.h"
#include "core/memory.h"
#include "simulation/integrator.h"

/* With s = t / h in the step, x and v at its end, a at its start, and B_k = h² b_k:
 *
 *     W = h v − h² a − Σ_k B_k / (k + 2)
 *     x(s) = x + (s − 1) W + (s² − 1) h² a / 2 + Σ_k (s^{k+3} − 1) B_k / ((k + 2)(k + 3))
 *     v(s) = v + ((s − 1) h² a + Σ_k (s^{k+2} − 1) B_k / (k + 2)) / h
 *
 *   terms  B_0, B_1, …, each of this many numbers
 *   x, v   [in, out] */
static void go_back(double s, double h, int64_t numbers, const double *acceleration,
                    const double *terms, double *x, double *v)
{
    for (int64_t i = 0; i < numbers; i++) {
        const double start = h * h * acceleration[i];
        double way = 0, change = 0, kick = 0, power = s * s;
        for (int k = 0; k < radau_terms; k++) {
            const double term = terms[k * numbers + i];
            kick += term / (k + 2);
            change += (power - 1) * term / (k + 2);
            power *= s;
            way += (power - 1) * term / ((k + 2) * (k + 3));
        }
        const double first = h * v[i] - start - kick;
        x[i] += (s - 1) * first + ((s * s - 1) * start / 2 + way);
        v[i] += ((s - 1) * start + change) / h;
    }
}

static kith_status check_time(const struct kith_simulation *simulation, double time)
{
    const double now = simulation->start_time;
    const double before = simulation->clock.last_step != 0 ? simulation->clock.previous_time : now;
    if (!simulation->method->adapt || simulation->method->has_blocks)
        return kith_fail(KITH_UNSUPPORTED, "the integrator has no dense output, and its states are "
                                           "those at the ends of steps; use ias15");
    if (!(time >= fmin(before, now) && time <= fmax(before, now)))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "time is %.15g; give one in the last step, from %.15g to %.15g", time,
                         before, now);
    return KITH_OK;
}

static kith_status move_back(struct kith_simulation *simulation, double s, kith_bodies *bodies)
{
    const int64_t numbers = bodies->count * bodies->dimensions;
    const struct system_range all = simulation_all(simulation);
    double *rows = NULL;
    KITH_TRY(kith_allocate((1 + radau_terms) * numbers, sizeof *rows, "polynomials", &rows));
    kith_status status = KITH_OK;
    for (int k = 0; k <= radau_terms && status == KITH_OK; k++)
        status = simulation_read_vectors(
            simulation, all, k == 0 ? RADAU_START : RADAU_TERMS + k - 1, rows + k * numbers);
    if (status == KITH_OK)
        go_back(s, simulation->clock.last_step, numbers, rows, rows + numbers, bodies->position,
                bodies->velocity);
    free(rows);
    return status;
}

kith_status kith_simulation_get_bodies_at(kith_simulation *simulation, double time,
                                          kith_bodies *bodies)
{
    KITH_TRY(kith_check_pointer(simulation, "simulation"));
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(simulation->context, &scope));
    KITH_TRY(check_time(simulation, time));
    KITH_TRY(kith_simulation_get_bodies(simulation, bodies));
    const struct radau_clock *clock = &simulation->clock;
    if (time == simulation->start_time || bodies->count == 0)
        return KITH_OK;
    const double back = (time - simulation->start_time) - clock->lost_time;
    KITH_TRY(move_back(simulation, 1 + back / clock->last_step, bodies));
    bodies->time = time;
    return KITH_OK;
}
