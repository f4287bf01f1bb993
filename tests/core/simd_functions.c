/* Compiled for each instruction set, and once more with SIMD_GENERIC. */

#include "simd_functions.h"

#include "core/simd.h"

#define DEFINE(real)                                                                               \
    enum { lanes_##real = SIMD_BYTES / sizeof(real) };                                             \
                                                                                                   \
    static void fma_##real(const real *a, const real *b, const real *c, real *result)              \
    {                                                                                              \
        for (int k = 0; k < simd_elements; k += lanes_##real)                                      \
            simd_store(result + k,                                                                 \
                       simd_fma(simd_load(a + k), simd_load(b + k), simd_load(c + k)));            \
    }                                                                                              \
                                                                                                   \
    static void unless_equal_##real(const real *a, const real *b, const real *value, real *result) \
    {                                                                                              \
        for (int k = 0; k < simd_elements; k += lanes_##real)                                      \
            simd_store(result + k, simd_unless_equal(simd_load(a + k), simd_load(b + k),           \
                                                     simd_load(value + k)));                       \
    }                                                                                              \
                                                                                                   \
    static void rsqrt_##real(const real *x, real *result)                                          \
    {                                                                                              \
        for (int k = 0; k < simd_elements; k += lanes_##real)                                      \
            simd_store(result + k, simd_rsqrt(simd_load(x + k)));                                  \
    }                                                                                              \
                                                                                                   \
    static void rsqrt3_##real(const real *x, real *result)                                         \
    {                                                                                              \
        for (int k = 0; k < simd_elements; k += lanes_##real)                                      \
            simd_store(result + k, simd_rsqrt3_scaled(simd_load(x + k)) / SCALE);                  \
    }                                                                                              \
                                                                                                   \
    static void rsqrt3_rough_##real(const real *x, real *result)                                   \
    {                                                                                              \
        for (int k = 0; k < simd_elements; k += lanes_##real)                                      \
            simd_store(result + k, simd_rsqrt3_rough(simd_load(x + k)) / ROUGH_SCALE);             \
    }                                                                                              \
                                                                                                   \
    static void rsqrt_or_0_##real(const real *x, real *result)                                     \
    {                                                                                              \
        for (int k = 0; k < simd_elements; k += lanes_##real)                                      \
            simd_store(result + k, simd_rsqrt_or_0_scaled(simd_load(x + k)) *                      \
                                       simd_rsqrt_or_0_unscaled(simd_all((real)1)));               \
    }

#define SCALE       SIMD_RSQRT3_SCALE_FLOAT
#define ROUGH_SCALE SIMD_RSQRT3_ROUGH_SCALE_FLOAT
DEFINE(float)
#undef SCALE
#undef ROUGH_SCALE
#define SCALE       SIMD_RSQRT3_SCALE_DOUBLE
#define ROUGH_SCALE SIMD_RSQRT3_ROUGH_SCALE_DOUBLE
DEFINE(double)

const struct simd_functions KITH_ISA_SYMBOL(simd_functions) = {
    .fma_float = fma_float,
    .unless_equal_float = unless_equal_float,
    .rsqrt_float = rsqrt_float,
    .rsqrt3_float = rsqrt3_float,
    .rsqrt3_rough_float = rsqrt3_rough_float,
    .rough_error_float = SIMD_RSQRT3_ROUGH_ERROR_FLOAT,
    .rsqrt_or_0_float = rsqrt_or_0_float,
    .fma_double = fma_double,
    .unless_equal_double = unless_equal_double,
    .rsqrt_double = rsqrt_double,
    .rsqrt3_double = rsqrt3_double,
    .rsqrt3_rough_double = rsqrt3_rough_double,
    .rough_error_double = SIMD_RSQRT3_ROUGH_ERROR_DOUBLE,
    .rsqrt_or_0_double = rsqrt_or_0_double,
};
