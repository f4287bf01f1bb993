/* Pairs on the GPU: sorts points by cells, counts, asks for memory, fills. */

#include "pairs/pairs_cuda.h"

#include <string.h>

#include "pairs/exchange_cuda.cuh"
#include "pairs/list_cuda.cuh"
#include "pairs/nearest_cuda.h"
#include "pairs/prepare_cuda.cuh"

/* Masks of so many bytes a target to begin with: 512 candidates. */
enum { first_mask_bytes = 64, mask_slack = 1 << 24 };

/* Rows of up to so many pairs on average are written as they are found, if in any order: 0.89 ms
 * instead of 0.94 with 20 in a row, 1.68 instead of 1.42 with 50 (10⁶ points, H200). */
enum { pairs_of_direct_row = 32 };

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
                              const struct pairs_exchange *exchange, double *reach)
{
    *reach = problem->cutoff;
    if (!search.radii)
        return KITH_OK;
    KITH_TRY(pairs_send_counters(context, exchange));
    KITH_TRY(pairs_measure_radii(context, search));
    KITH_TRY(pairs_receive_counters(context, problem, exchange));
    *reach += (from_bits(exchange->host->largest_radius) +
               from_bits(exchange->host->largest_target_radius)) /
              problem->unit;
    return KITH_OK;
}

/* Adds up the offsets while the counters are on their way. */
template <typename real>
static kith_status receive_counters(kith_context *context, const struct pairs_problem *problem,
                                    const struct pairs_exchange *exchange,
                                    const struct pairs_search<real> &search, char *scratch,
                                    int64_t scratch_bytes)
{
    cudaEvent_t received = nullptr;
    kith_status status = pairs_begin_receiving(context, exchange, &received);
    if (status == KITH_OK)
        status = pairs_add_up_offsets(context, search.offsets, search.targets.count, scratch,
                                      scratch_bytes);
    if (status == KITH_OK)
        status = pairs_finish_receiving(context, problem, exchange, received);
    else if (received) /* the next call must not find these counters coming */
        cudaEventSynchronize(received);
    if (received)
        cudaEventDestroy(received);
    return status;
}

/* Sorts and counts, again if the masks need more room than there was. */
template <typename real>
static kith_status count(kith_context *context, const struct pairs_problem *problem,
                         const struct pairs_exchange *exchange, struct pairs_plan *plan,
                         struct pairs_search<real> *search)
{
    for (;;) {
        char *scratch = nullptr;
        KITH_TRY(pairs_send_grids(context, problem, exchange));
        KITH_TRY(pairs_lay_out(context, plan, search, &scratch));
        KITH_TRY(pairs_sort_by_counting_is_apt(*search)
                     ? pairs_sort_by_counting(context, *search, scratch, plan->scratch_bytes)
                     : pairs_sort(context, *search, scratch, plan->scratch_bytes));
        KITH_TRY(pairs_count(context, *search));
        KITH_TRY(
            receive_counters(context, problem, exchange, *search, scratch, plan->scratch_bytes));
        const uint64_t needed = exchange->host->mask_bytes;
        if (plan->mask_bytes == 0 || needed <= search->mask_room)
            return KITH_OK;
        plan->mask_bytes = (int64_t)(needed + needed / 8 + mask_slack);
    }
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
    const bool of_images = columns.shifts || columns.vectors || columns.distances;
    struct pairs_fill_shape shape = {};
    shape.chunks = counters->chunks;
    shape.groups = counters->most_groups;
    if (counters->long_rows > 0)
        shape.groups = long_groups;
    shape.row = warp_size;
    while (shape.row < counters->most_of_row)
        shape.row *= 2;
    shape.wide = of_images || (plan->many_images && problem->sorted);
    shape.direct = !problem->sorted && !of_images &&
                   counters->pairs <= pairs_of_direct_row * (uint64_t)search.targets.count;
    return fill_with_long_rows(context, search, columns, shape, counters);
}

template <typename real>
static kith_status solve(kith_context *context, const struct pairs_problem *problem,
                         kith_pairs *pairs)
{
    struct pairs_exchange exchange;
    struct pairs_search<real> search;
    struct pairs_plan plan = {};
    double reach = 0;
    KITH_TRY(pairs_open_exchange(context, problem, 0, &exchange));
    pairs_begin_search(problem, &search);
    search.counters = exchange.own;
    search.grids = exchange.own_grids;
    search.offsets = (int64_t *)pairs->offsets.data;
    KITH_TRY(find_reach(context, problem, search, &exchange, &reach));
    KITH_TRY(pairs_make_grids(problem, reach, exchange.host_grids, &plan));
    search.place_count = plan.places;
    search.open = plan.open;
    plan.with_shifts = (pairs->memory->request.quantities & KITH_PAIRS_SHIFTS) != 0;
    plan.mask_bytes =
        problem->count_only ? 0 : (int64_t)search.targets.count * first_mask_bytes + mask_slack;
    plan.scratch_bytes =
        pairs_scratch_bytes(search.points.count, search.targets.count, plan.places);
    KITH_TRY(count(context, problem, &exchange, &plan, &search));
    return fill(context, problem, &plan, search, exchange.host, pairs);
}

kith_status pairs_cuda(kith_context *context, const struct pairs_problem *problem,
                       kith_pairs *pairs)
{
    KITH_TRY(pairs_list_begin(problem, pairs));
    if (problem->targets.shape[0] == 0 || (problem->by_distance && problem->nearest == 0)) {
        KITH_TRY(cuda_check(cudaMemsetAsync(pairs->offsets.data, 0,
                                            (size_t)(pairs->row_count + 1) * sizeof(int64_t),
                                            cuda_stream(context)),
                            "clearing the offsets"));
        return pairs_list_reserve(0, pairs);
    }
    if (problem->by_distance)
        return pairs_nearest_cuda(context, problem, pairs);
    return problem->dtype == KITH_F64 ? solve<double>(context, problem, pairs)
                                      : solve<float>(context, problem, pairs);
}
