/* The expansion operators of one instruction set and real type. */

#include "tree/expansion_kernel.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/real.h"
#include "core/simd_gather.h"
#include "core/simd_math.h"
#include "tree/expansion_angles.h"
#include "tree/expansion_rotation.h"

enum {
    max_order = expansion_max_order + 1, /* M2P and L2P take a degree more */
    max_rows = max_order + 1,
    full_rows = expansion_max_full + 2,
    max_count = full_rows * (full_rows + 1) * (full_rows + 2) / 6,
    max_solid = max_order * max_order + max_order * max_rows + 6 /* of a record that has them */
};

/* Orders of planes of coefficients that have loops of their own; orders of the harmonic basis with
 * one text for all of M2L's products. Of higher orders it would take more than half of the cache of
 * instructions. */
enum { max_fixed = 10, most_of_own = 7 };
#define EACH_OWN(ROW) ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7)

/* Vector registers. */
#if defined(__AVX512F__) || defined(__aarch64__)
enum { registers = 32 };
#else
enum { registers = 16 };
#endif

#define EACH_FIXED(ROW)                                                                            \
    ROW(0) ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7) ROW(8) ROW(9) ROW(10)

/* Of M2L by solid coefficients: vectors of sources at once; numbers of a column of one degree; rows
 * of an exchange whose sums are in registers. */
enum {
    batch = SIMD_BYTES == 64 ? 3 : 2,
    most_of_column = expansion_max_order / 2 + 1,
    most_of_rows = SIMD_BYTES == 64 ? 4 : 3
};
#if SIMD_BYTES == 64
#define EACH_ROWS(ROW) ROW(1) ROW(2) ROW(3) ROW(4)
#else
#define EACH_ROWS(ROW) ROW(1) ROW(2) ROW(3)
#endif

/* What is done to the sums. */
enum exchange_end { exchange_turn, exchange_turn_back, exchange_scale, exchange_add };

/* Vectors of targets that a source cell is read for. */
enum { block_vectors = 8 };

/* Vectors of sources whose distances M2L finds before it adds their fields: operations of one wait
 * for each other. */
enum { ahead = 4 };

/* Rows of all orders. */
#define EACH_HIGH(ROW)                                                                             \
    ROW(21) ROW(22) ROW(23) ROW(24) ROW(25) ROW(26) ROW(27) ROW(28) ROW(29) ROW(30)
#define EACH_LAST(ROW)                                                                             \
    EACH_FIXED(ROW)                                                                                \
    ROW(11) ROW(12) ROW(13) ROW(14) ROW(15) ROW(16) ROW(17) ROW(18) ROW(19) ROW(20) EACH_HIGH(ROW)
_Static_assert(expansion_max_order == 30, "EACH_LAST has a row for each order");
_Static_assert(max_count >= 3 * max_rows * (max_rows + 1) / 2 && max_count >= max_solid,
               "harmonic expansions, with c ≤ 2, and records fit where full ones do");

/* How many sizes away a cell may be for powers of the ratio up to full_rows to be in range, as
 * factors of coefficients and of derivatives. */
#if REAL_IS_DOUBLE
#define INTEGER          int64_t
#define BITS_OF_MANTISSA 52
#define FAR              0x1p40
#define ANY_LANE         SIMD_ANY_DOUBLE
#else
#define INTEGER          int32_t
#define BITS_OF_MANTISSA 23
#define FAR              0x1p8f
#define ANY_LANE         SIMD_ANY_FLOAT
#endif

/* A vector has the same coefficient of several cells, a cell a lane, or several bodies. */
#include "tree/expansion_rows_kernel.h"

#include "tree/expansion_polynomials_kernel.h"

#include "tree/expansion_cells_kernel.h"
#include "tree/expansion_rotation_kernel.h"

#include "tree/expansion_bodies_kernel.h"
#include "tree/expansion_leaves_kernel.h"
#include "tree/expansion_powers_kernel.h"

const struct expansion_operators KITH_REAL_SYMBOL(expansion) = {p2m, m2m, m2l, m2l_by_orders, l2l,
                                                                l2p, m2p, p2l, powers};
