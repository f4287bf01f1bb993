#ifndef KITH_INITIAL_H
#define KITH_INITIAL_H

#include "kith/bodies.h"
#include "kith/context.h"
#include "kith/orbits.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Initial conditions: a row of the table that kith_initial_list returns. */
typedef struct kith_initial {
    const char *name;        /* "plummer" */
    const char *description; /* one line, with units and source */
    int64_t default_count;   /* bodies if options.count is 0 */
    int64_t fixed_count;     /* the only number of bodies possible, or 0 for any */
    const char *run_hint;    /* suitable arguments of kith run, "--dt 0.01 --until 10"; or NULL */
    kith_units units;        /* of the bodies; all 0 if G = 1 */
} kith_initial;

/* The table of initial conditions; *count rows, static memory. */
KITH_API const kith_initial *kith_initial_list(int64_t *count);

/* A planet on its orbit about a star: mass and elements, as kith_orbit has them. */
typedef struct kith_planet {
    double m, a, e, i, Omega, omega, M;
} kith_planet;

typedef struct kith_initial_options {
    int64_t count; /* bodies; 0: the default of the kind, or no bodies if count_given */
    bool count_given;
    uint64_t seed;      /* of the random numbers (Philox 4x64-10 of Random123) */
    int32_t dimensions; /* 0 or 3; 2 for the kinds that can be flat (lattice, cubes, two-body …) */
    double eccentricity;                /* two-body: 0 ≤ e < 1 */
    double mass_ratio;                  /* > 0, or 0: the kind's default, see below */
    const kith_planet *planets;         /* planets: one for each body but the star */
    int64_t planet_count;               /* their number */
    double star_mass;                   /* planets: > 0, or 0: 1 */
    double gravitational_constant;      /* planets: > 0, or 0: 1 */
    kith_orbit_coordinates coordinates; /* planets: the center of their orbits */
    double density;                     /* crystals: particles per unit volume, > 0, or 0: 1 */
    double temperature;                 /* crystals: ≥ 0, in units of energy */
    kith_poll *poll; /* called every 0.05 s, cancels if it returns true; NULL: none */
    void *poll_user; /* its argument */
} kith_initial_options;

/* Makes initial conditions: the same bits on every machine for the same kind and options, except
 * for planets, whose last bits depend on the sine of the C library.
 *
 * The mass ratio of two-body and galaxies is second over first, 1 by default; of lagrange second
 * and third over first, 0.01 by default: the triangle is stable up to 0.0198 (Gascheau 1843).
 * Crystals (fcc, bcc, nacl) fill a periodic cube, masses are 1, the momentum is 0 and the kinetic
 * energy 3 (N − 1) T / 2; nacl has charges 1 and −1.
 * Planets are placed by kith_orbits_place: the center of mass is at the origin and at rest.
 *
 *   kind     a name of the table
 *   options  NULL for the defaults
 *   bodies   [out] owned by the caller; free with kith_bodies_free; NULL on failure. They have the
 *            kind's units and G
 *
 * Errors: KITH_INVALID_ARGUMENT (unknown kind: the message lists the known ones; a count or option
 *         that the kind does not support; invalid orbital elements), KITH_OUT_OF_MEMORY,
 *         KITH_CANCELLED.
 *
 * Cost: O(N). */
KITH_API kith_status kith_initial_make(const char *kind, const kith_initial_options *options,
                                       kith_bodies **bodies);

#ifdef __cplusplus
}
#endif

#endif
