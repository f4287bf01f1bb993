#ifndef PAIRS_EXCHANGE_CUDA_CUH
#define PAIRS_EXCHANGE_CUDA_CUH

/* What goes between the host and the device besides points and lists. */

#include "device/cuda_state.h"
#include "pairs/search_cuda.cuh"

/* The host's and the device's side of what goes between them: counters, then grids. */
struct pairs_exchange {
    struct pairs_counters *host, *own;
    struct pairs_folded_grid *host_grids, *own_grids;
};

/* Page-locked memory for an exchange, and this many bytes after the grids. */
kith_status pairs_open_exchange(kith_context *context, const struct pairs_problem *problem,
                                int64_t bytes, struct pairs_exchange *exchange);

/* Zero counters to the device. */
kith_status pairs_send_counters(kith_context *context, const struct pairs_exchange *exchange);

/* Zero counters and the host's grids to the device, and the counters back: waits for the device.
 * The error of the first bad number that kernels came across. */
kith_status pairs_send_grids(kith_context *context, const struct pairs_problem *problem,
                             const struct pairs_exchange *exchange);
kith_status pairs_receive_counters(kith_context *context, const struct pairs_problem *problem,
                                   const struct pairs_exchange *exchange);

/* The same in two steps: what is put on the stream between them runs while the host waits for the
 * counters. The caller destroys *received (NULL if it could not be made). */
kith_status pairs_begin_receiving(kith_context *context, const struct pairs_exchange *exchange,
                                  cudaEvent_t *received);
kith_status pairs_finish_receiving(kith_context *context, const struct pairs_problem *problem,
                                   const struct pairs_exchange *exchange, cudaEvent_t received);

#endif
