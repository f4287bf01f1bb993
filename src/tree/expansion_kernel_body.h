/* The operators of expansion.h for one precision. Included by expansion_kernel.c for each, with
 *
 *   REAL, VREAL  float, vfloat or double, vdouble
 *   INT, VINT    int32_t, vint32 or int64_t, vint64
 *   BITS_OF_MANTISSA
 *   NAME(name)   name_float or name_double
 *   FAR          how many sizes away a cell may be for powers of the ratio up to max_order to be in
 *                range, as factors of coefficients and of derivatives
 *
 * A vector has the same coefficient of several cells, a cell a lane, or several bodies. */

enum { NAME(lanes) = SIMD_BYTES / sizeof(REAL) };
#include "tree/expansion_rows_body.h"

#include "tree/expansion_polynomials_body.h"

#include "tree/expansion_cells_body.h"
#include "tree/expansion_rotation_body.h"

#include "tree/expansion_bodies_body.h"
#include "tree/expansion_powers_body.h"
