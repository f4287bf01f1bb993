#ifndef CORE_FLOORS_H
#define CORE_FLOORS_H

/* The bounds that keep the arithmetic of a pair in range. Read by C, CUDA and NVRTC, so it includes
 * nothing.
 *
 * The preprocessor cannot compare floating-point numbers: what is asserted below is about the
 * exponents of the floors, and test_core compares these with the floors themselves. */

/* Added to every s² = r² + ε²: at the same position without softening 1/s³ is then finite, and d =
 * 0 makes the pair add 0 without a branch. Changes no bit unless s is far below the resolution of
 * the coordinates (1e-9 in float, 1e-90 in double). Distances from about 1e-12 to 1e19 are in a
 * float's range, from 1e-100 to 1e150 in a double's. The near sums of a mesh add nothing to r², in
 * units of the cutoff, but take pairs with r² up to this for pairs at the same position. */
#define S2_FLOOR_FLOAT_EXPONENT  83
#define S2_FLOOR_DOUBLE_EXPONENT 680
#define S2_FLOOR_FLOAT           0x1p-83f /* 2 to minus the exponent */
#define S2_FLOOR_DOUBLE          0x1p-680

/* Masses are scaled to at most this (forces/scale.h), and of laws the weights of trees. */
#define MASS_LIMIT 2

/* MASS_LIMIT² / s³ at the floor is finite, also where the root is an estimate: its square is
 * 2^(4 + 3 exponent), the square of the largest number 2^256 in float and 2^2048 in double. */
#ifdef __cplusplus
#define KITH_STATIC_ASSERT(condition, message) static_assert(condition, message)
#else
#define KITH_STATIC_ASSERT(condition, message) _Static_assert(condition, message)
#endif
KITH_STATIC_ASSERT(MASS_LIMIT *MASS_LIMIT == 1 << 2, "the bounds below are for masses up to 2");
KITH_STATIC_ASSERT(4 + 3 * S2_FLOOR_FLOAT_EXPONENT < 256, "m_i m_j / s^3 overflows in float");
KITH_STATIC_ASSERT(4 + 3 * S2_FLOOR_DOUBLE_EXPONENT < 2048, "m_i m_j / s^3 overflows in double");
/* It is below half a unit in the last place of the square of the smallest difference of two
 * coordinates near 1. */
KITH_STATIC_ASSERT(S2_FLOOR_FLOAT_EXPONENT > 2 * 24 + 25, "the floor changes sums in float");
KITH_STATIC_ASSERT(S2_FLOOR_DOUBLE_EXPONENT > 2 * 53 + 54, "the floor changes sums in double");

#endif
