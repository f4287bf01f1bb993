#ifndef KITH_THERMOSTAT_H
#define KITH_THERMOSTAT_H

#include <stdint.h>

#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A method that keeps a simulation at a temperature. */
typedef enum kith_thermostat_kind {
    KITH_THERMOSTAT_NONE = 0, /* none: the energy is conserved */
    KITH_THERMOSTAT_LANGEVIN, /* friction and noise on each body */
    KITH_THERMOSTAT_BUSSI     /* one random factor for all velocities (canonical rescaling) */
} kith_thermostat_kind;

/* A thermostat of a simulation (kith/simulation.h). It acts in the middle of the drift of each step
 * h of the integrator leapfrog: half a kick, half a drift, thermostat, half a drift, half a kick.
 *
 * KITH_THERMOSTAT_LANGEVIN, BAOAB (Leimkuhler & Matthews 2013, J. Chem. Phys. 138, 174102):
 *
 *     v ← c v + √((1 − c²) T / m) ξ        c = e^{−h/τ}, ξ normal, a number for each component
 *
 * Positions are then distributed as e^{−U/T} to a high order of h. The center of mass diffuses.
 *
 * KITH_THERMOSTAT_BUSSI (Bussi, Donadio & Parrinello 2007, J. Chem. Phys. 126, 014101): velocities
 * relative to that of the center of mass are multiplied by α, with c as above,
 *
 *     α² = c + (1 − c) (ξ² + Σ_{k=2}^{N_f} ξ_k²) T / 2K + 2 ξ √(c (1 − c) T / 2K)
 *
 * K is their kinetic energy and N_f = D (N − 1) the number of their degrees of freedom. It
 * conserves the momentum and perturbs the motion little. Bodies at rest stay at rest.
 *
 * Random numbers are those of Philox 4x64-10 (Salmon, Moraes, Dror & Shaw 2011) for (seed, step,
 * body): the same bits for every number of threads, and in a resumed run. */
typedef struct kith_thermostat {
    kith_thermostat_kind kind;
    double temperature; /* k T ≥ 0, an energy: unit of mass × length² / time² */
    double time;        /* τ > 0: correlation time of the velocities (langevin) or of K (bussi) */
    uint64_t seed;      /* < 2^63 */
} kith_thermostat;

/* Parses a thermostat: "langevin:T,TAU[,SEED]" or "bussi:T,TAU[,SEED]"; seed 0 unless given.
 *
 * Errors: KITH_INVALID_ARGUMENT (an unknown name, a number that is missing or out of range). */
KITH_API kith_status kith_thermostat_parse(const char *text, kith_thermostat *thermostat);

#ifdef __cplusplus
}
#endif

#endif
