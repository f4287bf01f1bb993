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

/* How many independent systems the bodies of a frame are: M of an ensemble (kith/ensemble.h) of
 * which none was chosen, else 1. */
KITH_API int64_t kith_trajectory_systems(const kith_trajectory *trajectory);

/* From now on the trajectory is that of one system of an ensemble (counted from 0), frames and
 * observables; earlier bodies are no longer of it. A run of one system is system 0.
 *
 * Errors: KITH_INVALID_ARGUMENT: there is no such system. */
KITH_API kith_status kith_trajectory_choose_system(kith_trajectory *trajectory, int64_t system);

/* Reads frame k (0 ≤ k < frames): positions, velocities if there, time; masses, charges, ids,
 * names; the units.
 *
 *   bodies  [in/out] NULL: made, and owned by the caller; else one that this function returned for
 *           the same trajectory, to be filled again without an allocation */
KITH_API kith_status kith_trajectory_read(kith_trajectory *trajectory, int64_t frame,
                                          kith_bodies **bodies);

/* The name of the unit of "length", "time" or "mass"; "" if the file does not say (in
 * /parameters/kith/units) or it is longer than KITH_NAME_BYTES − 1. */
KITH_API void kith_trajectory_unit(kith_trajectory *trajectory, const char *quantity,
                                   kith_name unit);

/* Reads /observables/NAME/value of every frame.
 *
 *   components  [out] numbers a frame: 1, 3, or 9 of a tensor, row by row; of an ensemble M times
 *               as many, system after system
 *   values      [out] frames × components, owned by the caller; free with free
 *   times       [out] frames, likewise; may be NULL */
KITH_API kith_status kith_trajectory_observable(kith_trajectory *trajectory, const char *name,
                                                int64_t *components, double **values,
                                                double **times);

#ifdef __cplusplus
}
#endif

#endif
