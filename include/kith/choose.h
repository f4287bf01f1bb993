#ifndef KITH_CHOOSE_H
#define KITH_CHOOSE_H

#include "kith/array.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A kind of computation, and its unit of work. */
typedef enum kith_work_kind {
    KITH_WORK_FORCES = 0, /* one call; ordered pairs */
    KITH_WORK_STEPS,   /* a simulation, whose arrays stay on the device; ordered pairs per step */
    KITH_WORK_PRODUCT, /* a matrix that is reduced or multiplied; elements */
    KITH_WORK_MATRIX,  /* a matrix that is stored; elements */
    KITH_WORK_PAIRS,   /* a list of neighbors; points */
    KITH_WORK_COLLISIONS,  /* lattice collisions; beads */
    KITH_WORK_SPARSE,      /* one sparse product; stored entries */
    KITH_WORK_SUMS,        /* sums of formulas over all pairs; ordered pairs */
    KITH_WORK_NEAR,        /* forces or sums within a cutoff; particles */
    KITH_WORK_NEAR_STEPS,  /* a simulation within a cutoff; particles */
    KITH_WORK_IMAGES,      /* forces of all periodic images by pme; particles */
    KITH_WORK_IMAGES_STEPS /* a simulation with pme; particles */
} kith_work_kind;

typedef struct kith_work {
    kith_work_kind kind;
    double units;     /* of work; at least 0 */
    double rows;      /* particles copied to a GPU and back; 0 for steps */
    kith_dtype dtype; /* KITH_F64 or KITH_F32 */
    int32_t threads;  /* of the CPU; 0: the default of kith_context_options */
    kith_device data; /* where the arrays are; all zeros: on the host */
} kith_work;

#define KITH_REASON_BYTES 160

/* Chooses the device for a computation. (KITH_DEVICE_AUTO of a context does not know the
 * computation, and takes the first GPU.)
 *
 *     t_cpu = a + units / (rate · threads),   t_gpu = b + c · rows + units / rate
 *
 * with constants that were measured once for each kind (docs/performance.md). The device with the
 * shorter time is chosen, the CPU if they are equal; where the arrays are on a device, that device;
 * without a GPU the CPU; for pme in a build without FFTW, which the CPU needs, the GPU.
 *
 *   device  [out] for kith_context_options.device
 *   reason  [out] NULL, or at least KITH_REASON_BYTES bytes: the reason as a clause, such as "an
 *           estimated 3 us on the CPU, 22 us on cuda:0"
 *
 * Errors: KITH_INVALID_ARGUMENT (work or device NULL, an unknown kind or dtype, units or rows that
 *         are negative or not finite, threads < 0).
 * Cost:   less than a microsecond after the first call, which enumerates the GPUs.
 * Bits:   a function of its arguments, the number of cores (with threads 0) and whether there is a
 *         GPU: nothing is measured. */
KITH_API kith_status kith_device_choose(const kith_work *work, kith_device *device, char *reason);

#ifdef __cplusplus
}
#endif

#endif
