#ifndef DEVICE_STAGING_H
#define DEVICE_STAGING_H

#include <stdbool.h>

#include "core/status.h"
#include "kith/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Arrays in the host's memory, for a context whose device has memory of its own: they are copied
 * there, and the call continues as one with arrays on the device.
 *
 *     struct staging staging = {.context = context};
 *     staging_add(&staging, &positions, false);
 *     staging_add(&staging, &result, true);
 *     KITH_TRY(staging_send(&staging));
 *     return staging_receive(&staging, compute(positions, result));
 *
 * Both copies use the context's workspace, which must not be used in between. */

enum { staging_most_arrays = 48 };

struct staged_array {
    kith_array *array; /* the caller's variable, on the device from staging_send on */
    kith_array on_host;
    int64_t offset; /* in the workspace */
    bool is_output;
};

struct staging {
    kith_context *context;
    struct staged_array array[staging_most_arrays];
    int32_t count;
    char *host; /* the workspace */
    int64_t input_bytes, bytes;
    /* Kernels read the inputs once or twice and write the outputs once. Few bytes then stay in the
     * host's memory, where the device reaches them in less time than two copies take. */
    bool reads_once;
};

/* Whether these arrays have to be staged: they are the host's, and the
 * context's device has memory of its own. */
bool staging_is_needed(const kith_context *context, kith_array first);

/* An input or an output of the call; an absent one is allowed. */
void staging_add(struct staging *staging, kith_array *array, bool is_output);

/* Copies the inputs, contiguous and row-major, to the device and makes every variable a view of
 * memory there. From then on invalid numbers that kernels find belong to this call.
 *
 * Errors: KITH_OUT_OF_MEMORY, KITH_CANCELLED, KITH_INVALID_ARGUMENT (the stream is captured). */
kith_status staging_send(struct staging *staging);

/* Waits, and returns the first of: status, which is what the call has come to so far, an invalid
 * number that kernels found. */
kith_status staging_check(struct staging *staging, kith_status status);

/* The same, and copies the outputs to the caller's arrays unless a call has failed. */
kith_status staging_receive(struct staging *staging, kith_status status);

#ifdef __cplusplus
}
#endif

#endif
