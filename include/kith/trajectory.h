#ifndef KITH_TRAJECTORY_H
#define KITH_TRAJECTORY_H

#include "kith/bodies.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A trajectory read from an H5MD file, frame by frame. */
typedef struct kith_trajectory kith_trajectory;

/* Opens an H5MD file for reading.
 *
 *   trajectory  [out] owned by the caller, close with kith_trajectory_close; NULL on failure
 *
 * Errors: KITH_IO_ERROR, KITH_BAD_FORMAT, KITH_UNSUPPORTED (this build has no HDF5). */
KITH_API kith_status kith_trajectory_open(const char *path, kith_trajectory **trajectory);
KITH_API void kith_trajectory_close(kith_trajectory *trajectory);

KITH_API int64_t kith_trajectory_frames(const kith_trajectory *trajectory);

/* The number of independent systems in a frame: M for an ensemble (kith/ensemble.h) of which none
 * was chosen, else 1. */
KITH_API int64_t kith_trajectory_systems(const kith_trajectory *trajectory);

/* Restricts frames and observables to one system of an ensemble, counted from 0. Bodies read before
 * belong to the whole and must not be passed to kith_trajectory_read again. A run of one system is
 * system 0.
 *
 * Errors: KITH_INVALID_ARGUMENT: the system does not exist. */
KITH_API kith_status kith_trajectory_choose_system(kith_trajectory *trajectory, int64_t system);

/* Reads frame k (0 ≤ k < frames): positions, velocities if present, time, masses, charges, ids,
 * names and units.
 *
 *   bodies  [in, out] NULL: a new object, owned by the caller; otherwise one that this function
 *           returned for the same trajectory, whose memory is reused */
KITH_API kith_status kith_trajectory_read(kith_trajectory *trajectory, int64_t frame,
                                          kith_bodies **bodies);

/* The name of the unit of "length", "time" or "mass"; "" if the file has none (in
 * /parameters/kith/units) or it is longer than KITH_NAME_BYTES − 1. */
KITH_API void kith_trajectory_unit(kith_trajectory *trajectory, const char *quantity,
                                   kith_name unit);

/* Reads /observables/NAME/value of every frame.
 *
 *   components  [out] numbers per frame: 1, 3, or 9 of a tensor, row by row; for an ensemble M
 *               times as many, system after system
 *   values      [out] frames × components, owned by the caller; free with free
 *   times       [out] frames, owned likewise; may be NULL */
KITH_API kith_status kith_trajectory_observable(kith_trajectory *trajectory, const char *name,
                                                int64_t *components, double **values,
                                                double **times);

#ifdef __cplusplus
}
#endif

#endif
