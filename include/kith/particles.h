#ifndef KITH_PARTICLES_H
#define KITH_PARTICLES_H

#include "kith/array.h"

#ifdef __cplusplus
extern "C" {
#endif

/* One side of an interaction: positions and named columns, one number per particle.
 *
 *     kith_particles sources = {.positions = x, .columns = {{"m", masses}, {"q", charges}}};
 *
 * The names are those that formulas use:
 *
 *     m          mass, finite; 1 where the column is absent
 *     q          charge, finite; 1 where the column is absent
 *     softening  a length ε_i ≥ 0; the option softening of the call where the column is absent
 *     epsilon, sigma  of forces by the law lennard-jones, ≥ 0 (kith/forces.h)
 *
 * A column that the law does not use is ignored, so that the same particles can be used with every
 * law. A column without values is absent. A repeated name is an error, and so is an unknown one
 * except in sums (kith/sums.h), whose formulas use columns of any name.
 *
 * All arrays of a call have one dtype and are on one device. */

#define KITH_MAX_COLUMNS     16
#define KITH_MAX_COORDINATES 16 /* of a point, in matrices, pairs and sums over all pairs */
typedef struct kith_particle_column {
    const char *name; /* NULL: no column */
    kith_array values;
} kith_particle_column;

typedef struct kith_particles {
    kith_array positions; /* n × 2 or n × 3 (matrix.h, sums.h: 1 to 16), real, any strides */
    kith_particle_column columns[KITH_MAX_COLUMNS]; /* n each, in any order */
} kith_particles;

#ifdef __cplusplus
}
#endif

#endif
