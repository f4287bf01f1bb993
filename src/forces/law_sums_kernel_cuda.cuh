/* The kernels of law_sums_cuda_body.h, for nvcc and for NVRTC. */

#include "forces/law_sums_problem.h"

/* Threads of a block, and sources of a tile. */
enum { law_sums_block = 128 };

/* Targets of a thread: more save reads of shared memory, fewer registers. */
#define LAW_SUMS_TARGETS(real) (sizeof(real) == sizeof(float) ? 4 : 2)

/* What a kernel is compiled for; constants once inlined. */
struct law_sums_variant {
    struct law_form form;
    enum law_sums sums;
    bool per_body; /* half of ε² from the target and half from the source */
    bool central;
};

#define KERNEL_BODY "forces/law_sums_cuda_body.h"
#include "law/for_each_real_cuda.h"
