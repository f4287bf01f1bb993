/* Pairs on the GPU: sorts points by cells, counts, allocates memory, fills. */

#include "pairs/pairs_cuda.h"

#include <string.h>

#include "pairs/exchange_cuda.cuh"
#include "pairs/list_cuda.cuh"
#include "pairs/nearest_cuda.h"
#include "pairs/prepare_cuda.cuh"
#include "sort/sort.h"

/* Bytes of masks per target to begin with: 512 candidates. */
enum { first_mask_bytes = 64, mask_slack = 1 << 24 };

/* Rows of at most this many pairs on average are written as they are found, if in any order: 0.89
 * ms instead of 0.94 with 20 in a row, 1.68 instead of 1.42 with 50 (10⁶ points, H200). */
enum { pairs_of_direct_row = 32 };

static double from_bits(unsigned long long bits)
{
    double value = 0;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* How far apart pairs may be; with radii the device determines it. */
template <typename real>
static kith_status find_reach(kith_context *context, const struct pairs_problem *problem,
                              const struct pairs_cuda_search<real> &search,
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

/* Long rows have memory of their own, as the search's must stay as it is. */
template <typename real>
static kith_status
fill_with_long_rows(kith_context *context, const struct pairs_cuda_search<real> &search,
                    const struct pairs_cuda_columns<real> &columns,
                    const struct pairs_fill_shape &shape, const struct pairs_counters *counters)
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

/* A list in the making. */
template <typename real> struct making {
    kith_context *context;
    const struct pairs_problem *problem;
    kith_pairs *pairs;
    struct pairs_exchange exchange;
    struct pairs_plan plan;
    struct pairs_cuda_search<real> search;
    struct pairs_fill_shape guess; /* with which the filling was started, if it was estimated */
};

/* What does not depend on what was counted. */
template <typename real>
static struct pairs_fill_shape begin_shape(const struct making<real> &making)
{
    const struct pairs_problem *problem = making.problem;
    const bool of_images = (making.pairs->memory->request.quantities &
                            (KITH_PAIRS_SHIFTS | KITH_PAIRS_VECTORS | KITH_PAIRS_DISTANCES)) != 0;
    struct pairs_fill_shape shape = {};
    shape.wide = of_images || (making.plan.many_images && problem->sorted);
    shape.direct = !problem->sorted && !of_images;
    return shape;
}

/* Fills the list while its numbers are being copied to the host, if they are likely to be about
 * those of the last one: the host's waiting and the beginning of a kernel then cost nothing. */
template <typename real> static kith_status begin_to_fill(struct making<real> *making)
{
    const struct pairs_last_fill last = making->pairs->memory->last_fill;
    const int64_t targets = making->search.targets.count;
    making->guess = {};
    if (making->problem->count_only || last.words == 0)
        return KITH_OK;
    const int64_t room = pairs_list_reuse(making->pairs);
    if (room <= 0)
        return KITH_OK;
    struct pairs_fill_shape shape = begin_shape(*making);
    shape.guessed = true;
    shape.chunks = (uint32_t)targets;
    shape.words = last.words;
    shape.row = last.row;
    shape.room = (uint64_t)room;
    shape.direct = shape.direct && last.pairs <= pairs_of_direct_row * (uint64_t)targets;
    making->guess = shape;
    return pairs_fill(making->context, making->search,
                      columns_of<real>(making->problem, making->pairs), shape, pairs_long_rows{});
}

/* Sums the offsets, and more, while the counters are copied to the host. */
template <typename real>
static kith_status receive_counters(struct making<real> *making, char *scratch)
{
    kith_context *context = making->context;
    cudaEvent_t received = nullptr;
    kith_status status = pairs_begin_receiving(context, &making->exchange, &received);
    int64_t *const offsets = making->search.offsets;
    if (status == KITH_OK)
        status = sort_scan_cuda(context, making->search.targets.count + 1, offsets, offsets,
                                scratch, making->plan.scratch_bytes);
    if (status == KITH_OK)
        status = begin_to_fill(making);
    if (status == KITH_OK)
        status = pairs_finish_receiving(context, making->problem, &making->exchange, received);
    else if (received) /* the next call must not find these counters coming */
        cudaEventSynchronize(received);
    if (received)
        cudaEventDestroy(received);
    return status;
}

/* Sorts and counts, again if the masks need more room than there was. */
template <typename real> static kith_status count(struct making<real> *making)
{
    kith_context *context = making->context;
    struct pairs_cuda_search<real> *search = &making->search;
    struct pairs_plan *plan = &making->plan;
    for (;;) {
        char *scratch = nullptr;
        KITH_TRY(pairs_send_grids(context, making->problem, &making->exchange));
        KITH_TRY(pairs_lay_out(context, plan, search, &scratch));
        KITH_TRY(pairs_sort_by_counting_is_apt(*search)
                     ? pairs_sort_by_counting(context, *search, scratch, plan->scratch_bytes)
                     : pairs_sort(context, *search, scratch, plan->scratch_bytes));
        KITH_TRY(pairs_count(context, *search));
        KITH_TRY(receive_counters(making, scratch));
        const uint64_t needed = making->exchange.host->mask_bytes;
        if (plan->mask_bytes == 0 || needed <= search->mask_room)
            return KITH_OK;
        plan->mask_bytes = (int64_t)(needed + needed / 8 + mask_slack);
    }
}

template <typename real> static kith_status fill(struct making<real> *making)
{
    const struct pairs_counters *counters = making->exchange.host;
    struct pairs_last_fill *last = &making->pairs->memory->last_fill;
    KITH_TRY(pairs_list_reserve((int64_t)counters->pairs, making->pairs));
    if (making->problem->count_only || counters->pairs == 0)
        return KITH_OK;
    if (making->guess.guessed && pairs_fits(*counters, making->guess, making->search.mask_room))
        return KITH_OK;
    struct pairs_fill_shape shape = begin_shape(*making);
    shape.chunks = counters->chunks;
    shape.words = counters->most_words;
    if (counters->long_rows > 0)
        shape.words = long_words;
    shape.row = warp_size;
    while (shape.row < counters->most_of_row)
        shape.row *= 2;
    shape.direct = shape.direct &&
                   counters->pairs <= pairs_of_direct_row * (uint64_t)making->search.targets.count;
    *last = {shape.words, shape.row, counters->pairs};
    if (counters->long_rows > 0)
        *last = {};
    return fill_with_long_rows(making->context, making->search,
                               columns_of<real>(making->problem, making->pairs), shape, counters);
}

template <typename real>
static kith_status solve(kith_context *context, const struct pairs_problem *problem,
                         kith_pairs *pairs)
{
    struct making<real> making = {
    };
    struct pairs_cuda_search<real> *search = &making.search;
    struct pairs_plan *plan = &making.plan;
    double reach = 0;
    making.context = context;
    making.problem = problem;
    making.pairs = pairs;
    KITH_TRY(pairs_open_exchange(context, problem, 0, &making.exchange));
    pairs_begin_search(problem, search);
    search->counters = making.exchange.own;
    search->grids = making.exchange.own_grids;
    search->offsets = (int64_t *)pairs->offsets.data;
    KITH_TRY(find_reach(context, problem, *search, &making.exchange, &reach));
    KITH_TRY(pairs_make_grids(problem, reach, making.exchange.host_grids, plan));
    search->may_unfold = pairs_may_unfold(problem, plan);
    search->place_count = plan->places;
    search->many_images = plan->many_images;
    search->open = plan->open;
    plan->with_shifts = (pairs->memory->request.quantities & KITH_PAIRS_SHIFTS) != 0;
    plan->mask_bytes =
        problem->count_only ? 0 : (int64_t)search->targets.count * first_mask_bytes + mask_slack;
    plan->scratch_bytes =
        pairs_scratch_bytes(search->points.count, search->targets.count, plan->places);
    KITH_TRY(count(&making));
    return fill(&making);
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
