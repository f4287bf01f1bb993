#ifndef LAW_NVRTC_H
#define LAW_NVRTC_H

#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

/* NVIDIA's run-time compiler, loaded on demand: kith runs without it.
 *
 *   source        what to compile
 *   headers       count texts, and the names by which they are included
 *   options       option_count
 *   cubin, bytes  [out] code for the GPU; free with free()
 *
 * Errors: KITH_UNSUPPORTED (no library), KITH_INTERNAL_ERROR (with its first error),
 *         KITH_OUT_OF_MEMORY. */
struct nvrtc_job {
    const char *source;
    int count;
    const char *const *headers, *const *names;
    int option_count;
    const char *const *options;
};

kith_status nvrtc_compile(const struct nvrtc_job *job, void **cubin, int64_t *bytes);

/* Its version, "13.0". Errors: KITH_UNSUPPORTED. */
kith_status nvrtc_version(char text[16]);

#endif
