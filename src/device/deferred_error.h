#ifndef DEVICE_DEFERRED_ERROR_H
#define DEVICE_DEFERRED_ERROR_H

#include "device/cuda.h"

/* An invalid number that a kernel found after the call that started it had returned: synchronize
 * reports the first one. In page-locked host memory, which kernels write to. */
struct cuda_deferred_error {
    const char
        *array; /* its name; NULL: no error. An address of the host, which kernels only pass on */
    const char *remedy;
    int64_t row;
    double value;
};

#ifdef __cplusplus
extern "C" {
#endif

/* The context's, for kernels. */
struct cuda_deferred_error *cuda_deferred_error_of(kith_context *context);

/* Returns the deferred error, if there is one, and clears it. Only while no kernel runs. */
kith_status cuda_report_deferred_error(struct cuda_deferred_error *deferred);

#ifdef __cplusplus
}
#endif

#endif
