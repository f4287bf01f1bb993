/* Compiled for each instruction set, and once more with SIMD_GENERIC. */

#include "simd_math_functions.h"

#include "core/simd_math.h"

#define DEFINE(real, name, expression)                                                             \
    static void name##_##real(const real *x_, const real *y_, real *result)                        \
    {                                                                                              \
        for (int k = 0; k < simd_math_elements; k += (int)(SIMD_BYTES / sizeof(real))) {           \
            const v##real x = simd_load(x_ + k), y = simd_load(y_ + k);                            \
            (void)y;                                                                               \
            simd_store(result + k, expression);                                                    \
        }                                                                                          \
    }
#define DEFINE_ALL(real)                                                                           \
    DEFINE(real, exp2, simd_exp2(x))                                                               \
    DEFINE(real, exp, simd_exp(x))                                                                 \
    DEFINE(real, log, simd_log(x))                                                                 \
    DEFINE(real, sqrt, simd_sqrt(x))                                                               \
    DEFINE(real, pow, simd_pow(x, y))

DEFINE_ALL(float)
DEFINE_ALL(double)

const struct simd_math_functions KITH_ISA_SYMBOL(simd_math_functions) = {
    .in_float = {exp2_float, exp_float, log_float, sqrt_float, pow_float},
    .in_double = {exp2_double, exp_double, log_double, sqrt_double, pow_double},
};
