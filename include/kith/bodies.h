#ifndef KITH_BODIES_H
#define KITH_BODIES_H

#include <stdbool.h>
#include <stdint.h>

#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KITH_NAME_BYTES 32 /* of a body's name, with the final zero */

typedef char kith_name[KITH_NAME_BYTES];

/* The units of a set of bodies, and the gravitational constant in them. kith converts nothing: the
 * names are for people and other programs, and G is the default of gravity. A name is
 * zero-terminated UTF-8 without commas, double quotes, backslashes and control characters. */
typedef struct kith_units {
    double gravitational_constant; /* G; 0: unknown, treated as 1 */
    kith_name length, time, mass;  /* "AU", "day", "Msun"; "" where not known */
} kith_units;

#define KITH_MAX_OTHER_COLUMNS 16

/* A further column, which only formulas use. */
typedef struct kith_other_column {
    kith_name name;
    double *values; /* N */
} kith_other_column;

/* A set of bodies (particles, beads) in double precision on the host.
 *
 * A column that is NULL is absent: velocities and radii are then 0, masses and charges 1. All
 * columns are owned by the object. Units are any consistent ones, which the bodies may name. */
typedef struct kith_bodies {
    int64_t count;      /* N */
    int32_t dimensions; /* D: 2 or 3 */
    double *position;   /* N × D, row-major; never NULL if N > 0 */
    double *velocity;   /* N × D */
    double *mass;       /* N */
    double *charge;     /* N */
    double *softening;  /* N, one length per body */
    double *radius;     /* N, one length ≥ 0 per body, for collisions */
    double *epsilon;    /* N, ≥ 0: the depth ε of the law lennard-jones (kith/forces.h) */
    double *sigma;      /* N, ≥ 0: its length σ */
    int64_t *id;        /* N */
    kith_name *name;    /* N, zero-terminated UTF-8: a body's name or a chemical symbol */
    double time;
    bool has_cell;
    double cell[9];   /* rows are the cell vectors; in 2D the third is (0, 0, 1) */
    bool periodic[3]; /* along each cell vector */
    kith_units units;
    int32_t other_count;
    kith_other_column other[KITH_MAX_OTHER_COLUMNS]; /* read where requested, never written */
} kith_bodies;

/* Which columns to allocate besides position. */
typedef enum kith_column {
    KITH_VELOCITY = 1,
    KITH_MASS = 2,
    KITH_CHARGE = 4,
    KITH_SOFTENING = 8,
    KITH_ID = 16,
    KITH_NAME = 32,
    KITH_CELL = 64,   /* not columns: these two are reported by kith_format_drops only */
    KITH_UNITS = 128, /* G, if it is not 1, or names of units */
    KITH_RADIUS = 256,
    KITH_EPSILON = 512,
    KITH_SIGMA = 1024
} kith_column;

/* Makes bodies with all numbers 0 and empty names.
 *
 *   count       ≥ 0
 *   dimensions  2 or 3
 *   columns     kith_column flags, or-ed
 *   bodies      [out] owned by the caller; free with kith_bodies_free; NULL on failure
 *
 * Errors: KITH_INVALID_ARGUMENT, KITH_OUT_OF_MEMORY. */
KITH_API kith_status kith_bodies_create(int64_t count, int32_t dimensions, unsigned columns,
                                        kith_bodies **bodies);

/* Adds the columns that are absent, filled with zeros. Errors as kith_bodies_create. */
KITH_API kith_status kith_bodies_add_columns(kith_bodies *bodies, unsigned columns);

/* Frees bodies and their columns; NULL is fine. */
KITH_API void kith_bodies_free(kith_bodies *bodies);

/* Validates bodies: KITH_INVALID_ARGUMENT if bodies is NULL or has an invalid shape (count < 0,
 * dimensions other than 2 and 3, no positions), a number that is not finite, a negative softening
 * length or radius, or an invalid name of a unit; the message names the first such row and column.
 * Costs one pass. */
KITH_API kith_status kith_bodies_check(const kith_bodies *bodies);

#ifdef __cplusplus
}
#endif

#endif
