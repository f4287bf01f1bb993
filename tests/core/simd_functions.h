#ifndef TESTS_SIMD_FUNCTIONS_H
#define TESTS_SIMD_FUNCTIONS_H

#include "core/isa.h"

/* The functions of core/simd.h as compiled for an instruction set, on arrays of 16 elements. */
struct simd_functions {
    void (*fma_float)(const float *a, const float *b, const float *c, float *result);
    void (*unless_equal_float)(const float *a, const float *b, const float *value, float *result);
    void (*rsqrt_float)(const float *x, float *result);
    void (*rsqrt3_float)(const float *x, float *result);       /* unscaled */
    void (*rsqrt3_rough_float)(const float *x, float *result); /* unscaled */
    void (*rsqrt_or_0_float)(const float *x, float *result);

    void (*fma_double)(const double *a, const double *b, const double *c, double *result);
    void (*unless_equal_double)(const double *a, const double *b, const double *value,
                                double *result);
    void (*rsqrt_double)(const double *x, double *result);
    void (*rsqrt3_double)(const double *x, double *result);       /* unscaled */
    void (*rsqrt3_rough_double)(const double *x, double *result); /* unscaled */
    void (*rsqrt_or_0_double)(const double *x, double *result);

    double rough_error_float, rough_error_double;
};

enum { simd_elements = 16 };

#define DECLARE_SIMD_FUNCTIONS(isa) extern const struct simd_functions simd_functions_##isa;
KITH_EACH_ISA(DECLARE_SIMD_FUNCTIONS)

/* The portable fallback, which no instruction set of this machine uses. */
extern const struct simd_functions simd_functions_portable;

#endif
