/* Particle–mesh Ewald on the CPU. */

#include <complex.h>
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/clock.h"
#include "device/context.h"
#include "device/threads.h"
#include "mesh/pme.h"
#include "mesh/short.h"

static const double pi = 3.14159265358979323846;

/* Of one core, measured with AVX-512. */
static const struct pme_costs in_float = {1.6e-9, 2e-9, 10e-9}, in_double = {3.2e-9, 3e-9, 18e-9};

/* From this error on single precision is enough. */
static const double least_of_floats = 2e-5;

/* Work of a thread per second; decides how many threads to wake. */
static const double rows_a_second = 2e7;

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
    const int64_t most = 1 << 15, one_of = system->count / most + 1;
    for (int c = 0; c < 3; c++)
        memset(state->gradient[c], 0, (size_t)system->count * sizeof *state->gradient[c]);
    KITH_TRY(short_cpu(context, system->is_sixth ? KITH_F64 : KITH_F32, cutoff, reach / cutoff,
                       1e-4, one_of, state));
    for (int64_t i = 0; i < system->count; i++)
        for (int c = 0; c < 3; c++) {
            const double pull = state->weight[i] * state->gradient[c][i];
            squares += pull * pull;
        }
    *force = fmax(0.7 * sqrt(squares * (double)one_of / n), periodic_least_force(system));
    return KITH_OK;
}

/* The longest waves, from a table of the circle: the angle's error of 2π/8192 is negligible
 * compared with the fluctuations that are measured. */
enum { waves = periodic_waves, circle = 4096, rows_a_task = 4096 };

struct measuring {
    struct periodic_state *state;
    double complex circle[circle];
    double complex (*sums)[2][waves]; /* Σ w e^{i k·x} and Σ |w| e^{i k·x} of each task */
};

/* e^{i k·x} of the waves, in the order of their digits (periodic.h). Products without the checks
 * for infinities that C has for complex numbers. */
static void turn_waves(const double complex along[3], double turned[waves][2])
{
    const double one[2] = {1, 0};
    double step[3][3][2];
    for (int c = 0; c < 3; c++)
        for (int sign = 0; sign < 3; sign++) {
            step[c][sign][0] = sign == 1 ? one[0] : creal(along[c]);
            step[c][sign][1] = (sign - 1) * cimag(along[c]);
        }
    for (int k = 0; k < waves; k++) {
        const int wave = 27 - waves + k;
        const double *x = step[0][wave / 9], *y = step[1][wave / 3 % 3], *z = step[2][wave % 3];
        const double re = x[0] * y[0] - x[1] * y[1], im = x[0] * y[1] + x[1] * y[0];
        turned[k][0] = re * z[0] - im * z[1];
        turned[k][1] = re * z[1] + im * z[0];
    }
}

static void measure_task(void *argument, int64_t task)
{
    const struct measuring *measuring = argument;
    const struct periodic_state *state = measuring->state;
    const int64_t begin = task * rows_a_task, left = state->system.count - begin;
    const int64_t end = begin + (left < rows_a_task ? left : rows_a_task);
    double sums[2][waves][2] = {{{0}}};
    for (int64_t i = begin; i < end; i++) {
        const double x[3] = {state->position[0][i], state->position[1][i], state->position[2][i]};
        const double w = state->weight[i], size = fabs(w);
        double complex along[3];
        double turned[waves][2];
        for (int c = 0; c < 3; c++) {
            const double at = pairs_fraction(&state->system.lattice, x, c) * circle;
            along[c] = measuring->circle[(int64_t)floor(at) & (circle - 1)];
        }
        turn_waves(along, turned);
        for (int k = 0; k < waves; k++)
            for (int part = 0; part < 2; part++) {
                sums[0][k][part] += w * turned[k][part];
                sums[1][k][part] += size * turned[k][part];
            }
    }
    memcpy(measuring->sums[task], sums, sizeof sums);
}

static double square(double complex z)
{
    return creal(z) * creal(z) + cimag(z) * cimag(z);
}

/* The correlation and the crowding of the system, from its longest waves. */
static kith_status measure(kith_context *context, struct periodic_state *state)
{
    struct periodic_system *system = &state->system;
    const int64_t tasks = (system->count + rows_a_task - 1) / rows_a_task;
    struct measuring measuring = {.state = state};
    for (int k = 0; k < circle; k++)
        measuring.circle[k] = cexp(2 * pi * I * (k + 0.5) / circle);
    KITH_TRY(cpu_memory_grow(&state->memory[2], tasks * (int64_t)sizeof *measuring.sums));
    measuring.sums = state->memory[2].memory;
    KITH_TRY(kith_for_each(context,
                           kith_threads_for(context, (double)system->count / rows_a_second), tasks,
                           measure_task, &measuring));
    double of_sums = 0, of_sizes = 0;
    for (int k = 0; k < waves; k++) {
        double complex sum = 0, size = 0;
        for (int64_t task = 0; task < tasks; task++) {
            sum += measuring.sums[task][0][k];
            size += measuring.sums[task][1][k];
        }
        system->of_wave[k] = square(sum) / fmax(system->squares, DBL_MIN);
        of_sums += square(sum);
        of_sizes += square(size);
    }
    const double scale = waves * fmax(system->squares, DBL_MIN);
    system->correlation = fmax(1, of_sums / scale);
    system->crowding = fmax(1, of_sizes / scale);
    return KITH_OK;
}

bool pme_is_given(const struct periodic_request *request)
{
    return request->cutoff > 0 && request->alpha > 0 && request->grid[0] > 0 && request->order > 0;
}

bool pme_is_coarse(const struct periodic_request *request)
{
    return !(request->absolute_error > 0) && request->error >= least_of_floats;
}

double pme_slab_error(const struct periodic_request *request)
{
    return fmax(1e-14, fmin(0.01 * request->error, 1e-3));
}

double pme_pair_error(const struct periodic_request *request, kith_dtype of_pairs)
{
    const double least = of_pairs == KITH_F64 ? 1e-15 : 1e-8;
    return request->absolute_error > 0 ? least : fmax(least, 1e-3 * request->error);
}

/* Where particles are in phase, as on a lattice, aliases add up: the setting is chosen again with
 * the errors that it has at some of the particles. */
static kith_status choose(kith_context *context, const struct periodic_request *request,
                          double force, const struct pme_costs *costs, struct periodic_state *state)
{
    enum { most_turns = 3 };
    const double enough = 1.3; /* of the mean square: what a sample fluctuates by */
    struct periodic_system *system = &state->system;
    for (int turn = 0; turn < most_turns; turn++) {
        double expected[3], measured[3], of_expected = 0, of_measured = 0;
        KITH_TRY(pme_choose(system, request, force, costs, &state->setting));
        if (pme_is_given(request) || !(system->squares > 0))
            break;
        pme_expect_aliases(system, &state->setting, expected);
        KITH_TRY(pme_measure_aliases(context, state, measured));
        for (int c = 0; c < 3; c++) {
            of_expected += system->in_phase[c] * expected[c];
            of_measured += measured[c];
        }
        if (of_measured <= enough * of_expected)
            break;
        for (int c = 0; c < 3; c++)
            system->in_phase[c] = fmax(system->in_phase[c], measured[c] / expected[c]);
    }
    return KITH_OK;
}

kith_status pme_find_setting(kith_context *context, const struct periodic_request *request,
                             const struct pme_costs *costs, struct periodic_state *state)
{
    const double start = kith_clock();
    double force = 0;
    if (state->keeps && state->is_chosen)
        return KITH_OK;
    if (!pme_is_given(request))
        KITH_TRY(guess_force(context, state, &force));
    KITH_TRY(measure(context, state));
    KITH_TRY(choose(context, request, force, costs, state));
    state->setting.seconds = kith_clock() - start;
    state->is_chosen = true;
    return KITH_OK;
}

kith_status pme_cpu(kith_context *context, const kith_cell *cell,
                    const struct periodic_particles *particles,
                    const struct periodic_request *request, struct periodic_state *state)
{
    const bool is_coarse = pme_is_coarse(request);
    /* Of lennard-jones 1/r¹² would overflow in single precision. */
    const kith_dtype of_pairs = request->is_sixth ? KITH_F64
                                : is_coarse       ? KITH_F32
                                                  : particles->dtype;
    KITH_TRY(periodic_load(context, cell, pme_slab_error(request), particles, state));
    state->system.is_sixth = request->is_sixth;
    state->system.repulsion = request->repulsion;
    periodic_clear(state);
    if (particles->count > 0) {
        KITH_TRY(pme_find_setting(context, request, is_coarse ? &in_float : &in_double, state));
        if (request->part == periodic_far)
            periodic_clear(state); /* of the choice */
        else
            KITH_TRY(short_cpu(context, of_pairs, state->setting.cutoff, state->setting.alpha,
                               pme_pair_error(request, of_pairs), 1, state));
        if (request->part != periodic_near)
            KITH_TRY(pme_add_waves(context, is_coarse ? KITH_F32 : KITH_F64, state));
    } else {
        state->setting = (struct periodic_setting){.cutoff = 1, .alpha = 1, .order = 4};
    }
    return periodic_finish(context, particles, request, state);
}
