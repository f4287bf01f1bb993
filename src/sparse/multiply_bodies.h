/* All kernels of one precision. Included by multiply_kernel.c for each, with
 *
 *   REAL, VREAL   float, vfloat or double, vdouble
 *   NAME(name)    name_float or name_double
 *   FMA(a, b, c)  a·b + c */

#include "sparse/multiply_rows_body.h"

#include "sparse/multiply_bsr_body.h"
#include "sparse/multiply_csr_body.h"
#include "sparse/multiply_dia_body.h"
#include "sparse/multiply_filled_body.h"
#include "sparse/multiply_vectors_body.h"

#include "sparse/multiply_vectors_formats_body.h"
