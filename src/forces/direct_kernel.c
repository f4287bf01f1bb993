/* The direct kernel of one instruction set and real type. */

#include "forces/direct_kernel.h"

#include "core/memory.h"
#include "core/real.h"

/* Sums over this many sources are taken in the problem's own precision, the sum of these sums in
 * double: a float result is then as good as its terms for any number of sources. */
enum { chunk_sources = 256 };

/* Vectors of targets in a register block, and their sums at most; the targets left at the end go
 * one vector at a time. A block of any set divides kith_padding. */
enum { one_sided_vectors = 4, one_sided_values = 7 };

/* Where ε² comes from: one for all pairs, or half from the target and half from the source. */
enum softening { softening_common, softening_per_body };

/* What the inner loop is compiled for; constants once inlined. */
struct variant {
    int32_t vectors; /* of targets in a block: one_sided_vectors or 1 */
    bool adds_apart, omits_self;
    int32_t dimensions;
    enum softening softening;
    enum forces_outputs outputs;
};

#define EACH_DIMENSION(ROW, outputs, softening)                                                    \
    ROW(outputs, softening, 2) ROW(outputs, softening, 3)
#define EACH_SOFTENING(ROW, outputs)                                                               \
    EACH_DIMENSION(ROW, outputs, softening_common)                                                 \
    EACH_DIMENSION(ROW, outputs, softening_per_body)
/* In the order of the indices [outputs][softening][dimensions − 2]. */
#define EACH_VARIANT(ROW)                                                                          \
    EACH_SOFTENING(ROW, forces_acceleration)                                                       \
    EACH_SOFTENING(ROW, forces_potential)                                                          \
    EACH_SOFTENING(ROW, forces_jerk)

#include "forces/direct_kernel_body.h"

const struct forces_direct_kernels KITH_REAL_SYMBOL(forces_direct) = {forces_direct, REAL_LANES};
