#ifndef BENCH_GPU_CALLS_H
#define BENCH_GPU_CALLS_H

#include "kith/kith.h"

/* The time of calls of kith with arrays on a GPU: for the programs that measure one capability. */

/* A call whose work may still run when it returns. */
typedef kith_status gpu_call(void *argument);

/* The median of 15 rounds of as many calls as take 5 ms, or of one, after some to warm up. */
kith_status gpu_time_calls(kith_context *context, gpu_call *call, void *argument, double *seconds);

/* Numbers in the device's memory, for cudaFree; NULL without memory. */
void *gpu_copy_of(int64_t count, kith_dtype dtype, const double *numbers);

/* Of 0 … 1. */
double gpu_random(uint64_t *state);

#endif
