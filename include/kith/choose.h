#ifndef KITH_CHOOSE_H
#define KITH_CHOOSE_H

#include "kith/array.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What is computed, and what its units of work are. */
typedef enum kith_work_kind {
    KITH_WORK_FORCES = 0, /* one call; ordered pairs */
    KITH_WORK_STEPS,      /* a simulation, whose arrays stay on the device; ordered pairs a step */
    KITH_WORK_PRODUCT,    /* a matrix that is reduced or multiplied; elements */
    KITH_WORK_MATRIX,     /* a matrix that is stored; elements */
    KITH_WORK_PAIRS,      /* a list of neighbors; points */
    KITH_WORK_COLLISIONS, /* lattice collisions; beads */
    KITH_WORK_SPARSE      /* one sparse product; stored entries */
} kith_work_kind;

typedef struct kith_work {
    kith_work_kind kind;
    double units;     /* of work; at least 0 */
    double rows;      /* particles that go to a GPU and come back; of steps none */
    kith_dtype dtype; /* KITH_F64 or KITH_F32 */
    int32_t threads;  /* of the CPU; 0: as a context of that number has */
    kith_device data; /* where the arrays are; all zeros: on the host */
} kith_work;

#define KITH_REASON_BYTES 160

/* Chooses the device of a piece of work: what a context's KITH_DEVICE_AUTO, which knows of none,
 * leaves to the caller.
 *
 *     t_cpu = a + units / (rate · threads),   t_gpu = b + c · rows + units / rate
 *
 * with constants that were measured once for each kind (docs/performance.md); the device with the
 * shorter time, the CPU if they are equal. Arrays on a device are computed on there; without a GPU
 * it is the CPU.
 *
 *   device  [out] for kith_context_options.device
 *   reason  [out] NULL, or room for KITH_REASON_BYTES: a clause that says why, as "an estimated 3
 * us on the CPU, 22 us on cuda:0"
 *
 * Errors: KITH_INVALID_ARGUMENT (work or device NULL, an unknown kind or dtype, units or rows that
 *         are negative or not finite, threads < 0).
 * Cost:   less than a microsecond after the first call, which looks for GPUs.
 * Bits:   a function of its arguments, the number of cores (with threads 0) and whether there is a
 *         GPU: nothing is measured. */
KITH_API kith_status kith_device_choose(const kith_work *work, kith_device *device, char *reason);

#ifdef __cplusplus
}
#endif

#endif
