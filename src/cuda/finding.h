#ifndef CUDA_FINDING_H
#define CUDA_FINDING_H

#include "cuda/cuda.h"

/* What a kernel found wrong with the numbers that it was given, after the call that started it had
 * returned: synchronize makes an error of the first one. Lies in page-locked host memory, which
 * kernels write to. */
struct cuda_finding {
    const char *array; /* its name; NULL: nothing was found. The host's addresses, only handed on */
    const char *remedy;
    int64_t row;
    double value;
};

#ifdef __cplusplus
extern "C" {
#endif

/* The context's, for kernels. */
struct cuda_finding *cuda_finding_of(kith_context *context);

/* The finding as an error, forgotten with that. Only while no kernel runs. */
kith_status cuda_report_finding(struct cuda_finding *finding);

#ifdef __cplusplus
}
#endif

#endif
