#ifndef BENCH_GEMS_FORCES_H
#define BENCH_GEMS_FORCES_H

#include "kith/context.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { gems_most_threads = 1024 };

/* The baseline on a GPU: all-pairs forces as in GPU Gems 3, chapter 31 (Nyland, Harris and Prins
 * 2007), on the stream of the context, whose device is the thread's current one.
 *
 *   dtype    KITH_F32 or KITH_F64
 *   count    a multiple of threads; bodies without mass fill up
 *   threads  of a block, at most gems_most_threads
 *   bodies   x, y, z, mass of each, in the device's memory
 *   result   [out] the acceleration of each and 0 */
kith_status gems_forces(kith_context *context, kith_dtype dtype, int64_t count, int32_t threads,
                        double softening, const void *bodies, void *result);

#ifdef __cplusplus
}
#endif

#endif
