/* What the points of leaves get: from local expansions and from far multipoles. A warp has up to 32
 * targets of a leaf; if they are fewer, several lanes share one and the sources. */

#include "device/reals_cuda.cuh"
#include "tree/fixed_cuda.cuh"
#include "tree/m2p_cuda.cuh"

enum { threads = near_threads, warps = near_warps, chunks = near_chunks };

/* Where the results of leaves go whose first point is this one or a later one. */
template <typename real> struct finished {
    real4_of<real> *results;
    int32_t first;
};

/* Each warp of a block has the coefficients that its lanes read in shared memory. */
template <typename real, int room>
static __global__ void __launch_bounds__(threads)
    l2p(const struct expansion_shape shape, const struct octree_cell *cells, int32_t cell_count,
        struct octree_range range, const real4_of<real> *points, const real *records,
        const real *locals, const real4_of<real> *results, struct finished<real> finished)
{
    extern __shared__ char memory[];
    const int32_t index = (int32_t)(blockIdx.x * warps + threadIdx.x / 32);
    const int lane = threadIdx.x % 32;
    const int32_t length = extended_length(shape, 1);
    if (index >= cell_count || cells[index].children > 0)
        return;
    const struct octree_cell cell = cells[index];
    if (cell.first >= range.end || cell.first + cell.count <= range.first ||
        cell.first < finished.first)
        return;
    const int32_t begin = 32 * (int32_t)blockIdx.y;
    if (begin >= cell.count)
        return;
    const real *head = records + (int64_t)index * shape.record;
    const real inverse = 1 / head[3];
    const real *local = locals + (int64_t)index * shape.local;
    real *field = (real *)memory + (threadIdx.x / 32) * length;
    for_each_coefficient(shape.order + 1,
                         shape.max_c + 1 < shape.order + 1 ? shape.max_c + 1 : shape.order + 1,
                         [&](int32_t k, int32_t a, int32_t b, int32_t c) {
                             if (k % 32 == lane)
                                 field[k] = extended_coefficient(shape, local, a, b, c);
                         });
    __syncwarp();
    for (int32_t i = begin + lane; i < cell.count; i += 32 * chunks) {
        const real4_of<real> p = points[(int64_t)cell.first + i];
        const real d[3] = {(p.x - head[0]) * inverse, (p.y - head[1]) * inverse,
                           (p.z - head[2]) * inverse};
        real h[room], total[4];
        make_polynomials(shape, d, h);
        dot_field(shape, h, field, total);
        real4_of<real> result = results[(int64_t)cell.first + i];
        result.x = fma(total[1], inverse, result.x);
        result.y = fma(total[2], inverse, result.y);
        result.z = fma(total[3], inverse, result.z);
        result.w += total[0];
        finished.results[(int64_t)cell.first + i] = result;
    }
}

/* f_α, and f_{α + e} of the steps e in x, y and z, of a leaf's expansion: lane a of each row. */
template <typename known, typename real>
static __device__ __forceinline__ void
load_field(const struct expansion_shape &shape, const real *local, int lane, real4_of<real> *field)
{
    repeat<known::max_c + 1>([&](auto of_c) {
        repeat<known::order + 1 - decltype(of_c)::value>([&](auto of_b) {
            constexpr int c = decltype(of_c)::value, b = decltype(of_b)::value;
            if (lane <= known::order - b - c)
                field[known::row(b, c) + lane] = {
                    extended_coefficient(shape, local, lane, b, c),
                    extended_coefficient(shape, local, lane + 1, b, c),
                    extended_coefficient(shape, local, lane, b + 1, c),
                    extended_coefficient(shape, local, lane, b, c + 1)};
        });
    });
}

/* l2p of a constant order, without coefficients of a thread in memory. */
template <typename known, typename real>
static __global__ void __launch_bounds__(threads)
    l2p_fixed(const struct expansion_shape shape, const struct octree_cell *cells,
              int32_t cell_count, struct octree_range range, const real4_of<real> *points,
              const real *records, const real *locals, const real4_of<real> *results,
              struct finished<real> finished)
{
    __shared__ real4_of<real> of_warps[warps][known::count];
    const int32_t index = (int32_t)(blockIdx.x * warps + threadIdx.x / 32);
    const int32_t begin = 32 * (int32_t)blockIdx.y;
    const int lane = threadIdx.x % 32;
    if (index >= cell_count || cells[index].children > 0)
        return;
    const struct octree_cell cell = cells[index];
    if (begin >= cell.count || cell.first >= range.end || cell.first + cell.count <= range.first ||
        cell.first < finished.first)
        return;
    const real *head = records + (int64_t)index * shape.record;
    const real inverse = 1 / head[3];
    real4_of<real> *field = of_warps[threadIdx.x / 32];
    load_field<known>(shape, locals + (int64_t)index * shape.local, lane, field);
    __syncwarp();
    for (int32_t i = begin + lane; i < cell.count; i += 32 * chunks) {
        const real4_of<real> p = points[(int64_t)cell.first + i];
        const real d[3] = {(p.x - head[0]) * inverse, (p.y - head[1]) * inverse,
                           (p.z - head[2]) * inverse};
        real h[known::count] = {1};
        real4_of<real> total = {0, 0, 0, 0};
        make_fixed_polynomials<known>(d, h, [&](auto of_degree) {
            asm volatile("" ::: "memory"); /* what is read is not kept in registers */
            repeat<decltype(of_degree)::value + 1>([&](auto of_b) {
                constexpr int b = decltype(of_b)::value, left = decltype(of_degree)::value - b;
                repeat<(known::max_c < left ? known::max_c : left) + 1>([&](auto of_c) {
                    constexpr int c = decltype(of_c)::value, at = known::row(b, c) + left - c;
                    const real4_of<real> f = field[at];
                    total.x = fma(h[at], f.x, total.x);
                    total.y = fma(h[at], f.y, total.y);
                    total.z = fma(h[at], f.z, total.z);
                    total.w = fma(h[at], f.w, total.w);
                });
            });
        });
        real4_of<real> result = results[(int64_t)cell.first + i];
        result.x = fma(total.y, inverse, result.x);
        result.y = fma(total.z, inverse, result.y);
        result.z = fma(total.w, inverse, result.z);
        result.w += total.x;
        finished.results[(int64_t)cell.first + i] = result;
    }
}

kith_status tree_l2p_cuda(kith_context *context, const struct tree_points_cuda *points)
{
    const cudaStream_t stream = cuda_stream(context);
    const struct tree_expansions_cuda *expansions = points->expansions;
    const struct expansion_shape shape = expansion_shape_of(&expansions->expansion);
    const int32_t cells = points->targets->cell_count;
    return with_real_and_room(expansions->dtype, room_for(shape, 0), [&](auto of, auto room) {
        using real = decltype(of);
        const int64_t first = expansions->target_record;
        const size_t shared = warps * (size_t)extended_length(shape, 1) * sizeof(real);
        const dim3 grid(blocks_for(cells, warps), chunks);
        const real4_of<real> *target = (const real4_of<real> *)points->targets->point;
        const real *records = (const real *)expansions->records + first * shape.record;
        const real *locals = (const real *)expansions->locals + first * shape.local;
        const real4_of<real> *results = (const real4_of<real> *)points->results;
        const struct finished<real> finished = {
            (real4_of<real> *)points->finished, points->first_finished
        };
        if (!with_fixed_for_points<real>(shape, [&](auto known) {
                l2p_fixed<decltype(known), real><<<grid, threads, 0, stream>>>(
                    shape, points->targets->cell, cells, expansions->range, target, records, locals,
                    results, finished);
            }))
            l2p<real, decltype(room)::value><<<grid, threads, shared, stream>>>(
                shape, points->targets->cell, cells, expansions->range, target, records, locals,
                results, finished);
        return cuda_check_launch("evaluating the expansions of a tree");
    });
}

static __global__ void __launch_bounds__(threads)
    find_places(int64_t count, const uint32_t *order, uint32_t *place)
{
    const int64_t k = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (k < count)
        place[order[k]] = (uint32_t)k;
}

kith_status tree_find_places_cuda(cudaStream_t stream, const struct octree_cuda *tree,
                                  uint32_t *place)
{
    find_places<<<blocks_for(tree->count, threads), threads, 0, stream>>>(tree->count, tree->order,
                                                                          place);
    return cuda_check_launch("finding the places of points");
}

template <typename real>
static __global__ void __launch_bounds__(threads)
    order_results(int64_t count, const uint32_t *order, const real4_of<real> *results,
                  real4_of<real> *rows)
{
    const int64_t k = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (k < count)
        rows[order[k]] = results[k];
}

kith_status tree_order_results_cuda(cudaStream_t stream, const struct octree_cuda *tree,
                                    const void *results, void *rows)
{
    const unsigned blocks = blocks_for(tree->count, threads);
    if (tree->count == 0)
        return KITH_OK;
    if (tree->dtype == KITH_F64)
        order_results<double><<<blocks, threads, 0, stream>>>(
            tree->count, tree->order, (const real4_of<double> *)results, (real4_of<double> *)rows);
    else
        order_results<float><<<blocks, threads, 0, stream>>>(
            tree->count, tree->order, (const real4_of<float> *)results, (real4_of<float> *)rows);
    return cuda_check_launch("ordering the results of a tree");
}

template <typename real>
static __global__ void __launch_bounds__(threads)
    split_rows(int64_t count, const real4_of<real> *rows, real *x, real *y, real *z, real *w)
{
    const int64_t k = (int64_t)blockIdx.x * threads + threadIdx.x;
    if (k >= count)
        return;
    const real4_of<real> row = rows[k];
    x[k] = row.x;
    y[k] = row.y;
    z[k] = row.z;
    w[k] = row.w;
}

template <typename real>
static void split(cudaStream_t stream, int64_t count, const void *rows, void *const columns[4])
{
    split_rows<real><<<blocks_for(count, threads), threads, 0, stream>>>(
        count, (const real4_of<real> *)rows, (real *)columns[0], (real *)columns[1],
        (real *)columns[2], (real *)columns[3]);
}

kith_status tree_split_rows_cuda(cudaStream_t stream, kith_dtype dtype, int64_t count,
                                 const void *rows, void *const columns[4])
{
    if (count == 0)
        return KITH_OK;
    if (dtype == KITH_F64)
        split<double>(stream, count, rows, columns);
    else
        split<float>(stream, count, rows, columns);
    return cuda_check_launch("columns of a tree's points");
}

/* A warp a block of rows. */
static __global__ void __launch_bounds__(threads)
    copy_rows(const struct tree_rows *blocks, int64_t count, int32_t words, const uint32_t *from,
              uint32_t *to)
{
    const int64_t k = ((int64_t)blockIdx.x * threads + threadIdx.x) / 32;
    if (k >= count)
        return;
    const struct tree_rows block = blocks[k];
    for (int64_t i = threadIdx.x % 32; i < block.count * words; i += 32)
        to[block.to * words + i] = from[block.from * words + i];
}

kith_status tree_copy_rows_cuda(cudaStream_t stream, int64_t count, const struct tree_rows *blocks,
                                int64_t row_bytes, const void *from, void *to)
{
    if (count == 0)
        return KITH_OK;
    copy_rows<<<blocks_for(32 * count, threads), threads, 0, stream>>>(
        blocks, count, (int32_t)(row_bytes / (int64_t)sizeof(uint32_t)), (const uint32_t *)from,
        (uint32_t *)to);
    return cuda_check_launch("what other ranks need of a tree");
}

kith_status tree_m2p_cuda(kith_context *context, const struct tree_points_cuda *points,
                          const struct tree_batch *batch)
{
    const struct radial_of_powers powers = {};
    return points->expansions->expansion.bins
               ? tree_m2p_by_law_cuda(context, points, batch)
               : launch_m2p(cuda_stream(context), points, batch, powers);
}
