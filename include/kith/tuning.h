#ifndef KITH_TUNING_H
#define KITH_TUNING_H

#include "kith/array.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What was measured to be the fastest on a device, kept in the user's cache folder.
 *
 * `kith tune` measures and writes it; a context reads it when it is created. A number that is 0
 * means kith's own choice. With the environment variable KITH_TUNING set to "off" nothing is read.
 *
 * The bits of a result are the same on every run with the same tuning; a new tuning may change them
 * in the last places, as it may call for another kernel. Threads change no bit. */
typedef struct kith_tuning {
    /* Bodies from which on KITH_FORCES_AUTO evaluates each pair once, by precision. */
    int64_t forces_least_symmetric_single, forces_least_symmetric_double;
    int64_t threads;      /* of the CPU: the number that threads = 0 selects */
    int64_t matrix_block; /* threads of a tile of the matrix, on a GPU */
} kith_tuning;

/* Reads what is known of a device, {KITH_CPU, 0} or {KITH_CUDA, k}; all 0 if that is nothing.
 *
 * On failure all is 0 too: nothing that is half right is used. What is known of a CPU is known of
 * its model and of the instruction set in use, that of a GPU of its model.
 *
 * Errors: KITH_BAD_FORMAT (the file is damaged; the message names it), KITH_IO_ERROR (it or its
 *         folder cannot be read or can be written by others), KITH_NO_DEVICE. */
KITH_API kith_status kith_tuning_read(kith_device device, kith_tuning *tuning);

/* Replaces what is known of a device. Errors: KITH_INVALID_ARGUMENT (a number out of range),
 * KITH_IO_ERROR, KITH_NO_DEVICE. */
KITH_API kith_status kith_tuning_write(kith_device device, const kith_tuning *tuning);

/* Forgets what is known of a device. Errors: KITH_IO_ERROR, KITH_NO_DEVICE. */
KITH_API kith_status kith_tuning_forget(kith_device device);

#ifdef __cplusplus
}
#endif

#endif
