/* The interaction matrix on the CPU: rows and chunks of columns to threads. */

#include <math.h>
#include <stdatomic.h>
#include <string.h>

#include "core/isa.h"
#include "core/memory.h"
#include "device/context.h"
#include "device/cpu.h"
#include "device/threads.h"
#include "law/compiled.h"
#include "matrix/backend.h"
#include "matrix/bin.h"
#include "matrix/matrix_kernel.h"

/* Rows of a task; a multiple of matrix_rows_at_once. */
enum { rows_a_task = 16 };

/* Sums share the columns of few rows too, so that there are tasks for all threads: as many parts as
 * give this many tasks, of at least this many columns. Neither depends on the threads. */
enum { least_tasks = 256, least_columns = 4 * matrix_chunk };

/* A task of very many columns looks now and then whether the call was cancelled. */
enum { columns_between_looks = 1 << 18 };

/* Results larger than any cache go past the caches. */
static const int64_t streamed_bytes = 32 << 20;

/* Elements that a thread computes per second; decides how many threads to wake. */
static const double pairs_a_second = 1e9;

struct kernels {
    matrix_fill_kernel *fill;
    matrix_sum_kernel *sum;
    matrix_least_kernel *least;
};

static const struct matrix_kernels *kernels_of(const kith_context *context, kith_dtype dtype)
{
#define IN_DOUBLE(isa) &matrix_double_##isa,
#define IN_FLOAT(isa)  &matrix_float_##isa,
    static const struct matrix_kernels *const in_double[] = {KITH_EACH_ISA(IN_DOUBLE)};
    static const struct matrix_kernels *const in_float[] = {KITH_EACH_ISA(IN_FLOAT)};
#undef IN_DOUBLE
#undef IN_FLOAT
    return (dtype == KITH_F64 ? in_double : in_float)[context->isa];
}

static kith_status find_kernels(kith_context *context, const struct matrix_task *task,
                                struct kernels *kernels)
{
    const struct matrix_kernels *built_in = kernels_of(context, task->dtype);
    *kernels = (struct kernels){NULL, NULL, NULL};
    if (task->kind == law_custom) {
        const char *file = "matrix/matrix_kernel.c";
        KITH_TRY(
            law_compile_cpu(context, task->law, file, "fill_custom", task->dtype, &kernels->fill));
        KITH_TRY(
            law_compile_cpu(context, task->law, file, "sum_custom", task->dtype, &kernels->sum));
        return law_compile_cpu(context, task->law, file, "least_custom", task->dtype,
                               &kernels->least);
    }
    kernels->fill = built_in->fill[task->kind];
    kernels->sum = built_in->sum[task->kind];
    kernels->least = built_in->least[task->kind];
    return KITH_OK;
}

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static kith_status run(kith_context *context, double pairs, int64_t tasks, kith_task *task,
                       void *job)
{
    return kith_for_each(context, kith_threads_for(context, pairs / pairs_a_second), tasks, task,
                         job);
}

struct filling {
    const kith_context *context;
    const struct matrix_task *task;
    const struct matrix_rows *rows;
    struct kernels kernels;
    bool streams;
};

static char *element_of(const struct filling *filling, int64_t row, int64_t column)
{
    const struct matrix_rows *rows = filling->rows;
    const int64_t offset = (row - rows->first) * rows->row_stride + column * rows->column_stride;
    return (char *)rows->values + offset * kith_dtype_bytes(filling->task->dtype);
}

/* Elements of a row, diagonal included, to memory that whole vectors may be written to. */
static void compute(const struct filling *filling, int64_t row, int64_t first, int64_t count,
                    void *to)
{
    filling->kernels.fill(&filling->task->problem, row, first, count, to, NULL);
}

static void store_strided(const struct filling *filling, const void *values, int64_t count,
                          char *to, int64_t stride)
{
    const int64_t each = kith_dtype_bytes(filling->task->dtype);
    for (int64_t k = 0; k < count; k++)
        if (each == 4)
            ((float *)(void *)to)[k * stride] = ((const float *)values)[k];
        else
            ((double *)(void *)to)[k * stride] = ((const double *)values)[k];
}

static void store(const struct filling *filling, const void *values, int64_t row, int64_t first,
                  int64_t count)
{
    char *to = element_of(filling, row, first);
    const int64_t bytes = count * kith_dtype_bytes(filling->task->dtype);
    if (filling->rows->column_stride != 1)
        store_strided(filling, values, count, to, filling->rows->column_stride);
    else
        memcpy(to, values, (size_t)bytes);
}

/* The same to where it belongs, past the caches. */
static void stream(const struct filling *filling, int64_t row, int64_t first, int64_t count,
                   void *buffer)
{
    filling->kernels.fill(&filling->task->problem, row, first, count, buffer,
                          element_of(filling, row, first));
}

static void fill_task(void *argument, int64_t k)
{
    const struct filling *filling = argument;
    const int64_t begin = filling->rows->first + k * rows_a_task;
    const int64_t end = least_of(begin + rows_a_task, filling->rows->first + filling->rows->count);
    const int64_t columns = filling->task->problem.columns.count;
    _Alignas(64) double buffer[matrix_chunk];
    for (int64_t first = 0; first < columns; first += matrix_chunk) {
        const int64_t count = least_of(matrix_chunk, columns - first);
        for (int64_t row = begin; row < end; row++) {
            if (filling->streams) {
                stream(filling, row, first, count, buffer);
                continue;
            }
            compute(filling, row, first, count, buffer);
            store(filling, buffer, row, first, count);
        }
    }
}

/* Tiles of this side are computed once, and written as they are and transposed. */
enum { side = 64 };

/* Row k of tiles, from the diagonal on. */
static void symmetric_task(void *argument, int64_t k)
{
    const struct filling *filling = argument;
    const int64_t n = filling->task->problem.rows.count, i0 = k * side;
    const int64_t height = least_of(side, n - i0), each = kith_dtype_bytes(filling->task->dtype);
    _Alignas(64) double buffer[side * side];
    char *tile = (char *)buffer;
    for (int64_t j0 = i0; j0 < n && !kith_context_stops(filling->context); j0 += side) {
        const int64_t width = least_of(side, n - j0);
        for (int64_t r = 0; r < height; r++) {
            compute(filling, i0 + r, j0, width, tile + r * side * each);
            if (j0 > i0)
                store(filling, tile + r * side * each, i0 + r, j0, width);
        }
        for (int64_t r = 0; j0 > i0 && r < width; r++) {
            char column[side * sizeof(double)];
            for (int64_t c = 0; c < height; c++)
                memcpy(column + c * each, tile + (c * side + r) * each, (size_t)each);
            store(filling, column, j0 + r, i0, height);
        }
        for (int64_t r = 0; j0 == i0 && r < height; r++) { /* the diagonal's own tile */
            for (int64_t c = 0; c < r; c++)
                memcpy(tile + (r * side + c) * each, tile + (c * side + r) * each, (size_t)each);
            store(filling, tile + r * side * each, i0 + r, j0, width);
        }
    }
}

static kith_status fill(kith_context *context, const struct matrix_task *task,
                        const struct matrix_rows *rows)
{
    struct filling filling = {.context = context, .task = task, .rows = rows};
    const int64_t columns = task->problem.columns.count;
    if (rows->count == 0 || columns == 0)
        return KITH_OK;
    KITH_TRY(find_kernels(context, task, &filling.kernels));
    const double pairs = (double)rows->count * (double)columns;
    filling.streams = rows->column_stride == 1 &&
                      pairs * (double)kith_dtype_bytes(task->dtype) > (double)streamed_bytes;
    if (rows->symmetric)
        return run(context, pairs, (rows->count + side - 1) / side, symmetric_task, &filling);
    return run(context, pairs, (rows->count + rows_a_task - 1) / rows_a_task, fill_task, &filling);
}

struct reducing {
    const kith_context *context;
    const struct matrix_task *task;
    const struct matrix_reduction *reduction;
    struct kernels kernels;
    int64_t row_tasks, part_columns;
    double *found; /* parts × rows */
    int64_t *at;
};

/* Rows of one task against one part of the columns. */
static void reduce_task(void *argument, int64_t k)
{
    const struct reducing *reducing = argument;
    const struct matrix_problem *problem = &reducing->task->problem;
    const int64_t n = problem->rows.count, part = k / reducing->row_tasks;
    const int64_t begin = k % reducing->row_tasks * rows_a_task;
    const int64_t from = part * reducing->part_columns;
    const int64_t to = least_of(from + reducing->part_columns, problem->columns.count);
    const bool sums = reducing->reduction->operation == matrix_sum;
    double found[rows_a_task];
    long long at[rows_a_task];
    for (int r = 0; r < rows_a_task; r++) {
        found[r] = sums ? 0 : INFINITY;
        at[r] = -1;
    }
    for (int64_t first = from; first < to; first += matrix_chunk) {
        const int64_t count = least_of(matrix_chunk, to - first);
        if (first % columns_between_looks == 0 && kith_context_stops(reducing->context))
            return;
        for (int r = 0; r < rows_a_task && begin + r < n; r += matrix_rows_at_once)
            if (sums)
                reducing->kernels.sum(problem, begin + r, first, count, found + r);
            else
                reducing->kernels.least(problem, reducing->reduction->sign, begin + r, first, count,
                                        found + r, at + r);
    }
    for (int r = 0; r < rows_a_task && begin + r < n; r++) {
        reducing->found[part * n + begin + r] = found[r];
        if (reducing->at)
            reducing->at[part * n + begin + r] = at[r];
    }
}

/* The parts of each row, in their order. */
static void put_together(const struct reducing *reducing, int64_t parts, double *found, int64_t *at)
{
    const int64_t n = reducing->task->problem.rows.count;
    for (int64_t i = 0; i < n; i++) {
        found[i] = reducing->found[i];
        if (at)
            at[i] = reducing->at[i];
        for (int64_t part = 1; part < parts; part++) {
            const double other = reducing->found[part * n + i];
            if (!at) {
                found[i] += other;
            } else if (other < found[i]) {
                found[i] = other;
                at[i] = reducing->at[part * n + i];
            }
        }
    }
}

static kith_status reduce(kith_context *context, const struct matrix_task *task,
                          const struct matrix_reduction *reduction, double *found, int64_t *at)
{
    const int64_t n = task->problem.rows.count, m = task->problem.columns.count;
    struct reducing reducing = {.context = context, .task = task, .reduction = reduction};
    void *memory = NULL;
    if (n == 0)
        return KITH_OK;
    KITH_TRY(find_kernels(context, task, &reducing.kernels));
    reducing.row_tasks = (n + rows_a_task - 1) / rows_a_task;
    int64_t parts = least_of((least_tasks + reducing.row_tasks - 1) / reducing.row_tasks,
                             (m + least_columns - 1) / least_columns);
    parts = parts > 0 ? parts : 1;
    reducing.part_columns =
        ((m + parts - 1) / parts + matrix_chunk - 1) / matrix_chunk * matrix_chunk;
    KITH_TRY(cpu_scratch(context, parts * n * (int64_t)(at ? 16 : 8), &memory));
    reducing.found = memory;
    reducing.at = at ? (int64_t *)memory + parts * n : NULL;
    KITH_TRY(
        run(context, (double)n * (double)m, reducing.row_tasks * parts, reduce_task, &reducing));
    put_together(&reducing, parts, found, at);
    return KITH_OK;
}

struct counting {
    struct filling filling;
    struct matrix_histogram range;
    int64_t tasks;
    int64_t *counts; /* tasks × bins */
};

/* Every tasks-th row; of one set, only what is right of the diagonal, and that if it counts. */
static void count_task(void *argument, int64_t k)
{
    const struct counting *counting = argument;
    const struct matrix_problem *problem = &counting->filling.task->problem;
    const struct matrix_histogram range = counting->range;
    int64_t *counts = counting->counts + k * range.bins;
    _Alignas(64) double buffer[matrix_chunk];
    for (int64_t i = k; i < problem->rows.count; i += counting->tasks) {
        const int64_t begin = problem->same ? i + problem->leaves_diagonal_out : 0;
        if (kith_context_stops(counting->filling.context))
            return;
        for (int64_t first = begin / matrix_chunk * matrix_chunk; first < problem->columns.count;
             first += matrix_chunk) {
            const int64_t count = least_of(matrix_chunk, problem->columns.count - first);
            counting->filling.kernels.fill(problem, i, first, count, buffer, NULL);
            for (int64_t c = begin > first ? begin - first : 0; c < count; c++) {
                const double value = counting->filling.task->dtype == KITH_F64
                                         ? buffer[c]
                                         : (double)((const float *)(const void *)buffer)[c];
                const int64_t bin = matrix_bin(&range, value);
                if (bin >= 0)
                    counts[bin]++;
            }
        }
    }
}

static kith_status histogram(kith_context *context, const struct matrix_task *task,
                             const struct matrix_histogram *range, int64_t *counts)
{
    struct counting counting = {.filling = {.context = context, .task = task}, .range = *range};
    const int64_t bytes = range->bins * (int64_t)sizeof *counts, most = 64 << 20;
    void *memory = NULL;
    memset(counts, 0, (size_t)bytes);
    KITH_TRY(find_kernels(context, task, &counting.filling.kernels));
    counting.tasks = least_of((int64_t)context->threads * 4, most / bytes);
    counting.tasks = counting.tasks > 0 ? counting.tasks : 1;
    KITH_TRY(cpu_scratch(context, counting.tasks * bytes, &memory));
    counting.counts = memory;
    memset(memory, 0, (size_t)(counting.tasks * bytes));
    KITH_TRY(run(context, (double)task->problem.rows.count * (double)task->problem.columns.count,
                 counting.tasks, count_task, &counting));
    for (int64_t k = 0; k < counting.tasks * range->bins; k++)
        counts[k % range->bins] += counting.counts[k];
    return KITH_OK;
}

const struct matrix_backend matrix_cpu = {.fill = fill,
                                          .reduce = reduce,
                                          .histogram = histogram,
                                          .pack = matrix_pack_cpu,
                                          .deliver = matrix_deliver_cpu};
