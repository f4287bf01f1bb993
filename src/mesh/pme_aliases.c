/* The error by aliases, measured at some of the particles. */

#include <complex.h>
#include <math.h>
#include <string.h>

#include "cells/cells.h"
#include "cells/walk.h"
#include "device/context.h"
#include "device/threads.h"
#include "mesh/pme.h"
#include "mesh/sixth.h"

static const double pi = 3.14159265358979323846;

/* Targets, and those of a task; points of the table of a field, and waves that it is added from. */
enum { most_targets = 32, targets_a_task = 2, points = 128, waves = 52 };

/* In units of 1/α: how far the fields reach along their axis and across it, beyond which they are
 * less than a thousandth; and how short waves are, of which e^{−k²/4α²} is less than 1e-17. */
static const double reach = 4, width = 3, most_wave = 13;

/* Candidates a thread takes per second; decides how many threads to wake. */
static const double candidates_a_second = 1e8;

/* The field of aliases along one axis. */
struct field {
    double axis[3];    /* a unit vector */
    double per_length; /* points of the table */
    double fall;       /* across the axis: e^{−fall x²} */
    double complex at[points + 1];
};

struct job {
    const kith_context *context;
    const struct periodic_state *state;
    struct field field[3];
    struct cells_grid grid;
    double reach2;
    int64_t targets;
    double squares[most_targets][3];
};

/* Of a wave k = −2πu/h along the axis: its aliases' size times the wave numbers of the two of them
 * that the forces have (pme.h); beyond half of the grid's waves the wave itself is missing. */
static double size_of(double u, int32_t order, double shift, double across2)
{
    if (u >= 0.5)
        return u * shift;
    const double along = shift * (1 - u);
    return pow(u / (1 - u), order) * sqrt(along * along + across2 + u * u * shift * shift);
}

/* The sum over waves across the axis, and how steeply it falls with z = k²/4α²: of 1/r
 * ln(1 + 1/z) e^{−z} is a bound of E₁(z) (Abramowitz & Stegun 1964, 5.1.20), of 1/r⁶ h of ∫ h dz.
 */
static double across(const struct periodic_system *system, double alpha, double z, double *fall)
{
    if (!system->is_sixth) {
        *fall = 1 + 1 / z;
        return exp(-z) * log1p(1 / z);
    }
    const double wave = sixth_wave(sqrt(z));
    *fall = sixth_wave_slope(sqrt(z)) / wave;
    return 4 * sixth_of_waves(alpha) * wave;
}

/* The fall across is that of the largest contribution. */
static void make_field(const struct periodic_system *system, const struct periodic_setting *setting,
                       int c, struct field *field)
{
    const double *a = system->lattice.basis[c], alpha = setting->alpha;
    const double length = sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2]);
    const double shift = 2 * pi * setting->grid[c] / length, step = most_wave * alpha / waves;
    double across2 = -shift * shift, largest = 0;
    for (int k = 0; k < 3; k++) {
        const double of_wave = 2 * pi * setting->grid[c] * system->lattice.inverse[k][c];
        across2 += of_wave * of_wave;
        field->axis[k] = a[k] / length;
    }
    field->per_length = points * alpha / reach;
    memset(field->at, 0, sizeof field->at);
    for (int w = 0; w < waves; w++) {
        const double k = (w + 0.5) * step, z = k * k / (4 * alpha * alpha);
        double fall;
        const double size = across(system, alpha, z, &fall) *
                            size_of(k / shift, setting->order, shift, fmax(0, across2)) * step /
                            (2 * pi);
        const double turn[2] = {cos(k / field->per_length), -sin(k / field->per_length)};
        double wave[2] = {size, 0};
        for (int p = 0; p <= points; p++) {
            const double re = wave[0], im = wave[1];
            field->at[p] += re + I * im;
            wave[0] = re * turn[0] - im * turn[1];
            wave[1] = re * turn[1] + im * turn[0];
        }
        if (size > largest) {
            largest = size;
            field->fall = alpha * alpha / fall;
        }
    }
}

/* Adds the field of a source at d. */
static void add_source(const struct job *job, const double d[3], double r2, double weight,
                       double complex sums[3])
{
    for (int c = 0; c < 3; c++) {
        const struct field *field = &job->field[c];
        const double x = d[0] * field->axis[0] + d[1] * field->axis[1] + d[2] * field->axis[2];
        const double at = fabs(x) * field->per_length, across2 = fmax(0, r2 - x * x);
        if (at >= points || across2 * field->fall > width * width)
            continue;
        const int p = (int)at;
        const double complex value = field->at[p] + (at - p) * (field->at[p + 1] - field->at[p]);
        const double size = weight * exp(-across2 * field->fall);
        sums[c] += size * (x < 0 ? conj(value) : value);
    }
}

/* Sums over the particles within reach of a slot of the cells. */
static void sum_target(struct job *job, int64_t target, int64_t slot)
{
    const struct periodic_cells *cells = &job->state->cells;
    const struct cells_points all = {
        job->state->system.count, KITH_F64, {cells->at[0], cells->at[1], cells->at[2]}};
    double complex sums[3] = {0};
    struct cells_walk walk;
    struct cells_run run;
    int64_t cell[3];
    cells_of_point(&job->grid, &job->state->system.lattice, &all, slot, cell);
    cells_walk_begin(&walk, &job->grid, cells->begin, cell);
    while (cells_walk_next(&walk, &run)) {
        double from[3];
        for (int c = 0; c < 3; c++)
            from[c] =
                cells->at[c][slot] - pairs_translation(&job->state->system.lattice, run.image, c);
        for (int64_t j = run.begin; j < run.end; j++) {
            const double d[3] = {cells->at[0][j] - from[0], cells->at[1][j] - from[1],
                                 cells->at[2][j] - from[2]};
            const double r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
            if (r2 < job->reach2)
                add_source(job, d, r2, cells->at[3][j], sums);
        }
    }
    for (int c = 0; c < 3; c++) {
        const double size = cells->at[3][slot] * cabs(sums[c]);
        job->squares[target][c] = 2 * size * size;
    }
}

/* Targets all over the cell, without a period of their own. */
static void sum_task(void *argument, int64_t task)
{
    struct job *job = argument;
    const int64_t count = job->state->system.count, first = task * targets_a_task;
    for (int64_t k = first; k < first + targets_a_task && k < job->targets; k++) {
        const double golden = 0.6180339887498949 * (double)k;
        const int64_t slot =
            job->targets == count ? k : (int64_t)((golden - floor(golden)) * (double)count);
        if (!kith_context_stops(job->context))
            sum_target(job, k, slot < count ? slot : count - 1);
    }
}

kith_status pme_measure_aliases(kith_context *context, const struct periodic_state *state,
                                double squares[3])
{
    const struct periodic_system *system = &state->system;
    const struct periodic_cells *cells = &state->cells;
    const double radius = hypot(reach, width) / state->setting.alpha;
    struct job job = {.context = context,
                      .state = state,
                      .grid = cells->grid,
                      .reach2 = radius * radius,
                      .targets = system->count < most_targets ? system->count : most_targets};
    for (int c = 0; c < 3; c++) {
        make_field(system, &state->setting, c, &job.field[c]);
        job.grid.reach[c] = (int64_t)ceil((double)cells->grid.reach[c] * radius / cells->cutoff);
        squares[c] = 0;
    }
    const double candidates = 8 * radius * radius * radius * (double)system->count / system->volume;
    KITH_TRY(kith_for_each(
        context, kith_threads_for(context, (double)job.targets * candidates / candidates_a_second),
        (job.targets + targets_a_task - 1) / targets_a_task, sum_task, &job));
    for (int64_t k = 0; k < job.targets; k++)
        for (int c = 0; c < 3; c++)
            squares[c] += job.squares[k][c] / (double)job.targets;
    return KITH_OK;
}
