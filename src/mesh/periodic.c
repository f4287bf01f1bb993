/* Particles in a periodic cell: loaded, and what Ewald's sum has besides its two parts. */

#include "mesh/periodic.h"

#include <stdlib.h>
#include <string.h>

#include "cells/cells.h"
#include "cells/lattice.h"
#include "core/memory.h"
#include "core/vectors.h"
#include "device/context.h"
#include "device/threads.h"
#include "mesh/excluded_pair.h"
#include "mesh/sixth.h"
#include "sort/sort.h"

static const double pi = 3.14159265358979323846;

/* The square of the shortest vector of the lattice of a and b (Gauss's reduction). */
static double shortest2(double a[3], double b[3])
{
    for (;;) {
        const double steps = round(dot(a, b) / dot(a, a));
        for (int c = 0; c < 3; c++)
            b[c] -= steps * a[c];
        if (!(dot(b, b) < dot(a, a)))
            return dot(a, a);
        for (int c = 0; c < 3; c++) {
            const double kept = a[c];
            a[c] = b[c];
            b[c] = kept;
        }
    }
}

/* Two vectors of a plane and its normal span a cell: the normal becomes so long that images along
 * it are felt no more. */
static void set_slab_height(double error, double vectors[3][3], struct periodic_system *system)
{
    double normal[3], wave[2][3];
    cross(vectors[0], vectors[1], normal);
    system->area = sqrt(dot(normal, normal));
    for (int c = 0; c < 3; c++)
        system->normal[c] = normal[c] / system->area;
    cross(vectors[1], system->normal, wave[0]);
    cross(system->normal, vectors[0], wave[1]);
    const double shortest = 2 * pi / system->area * sqrt(shortest2(wave[0], wave[1]));
    const double height = system->thickness + log(10 / error) / shortest;
    for (int c = 0; c < 3; c++)
        vectors[2][c] = system->normal[c] * height;
}

/* Rows of a task: totals are added in the order of the tasks. */
enum { rows_a_task = 4096 };

/* Work of a thread per second; decides how many threads to wake. */
static const double rows_a_second = 1e8;

struct loading {
    const struct periodic_particles *particles;
    struct periodic_state *state;
    double normal[3];
    struct loaded {
        double low[4], high[4]; /* of the coordinates, and along the normal */
        double total, squares;
        int64_t bad_row;
    } * of_task;
};

static int64_t load_tasks(int64_t count)
{
    return (count + rows_a_task - 1) / rows_a_task;
}

static kith_status for_tasks(kith_context *context, kith_task *task, struct loading *loading)
{
    const int64_t count = loading->particles->count;
    return kith_for_each(context, kith_threads_for(context, (double)count / rows_a_second),
                         load_tasks(count), task, loading);
}

static int64_t task_end(const struct loading *loading, int64_t task)
{
    const int64_t end = (task + 1) * rows_a_task, count = loading->particles->count;
    return end < count ? end : count;
}

static void measure_task(void *argument, int64_t task)
{
    const struct loading *loading = argument;
    const struct periodic_particles *particles = loading->particles;
    struct loaded *of_task = &loading->of_task[task];
    double *low = of_task->low, *high = of_task->high;
    for (int c = 0; c < 4; c++) {
        low[c] = INFINITY;
        high[c] = -INFINITY;
    }
    for (int64_t i = task * rows_a_task; i < task_end(loading, task); i++) {
        double x[4] = {0};
        for (int c = 0; c < 3; c++) {
            x[c] = periodic_at(particles->dtype, particles->position[c], i);
            x[3] += x[c] * loading->normal[c];
        }
        for (int c = 0; c < 4; c++) {
            low[c] = x[c] < low[c] ? x[c] : low[c];
            high[c] = x[c] > high[c] ? x[c] : high[c];
        }
    }
}

/* Middles of the coordinates, and how far a slab extends along its normal. */
static kith_status measure(kith_context *context, const kith_cell *cell, struct loading *loading)
{
    struct periodic_system *system = &loading->state->system;
    const struct loaded *of_task = loading->of_task;
    cross(cell->vectors[0], cell->vectors[1], loading->normal);
    const double area = sqrt(dot(loading->normal, loading->normal));
    for (int c = 0; c < 3; c++)
        loading->normal[c] /= area;
    KITH_TRY(for_tasks(context, measure_task, loading));
    double low[4] = {0}, high[4] = {0};
    for (int64_t task = 0; task < load_tasks(system->count); task++)
        for (int c = 0; c < 4; c++) {
            low[c] = task == 0 ? of_task[0].low[c] : fmin(low[c], of_task[task].low[c]);
            high[c] = task == 0 ? of_task[0].high[c] : fmax(high[c], of_task[task].high[c]);
        }
    for (int c = 0; c < 3; c++)
        system->middle[c] = low[c] / 2 + high[c] / 2;
    system->thickness = high[3] - low[3];
    return KITH_OK;
}

/* The lattice and the volume of a cell that is periodic along three vectors. */
static kith_status take_vectors(const kith_cell *cell, struct periodic_system *system)
{
    double product[3];
    KITH_TRY(pairs_lattice_make(cell, 3, 1, &system->lattice));
    cross(cell->vectors[1], cell->vectors[2], product);
    system->volume = fabs(dot(cell->vectors[0], product));
    return KITH_OK;
}

kith_status periodic_take_cell(const kith_cell *cell, int64_t count, struct periodic_system *system)
{
    *system = (struct periodic_system){
        .count = count, .correlation = 1, .crowding = 1, .in_phase = {1, 1, 1}};
    return take_vectors(cell, system);
}

static kith_status make_lattice(kith_context *context, const kith_cell *cell, double error,
                                struct loading *loading)
{
    struct periodic_system *system = &loading->state->system;
    kith_cell whole = *cell;
    KITH_TRY(pairs_lattice_make(cell, 3, 1, &system->lattice));
    KITH_TRY(measure(context, cell, loading));
    system->is_slab = !cell->periodic[2];
    if (system->is_slab)
        set_slab_height(error, whole.vectors, system);
    whole.periodic[2] = true;
    return take_vectors(&whole, system);
}

static kith_status make_room(int64_t count, struct periodic_state *state)
{
    const int64_t room = kith_padded(count > 0 ? count : 1);
    KITH_TRY(cpu_memory_grow(&state->memory[0], 8 * room * (int64_t)sizeof(double)));
    double *memory = state->memory[0].memory;
    for (int c = 0; c < 3; c++) {
        state->position[c] = memory + c * room;
        state->gradient[c] = memory + (3 + c) * room;
    }
    state->weight = memory + 6 * room;
    state->potential = memory + 7 * room;
    return KITH_OK;
}

static void load_task(void *argument, int64_t task)
{
    const struct loading *loading = argument;
    const struct periodic_particles *particles = loading->particles;
    const struct periodic_state *state = loading->state;
    struct loaded *of_task = &loading->of_task[task];
    of_task->total = of_task->squares = 0;
    of_task->bad_row = -1;
    for (int64_t i = task * rows_a_task; i < task_end(loading, task); i++) {
        double x[3];
        int32_t wraps[3];
        for (int c = 0; c < 3; c++)
            x[c] = periodic_at(particles->dtype, particles->position[c], i);
        if (!pairs_wrap(&state->system.lattice, x, wraps)) {
            of_task->bad_row = i;
            return;
        }
        for (int c = 0; c < 3; c++)
            state->position[c][i] = x[c];
        const double w =
            particles->weight ? periodic_at(particles->dtype, particles->weight, i) : 1;
        state->weight[i] = w;
        of_task->total += w;
        of_task->squares += w * w;
    }
}

kith_status periodic_load(kith_context *context, const kith_cell *cell, double error,
                          const struct periodic_particles *particles, struct periodic_state *state)
{
    struct periodic_system *system = &state->system;
    const int64_t tasks = load_tasks(particles->count);
    struct loading loading = {.particles = particles, .state = state};
    *system = (struct periodic_system){.count = particles->count, .in_phase = {1, 1, 1}};
    KITH_TRY(kith_context_check_cancelled(context));
    KITH_TRY(cpu_memory_grow(&state->memory[2], tasks * (int64_t)sizeof *loading.of_task));
    loading.of_task = state->memory[2].memory;
    KITH_TRY(make_lattice(context, cell, error, &loading));
    KITH_TRY(make_room(particles->count, state));
    KITH_TRY(for_tasks(context, load_task, &loading));
    for (int64_t task = 0; task < tasks; task++) {
        if (loading.of_task[task].bad_row >= 0)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "row %lld of positions is more than 2^30 cells away; bring the "
                             "particles into the cell",
                             (long long)loading.of_task[task].bad_row);
        system->total += loading.of_task[task].total;
        system->squares += loading.of_task[task].squares;
    }
    return KITH_OK;
}

void periodic_clear(struct periodic_state *state)
{
    const size_t bytes = (size_t)state->system.count * sizeof(double);
    memset(state->virial, 0, sizeof state->virial);
    memset(state->potential, 0, bytes);
    for (int c = 0; c < 3; c++)
        memset(state->gradient[c], 0, bytes);
}

double periodic_least_force(const struct periodic_system *system)
{
    const double n = (double)system->count;
    if (system->is_sixth)
        return n > 0 ? 0.6 * system->squares / n * pow(n / system->volume, 7.0 / 3) : 0;
    const double volume = system->is_slab
                              ? system->area * (system->thickness + sqrt(system->area / n))
                              : system->volume;
    return n > 0 ? 0.1 * system->squares / n * pow(n / volume, 2.0 / 3) : 0;
}

static void add_isotropic(double energy, double virial[3][3])
{
    for (int c = 0; c < 3; c++)
        virial[c][c] += energy;
}

static void add_background(struct periodic_state *state)
{
    const struct periodic_system *system = &state->system;
    const double alpha = state->setting.alpha;
    const double value = -pi * system->total / (system->volume * alpha * alpha);
    for (int64_t i = 0; i < system->count; i++)
        state->potential[i] += value;
    add_isotropic(0.5 * value * system->total, state->virial);
}

/* What the pairs of lennard-jones beyond the cutoff add at the mean density: to energy and virial,
 * not to forces. */
static void add_beyond(struct periodic_state *state)
{
    const struct periodic_system *system = &state->system;
    const struct periodic_setting *setting = &state->setting;
    const double density = system->total / system->volume;
    double value, virial;
    sixth_beyond(system, setting->alpha, setting->cutoff, &value, &virial);
    for (int64_t i = 0; i < system->count; i++)
        state->potential[i] += density * value;
    add_isotropic(0.5 * density * virial * system->total, state->virial);
}

/* x from the middle, as given. */
static void get(const struct periodic_particles *particles, const struct periodic_system *system,
                int64_t i, double x[3])
{
    for (int c = 0; c < 3; c++)
        x[c] = periodic_at(particles->dtype, particles->position[c], i) - system->middle[c];
}

static void add_vacuum(const struct periodic_particles *particles, struct periodic_state *state)
{
    const struct periodic_system *system = &state->system;
    const double factor = 4 * pi / (3 * system->volume);
    double dipole[3] = {0}, moment[3][3] = {{0}};
    for (int64_t i = 0; i < system->count; i++) {
        double x[3];
        get(particles, system, i, x);
        for (int a = 0; a < 3; a++) {
            dipole[a] += state->weight[i] * x[a];
            for (int b = 0; b < 3; b++)
                moment[a][b] += state->weight[i] * x[a] * x[b];
        }
    }
    const double trace = moment[0][0] + moment[1][1] + moment[2][2], total = system->total;
    for (int64_t i = 0; i < system->count; i++) {
        double x[3];
        get(particles, system, i, x);
        state->potential[i] += factor * (dot(dipole, x) - (trace + total * dot(x, x)) / 2);
        for (int c = 0; c < 3; c++)
            state->gradient[c][i] += factor * (dipole[c] - total * x[c]);
    }
    add_isotropic(factor / 2 * (dot(dipole, dipole) - total * trace), state->virial);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            state->virial[a][b] -= factor * (dipole[a] * dipole[b] - total * moment[a][b]);
}

static void add_slab(const struct periodic_particles *particles, struct periodic_state *state)
{
    const struct periodic_system *system = &state->system;
    const double factor = 4 * pi / system->volume, height = system->volume / system->area;
    const double total = system->total, constant = total * height * height / 12;
    double dipole = 0, moment = 0;
    for (int64_t i = 0; i < system->count; i++) {
        double x[3];
        get(particles, system, i, x);
        const double z = dot(x, system->normal);
        dipole += state->weight[i] * z;
        moment += state->weight[i] * z * z;
    }
    for (int64_t i = 0; i < system->count; i++) {
        double x[3];
        get(particles, system, i, x);
        const double z = dot(x, system->normal);
        state->potential[i] += factor * (dipole * z - (moment + total * z * z) / 2 - constant);
        for (int c = 0; c < 3; c++)
            state->gradient[c][i] += factor * (dipole - total * z) * system->normal[c];
    }
    const double square = dipole * dipole - total * moment - total * constant;
    add_isotropic(factor / 2 * square, state->virial);
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++)
            state->virial[a][b] -= factor * square * system->normal[a] * system->normal[b];
}

static void exclude(enum periodic_part part, struct periodic_state *state, int64_t i, int64_t j)
{
    const struct pairs_lattice *lattice = &state->system.lattice;
    double x_i[3], x_j[3], d[3];
    int32_t image[3];
    for (int c = 0; c < 3; c++) {
        x_i[c] = state->position[c][i];
        x_j[c] = state->position[c][j];
    }
    pairs_nearest_image(lattice, x_i, x_j, image);
    for (int c = 0; c < 3; c++)
        d[c] = x_j[c] - x_i[c] + pairs_translation(lattice, image, c);
    const double r2 = dot(d, d), w_i = state->weight[i], w_j = state->weight[j];
    if (!(r2 > 0))
        return;
    double value, of_d;
    if (state->system.is_sixth)
        excluded_sixth(part, state->setting.alpha, state->system.repulsion, r2, &value, &of_d);
    else
        excluded_pair(part, state->setting.alpha, r2, &value, &of_d);
    state->potential[i] -= w_j * value;
    state->potential[j] -= w_i * value;
    for (int a = 0; a < 3; a++) {
        const double slope = of_d * d[a];
        state->gradient[a][i] -= w_j * slope;
        state->gradient[a][j] += w_i * slope;
        for (int b = 0; b < 3; b++)
            state->virial[a][b] -= w_i * w_j * slope * d[b];
    }
}

/* A pair that is named twice is excluded once. */
static kith_status exclude_all(kith_context *context, const struct periodic_request *request,
                               struct periodic_state *state)
{
    const int64_t count = request->exclusion_count;
    uint64_t *pairs = NULL; /* the lesser body, and below it the other; then room to sort */
    KITH_TRY(kith_allocate(count * (int64_t)sizeof *pairs + sort_scratch_bytes(count), 1,
                           "excluded pairs", &pairs));
    for (int64_t k = 0; k < count; k++) {
        const int64_t i = request->exclusions[k][0], j = request->exclusions[k][1];
        pairs[k] = (uint64_t)(i < j ? i : j) << 32 | (uint64_t)(i < j ? j : i);
    }
    const kith_status status = sort_keys_cpu(context, count, 64, pairs, NULL, pairs + count);
    for (int64_t k = 0; k < count && status == KITH_OK; k++)
        if (k == 0 || pairs[k] != pairs[k - 1])
            exclude(request->part, state, (int64_t)(pairs[k] >> 32), (int64_t)(uint32_t)pairs[k]);
    free(pairs);
    return status;
}

kith_status periodic_finish(kith_context *context, const struct periodic_particles *particles,
                            const struct periodic_request *request, struct periodic_state *state)
{
    KITH_TRY(kith_context_check_cancelled(context));
    const bool is_sixth = state->system.is_sixth;
    const bool has_waves = request->part != periodic_near && !is_sixth;
    if (has_waves)
        add_background(state);
    else if (is_sixth && request->part != periodic_near && state->system.count > 0)
        add_beyond(state);
    if (has_waves && state->system.is_slab)
        add_slab(particles, state);
    else if (has_waves && request->is_vacuum)
        add_vacuum(particles, state);
    KITH_TRY(exclude_all(context, request, state));
    double squares = 0;
    state->energy = 0;
    for (int64_t i = 0; i < particles->count; i++) {
        double gradient2 = 0;
        state->energy += 0.5 * state->weight[i] * state->potential[i];
        for (int c = 0; c < 3; c++)
            gradient2 += state->gradient[c][i] * state->gradient[c][i];
        squares += state->weight[i] * state->weight[i] * gradient2;
    }
    state->force_rms = particles->count > 0 ? sqrt(squares / (double)particles->count) : 0;
    return KITH_OK;
}

void periodic_free(struct periodic_state *state)
{
    for (size_t k = 0; k < sizeof state->memory / sizeof state->memory[0]; k++)
        free(state->memory[k].memory);
}
