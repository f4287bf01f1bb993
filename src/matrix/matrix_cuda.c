/* The interaction matrix on a GPU: what kernels are started, by a law of the table or a formula. */

#include <math.h>

#include "device/context.h"
#include "device/cuda_state.h"
#include "law/compiled_cuda.h"
#include "matrix/backend.h"
#include "matrix/cuda.h"
#include "matrix/gaussian_cuda.h"
#include "matrix/grid.h"

/* Reductions share the columns of few rows among blocks, of which a multiprocessor is to have so
 * many in all; a part has this many columns at least, fewer if the device would be idle, and few
 * enough that 32 bits count its values. */
enum {
    blocks_a_multiprocessor = 128,
    blocks_when_idle = 4,
    least_columns = 1024,
    least_columns_when_idle = 128,
    most_columns = 1 << 23
};

enum { default_block_p = 64, default_block_p2 = 16 };

static kith_status launch_custom(kith_context *context, const struct matrix_task *task,
                                 const char *in_float, const char *in_double,
                                 const struct law_launch *launch, void *argument, const char *what)
{
    void *kernel = NULL;
    struct matrix_problem problem = task->problem;
    void *arguments[] = {&problem, argument};
    KITH_TRY(law_compile_cuda(context, task->law, "matrix/matrix_kernel_cuda.cuh",
                              task->dtype == KITH_F32 ? in_float : in_double, &kernel));
    return law_launch_cuda(context, kernel, launch, arguments, what);
}

static kith_status fill_custom(kith_context *context, const struct matrix_task *task,
                               const struct matrix_target *to, bool symmetric)
{
    const struct matrix_grid grid = matrix_fill_grid(&task->problem, to, task->dtype, symmetric);
    const struct law_launch launch = {{grid.x, grid.y, 1}, {matrix_fill_threads, 1, 1}, 0};
    struct matrix_target target = *to;
    return launch_custom(context, task,
                         symmetric ? "matrix_symmetric_custom_float" : "matrix_fill_custom_float",
                         symmetric ? "matrix_symmetric_custom_double" : "matrix_fill_custom_double",
                         &launch, &target, "filling the matrix");
}

/* Threads of a tile: those requested, or what kith tune has found, or else the usual ones. */
static int32_t block_p(const kith_context *context, int32_t wanted)
{
    const int32_t tuned = (int32_t)context->tuning.matrix_block;
    return wanted ? wanted : tuned ? tuned : default_block_p;
}

/* Other kernels have three axes. */
static kith_status check_axes(const struct matrix_problem *problem)
{
    return problem->more_axes == 0
               ? KITH_OK
               : kith_fail(KITH_UNSUPPORTED,
                           "positions have %d columns, and a matrix on a GPU takes at most 3, but "
                           "for sums of a Gaussian in single precision on a GPU of compute "
                           "capability 8.0 or later; compute on the CPU",
                           3 + problem->more_axes);
}

static kith_status fill(kith_context *context, const struct matrix_task *task,
                        const struct matrix_rows *rows)
{
    const int64_t each = kith_dtype_bytes(task->dtype);
    const struct matrix_target to = {.values = rows->values,
                                     .first = rows->first,
                                     .rows = rows->count,
                                     .row_stride = rows->row_stride,
                                     .column_stride = rows->column_stride,
                                     .is_aligned = (uintptr_t)rows->values % 16 == 0 &&
                                                   rows->row_stride * each % 16 == 0};
    if (rows->count == 0 || task->problem.columns.count == 0)
        return KITH_OK;
    KITH_TRY(check_axes(&task->problem));
    if (rows->method == KITH_MATRIX_TILE_P)
        return matrix_tile_p_cuda(context, task, &to, block_p(context, rows->block));
    if (rows->method == KITH_MATRIX_TILE_P2)
        return matrix_tile_p2_cuda(context, task, &to,
                                   rows->block ? rows->block : default_block_p2);
    return task->kind == law_custom ? fill_custom(context, task, &to, rows->symmetric)
                                    : matrix_fill_cuda(context, task, &to, rows->symmetric);
}

static kith_status reduce_custom(kith_context *context, const struct matrix_task *task,
                                 const struct matrix_parts *parts, enum matrix_operation operation,
                                 int64_t part_count)
{
    const int64_t blocks =
        (task->problem.rows.count + matrix_reduce_block_rows - 1) / matrix_reduce_block_rows;
    const struct law_launch launch = {
        {(uint32_t)blocks, (uint32_t)part_count, 1}, {matrix_reduce_threads, 1, 1}, 0};
    const bool sums = operation == matrix_sum;
    struct matrix_parts copy = *parts;
    return launch_custom(context, task,
                         sums ? "matrix_sum_custom_float" : "matrix_least_custom_float",
                         sums ? "matrix_sum_custom_double" : "matrix_least_custom_double", &launch,
                         &copy, "reducing the rows of the matrix");
}

static int64_t parts_for(kith_context *context, const struct matrix_problem *problem,
                         int64_t of_block, int64_t most, int64_t *columns)
{
    const int64_t blocks = (problem->rows.count + of_block - 1) / of_block;
    const int64_t multiprocessors = cuda_multiprocessors(context);
    const bool is_idle =
        blocks * (problem->columns.count / least_columns + 1) < multiprocessors * blocks_when_idle;
    const int64_t least = is_idle ? least_columns_when_idle : least_columns;
    const int64_t at_all = is_idle ? blocks_when_idle : blocks_a_multiprocessor;
    const int64_t wanted = (multiprocessors * at_all + blocks - 1) / blocks;
    const int64_t possible = (problem->columns.count + least - 1) / least;
    const int64_t needed = problem->columns.count / most_columns + 1;
    int64_t parts = wanted < possible ? wanted : possible;
    parts = parts > needed ? parts : needed;
    parts = parts < 1 ? 1 : parts < most ? parts : most;
    *columns = ((problem->columns.count + parts - 1) / parts + matrix_histogram_threads - 1) /
               matrix_histogram_threads * matrix_histogram_threads;
    *columns = *columns > 0 ? *columns : matrix_histogram_threads;
    parts = (problem->columns.count + *columns - 1) / *columns;
    return parts > 0 ? parts : 1;
}

static struct gaussian_points points_of(const struct matrix_side *side, int more_axes)
{
    struct gaussian_points points = {
        .count = side->count, .stride = 1, .x = {side->x[0], side->x[1], side->x[2]}};
    for (int c = 0; c < more_axes; c++)
        points.x[3 + c] = (const float *)side->more_axes + c * side->stride;
    return points;
}

/* Sums of a Gaussian in float, whose exponent is r² times the law's first number. */
static bool is_gaussian(const struct matrix_task *task, const struct matrix_reduction *reduction,
                        struct gaussian_sums *sums)
{
    const struct matrix_problem *problem = &task->problem;
    if (task->kind != law_gaussian || task->dtype != KITH_F32 || reduction->operation != matrix_sum)
        return false;
    *sums = (struct gaussian_sums){.axes = 3 + problem->more_axes,
                                   .same = problem->same,
                                   .leaves_out_self = problem->replaces_diagonal,
                                   .root = sqrt(-problem->numbers.c[0]),
                                   .factor = exp2(problem->numbers.c[0] * problem->softening2),
                                   .rows = points_of(&problem->rows, problem->more_axes),
                                   .columns = points_of(&problem->columns, problem->more_axes),
                                   .b = problem->columns.coefficient,
                                   .b_stride = 1};
    return true;
}

/* By tensor cores, where they can and are faster than other kernels, if these can. */
static bool is_for_tensor_cores(const struct matrix_task *task,
                                const struct matrix_reduction *reduction,
                                struct gaussian_sums *sums)
{
    return task->problem.columns.count > 0 && is_gaussian(task, reduction, sums) &&
           (task->problem.more_axes > 0 ? gaussian_serves_cuda(sums) : gaussian_suits_cuda(sums));
}

static kith_status reduce(kith_context *context, const struct matrix_task *task,
                          const struct matrix_reduction *reduction, double *found, int64_t *at)
{
    struct gaussian_sums sums;
    const int64_t n = task->problem.rows.count;
    struct matrix_parts parts = {.sign = reduction->sign};
    int64_t columns = 0;
    void *memory = NULL;
    if (n == 0)
        return KITH_OK;
    if (is_for_tensor_cores(task, reduction, &sums))
        return gaussian_sums_cuda(context, &sums, kith_array_vector(found, KITH_F64, n));
    if (task->problem.columns.count > 0)
        KITH_TRY(check_axes(&task->problem));
    const int64_t count = parts_for(context, &task->problem, matrix_reduce_block_rows,
                                    matrix_most_blocks_y, &columns);
    KITH_TRY(cuda_scratch(context, count * n * (int64_t)(at ? 16 : 8), &memory));
    parts.sum = memory;
    parts.at = at ? (long long *)memory + count * n : NULL;
    parts.columns = columns;
    KITH_TRY(task->kind == law_custom
                 ? reduce_custom(context, task, &parts, reduction->operation, count)
                 : matrix_reduce_cuda(context, task, &parts, reduction->operation, count));
    return matrix_combine_cuda(context, &parts, count, n, found, at);
}

static kith_status histogram(kith_context *context, const struct matrix_task *task,
                             const struct matrix_histogram *range, int64_t *counts)
{
    const int64_t n = task->problem.rows.count;
    int64_t columns = 0;
    KITH_TRY(cuda_check(
        cudaMemsetAsync(counts, 0, (size_t)range->bins * sizeof *counts, cuda_stream(context)),
        "clearing the bins"));
    if (n == 0 || task->problem.columns.count == 0)
        return KITH_OK;
    KITH_TRY(check_axes(&task->problem));
    const int64_t count = parts_for(context, &task->problem, matrix_histogram_threads,
                                    matrix_most_blocks_y, &columns);
    struct matrix_bins bins = {*range, (unsigned long long *)counts, columns};
    if (task->kind != law_custom)
        return matrix_histogram_cuda(context, task, &bins, count);
    const int64_t blocks = (n + matrix_histogram_threads - 1) / matrix_histogram_threads;
    const struct law_launch launch = {
        {(uint32_t)blocks, (uint32_t)count, 1}, {matrix_histogram_threads, 1, 1}, 0};
    return launch_custom(context, task, "matrix_histogram_custom_float",
                         "matrix_histogram_custom_double", &launch, &bins,
                         "counting the values of the matrix");
}

const struct matrix_backend matrix_cuda = {.fill = fill,
                                           .reduce = reduce,
                                           .histogram = histogram,
                                           .pack = matrix_pack_cuda,
                                           .deliver = matrix_deliver_cuda};
