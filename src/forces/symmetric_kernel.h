#ifndef FORCES_SYMMETRIC_KERNEL_H
#define FORCES_SYMMETRIC_KERNEL_H

#include "core/isa.h"
#include "forces/problem.h"

/* What the sums of a meeting are. Where a processor adds beside its multiplications (AMD's since
 * Zen), forces are faster, because both sides of a pair add the same force; but they are 0 for
 * bodies without mass, and out of range for masses that are very different. */
enum symmetric_form {
    sums_are_accelerations, /* Σ m_j d/s³ and Σ m_j/s over the other side's bodies */
    sums_are_forces         /* m_i times as much */
};

/* Bodies of a meeting: columns of count elements, to be read up to the next multiple of 64, where
 * the masses are 0 and the rest is finite. */
struct symmetric_bodies {
    const void *position[3], *mass, *half_softening2;
    int64_t count;
};

/* Where the sums of one side go, times field_scale (of the kernels below); written up to the
 * next multiple of 64. */
struct symmetric_sums {
    void *field[3];
    void *potential; /* NULL: not wanted; the same on both sides */
};

/* Two blocks of bodies without a body in common, each pair of which is evaluated once. */
struct symmetric_meeting {
    int32_t dimensions;
    enum symmetric_form form;
    double softening2; /* if the bodies have none of their own */
    struct symmetric_bodies targets, sources;
    struct symmetric_sums of_targets, of_sources;
};

typedef void forces_symmetric_kernel(const struct symmetric_meeting *meeting);

/* The kernels of an instruction set. */
struct forces_symmetric_kernels {
    forces_symmetric_kernel *in_double, *in_float;
    double field_scale_in_double, field_scale_in_float;

    /* sums[i] += Σ_k columns[k][i], k ascending, for i < count. */
    void (*add_doubles)(double *sums, const void *const *columns, int32_t column_count,
                        int64_t count);
    void (*add_floats)(double *sums, const void *const *columns, int32_t column_count,
                       int64_t count);

    /* Does the arithmetic of many pairs and nothing else, for forces/limit.h; returns how many
     * interactions, about turns × the lanes of a few vectors. */
    int64_t (*limit_in_double)(enum symmetric_form form, int64_t turns);
    int64_t (*limit_in_float)(enum symmetric_form form, int64_t turns);
};

#define FORCES_DECLARE_SYMMETRIC(isa)                                                              \
    extern const struct forces_symmetric_kernels forces_symmetric_##isa;
KITH_EACH_ISA(FORCES_DECLARE_SYMMETRIC)
#undef FORCES_DECLARE_SYMMETRIC

#endif
