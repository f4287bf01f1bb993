#include "pairs/exchange_cuda.cuh"

#include <math.h>

kith_status pairs_open_exchange(kith_context *context, const struct pairs_problem *problem,
                                int64_t bytes, struct pairs_exchange *exchange)
{
    const int64_t counters = (sizeof(struct pairs_counters) + 255) / 256 * 256;
    const int64_t grids = problem->system_count * (int64_t)sizeof(struct pairs_folded_grid);
    void *host = nullptr, *own = nullptr;
    KITH_TRY(cuda_workspace(context, counters + grids + bytes, &host, &own));
    exchange->host = (struct pairs_counters *)host;
    exchange->own = (struct pairs_counters *)own;
    exchange->host_grids = (struct pairs_folded_grid *)((char *)host + counters);
    exchange->own_grids = (struct pairs_folded_grid *)((char *)own + counters);
    return KITH_OK;
}

kith_status pairs_send_counters(kith_context *context, const struct pairs_exchange *exchange)
{
    *exchange->host = {};
    return cuda_copy_in(context, exchange->own, exchange->host, sizeof *exchange->host);
}

kith_status pairs_send_grids(kith_context *context, const struct pairs_problem *problem,
                             const struct pairs_exchange *exchange)
{
    *exchange->host = {};
    const char *end = (const char *)(exchange->host_grids + problem->system_count);
    return cuda_copy_in(context, exchange->own, exchange->host, end - (const char *)exchange->host);
}

static kith_status copy_number(kith_context *context, kith_array array, int64_t row, int64_t column,
                               double *value)
{
    const int64_t at = row * array.strides[0] + (array.ndim == 2 ? column * array.strides[1] : 0);
    float narrow = 0;
    if (array.dtype == KITH_F64)
        return cuda_copy_out(context, value, (const double *)array.data + at, sizeof *value);
    KITH_TRY(cuda_copy_out(context, &narrow, (const float *)array.data + at, sizeof narrow));
    *value = narrow;
    return KITH_OK;
}

/* The error of the first row of an array that has a bad number, or is too far away. */
static kith_status fail_at_row(kith_context *context, const char *name, kith_array array,
                               unsigned long long worst, bool radius)
{
    const int64_t row = (int64_t)~worst;
    const int64_t columns = array.ndim == 2 ? array.shape[1] : 1;
    for (int64_t c = 0; c < columns; c++) {
        double value = 0;
        KITH_TRY(copy_number(context, array, row, c, &value));
        if (radius || !isfinite(value))
            return pairs_fail_at_number(name, row, value, radius);
    }
    return pairs_fail_at_far_point(name, row);
}

static kith_status check_counters(kith_context *context, const struct pairs_problem *problem,
                                  const struct pairs_counters *counters)
{
    if (counters->worst_point)
        return fail_at_row(context, "positions", problem->points, counters->worst_point, false);
    if (counters->worst_target)
        return fail_at_row(context, "queries", problem->targets, counters->worst_target, false);
    if (counters->worst_radius)
        return fail_at_row(context, "radii", problem->point_radii, counters->worst_radius, true);
    if (counters->worst_target_radius)
        return fail_at_row(context, problem->two_sets ? "query_radii" : "radii",
                           problem->target_radii, counters->worst_target_radius, true);
    return KITH_OK;
}

kith_status pairs_begin_receiving(kith_context *context, const struct pairs_exchange *exchange,
                                  cudaEvent_t *received)
{
    static const char what[] = "receiving the numbers of pairs";
    KITH_TRY(cuda_check(cudaEventCreateWithFlags(received, cudaEventDisableTiming), what));
    KITH_TRY(cuda_check(cudaMemcpyAsync(exchange->host, exchange->own, sizeof *exchange->host,
                                        cudaMemcpyDeviceToHost, cuda_stream(context)),
                        what));
    return cuda_check(cudaEventRecord(*received, cuda_stream(context)), what);
}

kith_status pairs_finish_receiving(kith_context *context, const struct pairs_problem *problem,
                                   const struct pairs_exchange *exchange, cudaEvent_t received)
{
    KITH_TRY(cuda_check(cudaEventSynchronize(received), "counting pairs"));
    return check_counters(context, problem, exchange->host);
}

kith_status pairs_receive_counters(kith_context *context, const struct pairs_problem *problem,
                                   const struct pairs_exchange *exchange)
{
    KITH_TRY(cuda_copy_out(context, exchange->host, exchange->own, sizeof *exchange->host));
    return check_counters(context, problem, exchange->host);
}
