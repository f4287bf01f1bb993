#ifndef FORCES_VERLET_KERNEL_H
#define FORCES_VERLET_KERNEL_H

#include "core/isa.h"
#include "forces/cutoff_kernel.h"
#include "law/law_kinds.h"

/* A particle and the clusters, all at one translation, that it may be within the cutoff of. */
struct verlet_segment {
    long long begin; /* of its entries, each the number of a cluster */
    int count;
    int slot;
    int translation;
    int is_own; /* its own cluster too: the particles after it there */
    /* Lanes that the particle does not interact with: of its own cluster if is_own, else of the
     * cluster of its only entry. */
    unsigned left_out;
};

/* A sum of many 64-bit integers, high · 2^32 + low. */
struct verlet_wide {
    unsigned long long high, low; /* two's complement */
};

/* What one call of a kernel adds up besides forces. */
struct verlet_sums {
    double largest,
        largest_value;         /* magnitudes of F/d and V of a pair: infinite or NaN if one is */
    struct verlet_wide energy; /* Σ V, in units of its own */
    /* Of each translation: the forces on the particles of its segments; NULL: not requested, nor is
     * the energy. */
    struct verlet_wide (*across)[3];
};

/* Forces by a Verlet list as kernels see them. Slots are the places of particles in clusters, as
 * many as a vector of reals has lanes; a cluster has the x of its slots, then their y, then z.
 *
 * Forces are integers of a unit, so that their sums do not depend on their order: a component is
 * rounded to the nearest, as by adding `magic`, 3/2 · 2^52 units, in double precision: what that
 * changes in the bits of `magic`, modulo 2^64, is the integer. So are values of pairs, in units of
 * their own. */
struct verlet_problem {
    struct law_numbers numbers;
    enum law_weighting weighting;
    enum cutoff_shift shift;
    double cutoff, limit, softening2, magic, value_magic;
    double slope_at_cutoff; /* dV/dr of weights 1, which a shift of forces takes away */
    const void *position;
    const void *weight; /* by slot, of a custom law the masses; NULL: ones */
    const void *charge; /* by slot, of a custom law; NULL: ones */
    const void *
        row; /* by slot, if a custom law has columns: 32-bit integers of floats, else 64-bit ones */
    const double (*translations)[3];
};

/* Adds, for each segment, the forces on its particle to those of its slot, and subtracts them from
 * those of the slots of its entries' clusters.
 *
 *   force  laid out as positions
 *   sums   added to. Energy and forces across translations are summed in double precision only */
typedef void verlet_kernel(const struct verlet_problem *problem,
                           const struct verlet_segment *segments, long long count,
                           const int *entries, unsigned long long *force, struct verlet_sums *sums);

/* Which of some clusters have a slot nearer than the square root of a limit to a place: their
 * number, and to `found` which. */
typedef long long verlet_search(const void *position, const double at[3], double limit,
                                const int *clusters, long long count, int *found);

/* The kernels of an instruction set, by the kind of law. */
struct verlet_kernels {
    verlet_kernel *in_float[law_built_in_count], *in_double[law_built_in_count];
    verlet_search *search_float, *search_double;
    int lanes_float, lanes_double;
};

#define VERLET_DECLARE(isa) extern const struct verlet_kernels verlet_kernels_##isa;
KITH_EACH_ISA(VERLET_DECLARE)
#undef VERLET_DECLARE

#endif
