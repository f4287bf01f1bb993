/* Particles on a GPU, wrapped into the cell and sorted; and their results. */

#include "mesh/numbers_cuda.cuh"
#include "mesh/place_cuda.cuh"
#include "mesh/sum_cuda.cuh"
#include "sort/search.h"
#include "sort/sort.h"

/* Of a block that fills in splines. */
enum { spline_threads = 128 };

/* The point of the grid along an axis where the splines of a particle begin, and how far beyond it
 * it is. */
static __device__ int locate(const struct pme_cuda_problem &problem, const double x[3], int c,
                             double *offset)
{
    const int count = problem.grid[c];
    const double at = __dmul_rn(pairs_fraction(&problem.lattice, x, c), (double)count);
    const double whole = floor(at);
    const int first = (int)whole % count;
    *offset = at - whole - 0.5;
    return first < 0 ? first + count : first;
}

static __device__ int64_t cell_of(const struct pme_cuda_problem &problem, const double x[3])
{
    int cell[3];
    for (int c = 0; c < 3; c++) {
        const int count = problem.cells.count[c];
        const double at = __dmul_rn(pairs_fraction(&problem.lattice, x, c), (double)count);
        const int k = at > 0 ? (int)at : 0;
        cell[c] = k < count ? k : count - 1;
    }
    return pme_cuda_cell_number(&problem.cells, cell);
}

template <typename real>
static __global__ void __launch_bounds__(threads) number(const struct pme_cuda_problem problem)
{
    double weights = 0;
    for (int64_t row = own_number(); row < problem.count; row += pme_cuda_parts * threads) {
        struct pme_cuda_place place;
        double offset;
        if (!load<real>(problem, row, &place))
            *problem.is_bad = 1;
        weights += place.w;
        if (problem.has_near)
            problem.keys[0][row] = (uint64_t)cell_of(problem, place.x);
        int64_t block = 0;
        for (int c = 0; c < 3 && problem.has_far; c++)
            block = block * blocks_along(problem.grid[c]) +
                    locate(problem, place.x, c, &offset) / blocks_edge;
        if (problem.has_far)
            problem.keys[1][row] = (uint64_t)block;
    }
    weights = sum_of_block<threads>(weights);
    if (threadIdx.x == 0)
        problem.parts[blockIdx.x] = weights;
}

/* The first slot of each cell, or of one behind. */
static __global__ void __launch_bounds__(threads)
    find_begins(int64_t cells, int64_t count, const uint64_t *keys, int32_t *begin)
{
    const int64_t cell = own_number();
    if (cell <= cells)
        begin[cell] = (int32_t)search_64((const int64_t *)keys, 0, count, cell);
}

template <typename real, typename of_pairs>
static __global__ void __launch_bounds__(threads) fill_places(const struct pme_cuda_problem problem)
{
    const int64_t slot = own_number();
    struct pme_cuda_place place;
    if (slot >= problem.count)
        return;
    load<real>(problem, problem.order_of[0][slot], &place);
    for (int c = 0; c < 3; c++)
        place.x[c] *= problem.per_cutoff;
    ((struct pair_place<of_pairs> *)problem.places)[slot] =
        pair_place_of<of_pairs>(problem, place.x, place.w);
}

/* A thread for each particle; what they find is written in the order of memory. */
template <typename real, typename of_mesh, int order>
static __global__ void __launch_bounds__(spline_threads)
    fill_splines(const struct pme_cuda_problem problem)
{
    enum { numbers = 3 * splines_most_order };
    __shared__ of_mesh table[order][splines_most_order];
    __shared__ of_mesh found[spline_threads][numbers + 1];
    for (int k = (int)threadIdx.x; k < order * splines_most_order; k += spline_threads)
        table[k / splines_most_order][k % splines_most_order] =
            ((const of_mesh *)problem.tables)[k];
    __syncthreads();
    const int64_t begin = (int64_t)blockIdx.x * spline_threads, slot = begin + threadIdx.x;
    const int64_t left = problem.count - begin;
    struct pme_cuda_place place;
    int32_t in_block = 0;
    if (slot < problem.count)
        load<real>(problem, problem.order_of[1][slot], &place);
    for (int c = 0; c < 3 && slot < problem.count; c++) {
        double offset;
        in_block |= locate(problem, place.x, c, &offset) % blocks_edge << 8 * c;
        const of_mesh t = (of_mesh)offset, factor = c == 0 ? (of_mesh)place.w : (of_mesh)1;
        of_mesh value[splines_most_order];
#pragma unroll
        for (int m = order - 1; m >= 0; m--)
#pragma unroll
            for (int k = 0; k < splines_most_order; k++)
                value[k] = m == order - 1 ? table[m][k] : fma(value[k], t, table[m][k]);
#pragma unroll
        for (int k = 0; k < splines_most_order; k++)
            found[threadIdx.x][c * splines_most_order + k] = factor * value[k];
        ((of_mesh *)problem.offset[c])[slot] = t;
    }
    if (slot < problem.count)
        problem.first[slot] = in_block;
    __syncthreads();
    const int all = (int)(left < spline_threads ? left : spline_threads) * numbers;
    of_mesh *to = (of_mesh *)problem.value + begin * numbers;
    for (int k = (int)threadIdx.x; k < all; k += spline_threads)
        to[k] = found[k / numbers][k % numbers];
}

template <typename real, typename of_mesh>
static void start_filling(const struct pme_cuda_problem &problem)
{
    using kernel = void(const struct pme_cuda_problem);
    static kernel *const of_order[] = {
        fill_splines<real, of_mesh, 4>, fill_splines<real, of_mesh, 5>,
        fill_splines<real, of_mesh, 6>, fill_splines<real, of_mesh, 7>,
        fill_splines<real, of_mesh, 8>};
    const unsigned blocks = (unsigned)((problem.count + spline_threads - 1) / spline_threads);
    of_order[problem.order - pme_least_order]<<<blocks, spline_threads, 0, problem.stream>>>(
        problem);
}

static kith_status sort(kith_context *context, const struct pme_cuda_problem *problem, int k,
                        int64_t cells)
{
    int32_t bits = 1;
    while (cells >> bits)
        bits++;
    KITH_TRY(sort_keys_cuda(context, problem->count, bits, problem->keys[k], problem->order_of[k],
                            problem->sort_scratch));
    find_begins<<<blocks_for(cells + 1), threads, 0, cuda_stream(context)>>>(
        cells, problem->count, problem->keys[k], problem->begin[k]);
    return cuda_check_launch("finding the particles of cells");
}

template <typename real>
static kith_status arrange(kith_context *context, const struct pme_cuda_problem *problem)
{
    const cudaStream_t stream = cuda_stream(context);
    KITH_TRY(cuda_check(cudaMemsetAsync(problem->is_bad, 0, sizeof *problem->is_bad, stream),
                        "sorting particles"));
    number<real><<<pme_cuda_parts, threads, 0, stream>>>(*problem);
    KITH_TRY(cuda_check_launch("numbering cells"));
    return problem->has_far ? sort(context, problem, 1, pme_cuda_block_count(problem)) : KITH_OK;
}

kith_status pme_cuda_arrange(kith_context *context, const struct pme_cuda_problem *problem)
{
    return problem->dtype == KITH_F64 ? arrange<double>(context, problem)
                                      : arrange<float>(context, problem);
}

template <typename real>
static kith_status arrange_near(kith_context *context, const struct pme_cuda_problem *problem)
{
    KITH_TRY(pme_cuda_add_parts(cuda_stream(context), pme_cuda_parts, 1, problem->parts,
                                problem->totals + pme_cuda_weights));
    if (!problem->has_near)
        return cuda_check(cudaMemsetAsync(problem->sums, 0,
                                          (size_t)problem->count * sizeof *problem->sums,
                                          cuda_stream(context)),
                          "sorting particles");
    KITH_TRY(sort(context, problem, 0, problem->cells.total));
    auto *const fill =
        problem->pair_dtype == KITH_F64 ? fill_places<real, double> : fill_places<real, float>;
    fill<<<blocks_for(problem->count), threads, 0, cuda_stream(context)>>>(*problem);
    return cuda_check_launch("sorting particles");
}

kith_status pme_cuda_arrange_near(kith_context *context, const struct pme_cuda_problem *problem)
{
    return problem->dtype == KITH_F64 ? arrange_near<double>(context, problem)
                                      : arrange_near<float>(context, problem);
}

kith_status pme_cuda_fill_splines(const struct pme_cuda_problem *problem)
{
    const bool is_double = problem->dtype == KITH_F64;
    if (problem->mesh_dtype == KITH_F64)
        is_double ? start_filling<double, double>(*problem)
                  : start_filling<float, double>(*problem);
    else
        is_double ? start_filling<double, float>(*problem) : start_filling<float, float>(*problem);
    return cuda_check_launch("finding splines");
}

template <typename real>
static __device__ void put(const struct pme_delivery &to, bool is_bad, void *column, int64_t at,
                           double result)
{
    if (!column)
        return;
    real *const there = (real *)column + at;
    const double whole = to.adds ? (double)*there + result : result + 0.0;
    *there = (real)(is_bad ? nan("") : whole);
}

template <typename real> static __device__ double column_at(const void *column, int64_t row)
{
    return column ? (double)((const real *)column)[row] : 1;
}

template <typename real>
static __global__ void __launch_bounds__(threads) deliver(const struct pme_cuda_problem problem)
{
    const struct pme_delivery &to = problem.delivery;
    const double pi = 3.14159265358979323846;
    const double background = problem.has_far ? -pi * problem.totals[pme_cuda_weights] /
                                                    (problem.volume * problem.alpha * problem.alpha)
                                              : 0;
    const bool is_bad = *problem.is_bad || (to.bad && *to.bad);
    double energy = 0, forces = 0;
    for (int64_t row = own_number(); row < problem.count; row += pme_cuda_parts * threads) {
        double sum[4];
        for (int k = 0; k < 4; k++)
            sum[k] = problem.sums[row][k] + (problem.has_far ? problem.of_mesh[row][k] : 0);
        const double potential = sum[0] + background, w = column_at<real>(problem.weight, row);
        const double of_potential = to.strength * column_at<real>(to.weight, row);
        const double of_gradient = of_potential / column_at<real>(to.mass, row);
        put<real>(to, is_bad, to.potential, row * to.potential_stride, of_potential * potential);
        for (int c = 0; c < 3; c++)
            put<real>(to, is_bad, to.acceleration[c], row * to.acceleration_stride,
                      -of_gradient * sum[1 + c]);
        energy += 0.5 * w * potential;
        forces += w * w * (sum[1] * sum[1] + sum[2] * sum[2] + sum[3] * sum[3]);
    }
    if (!to.wants_totals)
        return;
    energy = sum_of_block<threads>(energy);
    forces = sum_of_block<threads>(forces);
    if (threadIdx.x == 0) {
        problem.parts[2 * blockIdx.x] = is_bad ? nan("") : energy;
        problem.parts[2 * blockIdx.x + 1] = forces;
    }
}

kith_status pme_cuda_deliver(kith_context *context, const struct pme_cuda_problem *problem)
{
    const cudaStream_t stream = cuda_stream(context);
    if (problem->dtype == KITH_F64)
        deliver<double><<<pme_cuda_parts, threads, 0, stream>>>(*problem);
    else
        deliver<float><<<pme_cuda_parts, threads, 0, stream>>>(*problem);
    KITH_TRY(cuda_check_launch("storing forces"));
    return problem->delivery.wants_totals
               ? pme_cuda_add_parts(stream, pme_cuda_parts, 2, problem->parts,
                                    problem->totals + pme_cuda_energy)
               : KITH_OK;
}

static __global__ void __launch_bounds__(threads)
    add_parts(int64_t blocks, int values, const double *parts, double *totals)
{
    double sum = 0;
    for (int64_t block = threadIdx.x; block < blocks; block += threads)
        sum += parts[block * values + blockIdx.x];
    sum = sum_of_block<threads>(sum);
    if (threadIdx.x == 0)
        totals[blockIdx.x] = sum;
}

kith_status pme_cuda_add_parts(cudaStream_t stream, int64_t blocks, int values, const double *parts,
                               double *totals)
{
    add_parts<<<(unsigned)values, threads, 0, stream>>>(blocks, values, parts, totals);
    return cuda_check_launch("adding up totals");
}
