/* Wraps points into the cell and sorts them into its buckets, on a GPU. */

#include <string.h>

#include "device/cuda_state.h"
#include "device/warp.cuh"
#include "forces/cutoff_points_cuda.cuh"
#include "forces/deliver_cuda.cuh"
#include "sort/search.h"
#include "sort/sort.h"

namespace cutoff_points
{

enum { bounding_blocks = 512 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Numbers whose order is that of the doubles. */
static __device__ unsigned long long ordered_bits(unsigned long long bits)
{
    const unsigned long long sign = 1ULL << 63;
    return bits & sign ? ~bits : bits | sign;
}

static double number_of(unsigned long long ordered)
{
    const unsigned long long sign = 1ULL << 63;
    const unsigned long long bits = ordered & sign ? ordered & ~sign : ~ordered;
    double number;
    memcpy(&number, &bits, sizeof number);
    return number;
}

static __device__ unsigned long long bits_of(double number)
{
    return ordered_bits((unsigned long long)__double_as_longlong(number));
}

struct columns {
    const void *position[3];
    void *to[3];
};

static struct columns columns_of(const struct side &side, void *const *to)
{
    struct columns columns;
    for (int c = 0; c < 3; c++) {
        columns.position[c] = side.position[c];
        columns.to[c] = to[c];
    }
    return columns;
}

/* Wraps points, rounded to the dtype. One that cannot be is put at 0. */
template <typename real>
static __global__ void wrap(int64_t count, const struct columns columns,
                            const struct pairs_lattice lattice, struct found *found)
{
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {INFINITY, INFINITY, INFINITY};
    double largest = 0;
    for (int64_t row = own_number(); row < count; row += (int64_t)gridDim.x * threads) {
        double x[3];
        int32_t turns[3];
        for (int c = 0; c < 3; c++)
            x[c] = columns.position[c] ? (double)((const real *)columns.position[c])[row] : 0.0;
        if (!isfinite(x[0] + x[1] + x[2]) || !pairs_wrap(&lattice, x, turns)) {
            atomicMin(&found->bad_row, (long long)row);
            x[0] = x[1] = x[2] = 0;
        }
        for (int c = 0; c < 3; c++) {
            const real rounded = (real)x[c];
            ((real *)columns.to[c])[row] = rounded;
            x[c] = (double)rounded;
            largest = fmax(largest, fabs(x[c]));
        }
        for (int k = 0; k < 3; k++) {
            const double fraction = pairs_fraction(&lattice, x, k);
            low[k] = fmin(low[k], fraction);
            high[k] = fmin(high[k], -fraction);
        }
    }
    largest = -warp_least(-largest);
    for (int k = 0; k < 3; k++) {
        low[k] = warp_least(low[k]);
        high[k] = -warp_least(high[k]);
    }
    if (threadIdx.x % 32 != 0)
        return;
    atomicMax(&found->largest, bits_of(largest));
    for (int k = 0; k < 3; k++) {
        atomicMin(&found->low[k], bits_of(low[k]));
        atomicMax(&found->high[k], bits_of(high[k]));
    }
}

static __global__ void begin_to_find(struct found *found, const struct forces_measured *measured)
{
    for (int k = 0; k < 3; k++) {
        found->low[k] = ~0ULL;
        found->high[k] = 0;
    }
    found->largest = bits_of(0.0);
    found->bad_row = INT64_MAX;
    found->is_known_bad = measured && measured->bad;
}

template <typename real>
static __device__ void read_point(void *const *from, int64_t row, double x[3])
{
    for (int c = 0; c < 3; c++)
        x[c] = (double)((const real *)from[c])[row];
}

template <typename real>
static __global__ void number_buckets(int64_t count, const struct columns columns,
                                      const struct cells_grid grid,
                                      const struct pairs_lattice lattice, uint64_t *keys)
{
    const int64_t row = own_number();
    double x[3];
    int64_t cell[3], bucket = 0;
    if (row >= count)
        return;
    read_point<real>(columns.to, row, x);
    cell_of(grid, lattice, x, cell);
    for (int k = 0; k < 3; k++)
        bucket += cells_bucket(&grid, cell[k], k);
    keys[row] = (uint64_t)bucket;
}

/* The first sorted point of each bucket, or of one behind. */
static __global__ void find_begins(int64_t buckets, int64_t count, const uint64_t *keys,
                                   int32_t *begin)
{
    const int64_t bucket = own_number();
    if (bucket > buckets)
        return;
    begin[bucket] = (int32_t)search_64((const int64_t *)keys, 0, count, bucket);
}

template <typename real>
static __global__ void arrange(int64_t count, const struct columns columns, const uint32_t *order)
{
    const int64_t slot = own_number();
    if (slot >= count)
        return;
    for (int c = 0; c < 3; c++)
        ((real *)columns.to[c])[slot] = ((const real *)columns.position[c])[order[slot]];
}

template <typename real> static kith_status wrap_side(struct listing *listing, struct side *side)
{
    const int64_t wanted = blocks_for(side->count);
    const unsigned blocks = (unsigned)least(wanted, bounding_blocks);
    if (side->count == 0)
        return KITH_OK;
    wrap<real><<<blocks, threads, 0, cuda_stream(listing->context)>>>(
        side->count, columns_of(*side, side->wrapped), listing->lattice, listing->found);
    return cuda_check_launch("wrapping the positions");
}

template <typename real> static kith_status find_bounds(struct listing *listing)
{
    const struct forces_problem *problem = listing->problem;
    struct found found;
    begin_to_find<<<1, 1, 0, cuda_stream(listing->context)>>>(listing->found,
                                                              problem->delivery.measured);
    KITH_TRY(cuda_check_launch("wrapping the positions"));
    KITH_TRY(wrap_side<real>(listing, &listing->sources));
    if (!problem->self)
        KITH_TRY(wrap_side<real>(listing, &listing->targets));
    KITH_TRY(cuda_copy_out(listing->context, &found, listing->found, sizeof found));
    if (found.bad_row != INT64_MAX && !found.is_known_bad)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "row %lld of the positions is not finite or more than 2^30 cells away; "
                         "give positions near the cell",
                         found.bad_row);
    struct cells_bounds bounds = cells_bounds_empty();
    for (int k = 0; k < 3 && found.low[k] != ~0ULL; k++) {
        bounds.low[k] = number_of(found.low[k]);
        bounds.high[k] = number_of(found.high[k]);
    }
    bounds.largest = number_of(found.largest);
    cells_grid_choose(&listing->lattice, problem->dtype, problem->dimensions, problem->space.cutoff,
                      &bounds, listing->sources.count, &listing->grid);
    return KITH_OK;
}

template <typename real> static kith_status sort_side(struct listing *listing, struct side *side)
{
    int32_t bits = 1;
    while (listing->grid.bucket_count >> bits)
        bits++;
    if (side->count == 0)
        return KITH_OK;
    number_buckets<real><<<blocks_for(side->count), threads, 0, cuda_stream(listing->context)>>>(
        side->count, columns_of(*side, side->wrapped), listing->grid, listing->lattice,
        listing->keys);
    KITH_TRY(cuda_check_launch("numbering the cells"));
    return sort_keys_cuda(listing->context, side->count, bits, listing->keys, side->order,
                          listing->sort_scratch);
}

template <typename real> static kith_status sort_points(struct listing *listing)
{
    const cudaStream_t stream = cuda_stream(listing->context);
    struct side *sources = &listing->sources, *targets = &listing->targets;
    KITH_TRY(sort_side<real>(listing, sources));
    find_begins<<<blocks_for(listing->grid.bucket_count + 1), threads, 0, stream>>>(
        listing->grid.bucket_count, sources->count, listing->keys, listing->begin);
    KITH_TRY(cuda_check_launch("looking where cells begin"));
    if (sources->count > 0) {
        struct columns columns = columns_of(*sources, sources->sorted);
        for (int c = 0; c < 3; c++)
            columns.position[c] = sources->wrapped[c];
        arrange<real><<<blocks_for(sources->count), threads, 0, stream>>>(sources->count, columns,
                                                                          sources->order);
        KITH_TRY(cuda_check_launch("arranging particles"));
    }
    if (!listing->problem->self)
        return sort_side<real>(listing, targets);
    return KITH_OK;
}

kith_status prepare(struct listing *listing)
{
    const bool wide = listing->problem->dtype == KITH_F64;
    KITH_TRY(wide ? find_bounds<double>(listing) : find_bounds<float>(listing));
    return wide ? sort_points<double>(listing) : sort_points<float>(listing);
}

} // namespace cutoff_points
