/* Water as particles: a particle is a column of water of volume V that moves with the flow
 * (smoothed-particle hydrodynamics). Its depth is a sum over its neighbors, and from the energy
 * E = ½ Σ v² V + ½ g Σ h V + g Σ b V follows its acceleration, b the height of the bed
 * (Rodriguez-Paz & Bonet 2005, Comput. Struct. 83, 1396):
 *
 *     h_i = Σ_j V W(r_ij),      a_i = −Σ_j V (g + Π_ij) ∇W(r_ij) − g ∇b(x_i)
 *
 * with the cubic spline W of length ℓ and a viscosity Π that spreads shocks over some particles
 * (Ata & Soulaïmani 2005, Int. J. Numer. Methods Fluids 47, 139). Every term of the sum acts on i
 * and j with opposite signs: on a level bed momentum stays zero, and volume is what the particles
 * carry.
 *
 * Both sums are kith's: formulas over the pairs nearer than 2ℓ, with no list of pairs. */

#ifndef WATER_H
#define WATER_H

#include <math.h>

#include "example.h"

static const double pi = 3.14159265358979323846;
static const double gravity = 9.81; /* m/s² */

struct water {
    kith_context *context;
    const kith_cell *cell; /* NULL: open space */
    int64_t count;
    double volume; /* of a particle */
    double length; /* the spline's ℓ: it ends at 2ℓ */
    double bowl;   /* g ∇b = bowl · x, 1/s²; 0: a level bed */
    double *position, *velocity, *acceleration, *depth;
    int64_t pair_count;
};

/* The cubic spline in two dimensions (Monaghan & Lattanzio 1985) and its slope, as powers of what
 * is left of q = r/ℓ to 1 and to 2. */
static const kith_named_formula lets[] = {
    {"to1", "fmax(1 - r / l, 0)"},
    {"to2", "fmax(2 - r / l, 0)"},
    {"W", "10 / (7 * pi * l * l) * (0.25 * to2 * to2 * to2 - to1 * to1 * to1)"},
    {"slope", "10 / (7 * pi * l * l * l) * (3 * to1 * to1 - 0.75 * to2 * to2)"},
    {"approach", "(vx_i - vx_j) * dx + (vy_i - vy_j) * dy"},
    {"deep", "0.5 * (h_i + h_j)"},
    {"viscosity", "approach > 0 ? sqrt(g * deep) * approach / (deep * r) : 0"},
    {"pull", "V * (g + viscosity) * slope / r"}, /* −V (g + Π) ∇_i W = pull · d */
};

enum { depth_lets = 3, all_lets = sizeof lets / sizeof *lets };

/* Every second number of an array of vectors. */
static inline kith_array component(double *vectors, int64_t count, int which)
{
    kith_array column = kith_array_vector(vectors + which, KITH_F64, count);
    column.strides[0] = 2;
    return column;
}

/* Sums over the water's particles near each target; targets NULL: near each of themselves, which
 * then count too if `with_self`. */
static inline void sum_water(struct water *water, const kith_particles *targets, bool with_self,
                             int let_count, int64_t output_count, const kith_named_formula *outputs,
                             kith_array results)
{
    const kith_law_parameter parameters[] = {
        {"l", water->length}, {"V", water->volume}, {"g", gravity}};
    const kith_sums_options options = {.cutoff = 2 * water->length,
                                       .cell = water->cell,
                                       .include_self = with_self,
                                       .let_count = let_count,
                                       .lets = lets,
                                       .parameter_count = 3,
                                       .parameters = parameters,
                                       .pair_count = &water->pair_count};
    const int64_t n = water->count;
    const kith_particles particles = {
        .positions = kith_array_matrix(water->position, KITH_F64, n, 2),
        .columns = {{"vx", component(water->velocity, n, 0)},
                    {"vy", component(water->velocity, n, 1)},
                    {"h", kith_array_vector(water->depth, KITH_F64, n)}}};
    must(kith_sums_compute(water->context, &options, targets, &particles, output_count, outputs,
                           results));
}

static inline void sum_depths(struct water *water)
{
    const kith_named_formula depth = {"h", "V * W"};
    double *sums = water->acceleration; /* as room: a result must not overlap the column h */
    sum_water(water, NULL, true, depth_lets, 1, &depth,
              kith_array_matrix(sums, KITH_F64, water->count, 1));
    memcpy(water->depth, sums, (size_t)water->count * sizeof *sums);
}

static inline void sum_accelerations(struct water *water)
{
    const kith_named_formula acceleration[] = {{"ax", "pull * dx"}, {"ay", "pull * dy"}};
    sum_water(water, NULL, false, all_lets, 2, acceleration,
              kith_array_matrix(water->acceleration, KITH_F64, water->count, 2));
    for (int64_t k = 0; k < 2 * water->count && water->bowl > 0; k++)
        water->acceleration[k] -= water->bowl * water->position[k];
}

/* The depths at other points. */
static inline void sum_depths_at(struct water *water, double *points, int64_t count, double *depth)
{
    const kith_named_formula output = {"h", "V * W"};
    const kith_particles targets = {.positions = kith_array_matrix(points, KITH_F64, count, 2)};
    sum_water(water, &targets, false, depth_lets, 1, &output,
              kith_array_matrix(depth, KITH_F64, count, 1));
}

static inline struct water water_for(kith_context *context, int64_t room)
{
    return (struct water){.context = context,
                          .position = room_for(room, 2 * sizeof(double)),
                          .velocity = room_for(room, 2 * sizeof(double)),
                          .acceleration = room_for(room, 2 * sizeof(double)),
                          .depth = room_for(room, sizeof(double))};
}

static inline void water_free(struct water *water)
{
    kith_context_free(water->context);
    free(water->position);
    free(water->velocity);
    free(water->acceleration);
    free(water->depth);
}

#endif
