#ifndef IO_RUN_EVENTS_H
#define IO_RUN_EVENTS_H

#include <hdf5.h>

#include "core/status.h"
#include "kith/simulation.h"

/* Events of the bodies of a run, in /parameters/kith/events: datasets step, time, kind, body,
 * other, distance, speed, mass and radius with one row per event, as in kith_event; kind is an
 * enumeration with the names of kith_event_name. Masses and radii of the trajectory are those at
 * the start; events have the later ones. */

/* Writes all events; nothing without events. */
kith_status run_events_write(hid_t file, const kith_event *events, int64_t count);

/* Reads them; none if the file has none.
 *
 *   rows    of the trajectory: other rows are an error
 *   events  [out] free with free
 *
 * Errors: KITH_BAD_FORMAT, KITH_OUT_OF_MEMORY. */
kith_status run_events_read(hid_t file, int64_t rows, kith_event **events, int64_t *count);

#endif
