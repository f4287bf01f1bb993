#ifndef IO_RUN_IMAGES_H
#define IO_RUN_IMAGES_H

#include <hdf5.h>

#include "core/status.h"
#include "kith/forces.h"

/* What solvers of periodic images take besides an accuracy and a cutoff, in /parameters/kith:
 * alpha, absolute_error, boundary, grid_a, grid_b, grid_c; left out where it was not given. */
kith_status run_images_write(hid_t group, const kith_ewald *ewald);

/* Errors: KITH_BAD_FORMAT. */
kith_status run_images_read(hid_t group, kith_ewald *ewald);

/* Pairs that do not interact, in /parameters/kith/exclusions; left out without exclusions. */
kith_status run_exclusions_write(hid_t group, kith_array exclusions);

/*   rows  [out] those of the exclusions, or NULL; free them with free(), also on failure
 *
 * Errors: KITH_BAD_FORMAT, KITH_OUT_OF_MEMORY. */
kith_status run_exclusions_read(hid_t group, kith_array *exclusions, int64_t (**rows)[2]);

#endif
