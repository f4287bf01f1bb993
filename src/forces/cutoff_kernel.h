#ifndef FORCES_CUTOFF_KERNEL_H
#define FORCES_CUTOFF_KERNEL_H

#include "core/isa.h"
#include "law/law_kinds.h"

enum { cutoff_most_candidates = 2048, cutoff_room = cutoff_most_candidates + 64 };

/* How the law ends at the cutoff: kith_shift. */
enum cutoff_shift { cutoff_shift_none, cutoff_shift_energy, cutoff_shift_force };

/* Energy and virial of pairs, half of each from either side. */
enum { cutoff_totals = 10 };

/* Forces within a cutoff as kernels see them: columns by slot, the index of a particle after
 * sorting, of floats or doubles. NULL: ones, of softenings zeros. Sums are added to, in double. */
struct cutoff_problem {
    struct law_numbers numbers;
    enum law_weighting weighting;
    enum cutoff_shift shift;
    int is_central;
    double cutoff, limit, softening2;
    double slope_at_cutoff; /* dV/dr of weights 1, where it is the same for all pairs */
    const void *target_position[3];
    const void *target_weight, *source_weight; /* of a custom law the masses */
    const void *target_charge, *source_charge; /* of a custom law */
    const void *target_half_softening2, *source_half_softening2;
    const void *total_weight;
    double *force[3], *value; /* value, or NULL: then neither totals */
};

/* Some sources, at one image each, with which each of some targets is compared, and room for those
 * that are within the cutoff. A target whose slot is in self_begin … self_end − 1 is itself
 * candidate self_at + slot − self_begin, and left out. */
struct cutoff_candidates {
    long long count;
    void *position[3], *translation[3];
    int *slot;
    int moved; /* some have a translation */
    long long self_begin, self_end, self_at;
    void *d[3], *r2; /* of cutoff_room */
    int *found;
};

/* Adds to the sums of the targets begin … end − 1 their pairs with the candidates. */
typedef void cutoff_kernel(const struct cutoff_problem *problem,
                           const struct cutoff_candidates *candidates, long long begin,
                           long long end, double totals[cutoff_totals]);

/* The kernels of an instruction set and real type, by the kind of law. */
struct cutoff_kernels {
    cutoff_kernel *of_kind[law_built_in_count];
};

#define CUTOFF_DECLARE(isa)                                                                        \
    extern const struct cutoff_kernels cutoff_kernels_double_##isa, cutoff_kernels_float_##isa;
KITH_EACH_ISA(CUTOFF_DECLARE)
#undef CUTOFF_DECLARE

#endif
