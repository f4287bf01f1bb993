/* Particle–mesh Ewald on the CPU. */

#include <complex.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "device/context.h"
#include "mesh/pme.h"
#include "mesh/short.h"

static const double pi = 3.14159265358979323846;

/* The rms of the forces by near pairs alone: about thirty neighbors, whose pull ends smoothly. What
 * is further away is left out, so that this is less where much of the force comes from there. */
static kith_status guess_force(kith_context *context, struct periodic_state *state, double *force)
{
    static const double neighbors = 30, reach = 2;
    const struct periodic_system *system = &state->system;
    const double n = (double)system->count;
    const double volume =
        system->is_slab
            ? fmin(system->volume, system->area * (system->thickness + sqrt(system->area / n)))
            : system->volume;
    const double cutoff = cbrt(neighbors * 3 / (4 * pi) * volume / n);
    double squares = 0;
    KITH_TRY(short_cpu(context, KITH_F32, cutoff, reach / cutoff, 1e-4, state));
    for (int64_t i = 0; i < system->count; i++)
        for (int c = 0; c < 3; c++) {
            const double pull = state->weight[i] * state->gradient[c][i];
            squares += pull * pull;
        }
    *force = fmax(0.7 * sqrt(squares / n), periodic_least_force(system));
    return KITH_OK;
}

/* The correlation and the crowding of the system, from its 13 longest waves. */
static void measure(struct periodic_state *state)
{
    struct periodic_system *system = &state->system;
    double complex sums[27] = {0}, sizes[27] = {0};
    double of_sums = 0, of_sizes = 0;
    for (int64_t i = 0; i < system->count; i++) {
        const double x[3] = {state->position[0][i], state->position[1][i], state->position[2][i]};
        double complex turn[3][3];
        for (int c = 0; c < 3; c++) {
            const double angle = 2 * pi * pairs_fraction(&system->lattice, x, c);
            turn[c][2] = cos(angle) + I * sin(angle);
            turn[c][1] = 1;
            turn[c][0] = conj(turn[c][2]);
        }
        for (int k = 14; k < 27; k++) {
            const double complex wave = turn[0][k / 9] * turn[1][k / 3 % 3] * turn[2][k % 3];
            sums[k] += state->weight[i] * wave;
            sizes[k] += fabs(state->weight[i]) * wave;
        }
    }
    for (int k = 14; k < 27; k++) {
        of_sums += creal(sums[k]) * creal(sums[k]) + cimag(sums[k]) * cimag(sums[k]);
        of_sizes += creal(sizes[k]) * creal(sizes[k]) + cimag(sizes[k]) * cimag(sizes[k]);
    }
    const double scale = 13 * fmax(system->squares, DBL_MIN);
    system->correlation = fmax(1, of_sums / scale);
    system->crowding = fmax(1, of_sizes / scale);
}

kith_status pme_cpu(kith_context *context, const kith_cell *cell,
                    const struct periodic_particles *particles,
                    const struct periodic_request *request, struct periodic_state *state)
{
    const double of_images = fmax(1e-14, fmin(0.01 * request->error, 1e-3));
    const double of_polynomials = particles->dtype == KITH_F64 ? 1e-15 : 1e-8;
    double force = 0;
    KITH_TRY(periodic_load(context, cell, of_images, particles, state));
    memset(state->virial, 0, sizeof state->virial);
    if (particles->count > 0) {
        if (!(request->absolute_error > 0))
            KITH_TRY(guess_force(context, state, &force));
        measure(state);
        KITH_TRY(pme_choose(&state->system, request, force, &state->setting));
        const double smallest = fmax(of_polynomials, 1e-3 * request->error);
        KITH_TRY(short_cpu(context, particles->dtype, state->setting.cutoff, state->setting.alpha,
                           smallest, state));
        KITH_TRY(pme_add_waves(context, state));
    } else {
        state->setting = (struct periodic_setting){.cutoff = 1, .alpha = 1, .order = 4};
    }
    return periodic_finish(context, particles, request, state);
}
