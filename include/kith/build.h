#ifndef KITH_BUILD_H
#define KITH_BUILD_H

#include <stdbool.h>
#include <stdint.h>

#include "kith/array.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The capabilities of this build and this machine. These functions never fail; the caller frees
 * nothing. */

KITH_API const char *kith_version(void); /* "0.1.0" */

/* An instruction set that CPU kernels were compiled for; the best supported one is used unless the
 * environment variable KITH_ISA names another. */
typedef struct kith_isa {
    const char *name;        /* "v4" */
    const char *description; /* "x86-64-v4: AVX-512" */
    bool supported;          /* by this processor */
} kith_isa;

/* The table of instruction sets, best first; *count rows. */
KITH_API const kith_isa *kith_isa_list(int64_t *count);

/* A kind of device. */
typedef struct kith_backend_info {
    const char *name;     /* "cpu", "cuda" */
    bool built;           /* in this build */
    int32_t device_count; /* on this machine */
    const char *note;     /* why there is no device, or NULL */
} kith_backend_info;

/* Describes backend k, k = 0, 1, …; false if it does not exist. */
KITH_API bool kith_backend_describe(int32_t k, kith_backend_info *info);

/* A device of a backend. */
typedef struct kith_device_info {
    char name[256];          /* "NVIDIA H200" */
    char architecture[16];   /* "sm_90" */
    int32_t multiprocessors; /* that compute in parallel */
    int64_t memory_bytes;    /* of its own */
} kith_device_info;

/* Describes device k of a kind, {KITH_CUDA, k}. Returns false, and all zeros, if the device does
 * not exist or is the CPU, which kith_isa_list describes. */
KITH_API bool kith_device_describe(kith_device device, kith_device_info *info);

KITH_API bool kith_build_has_hdf5(void);

/* Bytes of the host's memory that this process may still allocate: the minimum of what the machine
 * has available (swap included), of what the limits of its control groups leave (versions 1 and 2),
 * and of its limit of address space. INT64_MAX if the system does not report it.
 *
 * Results that need more are refused with KITH_OUT_OF_MEMORY before anything is allocated for them.
 * Cost: reads some files of /proc and /sys, 20 to 200 µs. */
KITH_API int64_t kith_memory_available(void);

#ifdef __cplusplus
}
#endif

#endif
