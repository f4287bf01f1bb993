#ifndef TESTS_SIMD_MATH_FUNCTIONS_H
#define TESTS_SIMD_MATH_FUNCTIONS_H

#include "core/isa.h"

/* The functions of core/simd_math.h as compiled for an instruction set, on arrays of 16 elements;
 * y counts for pow only. */
typedef void simd_math_float(const float *x, const float *y, float *result);
typedef void simd_math_double(const double *x, const double *y, double *result);

enum {
    simd_math_exp2,
    simd_math_exp,
    simd_math_log,
    simd_math_sqrt,
    simd_math_pow,
    simd_math_count
};
enum { simd_math_elements = 16 };

struct simd_math_functions {
    simd_math_float *in_float[simd_math_count];
    simd_math_double *in_double[simd_math_count];
};

#define DECLARE_SIMD_MATH(isa) extern const struct simd_math_functions simd_math_functions_##isa;
KITH_EACH_ISA(DECLARE_SIMD_MATH)
extern const struct simd_math_functions simd_math_functions_portable;

#endif
