#ifndef LAW_LAW_MATH_CUDA_H
#define LAW_LAW_MATH_CUDA_H

/* The functions of law_body.h on a GPU, for float and double. NVRTC compiles this text too: it
 * includes nothing.
 *
 * In float the hardware's approximations are used, to 2 units in the last place; in double they are
 * taken to full precision by a series. */

#define LAW_INLINE static __device__ __forceinline__

/* A constant takes the type of what it is combined with. */
LAW_INLINE float law_all(float x)
{
    return x;
}

LAW_INLINE double law_all(double x)
{
    return x;
}

LAW_INLINE float law_fma(float a, float b, float c)
{
    return fmaf(a, b, c);
}

LAW_INLINE double law_fma(double a, double b, double c)
{
    return fma(a, b, c);
}

LAW_INLINE float law_reciprocal(float x)
{
    float y;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* 1/x = y / (1 − e), y the estimate, e = 1 − x y ≤ 2^−20. */
LAW_INLINE double law_reciprocal(double x)
{
    double y;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    const double e = fma(-x, y, 1.0);
    return fma(y, fma(e, e, e), y);
}

LAW_INLINE float law_rsqrt(float x)
{
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* 1/√x = y (1 − e)^(−1/2), y the estimate, e = 1 − x y² ≤ 2^−19. */
LAW_INLINE double law_rsqrt(double x)
{
    double y;
    asm("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(y) : "d"(x));
    const double e = fma(-x, y * y, 1.0);
    return fma(y * e, fma(0.375, e, 0.5), y);
}

LAW_INLINE float law_sqrt(float x)
{
    float y;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

LAW_INLINE double law_sqrt(double x)
{
    return sqrt(x);
}

LAW_INLINE float law_exp2(float x)
{
    float y;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

LAW_INLINE double law_exp2(double x)
{
    return exp2(x);
}

LAW_INLINE float law_log(float x)
{
    return logf(x);
}

LAW_INLINE double law_log(double x)
{
    return log(x);
}

LAW_INLINE float law_log2(float x)
{
    return log2f(x);
}

LAW_INLINE double law_log2(double x)
{
    return log2(x);
}

LAW_INLINE float law_unless_equal(float a, float b, float value)
{
    return a != b ? value : 0.0f;
}

LAW_INLINE double law_unless_equal(double a, double b, double value)
{
    return a != b ? value : 0.0;
}

template <class real> LAW_INLINE real law_rsqrt3_scaled(real x)
{
    const real y = law_rsqrt(x);
    return y * y * y;
}

template <class real> LAW_INLINE real law_rsqrt_or_0_scaled(real x)
{
    return law_unless_equal(x, law_all((real)0), law_rsqrt(x));
}

#define law_rsqrt3_unscaled(c)     (c)
#define law_rsqrt_or_0_unscaled(c) (c)

/* For formulas. */
#define LAW_CUDA_FUNCTION(name)                                                                    \
    LAW_INLINE float law_##name(float x)                                                           \
    {                                                                                              \
        return name##f(x);                                                                         \
    }                                                                                              \
    LAW_INLINE double law_##name(double x)                                                         \
    {                                                                                              \
        return name(x);                                                                            \
    }
#define LAW_CUDA_FUNCTION_2(name)                                                                  \
    LAW_INLINE float law_##name(float x, float y)                                                  \
    {                                                                                              \
        return name##f(x, y);                                                                      \
    }                                                                                              \
    LAW_INLINE double law_##name(double x, double y)                                               \
    {                                                                                              \
        return name(x, y);                                                                         \
    }

LAW_CUDA_FUNCTION(exp)
LAW_CUDA_FUNCTION(expm1)
LAW_CUDA_FUNCTION(log10)
LAW_CUDA_FUNCTION(log1p)
LAW_CUDA_FUNCTION(cbrt)
LAW_CUDA_FUNCTION(sin)
LAW_CUDA_FUNCTION(cos)
LAW_CUDA_FUNCTION(tan)
LAW_CUDA_FUNCTION(asin)
LAW_CUDA_FUNCTION(acos)
LAW_CUDA_FUNCTION(atan)
LAW_CUDA_FUNCTION(sinh)
LAW_CUDA_FUNCTION(cosh)
LAW_CUDA_FUNCTION(tanh)
LAW_CUDA_FUNCTION(asinh)
LAW_CUDA_FUNCTION(acosh)
LAW_CUDA_FUNCTION(atanh)
LAW_CUDA_FUNCTION(erf)
LAW_CUDA_FUNCTION(erfc)
LAW_CUDA_FUNCTION(floor)
LAW_CUDA_FUNCTION(ceil)
LAW_CUDA_FUNCTION(trunc)
LAW_CUDA_FUNCTION(round)
LAW_CUDA_FUNCTION(fabs)
LAW_CUDA_FUNCTION_2(fmin)
LAW_CUDA_FUNCTION_2(fmax)
LAW_CUDA_FUNCTION_2(pow)
LAW_CUDA_FUNCTION_2(atan2)
LAW_CUDA_FUNCTION_2(hypot)
LAW_CUDA_FUNCTION_2(fmod)

#undef LAW_CUDA_FUNCTION
#undef LAW_CUDA_FUNCTION_2

/* As 1/√x is, for any x. */
LAW_INLINE float law_rsqrt_of_any(float x)
{
    return law_rsqrt(x);
}

LAW_INLINE double law_rsqrt_of_any(double x)
{
    return rsqrt(x);
}

LAW_INLINE bool law_not(bool mask)
{
    return !mask;
}

LAW_INLINE float law_select(bool mask, float a, float b)
{
    return mask ? a : b;
}

LAW_INLINE double law_select(bool mask, double a, double b)
{
    return mask ? a : b;
}

#endif
