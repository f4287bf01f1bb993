/* Pairs on the GPU: sorts points by cells, counts, asks for memory, fills. */

#include "pairs/pairs_cuda.h"

#include <cub/device/device_scan.cuh>

#include "cuda/state.h"
#include "pairs/list_cuda.cuh"
#include "pairs/memory.h"
#include "pairs/prepare_cuda.cuh"

/* Masks of so many bytes a target to begin with: 512 candidates. */
enum { first_mask_bytes = 64, mask_slack = 1 << 24 };

static cudaError_t scan(void *scratch, size_t &bytes, int64_t *offsets, int64_t count,
                        cudaStream_t stream)
{
    return cub::DeviceScan::ExclusiveSum(scratch, bytes, offsets, offsets, count, stream);
}

static int64_t scan_bytes(int64_t count)
{
    size_t bytes = 0;
    scan(nullptr, bytes, nullptr, count, nullptr);
    return (int64_t)bytes;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* The host's and the device's side of what goes between them: counters, then grids. */
struct exchange {
    struct pairs_counters *host, *own;
    struct pairs_folded_grid *host_grids, *own_grids;
};

static kith_status open_exchange(kith_context *context, const struct pairs_problem *problem,
                                 struct exchange *exchange)
{
    const int64_t counters = (sizeof(struct pairs_counters) + 255) / 256 * 256;
    const int64_t grids = problem->system_count * (int64_t)sizeof(struct pairs_folded_grid);
    void *host = nullptr, *own = nullptr;
    KITH_TRY(cuda_workspace(context, counters + grids, &host, &own));
    exchange->host = (struct pairs_counters *)host;
    exchange->own = (struct pairs_counters *)own;
    exchange->host_grids = (struct pairs_folded_grid *)((char *)host + counters);
    exchange->own_grids = (struct pairs_folded_grid *)((char *)own + counters);
    *exchange->host = {};
    return cuda_copy_in(context, own, host, counters);
}

/* The error of the first row of an array that has a bad number, or is too far away. */
template <typename real>
static kith_status fail_at_row(kith_context *context, const char *name, kith_array array,
                               unsigned long long worst, bool radius)
{
    const int64_t row = (int64_t)~worst;
    const int64_t columns = array.ndim == 2 ? array.shape[1] : 1;
    for (int64_t c = 0; c < columns; c++) {
        real value = 0;
        const real *at = (const real *)array.data + row * array.strides[0];
        KITH_TRY(cuda_copy_out(context, &value, at + (array.ndim == 2 ? c * array.strides[1] : 0),
                               sizeof value));
        if (radius || !isfinite(value))
            return pairs_fail_at_number(name, row, value, radius);
    }
    return pairs_fail_at_far_point(name, row);
}

template <typename real>
static kith_status check_counters(kith_context *context, const struct pairs_problem *problem,
                                  const struct pairs_counters *counters)
{
    if (counters->worst_point)
        return fail_at_row<real>(context, "positions", problem->points, counters->worst_point,
                                 false);
    if (counters->worst_target)
        return fail_at_row<real>(context, "queries", problem->targets, counters->worst_target,
                                 false);
    if (counters->worst_radius)
        return fail_at_row<real>(context, "radii", problem->point_radii, counters->worst_radius,
                                 true);
    if (counters->worst_target_radius)
        return fail_at_row<real>(context, problem->two_sets ? "query_radii" : "radii",
                                 problem->target_radii, counters->worst_target_radius, true);
    return KITH_OK;
}

static double from_bits(unsigned long long bits)
{
    double value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* How far apart pairs may be; with radii the device has to be asked. */
template <typename real>
static kith_status find_reach(kith_context *context, const struct pairs_problem *problem,
                              const struct pairs_search<real> &search,
                              const struct exchange *exchange, double *reach)
{
    *reach = problem->cutoff;
    if (!search.radii)
        return KITH_OK;
    KITH_TRY(pairs_measure_radii(context, search));
    KITH_TRY(cuda_copy_out(context, exchange->host, exchange->own, sizeof *exchange->host));
    KITH_TRY(check_counters<real>(context, problem, exchange->host));
    *reach += (from_bits(exchange->host->largest_radius) +
               from_bits(exchange->host->largest_target_radius)) /
              problem->unit;
    *exchange->host = {};
    return cuda_copy_in(context, exchange->own, exchange->host, sizeof *exchange->host);
}

/* Sorts and counts, again if the masks need more room than there was. */
template <typename real>
static kith_status count(kith_context *context, const struct pairs_problem *problem,
                         const struct exchange *exchange, struct pairs_plan *plan,
                         struct pairs_search<real> *search)
{
    for (;;) {
        char *scratch = nullptr;
        KITH_TRY(pairs_lay_out(context, plan, search, &scratch));
        KITH_TRY(pairs_sort(context, *search, scratch, plan->scratch_bytes));
        KITH_TRY(pairs_count(context, *search));
        KITH_TRY(cuda_check(cudaMemcpyAsync(exchange->host, exchange->own, sizeof *exchange->host,
                                            cudaMemcpyDeviceToHost, cuda_stream(context)),
                            "copying the number of pairs"));
        size_t bytes = (size_t)plan->scratch_bytes;
        KITH_TRY(cuda_check(scan(scratch, bytes, search->offsets,
                                 (int64_t)search->targets.count + 1, cuda_stream(context)),
                            "adding up the numbers of pairs"));
        KITH_TRY(cuda_check(cudaStreamSynchronize(cuda_stream(context)), "counting pairs"));
        KITH_TRY(check_counters<real>(context, problem, exchange->host));
        const uint64_t needed = exchange->host->mask_bytes;
        if (plan->mask_bytes == 0 || needed <= search->mask_room)
            return KITH_OK;
        plan->mask_bytes = (int64_t)(needed + needed / 8 + mask_slack);
        *exchange->host = {};
        KITH_TRY(cuda_copy_in(context, exchange->own, exchange->host, sizeof *exchange->host));
    }
}

template <typename real>
static struct pairs_columns<real> columns_of(const struct pairs_problem *problem,
                                             const kith_pairs *pairs) {
    struct pairs_columns<real> columns = {
    };
    columns.i = pairs->i.data;
    columns.j = pairs->j.data;
    columns.narrow = pairs->memory->request.narrow;
    columns.sorted = problem->sorted;
    columns.shifts = (int32_t *)pairs->shifts.data;
    columns.vectors = (real *)pairs->vectors.data;
    columns.distances = (real *)pairs->distances.data;
    columns.dimensions = problem->dimensions;
    return columns;
}

/* Long rows have memory of their own, as the search's must stay as it is. */
template <typename real>
static kith_status
fill_with_long_rows(kith_context *context, const struct pairs_search<real> &search,
                    const struct pairs_columns<real> &columns, const struct pairs_fill_shape &shape,
                    const struct pairs_counters *counters)
{
    struct pairs_long_rows rows = {};
    rows.room = (int64_t)counters->long_pairs;
    rows.rows = (int64_t)counters->long_rows;
    rows.wide = shape.wide;
    if (!columns.sorted || rows.rows == 0)
        return pairs_fill(context, search, columns, shape, rows);
    const int64_t scratch_bytes = pairs_long_rows_bytes(rows);
    const int64_t each = (rows.rows + 31) / 32 * 32;
    void *memory = nullptr;
    KITH_TRY(cuda_memory_of_arrays(context, 16 * rows.room + (16 + 4) * each + scratch_bytes + 1024,
                                   &memory));
    rows.keys = (uint64_t *)memory;
    rows.sorted_keys = rows.keys + rows.room;
    rows.begin = (int64_t *)(rows.sorted_keys + rows.room);
    rows.end = rows.begin + each;
    rows.row = (uint32_t *)(rows.end + each);
    const uintptr_t after = ((uintptr_t)(rows.row + each) + 255) / 256 * 256;
    KITH_TRY(pairs_fill(context, search, columns, shape, rows));
    return pairs_fill_long_rows(context, search, columns, rows, (void *)after, scratch_bytes);
}

template <typename real>
static kith_status fill(kith_context *context, const struct pairs_problem *problem,
                        const struct pairs_plan *plan, const struct pairs_search<real> &search,
                        const struct pairs_counters *counters, kith_pairs *pairs)
{
    KITH_TRY(pairs_list_reserve((int64_t)counters->pairs, pairs));
    const struct pairs_columns<real> columns = columns_of<real>(problem, pairs);
    if (problem->count_only || counters->pairs == 0)
        return KITH_OK;
    struct pairs_fill_shape shape = {counters->most_groups, 32,
                                     columns.shifts || columns.vectors || columns.distances ||
                                         (plan->many_images && problem->sorted)};
    if (counters->long_rows > 0)
        shape.groups = long_groups;
    while (shape.row < counters->most_of_row)
        shape.row *= 2;
    return fill_with_long_rows(context, search, columns, shape, counters);
}

template <typename real>
static kith_status solve(kith_context *context, const struct pairs_problem *problem,
                         kith_pairs *pairs)
{
    struct exchange exchange;
    struct pairs_search<real> search;
    struct pairs_plan plan = {};
    double reach = 0;
    KITH_TRY(open_exchange(context, problem, &exchange));
    pairs_begin_search(problem, &search);
    search.counters = exchange.own;
    search.grids = exchange.own_grids;
    search.offsets = (int64_t *)pairs->offsets.data;
    KITH_TRY(find_reach(context, problem, search, &exchange, &reach));
    KITH_TRY(pairs_make_grids(problem, reach, exchange.host_grids, &plan));
    KITH_TRY(cuda_copy_in(context, exchange.own_grids, exchange.host_grids,
                          problem->system_count * (int64_t)sizeof *exchange.own_grids));
    search.place_count = plan.places;
    plan.with_shifts = (pairs->memory->request.quantities & KITH_PAIRS_SHIFTS) != 0;
    plan.mask_bytes =
        problem->count_only ? 0 : (int64_t)search.targets.count * first_mask_bytes + mask_slack;
    plan.scratch_bytes = larger(pairs_sort_bytes(search.points.count, plan.places),
                                scan_bytes((int64_t)search.targets.count + 1));
    if (problem->two_sets)
        plan.scratch_bytes =
            larger(plan.scratch_bytes, pairs_sort_bytes(search.targets.count, plan.places));
    KITH_TRY(count(context, problem, &exchange, &plan, &search));
    return fill(context, problem, &plan, search, exchange.host, pairs);
}

kith_status pairs_cuda(kith_context *context, const struct pairs_problem *problem,
                       kith_pairs *pairs)
{
    if (problem->by_distance)
        return kith_fail(KITH_UNSUPPORTED, "backend cuda does not list the nearest points yet; "
                                           "compute on the CPU");
    KITH_TRY(pairs_list_begin(problem, pairs));
    if (problem->targets.shape[0] == 0) {
        KITH_TRY(cuda_check(
            cudaMemsetAsync(pairs->offsets.data, 0, sizeof(int64_t), cuda_stream(context)),
            "clearing the offsets"));
        return pairs_list_reserve(0, pairs);
    }
    return problem->dtype == KITH_F64 ? solve<double>(context, problem, pairs)
                                      : solve<float>(context, problem, pairs);
}
