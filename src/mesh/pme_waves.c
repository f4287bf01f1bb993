/* The waves of particle–mesh Ewald by FFTW: spread, transform, multiply, transform, gather. */

#include <complex.h>
#include <fftw3.h>
#include <math.h>
#include <pthread.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/threads.h"
#include "mesh/pme.h"

static const double pi = 3.14159265358979323846;

/* Particles that a thread takes at once, and what it does in a second. */
enum { particles_a_task = 1024 };
static const double splines_a_second = 1.4e9, points_a_second = 1e8;

/* FFTW's planner is not for several threads at once; its plans are. */
static pthread_mutex_t planner = PTHREAD_MUTEX_INITIALIZER;

/* A particle in the order of its planes: splines and their slopes along each axis. */
struct splined {
    int64_t row;
    int32_t first[3];
    double weight, value[3][pme_most_order], slope[3][pme_most_order];
};

struct job {
    const kith_context *context;
    struct periodic_state *state;
    int32_t order, grid[3], half; /* half: waves along the last axis */
    struct splined *particles;
    int64_t *begin; /* of the particles whose splines begin in a plane */
    double *points;
    fftw_complex *waves;
    double *flat[3];     /* U²/(Σ U²)² along each axis */
    double (*virial)[9]; /* of each plane of waves */
};

bool pme_is_there(void)
{
    return true;
}

struct arena {
    char *base;
    int64_t used;
};

static void *take(struct arena *arena, int64_t count, int64_t bytes_each)
{
    void *memory = arena->base ? arena->base + arena->used : NULL;
    arena->used += kith_padded(count * bytes_each);
    return memory;
}

static void lay_out(struct arena *arena, struct job *job)
{
    const int64_t planes = job->grid[0], plane = (int64_t)job->grid[1] * job->grid[2];
    job->particles = take(arena, job->state->system.count, sizeof *job->particles);
    job->begin = take(arena, planes + 1, sizeof *job->begin);
    job->points = take(arena, planes * plane, sizeof *job->points);
    job->waves = take(arena, planes * job->grid[1] * job->half, sizeof *job->waves);
    for (int c = 0; c < 3; c++)
        job->flat[c] = take(arena, job->grid[c], sizeof *job->flat[c]);
    job->virial = take(arena, planes, sizeof *job->virial);
}

/* Splines of order p at the points first, first + 1, …, for a fraction of a spacing beyond the
 * first (de Boor's recursion, as Essmann et al. 1995 have it), and their derivatives. */
static void make_splines(int32_t order, double fraction, double *value, double *slope)
{
    value[0] = 1 - fraction;
    value[1] = fraction;
    for (int32_t p = 3; p <= order; p++) {
        if (p == order) {
            slope[0] = -value[0];
            for (int32_t k = 1; k < p - 1; k++)
                slope[k] = value[k - 1] - value[k];
            slope[p - 1] = value[p - 2];
        }
        const double over = 1.0 / (p - 1);
        value[p - 1] = over * fraction * value[p - 2];
        for (int32_t k = p - 2; k > 0; k--)
            value[k] =
                over * ((fraction + p - 1 - k) * value[k - 1] + (k + 1 - fraction) * value[k]);
        value[0] *= over * (1 - fraction);
    }
}

static void splines_of(const struct job *job, int64_t row, struct splined *particle)
{
    const struct periodic_state *state = job->state;
    const double x[3] = {state->position[0][row], state->position[1][row], state->position[2][row]};
    particle->row = row;
    particle->weight = state->weight[row];
    for (int c = 0; c < 3; c++) {
        double at = pairs_fraction(&state->system.lattice, x, c) * job->grid[c];
        const double whole = floor(at);
        const int32_t first = (int32_t)whole % job->grid[c];
        particle->first[c] = first < 0 ? first + job->grid[c] : first;
        make_splines(job->order, at - whole, particle->value[c], particle->slope[c]);
    }
}

/* The plane of the first point of a particle's splines. */
static int32_t plane_of(const struct job *job, int64_t row)
{
    const struct periodic_state *state = job->state;
    const double x[3] = {state->position[0][row], state->position[1][row], state->position[2][row]};
    const double at = floor(pairs_fraction(&state->system.lattice, x, 0) * job->grid[0]);
    const int32_t plane = (int32_t)at % job->grid[0];
    return plane < 0 ? plane + job->grid[0] : plane;
}

/* Puts the particles into the order of their planes, in each in that of their rows. */
static void sort(struct job *job)
{
    const int32_t planes = job->grid[0];
    const int64_t count = job->state->system.count;
    memset(job->begin, 0, (size_t)(planes + 1) * sizeof *job->begin);
    for (int64_t row = 0; row < count; row++)
        job->begin[plane_of(job, row) + 1]++;
    for (int32_t plane = 0; plane < planes; plane++)
        job->begin[plane + 1] += job->begin[plane];
    for (int64_t row = 0; row < count; row++)
        job->particles[job->begin[plane_of(job, row)]++].row = row;
    for (int32_t plane = planes; plane > 0; plane--)
        job->begin[plane] = job->begin[plane - 1];
    job->begin[0] = 0;
}

static void spline_task(void *argument, int64_t task)
{
    const struct job *job = argument;
    const int64_t count = job->state->system.count, begin = task * particles_a_task;
    const int64_t end = begin + particles_a_task < count ? begin + particles_a_task : count;
    for (int64_t slot = begin; slot < end; slot++)
        splines_of(job, job->particles[slot].row, &job->particles[slot]);
}

static inline int32_t wrapped(int32_t index, int32_t count)
{
    return index < count ? index : index - count;
}

/* A plane of the grid takes what it gets from the particles near it: no other task writes there. */
static void spread_plane(void *argument, int64_t plane)
{
    const struct job *job = argument;
    const int32_t order = job->order, ny = job->grid[1], nz = job->grid[2];
    double *points = job->points + plane * ny * nz;
    memset(points, 0, (size_t)ny * (size_t)nz * sizeof *points);
    for (int32_t t = 0; t < order; t++) {
        const int32_t from = ((int32_t)plane - t + job->grid[0]) % job->grid[0];
        for (int64_t slot = job->begin[from]; slot < job->begin[from + 1]; slot++) {
            const struct splined *particle = &job->particles[slot];
            const double of_x = particle->weight * particle->value[0][t];
            for (int32_t j = 0; j < order; j++) {
                double *row = points + (int64_t)wrapped(particle->first[1] + j, ny) * nz;
                const double of_y = of_x * particle->value[1][j];
                for (int32_t k = 0; k < order; k++)
                    row[wrapped(particle->first[2] + k, nz)] += of_y * particle->value[2][k];
            }
        }
    }
}

static void gather_task(void *argument, int64_t task)
{
    const struct job *job = argument;
    struct periodic_state *state = job->state;
    const int32_t order = job->order, nx = job->grid[0], ny = job->grid[1], nz = job->grid[2];
    const int64_t count = state->system.count, begin = task * particles_a_task;
    const int64_t end = begin + particles_a_task < count ? begin + particles_a_task : count;
    for (int64_t slot = begin; slot < end; slot++) {
        const struct splined *particle = &job->particles[slot];
        double potential = 0, slope[3] = {0};
        for (int32_t i = 0; i < order; i++) {
            const double *plane =
                job->points + (int64_t)wrapped(particle->first[0] + i, nx) * ny * nz;
            double in_plane = 0, along_y = 0, along_z = 0;
            for (int32_t j = 0; j < order; j++) {
                const double *row = plane + (int64_t)wrapped(particle->first[1] + j, ny) * nz;
                double sum = 0, of_slope = 0;
                for (int32_t k = 0; k < order; k++) {
                    const double point = row[wrapped(particle->first[2] + k, nz)];
                    sum += particle->value[2][k] * point;
                    of_slope += particle->slope[2][k] * point;
                }
                in_plane += particle->value[1][j] * sum;
                along_y += particle->slope[1][j] * sum;
                along_z += particle->value[1][j] * of_slope;
            }
            potential += particle->value[0][i] * in_plane;
            slope[0] += particle->slope[0][i] * in_plane;
            slope[1] += particle->value[0][i] * along_y;
            slope[2] += particle->value[0][i] * along_z;
        }
        state->potential[particle->row] += potential;
        for (int a = 0; a < 3; a++)
            for (int c = 0; c < 3; c++)
                state->gradient[a][particle->row] +=
                    state->system.lattice.inverse[a][c] * job->grid[c] * slope[c];
    }
}

/* U²/(Σ_m U²)²: of a wave and its aliases. */
static void make_flat(struct job *job)
{
    for (int c = 0; c < 3; c++)
        for (int32_t n = 0; n < job->grid[c]; n++) {
            const int32_t wave = 2 * n > job->grid[c] ? n - job->grid[c] : n;
            const double x = (double)wave / job->grid[c];
            double sum = 1;
            for (int m = -4; m <= 4; m++)
                sum += m == 0 ? 0 : pow(fabs(x / (x + m)), 2 * job->order);
            const double sinc = n == 0 ? 1 : sin(pi * x) / (pi * x);
            job->flat[c][n] = 1 / (pow(sinc * sinc, job->order) * sum * sum);
        }
}

static void multiply_plane(void *argument, int64_t plane)
{
    const struct job *job = argument;
    const struct periodic_system *system = &job->state->system;
    const double alpha = job->state->setting.alpha, volume = system->volume;
    double *virial = job->virial[plane];
    memset(virial, 0, sizeof job->virial[plane]);
    for (int32_t k = 0; k < job->grid[1]; k++)
        for (int32_t l = 0; l < job->half; l++) {
            fftw_complex *at = &job->waves[(plane * job->grid[1] + k) * job->half + l];
            const int32_t number[3] = {(int32_t)plane, k, l};
            double wave[3] = {0}, k2 = 0;
            for (int c = 0; c < 3; c++) {
                const int32_t n =
                    2 * number[c] > job->grid[c] ? number[c] - job->grid[c] : number[c];
                for (int a = 0; a < 3; a++)
                    wave[a] += 2 * pi * system->lattice.inverse[a][c] * n;
            }
            for (int a = 0; a < 3; a++)
                k2 += wave[a] * wave[a];
            if (k2 == 0) {
                *at = 0;
                continue;
            }
            const double factor = 4 * pi / volume * exp(-k2 / (4 * alpha * alpha)) / k2 *
                                  job->flat[0][plane] * job->flat[1][k] * job->flat[2][l];
            const double twice = l == 0 || 2 * l == job->grid[2] ? 1 : 2;
            const double energy =
                0.5 * twice * factor * (creal(*at) * creal(*at) + cimag(*at) * cimag(*at));
            const double bend = 2 * (1 / k2 + 1 / (4 * alpha * alpha));
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    virial[3 * a + b] += energy * ((a == b) - bend * wave[a] * wave[b]);
            *at *= factor;
        }
}

/* FFTW_ESTIMATE plans without timing anything: the same bits on every run. */
static kith_status transform(const struct job *job, bool back)
{
    const int32_t *n = job->grid;
    pthread_mutex_lock(&planner);
    fftw_plan plan =
        back ? fftw_plan_dft_c2r_3d(n[0], n[1], n[2], job->waves, job->points, FFTW_ESTIMATE)
             : fftw_plan_dft_r2c_3d(n[0], n[1], n[2], job->points, job->waves, FFTW_ESTIMATE);
    pthread_mutex_unlock(&planner);
    if (!plan)
        return kith_fail(KITH_OUT_OF_MEMORY, "no memory for a transform of %d x %d x %d points",
                         (int)n[0], (int)n[1], (int)n[2]);
    fftw_execute(plan);
    pthread_mutex_lock(&planner);
    fftw_destroy_plan(plan);
    pthread_mutex_unlock(&planner);
    return kith_context_check_cancelled(job->context);
}

kith_status pme_add_waves(kith_context *context, struct periodic_state *state)
{
    const struct periodic_setting *setting = &state->setting;
    struct job job = {.context = context,
                      .state = state,
                      .order = setting->order,
                      .grid = {setting->grid[0], setting->grid[1], setting->grid[2]},
                      .half = setting->grid[2] / 2 + 1};
    struct arena arena = {0};
    lay_out(&arena, &job);
    KITH_TRY(cpu_memory_grow(&state->memory[2], arena.used));
    arena = (struct arena){state->memory[2].memory, 0};
    lay_out(&arena, &job);

    const double splines = (double)state->system.count * job.order * job.order * job.order;
    const int64_t tasks = (state->system.count + particles_a_task - 1) / particles_a_task;
    const int32_t threads = kith_threads_for(context, splines / splines_a_second);
    make_flat(&job);
    sort(&job);
    KITH_TRY(kith_for_each(context, threads, tasks, spline_task, &job));
    KITH_TRY(kith_for_each(context, threads, job.grid[0], spread_plane, &job));
    KITH_TRY(transform(&job, false));
    const double points = (double)job.grid[0] * job.grid[1] * job.half;
    KITH_TRY(kith_for_each(context, kith_threads_for(context, points / points_a_second),
                           job.grid[0], multiply_plane, &job));
    for (int32_t plane = 0; plane < job.grid[0]; plane++)
        for (int k = 0; k < 9; k++)
            state->virial[k / 3][k % 3] += job.virial[plane][k];
    KITH_TRY(transform(&job, true));
    return kith_for_each(context, threads, tasks, gather_task, &job);
}
