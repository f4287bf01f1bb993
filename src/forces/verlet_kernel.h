#ifndef FORCES_VERLET_KERNEL_H
#define FORCES_VERLET_KERNEL_H

#include "core/isa.h"
#include "forces/cutoff_kernel.h"
#include "law/law_kinds.h"

/* Where slots are that are not there: nothing is near them, and no square of it overflows. The
 * second particle of a segment that has one is on the other side. */
static const double verlet_far_away = 1e15;

enum { verlet_most_particles = 2 };

/* Particles next to each other in a cluster, and the clusters, all at one translation, that one of
 * them may be within the cutoff of. */
struct verlet_segment {
    long long begin; /* of its entries, each the number of a cluster */
    int count;
    int slot, particles; /* the first, and how many: as many as kernels take, or one less */
    int translation;
    int is_own; /* their own cluster too: the particles after each of them there */
    /* Slots that a particle does not interact with, after those of the particle before: of their
     * own cluster if is_own, else of the cluster of the only entry. */
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
 * many as a vector of 64-bit integers has lanes; a cluster has the x of its slots, then their y,
 * then z.
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

/* Adds, for each segment, the forces on its particles to those of their slots, and subtracts them
 * from those of the slots of its entries' clusters.
 *
 *   force  laid out as positions
 *   sums   added to. Energy and forces across translations are summed in double precision only */
typedef void verlet_kernel(const struct verlet_problem *problem,
                           const struct verlet_segment *segments, long long count,
                           const int *entries, unsigned long long *force, struct verlet_sums *sums);

/* Which of some clusters have a slot nearer than the square root of a limit to one of the places,
 * as many as a segment has particles: their number, and to `found` which. */
typedef long long verlet_search(const void *position, const double (*at)[3], double limit,
                                const int *clusters, long long count, int *found);

/* The kernels of an instruction set and real type, by the kind of law. */
struct verlet_kernels {
    verlet_kernel *of_kind[law_built_in_count];
    verlet_search *search;
    int slots, particles; /* of a cluster, of a segment */
};

#define VERLET_DECLARE(isa)                                                                        \
    extern const struct verlet_kernels verlet_kernels_double_##isa, verlet_kernels_float_##isa;
KITH_EACH_ISA(VERLET_DECLARE)
#undef VERLET_DECLARE

#endif
