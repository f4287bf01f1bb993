#ifndef FORCES_SYMMETRIC_KERNEL_H
#define FORCES_SYMMETRIC_KERNEL_H

/* The symmetric loop (symmetric_loop_body.h) as its driver sees it; what is compiled at run time
 * reads this too. */

#include <stdbool.h>
#include <stdint.h>

#include "core/isa.h"
#include "law/law_kinds.h"

enum {
    symmetric_vectors = 4,   /* of targets whose sums are in registers */
    symmetric_chunk = 64,    /* sources met at a time, whose sums stay in the first cache */
    symmetric_components = 4 /* a force and a potential */
};

/* The form of the sums of a meeting under gravity. Where a processor adds while it multiplies
 * (AMD's since Zen), forces are faster, because both sides of a pair add the same force; but they
 * are 0 for bodies without mass, and out of range for masses that are very different. By a law sums
 * are always forces. */
enum symmetric_form {
    sums_are_accelerations, /* Σ m_j d/s³ and Σ m_j/s over the other side's bodies */
    sums_are_forces         /* m_i times as much */
};

/* Bodies of a meeting: columns of count elements, to be read up to the next multiple of 64.
 * Gravity: masses are 0 and the rest is finite past count, and the columns of all dimensions are
 * there. A law: count of targets is a multiple of 64. */
struct symmetric_bodies {
    const void *position[3]; /* by a law NULL: zeros */
    const void *weight;      /* masses, or weights of a law; by a law NULL: ones */
    const void *charge;      /* of a formula; NULL: ones */
    const void *half_softening2;
    int64_t count;
};

/* Where the sums of one side go, by gravity times field_scale (of the kernels
 * below); written up to the next multiple of 64. NULL: not requested; the same on both sides. */
struct symmetric_sums {
    void *field[3]; /* all or none; gravity: always those of all dimensions */
    void *potential;
};

/* Two blocks of bodies without a body in common, each pair of which is evaluated once. */
struct symmetric_meeting {
    int32_t dimensions;                /* gravity */
    enum symmetric_form form;          /* gravity */
    const struct law_numbers *numbers; /* a law */
    enum law_weighting weighting;      /* a law */
    bool is_central;                   /* a law */
    double softening2;                 /* what the bodies' own are added to, or 0 */
    struct symmetric_bodies targets, sources;
    struct symmetric_sums of_targets, of_sources;
};

typedef void forces_symmetric_kernel(const struct symmetric_meeting *meeting);

/* Computes the arithmetic of many pairs and nothing else; returns the number of interactions, about
 * turns × the lanes of a few vectors. */
typedef int64_t forces_symmetric_limit(enum symmetric_form form, int64_t turns);

/* The kernels of an instruction set for gravity. */
struct forces_symmetric_kernels {
    forces_symmetric_kernel *meet;
    double field_scale;

    /* sums[i] += Σ_k columns[k][i], k ascending, for i < count. */
    void (*add)(double *sums, const void *const *columns, int32_t column_count, int64_t count);

    forces_symmetric_limit *limit; /* for forces/limit.h */
};

/* The kernels of an instruction set and real type: gravity's, and those of laws by kind. */
#define FORCES_DECLARE_SYMMETRIC(isa)                                                              \
    extern const struct forces_symmetric_kernels forces_symmetric_double_##isa,                    \
        forces_symmetric_float_##isa;                                                              \
    extern forces_symmetric_kernel *const forces_symmetric_law_double_##isa[law_built_in_count],   \
        *const forces_symmetric_law_float_##isa[law_built_in_count];
KITH_EACH_ISA(FORCES_DECLARE_SYMMETRIC)
#undef FORCES_DECLARE_SYMMETRIC

#endif
