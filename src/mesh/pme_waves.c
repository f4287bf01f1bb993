/* The waves of particle–mesh Ewald: spread, transform, multiply, transform, gather. */

#include <math.h>
#include <string.h>

#include "core/arena.h"
#include "device/context.h"
#include "device/threads.h"
#include "mesh/pme.h"
#include "mesh/transform.h"
#include "mesh/waves_kernel.h"

static const double pi = 3.14159265358979323846;

/* Particles that a thread takes together, and planes: many share the splines of a particle, but all
 * threads should have some. Bits do not depend on it. */
enum { particles_a_task = 1024, least_planes = 4, most_planes = 16 };

/* Work of a thread per second; decides how many threads to wake. */
static const double particles_a_second = 1e7, points_a_second = 1e8;

struct job {
    const kith_context *context;
    struct periodic_state *state;
    const struct waves_kernels *kernels;
    struct waves_mesh mesh;
    struct transform transform;
    int32_t planes; /* that a task spreads to */
    int32_t half;   /* waves along the last axis */
    int32_t *plane; /* of each row: where its splines begin */
    int32_t *row;   /* of the particles in the order of their planes */
    int64_t *begin; /* of the particles of a plane */
    int32_t *first[3];
    void *offset[3], *weight, *value, *slope;
    double *flat[3], *twice; /* U²/(Σ U²)² along each axis */
    double (*virial)[9];     /* of each row of waves */
};

bool pme_is_there(void)
{
    return true;
}

static void lay_out(struct arena *arena, struct job *job)
{
    const int32_t *grid = job->mesh.grid;
    const struct transform *transform = &job->transform;
    const int64_t real = transform->dtype == KITH_F32 ? sizeof(float) : sizeof(double);
    const int64_t count = job->state->system.count;
    job->plane = arena_take(arena, count, sizeof *job->plane);
    job->row = arena_take(arena, count, sizeof *job->row);
    job->begin = arena_take(arena, grid[0] + 2, sizeof *job->begin);
    for (int c = 0; c < 3; c++) {
        job->first[c] = arena_take(arena, count, sizeof *job->first[c]);
        job->offset[c] = arena_take(arena, count, real);
        job->flat[c] = arena_take(arena, grid[c] + waves_chunk, sizeof *job->flat[c]);
    }
    job->weight = arena_take(arena, count, real);
    job->twice = arena_take(arena, grid[2] + waves_chunk, sizeof *job->twice);
    job->value = arena_take(arena, splines_most_order * waves_padding, real);
    job->slope = arena_take(arena, splines_most_order * waves_padding, real);
    job->virial = arena_take(arena, grid[1], sizeof *job->virial);
    job->transform.points = arena_take(arena, grid[0] * transform->plane, real);
}

static void set(kith_dtype dtype, void *to, int64_t at, double value)
{
    if (dtype == KITH_F32)
        ((float *)to)[at] = (float)value;
    else
        ((double *)to)[at] = value;
}

static void fill_splines(struct job *job)
{
    struct splines splines;
    splines_make(job->mesh.order, &splines);
    for (int m = 0; m < splines_most_order; m++)
        for (int k = 0; k < waves_padding; k++) {
            const bool is_one = k < splines_most_order;
            set(job->transform.dtype, job->value, m * waves_padding + k,
                is_one ? splines.value[m][k] : 0);
            set(job->transform.dtype, job->slope, m * waves_padding + k,
                is_one ? splines.slope[m][k] : 0);
        }
}

/* The point along an axis where the splines of a particle begin, and how far beyond it it is. */
static int32_t locate(const struct job *job, int64_t row, int c, double *offset)
{
    const struct periodic_state *state = job->state;
    const int32_t count = job->mesh.grid[c];
    const double x[3] = {state->position[0][row], state->position[1][row], state->position[2][row]};
    const double at = pairs_fraction(&state->system.lattice, x, c) * count, whole = floor(at);
    const int32_t first = (int32_t)whole % count;
    *offset = at - whole - 0.5;
    return first < 0 ? first + count : first;
}

static int64_t task_end(const struct job *job, int64_t task)
{
    const int64_t end = (task + 1) * particles_a_task, count = job->state->system.count;
    return end < count ? end : count;
}

static void find_planes(void *argument, int64_t task)
{
    const struct job *job = argument;
    double offset;
    for (int64_t row = task * particles_a_task; row < task_end(job, task); row++)
        job->plane[row] = locate(job, row, 0, &offset);
}

/* Puts the particles into the order of their planes, in each in that of their rows. */
static void sort(struct job *job)
{
    const int64_t count = job->state->system.count;
    memset(job->begin, 0, (size_t)(job->mesh.grid[0] + 2) * sizeof *job->begin);
    for (int64_t row = 0; row < count; row++)
        job->begin[job->plane[row] + 2]++;
    for (int32_t plane = 0; plane < job->mesh.grid[0]; plane++)
        job->begin[plane + 2] += job->begin[plane + 1];
    for (int64_t row = 0; row < count; row++)
        job->row[job->begin[job->plane[row] + 1]++] = (int32_t)row;
}

static void arrange(void *argument, int64_t task)
{
    const struct job *job = argument;
    for (int64_t slot = task * particles_a_task; slot < task_end(job, task); slot++) {
        const int64_t row = job->row[slot];
        for (int c = 0; c < 3; c++) {
            double offset;
            job->first[c][slot] = locate(job, row, c, &offset);
            set(job->transform.dtype, job->offset[c], slot, offset);
        }
        set(job->transform.dtype, job->weight, slot, job->state->weight[row]);
    }
}

/* Planes of the grid take what they get from the particles near them: no other task writes there.
 */
static void spread_planes(void *argument, int64_t task)
{
    const struct job *job = argument;
    const struct transform *transform = &job->transform;
    const int32_t count = job->mesh.grid[0], low = (int32_t)task * job->planes;
    const int32_t high = low + job->planes < count ? low + job->planes : count;
    const int64_t real = transform->dtype == KITH_F32 ? sizeof(float) : sizeof(double);
    const int64_t plane_bytes = transform->plane * real;
    memset((char *)transform->points + low * plane_bytes, 0, (size_t)((high - low) * plane_bytes));
    const int32_t reach = high - low + job->mesh.order - 1;
    for (int32_t k = 0; k < (reach < count ? reach : count); k++) {
        const int32_t from = (low - (job->mesh.order - 1) + k + count) % count;
        job->kernels->spread(&job->mesh, job->begin[from], job->begin[from + 1], low, high);
    }
    for (int32_t plane = low; plane < high; plane++) {
        job->kernels->fold(&job->mesh, plane);
        transform_plane(transform, plane, false);
    }
}

/* The number of a wave along an axis, of which half are negative. */
static int32_t signed_number(int32_t number, int32_t count)
{
    return 2 * number > count ? number - count : number;
}

/* U²/(Σ_m U²)²: of a wave and its aliases. */
static void make_flat(struct job *job)
{
    for (int c = 0; c < 3; c++) {
        const int32_t count = job->mesh.grid[c];
        memset(job->flat[c] + count, 0, waves_chunk * sizeof *job->flat[c]);
        for (int32_t n = 0; n < count; n++) {
            const double x = (double)signed_number(n, count) / count;
            double sum = 1;
            for (int m = -4; m <= 4; m++)
                sum += m == 0 ? 0 : pow(fabs(x / (x + m)), 2 * job->mesh.order);
            const double sinc = n == 0 ? 1 : sin(pi * x) / (pi * x);
            job->flat[c][n] = 1 / (pow(sinc * sinc, job->mesh.order) * sum * sum);
        }
    }
    for (int32_t l = 0; l < job->half; l++)
        job->twice[l] = l == 0 || 2 * l == job->mesh.grid[2] ? 0.5 : 1;
}

/* The virial of a row of waves start + l step, whose sums waves_kernel.h names. */
static void add_virial(const struct waves_row *row, const double sums[4], double virial[9])
{
    const double *a = row->start, *b = row->step;
    for (int k = 0; k < 3; k++)
        for (int l = 0; l < 3; l++)
            virial[3 * k + l] += (k == l ? sums[0] : 0) - a[k] * a[l] * sums[1] -
                                 (a[k] * b[l] + b[k] * a[l]) * sums[2] - b[k] * b[l] * sums[3];
}

static void multiply_row(void *argument, int64_t y)
{
    const struct job *job = argument;
    const struct transform *transform = &job->transform;
    const struct periodic_system *system = &job->state->system;
    const double alpha = job->state->setting.alpha, (*inverse)[3] = system->lattice.inverse;
    const int64_t real = transform->dtype == KITH_F32 ? sizeof(float) : sizeof(double);
    const double cube = alpha * alpha * alpha;
    const double strength = system->is_sixth ? pi * sqrt(pi) * cube / 3 : 4 * pi;
    waves_multiply *const multiply =
        system->is_sixth ? job->kernels->multiply_sixth : job->kernels->multiply;
    double *virial = job->virial[y];
    memset(virial, 0, sizeof job->virial[y]);
    transform_row(transform, y, false);
    for (int32_t x = 0; x < job->mesh.grid[0]; x++) {
        struct waves_row row = {.count = job->half,
                                .scale =
                                    strength / system->volume * job->flat[0][x] * job->flat[1][y],
                                .fall = 1 / (4 * alpha * alpha),
                                .flat = job->flat[2],
                                .twice = job->twice};
        const double of_x = 2 * pi * signed_number(x, job->mesh.grid[0]);
        const double of_y = 2 * pi * signed_number((int32_t)y, job->mesh.grid[1]);
        double sums[4] = {0};
        for (int a = 0; a < 3; a++) {
            row.start[a] = of_x * inverse[a][0] + of_y * inverse[a][1];
            row.step[a] = 2 * pi * inverse[a][2];
        }
        multiply(&row,
                 (char *)transform->points + (x * transform->plane + y * transform->pitch) * real,
                 sums);
        add_virial(&row, sums, virial);
    }
    transform_row(transform, y, true);
}

static void return_plane(void *argument, int64_t plane)
{
    const struct job *job = argument;
    transform_plane(&job->transform, plane, true);
    job->kernels->extend(&job->mesh, plane);
}

static void gather_task(void *argument, int64_t task)
{
    const struct job *job = argument;
    struct periodic_state *state = job->state;
    const int64_t begin = task * particles_a_task, end = task_end(job, task);
    double sums[particles_a_task][4];
    job->kernels->gather(&job->mesh, begin, end, sums);
    for (int64_t slot = begin; slot < end; slot++) {
        const int64_t row = job->row[slot];
        const double *sum = sums[slot - begin];
        state->potential[row] += sum[0];
        for (int a = 0; a < 3; a++)
            for (int c = 0; c < 3; c++)
                state->gradient[a][row] +=
                    state->system.lattice.inverse[a][c] * job->mesh.grid[c] * sum[1 + c];
    }
}

static kith_status run(kith_context *context, struct job *job)
{
    const int64_t count = job->state->system.count;
    const int32_t *grid = job->mesh.grid;
    const int64_t tasks = (count + particles_a_task - 1) / particles_a_task;
    const double points = (double)grid[0] * grid[1] * grid[2];
    const double seconds = (double)count / particles_a_second + points / points_a_second;
    const int32_t threads = kith_threads_for(context, seconds);
    KITH_TRY(kith_for_each(context, threads, tasks, find_planes, job));
    sort(job);
    KITH_TRY(kith_for_each(context, threads, tasks, arrange, job));
    const int32_t planes = grid[0] / (4 * threads);
    job->planes = planes < least_planes  ? least_planes
                  : planes > most_planes ? most_planes
                                         : planes;
    KITH_TRY(kith_for_each(context, threads, (grid[0] + job->planes - 1) / job->planes,
                           spread_planes, job));
    KITH_TRY(kith_for_each(context, threads, grid[1], multiply_row, job));
    for (int32_t y = 0; y < grid[1]; y++)
        for (int k = 0; k < 9; k++)
            job->state->virial[k / 3][k % 3] += job->virial[y][k];
    KITH_TRY(kith_for_each(context, threads, grid[0], return_plane, job));
    return kith_for_each(context, threads, tasks, gather_task, job);
}

/* Rows begin at lines of 64 bytes, and planes an odd number of lines from each other: the points of
 * a transform across planes are then in different sets of the caches. */
static void set_pitch(struct transform *transform)
{
    const int64_t line = transform->dtype == KITH_F32 ? 16 : 8;
    transform->pitch = (transform->grid[2] + waves_padding + 15) / 16 * 16;
    const int64_t lines = transform->grid[1] * transform->pitch / line;
    transform->plane = (lines % 2 ? lines : lines + 1) * line;
}

kith_status pme_add_waves(kith_context *context, kith_dtype dtype, struct periodic_state *state)
{
#define IN_FLOAT(isa)  &mesh_waves_float_##isa,
#define IN_DOUBLE(isa) &mesh_waves_double_##isa,
    static const struct waves_kernels *const in_float[] = {KITH_EACH_ISA(IN_FLOAT)};
    static const struct waves_kernels *const in_double[] = {KITH_EACH_ISA(IN_DOUBLE)};
#undef IN_FLOAT
#undef IN_DOUBLE
    const struct periodic_setting *setting = &state->setting;
    struct job job = {.context = context,
                      .state = state,
                      .kernels = (dtype == KITH_F32 ? in_float : in_double)[context->isa],
                      .mesh.order = setting->order,
                      .transform.dtype = dtype,
                      .half = setting->grid[2] / 2 + 1};
    memcpy(job.mesh.grid, setting->grid, sizeof job.mesh.grid);
    memcpy(job.transform.grid, setting->grid, sizeof job.mesh.grid);
    set_pitch(&job.transform);
    struct arena arena = {0};
    lay_out(&arena, &job);
    KITH_TRY(cpu_memory_grow(&state->memory[2], arena.used));
    arena = (struct arena){state->memory[2].memory, 0};
    lay_out(&arena, &job);
    job.mesh.pitch = job.transform.pitch;
    job.mesh.plane = job.transform.plane;
    job.mesh.points = job.transform.points;
    job.mesh.value = job.value;
    job.mesh.slope = job.slope;
    job.mesh.weight = job.weight;
    for (int c = 0; c < 3; c++) {
        job.mesh.first[c] = job.first[c];
        job.mesh.offset[c] = job.offset[c];
    }
    fill_splines(&job);
    make_flat(&job);
    KITH_TRY(transform_make(&job.transform));
    const kith_status status = run(context, &job);
    transform_free(&job.transform);
    return status;
}
