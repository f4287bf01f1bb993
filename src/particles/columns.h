#ifndef PARTICLES_COLUMNS_H
#define PARTICLES_COLUMNS_H

#include <math.h>

#include "device/arrays.h"
#include "device/staging.h"
#include "kith/particles.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The unit of a number: numbers with a unit are scaled by powers of two (forces/scale.h). */
enum particles_unit { particles_unit_none, particles_unit_length, particles_unit_mass };

/* The known columns, one row each: name, unit, the default of an absent column, the minimum allowed
 * (−∞: any finite number), and the remedy in messages. */
#define PARTICLES_COLUMNS(ROW, argument)                                                           \
    ROW(argument, m, mass, 1, -(double)INFINITY, "finite numbers")                                 \
    ROW(argument, q, none, 1, -(double)INFINITY, "finite numbers")                                 \
    ROW(argument, softening, length, 0, 0, "lengths of at least 0")                                \
    ROW(argument, epsilon, none, 1, 0, "energies of at least 0")                                   \
    ROW(argument, sigma, none, 1, 0, "lengths of at least 0")

#define PARTICLES_ENUMERATOR(argument, name, ...) particles_##name,
enum particles_column { PARTICLES_COLUMNS(PARTICLES_ENUMERATOR, ) particles_column_count };
#undef PARTICLES_ENUMERATOR

struct particles_column_info {
    const char *name;
    enum particles_unit unit;
    double otherwise, least;
    const char *what;
};

extern const struct particles_column_info particles_columns[particles_column_count];

/* An argument that holds particles, and what messages call its arrays: static memory, which errors
 * that are found later name too. */
struct particles_argument {
    const char *name, *positions, *column[particles_column_count];
};

extern const struct particles_argument particles_sources, particles_targets, /* of forces */
    particles_rows_of_matrix, particles_columns_of_matrix;

/* Particles by the rows of the table. */
struct particles_side {
    const struct particles_argument *argument;
    kith_array positions;
    kith_array column[particles_column_count]; /* none where absent */
};

/* Finds the columns by name.
 *
 *   side  [out] zeros at first
 *
 * Errors: KITH_INVALID_ARGUMENT (particles is NULL, an unknown name, a column given twice or
 * without a name). */
kith_status particles_take(const struct particles_argument *argument,
                           const kith_particles *particles, struct particles_side *side);

/* Where the targets are the sources, because their positions are absent or the same view of the
 * same memory, removes those positions, and the columns that are the sources' too. */
void particles_share(const struct particles_side *sources, struct particles_side *targets);

/* Positions and columns are of the shape, the dtype and on the device of the first side, which is
 * checked by kith_check_positions and kith_check_device before. count is the number of particles
 * where the side has no positions. Errors: KITH_INVALID_ARGUMENT. */
kith_status particles_check(const kith_context *context, const struct particles_side *side,
                            int64_t count, const struct particles_side *first);

/* Positions and columns are inputs of a call that is staged. */
void particles_stage(struct staging *staging, struct particles_side *side);

/* kith_check_overlap with each of the side's arrays. */
kith_status particles_check_overlap(const struct named_array *output,
                                    const struct particles_side *side);

#ifdef __cplusplus
}
#endif

#endif
