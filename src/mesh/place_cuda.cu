/* Particles on a GPU, wrapped into the cell and sorted; and their results. */

#include "mesh/numbers_cuda.cuh"
#include "mesh/place_cuda.cuh"
#include "mesh/sum_cuda.cuh"
#include "sort/search.h"
#include "sort/sort.h"

enum { cells_of_block = 8 * threads };

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
        int64_t point = 0;
        for (int c = 0; c < 3 && problem.has_far; c++)
            point = point * problem.grid[c] + locate(problem, place.x, c, &offset);
        if (problem.has_far)
            problem.keys[1][row] = (uint64_t)point;
    }
    weights = sum_of_block<threads>(weights);
    if (threadIdx.x == 0)
        problem.parts[blockIdx.x] = weights;
}

/* The first slot of each cell, or of one behind: a block looks up where its cells begin and end. */
static __global__ void __launch_bounds__(threads)
    find_begins(int64_t cells, int64_t count, const uint64_t *keys, int32_t *begin)
{
    __shared__ int64_t bound[2];
    const int64_t first = (int64_t)blockIdx.x * cells_of_block;
    if (threadIdx.x < 2)
        bound[threadIdx.x] = search_64((const int64_t *)keys, 0, count,
                                       first + (int64_t)threadIdx.x * cells_of_block);
    __syncthreads();
    for (int64_t cell = first + threadIdx.x; cell < first + cells_of_block; cell += threads)
        if (cell <= cells)
            begin[cell] = (int32_t)search_64((const int64_t *)keys, bound[0], bound[1], cell);
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
        pair_place_of<of_pairs>(place.x, place.w, problem.step);
}

/* A thread for each point of the splines. */
template <typename real, typename of_mesh, int order>
static __global__ void __launch_bounds__(threads)
    fill_splines(const struct pme_cuda_problem problem)
{
    __shared__ of_mesh table[splines_most_order][splines_most_order];
    for (int k = (int)threadIdx.x; k < splines_most_order * splines_most_order; k += threads)
        table[k / splines_most_order][k % splines_most_order] =
            ((const of_mesh *)problem.tables)[k];
    __syncthreads();
    const int64_t slot = own_number() / splines_most_order;
    const int point = (int)threadIdx.x % splines_most_order;
    struct pme_cuda_place place;
    if (slot >= problem.count)
        return;
    load<real>(problem, problem.order_of[1][slot], &place);
    for (int c = 0; c < 3; c++) {
        double offset;
        const int first = locate(problem, place.x, c, &offset);
        const of_mesh t = (of_mesh)offset, factor = c == 0 ? (of_mesh)place.w : (of_mesh)1;
        of_mesh value = table[order - 1][point];
#pragma unroll
        for (int m = order - 2; m >= 0; m--)
            value = fma(value, t, table[m][point]);
        ((of_mesh *)problem.value)[(3 * slot + c) * splines_most_order + point] = factor * value;
        if (point > 0)
            continue;
        ((of_mesh *)problem.offset[c])[slot] = t;
        if (c == 2)
            problem.first[slot] = first;
    }
}

template <typename real, typename of_mesh>
static void start_filling(cudaStream_t stream, const struct pme_cuda_problem &problem)
{
    using kernel = void(const struct pme_cuda_problem);
    static kernel *const of_order[] = {
        fill_splines<real, of_mesh, 4>, fill_splines<real, of_mesh, 5>,
        fill_splines<real, of_mesh, 6>, fill_splines<real, of_mesh, 7>,
        fill_splines<real, of_mesh, 8>};
    const unsigned blocks = blocks_for(problem.count * splines_most_order);
    of_order[problem.order - pme_least_order]<<<blocks, threads, 0, stream>>>(problem);
}

static kith_status sort(kith_context *context, const struct pme_cuda_problem *problem, int k,
                        int64_t cells)
{
    int32_t bits = 1;
    while (cells >> bits)
        bits++;
    KITH_TRY(sort_keys_cuda(context, problem->count, bits, problem->keys[k], problem->order_of[k],
                            problem->sort_scratch));
    const unsigned blocks = (unsigned)(cells / cells_of_block + 1);
    find_begins<<<blocks, threads, 0, cuda_stream(context)>>>(cells, problem->count,
                                                              problem->keys[k], problem->begin[k]);
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
    KITH_TRY(pme_cuda_add_parts(context, pme_cuda_parts, 1, problem->parts,
                                problem->totals + pme_cuda_weights));
    if (problem->has_near) {
        KITH_TRY(sort(context, problem, 0, problem->cells.total));
        auto *const fill =
            problem->pair_dtype == KITH_F64 ? fill_places<real, double> : fill_places<real, float>;
        fill<<<blocks_for(problem->count), threads, 0, stream>>>(*problem);
        KITH_TRY(cuda_check_launch("sorting particles"));
    }
    if (!problem->has_far)
        return KITH_OK;
    KITH_TRY(
        sort(context, problem, 1, (int64_t)problem->grid[0] * problem->grid[1] * problem->grid[2]));
    if (problem->mesh_dtype == KITH_F64)
        start_filling<real, double>(stream, *problem);
    else
        start_filling<real, float>(stream, *problem);
    return cuda_check_launch("finding splines");
}

kith_status pme_cuda_arrange(kith_context *context, const struct pme_cuda_problem *problem)
{
    return problem->dtype == KITH_F64 ? arrange<double>(context, problem)
                                      : arrange<float>(context, problem);
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
        const double *sum = problem.sums[row];
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
               ? pme_cuda_add_parts(context, pme_cuda_parts, 2, problem->parts,
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

kith_status pme_cuda_add_parts(kith_context *context, int64_t blocks, int values,
                               const double *parts, double *totals)
{
    add_parts<<<(unsigned)values, threads, 0, cuda_stream(context)>>>(blocks, values, parts,
                                                                      totals);
    return cuda_check_launch("adding up totals");
}
