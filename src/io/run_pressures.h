#ifndef IO_RUN_PRESSURES_H
#define IO_RUN_PRESSURES_H

#include <hdf5.h>

#include "core/status.h"
#include "io/run_file.h"

/* Temperature, pressure and virial of a run at their own interval, in
 * /parameters/kith/pressure/{step,time,temperature,pressure,virial}: one row per record. They are
 * not among the observables, whose rows are the frames'. As frames they are appended by whole
 * chunks. */
struct run_pressures {
    hid_t file;
    int64_t gathered; /* rows in memory, which follow those in the file */
    int64_t *step;    /* NULL without pressures */
    double *time, *temperature, *pressure, *virial;
};

/* Makes the datasets of a new file. */
kith_status run_pressures_make(hid_t file);

/* Begins to append to a file that has the datasets.
 *
 *   pressures  [out] close with run_pressures_end; also after a failure */
kith_status run_pressures_begin(hid_t file, struct run_pressures *pressures);
void run_pressures_end(struct run_pressures *pressures);

kith_status run_pressures_add(struct run_pressures *pressures, const struct run_pressure *row);

/* Appends the rows in memory to a file with the same whole chunks, the own one or a copy. */
kith_status run_pressures_complete(const struct run_pressures *pressures, hid_t file);

/* Drops the rows from a step on.
 * Errors: KITH_BAD_FORMAT, KITH_OUT_OF_MEMORY. */
kith_status run_pressures_truncate(hid_t file, int64_t step);

#endif
