#ifndef IO_RUN_PARAMETERS_H
#define IO_RUN_PARAMETERS_H

#include <hdf5.h>

#include "core/status.h"
#include "io/run_file.h"

/* /parameters/kith in an H5MD file: one scalar dataset per parameter, and the checkpoint
 * (run_checkpoint.c). */

#define RUN_CHECKPOINT "/parameters/kith/checkpoint"

/* The origin of the file: version, command_line, input,
 * units/{length,time,mass,gravitational_constant}, seed. Unknown ones (NULL) are left as they are;
 * an unknown seed is −1. */
kith_status run_parameters_write_origin(hid_t file, const struct run_origin *origin);

/* The origin of each system of an ensemble, if known: seeds, inputs. */
kith_status run_parameters_write_systems(hid_t file, const struct run_origin *origin,
                                         int64_t systems);

kith_status run_parameters_write(hid_t file, const struct run_parameters *parameters);

/*   exclusions  [out] those that the parameters have, or NULL; free it with free(), also on
 *               failure
 *
 * Errors: KITH_BAD_FORMAT (no run of kith wrote the file), KITH_OUT_OF_MEMORY. */
kith_status run_parameters_read(hid_t file, struct run_parameters *parameters,
                                int64_t (**exclusions)[2]);

/* The checkpoint in /parameters/kith/checkpoint; its state is one dataset arrays × N × D, which is
 * written by run_checkpoint_put: some rows of one array. */
kith_status run_checkpoint_write(hid_t file, kith_dtype precision, int64_t count,
                                 int32_t dimensions, const kith_checkpoint *checkpoint);
kith_status run_checkpoint_put(hid_t file, kith_dtype precision, int32_t dimensions, int64_t array,
                               int64_t first, int64_t rows, const void *numbers);

/* Removes the checkpoint, so that its place can be used again. */
kith_status run_checkpoint_remove(hid_t file);

/* A checkpoint without its state, which run_checkpoint_get reads: some rows of one array.
 *
 *   checkpoint  [out] free with kith_checkpoint_free
 *
 * Errors: KITH_BAD_FORMAT (none, or of another version of kith), KITH_OUT_OF_MEMORY. */
kith_status run_checkpoint_get(hid_t file, kith_dtype precision, int32_t dimensions, int64_t array,
                               int64_t first, int64_t rows, void *numbers);
kith_status run_checkpoint_read(hid_t file, kith_dtype precision, int64_t count, int32_t dimensions,
                                kith_checkpoint *checkpoint);

#endif
