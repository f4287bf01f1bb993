#ifndef MESH_CUFFT_H
#define MESH_CUFFT_H

/* Transforms on a GPU by cuFFT, which is loaded when it is needed: without it all else works. */

#include "device/cuda.h"
#include "kith/array.h"

/* Real transforms of a grid in place, rows of 2 (grid[2]/2 + 1) reals. The same bits on every run:
 * a plan depends on the grid alone. */
struct cufft {
    kith_dtype dtype;
    int32_t grid[3];
    bool is_made;
    int forward, back; /* plans */
    int (*run_forward)(int plan, void *from, void *to);
    int (*run_back)(int plan, void *from, void *to);
    int (*destroy)(int plan);
};

#ifdef __cplusplus
extern "C" {
#endif

/* Errors: KITH_UNSUPPORTED: it is not installed. */
kith_status cufft_is_there(void);

/* Plans for a grid on a stream, unless those of this grid are made.
 * Errors: KITH_UNSUPPORTED, KITH_OUT_OF_MEMORY. */
kith_status cufft_make(cudaStream_t stream, kith_dtype dtype, const int32_t grid[3],
                       struct cufft *cufft);
void cufft_free(struct cufft *cufft);

/* Points to waves, or back, on the stream of the plans; unscaled. */
kith_status cufft_run(const struct cufft *cufft, bool back, void *points);

#ifdef __cplusplus
}
#endif

#endif
