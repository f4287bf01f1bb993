/* The symmetric kernels of one instruction set: symmetric_kernel_body.h, for float and for double.
 */

#include "forces/symmetric_kernel.h"

#include <string.h>

#include "core/memory.h"
#include "core/simd.h"

/* Sources that are met at a time: their sums, a vector a component each, stay in the first cache.
 */
enum { chunk_sources = 64 };

/* Vectors of targets whose sums are in registers. A block of them divides kith_padding. */
#if SIMD_BYTES == 64
enum { wide = 4 };
#else
enum { wide = 4 };
#endif

/* Where ε² comes from: one for all pairs, or half from the target and half from the source. */
enum softening { softening_common, softening_per_body };

enum outputs { only_field, with_potential };

enum { max_components = 4 };

/* What the inner loop is compiled for; constants once inlined. */
struct variant {
    enum outputs outputs;
    enum softening softening;
    enum symmetric_form form;
    int32_t dimensions;
};

/* In the order of the indices [outputs][softening][form][dimensions − 2]. */
#define EACH_DIMENSION(ROW, outputs, softening, form)                                              \
    ROW(outputs, softening, form, 2) ROW(outputs, softening, form, 3)
#define EACH_FORM(ROW, outputs, softening)                                                         \
    EACH_DIMENSION(ROW, outputs, softening, sums_are_accelerations)                                \
    EACH_DIMENSION(ROW, outputs, softening, sums_are_forces)
#define EACH_SOFTENING(ROW, outputs)                                                               \
    EACH_FORM(ROW, outputs, softening_common) EACH_FORM(ROW, outputs, softening_per_body)
#define EACH_VARIANT(ROW) EACH_SOFTENING(ROW, only_field) EACH_SOFTENING(ROW, with_potential)

#define KERNEL_BODY "forces/symmetric_kernel_body.h"
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
