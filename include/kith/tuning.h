#ifndef KITH_TUNING_H
#define KITH_TUNING_H

#include "kith/array.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The fastest settings of a device, as measured, kept in the user's cache folder.
 *
 * `kith tune` measures and writes it; a context reads it when it is created. 0 means the default of
 * kith. With the environment variable KITH_TUNING set to "off" nothing is read.
 *
 * Results have the same bits on every run with the same tuning; a new tuning may select another
 * kernel and so change the last digits. The number of threads changes no bit. */
typedef struct kith_tuning {
    /* Number of bodies from which KITH_FORCES_AUTO evaluates each pair once, by precision. */
    int64_t forces_least_symmetric_single, forces_least_symmetric_double;
    int64_t threads;      /* of the CPU: the number used for threads = 0 */
    int64_t matrix_block; /* threads of a tile of the matrix, on a GPU */
} kith_tuning;

/* Reads the settings of a device, {KITH_CPU, 0} or {KITH_CUDA, k}; all 0 if there are none.
 *
 * On failure all are 0 too. Settings of a CPU belong to its model and the instruction set in use,
 * those of a GPU to its model.
 *
 * Errors: KITH_BAD_FORMAT (the file is damaged; the message names it), KITH_IO_ERROR (the file or
 *         its folder cannot be read, or can be written by other users), KITH_NO_DEVICE. */
KITH_API kith_status kith_tuning_read(kith_device device, kith_tuning *tuning);

/* Replaces the settings of a device. Errors: KITH_INVALID_ARGUMENT (a number out of range),
 * KITH_IO_ERROR, KITH_NO_DEVICE. */
KITH_API kith_status kith_tuning_write(kith_device device, const kith_tuning *tuning);

/* Deletes the settings of a device. Errors: KITH_IO_ERROR, KITH_NO_DEVICE. */
KITH_API kith_status kith_tuning_forget(kith_device device);

#ifdef __cplusplus
}
#endif

#endif
