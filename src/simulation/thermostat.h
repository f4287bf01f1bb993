#ifndef SIMULATION_THERMOSTAT_H
#define SIMULATION_THERMOSTAT_H

#include "forces/cutoff.h"
#include "io/run_file.h"
#include "kith/bodies.h"
#include "simulation/backend.h"
#include "simulation/state.h"

enum { thermostat_text_bytes = RUN_THERMOSTAT_BYTES };

/* Errors: KITH_INVALID_ARGUMENT (no such kind, numbers out of range). */
kith_status thermostat_check_numbers(const kith_thermostat *thermostat);

/* Whether a simulation of these options can have their thermostat.
 * Errors: KITH_INVALID_ARGUMENT (numbers out of range, another integrator), KITH_UNSUPPORTED (an
 * ensemble). */
kith_status thermostat_check(const kith_simulation_options *options, bool is_ensemble);

/* Masses are greater than 0 where there is a thermostat; the first body has this number in
 * messages. Errors: KITH_INVALID_ARGUMENT. */
kith_status thermostat_check_masses(const kith_thermostat *thermostat, const kith_bodies *bodies,
                                    int64_t first);

/* Its effect on the velocities in a step of length h ≥ 0, the next after simulation->steps. */
kith_status thermostat_apply(struct kith_simulation *simulation, double h);

/* What bussi does to the velocities of these bodies: of all, or, collective, of those that a rank
 * has. */
kith_status thermostat_rescale(struct kith_simulation *simulation,
                               const struct thermostat_bodies *bodies, bool is_of_rank, double h);

/* What langevin does to velocities in a step of length h. */
struct cutoff_noise thermostat_noise(const struct kith_simulation *simulation, double h);

/* The same to body i, whose number among all bodies its random numbers depend on. */
void thermostat_stir_body(const struct cutoff_noise *noise, kith_dtype dtype, int32_t dimensions,
                          int64_t number, int64_t i, const void *mass, void *const velocity[3]);

/* As kith_thermostat_parse reads it; empty for none. Errors: KITH_INVALID_ARGUMENT (no such kind),
 * KITH_OUT_OF_MEMORY. */
kith_status thermostat_write(const kith_thermostat *thermostat, char text[thermostat_text_bytes]);

#endif
