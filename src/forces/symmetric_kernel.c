/* Gravity by the symmetric loop, for one instruction set: symmetric_gravity_body.h, for float and
 * for double. */

#include "forces/symmetric_kernel.h"

#include <string.h>

#include "core/simd.h"

/* Where ε² comes from: one for all pairs, or half from the target and half from the source. */
enum softening { softening_common, softening_per_body };

/* What the loop is compiled for; constants once inlined. */
struct variant {
    int32_t vectors, fields; /* these four: symmetric_loop_body.h */
    bool has_rest, potential;
    enum softening softening;
    enum symmetric_form form;
};

/* In the order of the indices [potential][softening][form][fields − 2]. */
#define EACH_DIMENSION(ROW, potential, softening, form)                                            \
    ROW(potential, softening, form, 2) ROW(potential, softening, form, 3)
#define EACH_FORM(ROW, potential, softening)                                                       \
    EACH_DIMENSION(ROW, potential, softening, sums_are_accelerations)                              \
    EACH_DIMENSION(ROW, potential, softening, sums_are_forces)
#define EACH_SOFTENING(ROW, potential)                                                             \
    EACH_FORM(ROW, potential, softening_common) EACH_FORM(ROW, potential, softening_per_body)
#define EACH_VARIANT(ROW) EACH_SOFTENING(ROW, 0) EACH_SOFTENING(ROW, 1)

#define KERNEL_BODY "forces/symmetric_gravity_body.h"
#include "forces/for_each_real.h"

const struct forces_symmetric_kernels KITH_ISA_SYMBOL(forces_symmetric) = {
    .in_double = forces_symmetric_double,
    .in_float = forces_symmetric_float,
    .add_doubles = add_columns_double,
    .add_floats = add_columns_float,
    .limit_in_double = limit_double,
    .limit_in_float = limit_float,
    .field_scale_in_double = SIMD_RSQRT3_SCALE_DOUBLE,
    .field_scale_in_float = (double)SIMD_RSQRT3_SCALE_FLOAT,
};
