/* Gravity by the symmetric loop, for one instruction set and real type. */

#include "forces/symmetric_kernel.h"

#include <string.h>

#include "core/real.h"

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

#include "forces/symmetric_gravity_body.h"

const struct forces_symmetric_kernels KITH_REAL_SYMBOL(forces_symmetric) = {
    .meet = forces_symmetric,
    .field_scale = FIELD_SCALE,
    .add = add_columns,
    .limit = limit,
};
