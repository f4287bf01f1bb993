/* Sums of a Gaussian with tensor cores: the order of their kernels (gaussian_cuda.cuh). */

#include <math.h>

#include "core/arena.h"
#include "core/status.h"
#include "device/tensor_cores_cuda.h"
#include "matrix/gaussian_cuda.cuh"
#include "sort/curve.h"

enum { threads = 256 };

/* Points beyond three dimensions are not sorted. */
struct sorting {
    struct sort_curve curve;
    float *x[3];
};

static void lay_out_sorting(struct arena *arena, int64_t count, int axes, struct sorting *sorting)
{
    sort_curve_take(arena, count, &sorting->curve);
    for (int c = 0; c < axes; c++)
        arena_take(arena, count, sizeof(float), &sorting->x[c]);
}

static void lay_out_side(struct arena *arena, int64_t count, int axes, struct gaussian_side *side)
{
    const int64_t tiles = (count + gaussian_tile - 1) / gaussian_tile;
    const int64_t padded = tiles * gaussian_tile, operands = padded * 2 * gaussian_parts(axes);
    side->count = count;
    side->tiles = tiles;
    side->order = NULL;
    if (axes <= 3)
        arena_take(arena, count, sizeof *side->order, &side->order);
    arena_take(arena, padded * axes, sizeof *side->x, &side->x);
    arena_take(arena, padded, sizeof *side->norm2, &side->norm2);
    arena_take(arena, padded, sizeof *side->b, &side->b);
    arena_take(arena, operands, sizeof *side->row, &side->row);
    arena_take(arena, operands, sizeof *side->column, &side->column);
    arena_take(arena, tiles, sizeof *side->box, &side->box);
}

static int64_t bytes_of_sums(const struct gaussian_problem *problem)
{
    return gaussian_levels * problem->rows.tiles * gaussian_tile * (int64_t)sizeof(uint64_t);
}

static void lay_out(struct arena *arena, const struct gaussian_sums *sums,
                    struct gaussian_problem *problem, struct sorting *sorting)
{
    const int64_t n = sums->rows.count, m = sums->columns.count;
    if (sums->axes <= 3)
        lay_out_sorting(arena, n > m ? n : m, sums->axes, sorting);
    lay_out_side(arena, m, sums->axes, &problem->columns);
    problem->rows = problem->columns;
    if (!sums->same)
        lay_out_side(arena, n, sums->axes, &problem->rows);
    arena_take(arena, 1, sizeof *problem->scale, &problem->scale);
    problem->sum = (unsigned long long *)arena_take(arena, bytes_of_sums(problem), 1);
}

static __global__ void __launch_bounds__(threads)
    copy_column(int64_t count, const float *from, int64_t stride, float *to)
{
    const int64_t k = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (k < count)
        to[k] = from[k * stride];
}

/* Bits of a place on the curve, by which points are sorted: tiles need no more. */
enum { key_bits = 30 };

/* On a line, which Morton keys do not have, both axes are the same. */
static kith_status sort_points(kith_context *context, int axes,
                               const struct gaussian_points *points, const struct sorting *sorting,
                               uint32_t *order)
{
    const int64_t count = points->count;
    const unsigned blocks = (unsigned)((count + threads - 1) / threads);
    const int dimensions = axes > 2 ? axes : 2;
    struct sort_points to_sort = {KITH_F32, dimensions, count, {NULL, NULL, NULL}};
    if (axes > 3)
        return KITH_OK;
    for (int c = 0; c < axes; c++) {
        to_sort.position[c] = points->x[c];
        if (points->stride == 1)
            continue;
        copy_column<<<blocks, threads, 0, cuda_stream(context)>>>(count, points->x[c],
                                                                  points->stride, sorting->x[c]);
        to_sort.position[c] = sorting->x[c];
    }
    if (axes == 1)
        to_sort.position[1] = to_sort.position[0];
    KITH_TRY(cuda_check_launch("sorting points along a curve"));
    return sort_along_curve_cuda(context, &to_sort, key_bits, &sorting->curve, order);
}

template <typename real>
static __global__ void __launch_bounds__(threads)
    deliver_sums(const struct gaussian_problem problem, double factor, real *found, int64_t stride)
{
    const int64_t k = (int64_t)blockIdx.x * threads + threadIdx.x;
    const int64_t length = problem.rows.tiles * gaussian_tile;
    if (k >= problem.rows.count)
        return;
    double sum = 0;
    for (int level = gaussian_levels - 1; level >= 0; level--)
        sum = sum * (double)(1 << gaussian_level_bits) +
              (double)(long long)problem.sum[level * length + k];
    const int64_t i = problem.rows.order ? problem.rows.order[k] : k;
    found[i * stride] = (real)(sum * factor / (double)*problem.scale);
}

/* Sorting and packing take as long as this many pairs, of one set and of two. */
enum { least_of_one = 32768, least_of_two = 131072, most_points = 1 << 27 };

bool gaussian_serves_cuda(const struct gaussian_sums *sums)
{
    return sums->rows.count <= most_points && sums->columns.count <= most_points &&
           cuda_has_tensor_cores() && sums->root > 0x1p-100 && sums->root < 0x1p100;
}

bool gaussian_suits_cuda(const struct gaussian_sums *sums)
{
    const double n = (double)sums->rows.count, m = (double)sums->columns.count;
    const double least = sums->same ? least_of_one : least_of_two;
    return n * m >= least * least && gaussian_serves_cuda(sums);
}

kith_status gaussian_sums_cuda(kith_context *context, const struct gaussian_sums *sums,
                               kith_array found)
{
    struct gaussian_problem problem = {};
    struct sorting sorting = {};
    struct arena arena = {NULL, 0};
    void *memory = NULL;
    lay_out(&arena, sums, &problem, &sorting);
    KITH_TRY(cuda_scratch(context, arena.used, &memory));
    arena = {(char *)memory, 0};
    lay_out(&arena, sums, &problem, &sorting);
    problem.axes = sums->axes;
    problem.leaves_out_self = sums->leaves_out_self;
    problem.root = (float)sums->root;
    KITH_TRY(sort_points(context, sums->axes, &sums->columns, &sorting, problem.columns.order));
    if (!sums->same)
        KITH_TRY(sort_points(context, sums->axes, &sums->rows, &sorting, problem.rows.order));
    KITH_TRY(cuda_check(
        cudaMemsetAsync(problem.sum, 0, (size_t)bytes_of_sums(&problem), cuda_stream(context)),
        "clearing sums"));
    KITH_TRY(gaussian_pack(context, sums, &problem));
    KITH_TRY(gaussian_meet(context, &problem, sums->same));
    const unsigned blocks = (unsigned)((sums->rows.count + threads - 1) / threads);
    const double unit = ldexp(sums->factor, -gaussian_unit_bits);
    if (found.dtype == KITH_F32)
        deliver_sums<<<blocks, threads, 0, cuda_stream(context)>>>(
            problem, unit, (float *)found.data, found.strides[0]);
    else
        deliver_sums<<<blocks, threads, 0, cuda_stream(context)>>>(
            problem, unit, (double *)found.data, found.strides[0]);
    return cuda_check_launch("delivering sums of a Gaussian");
}
