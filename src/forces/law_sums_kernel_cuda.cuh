/* The kernels of law_sums_cuda_body.h, for nvcc and for NVRTC. */

#include "forces/tile_loop_cuda.cuh"

/* Threads of a block, and sources of a tile. */
enum { law_sums_block = 128 };

/* Targets of a thread: more save reads of shared memory, fewer registers. */
#define LAW_SUMS_TARGETS(real) (sizeof(real) == sizeof(float) ? 4 : 2)

#define KERNEL_BODY "forces/law_sums_cuda_body.h"
#include "law/for_each_real_cuda.h"
