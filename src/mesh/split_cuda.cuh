#ifndef MESH_SPLIT_CUDA_CUH
#define MESH_SPLIT_CUDA_CUH

/* What a pair within the cutoff adds on a GPU, without its weights: erfc(α r)/r and −1/r d/dr of
 * it, in units of the cutoff. By the polynomials of split.h; in single precision, where the error
 * that is requested permits, by
 *
 *     erfc(x) = t P(t) e^{−x²},    t = 1/(1 + reach x)
 *
 * with P of degree 5 fitted on x < 6.5 for the least largest error, 1.3e-8 (as Hastings 1955 did;
 * Abramowitz & Stegun 1964, 7.1.26). With rounding the force is wrong by up to 1e-6 of 1/r², by
 * 1e-7 in the rms. It takes a third of the operations of two polynomials. */

#include "core/roots_cuda.cuh"
#include "mesh/pme_cuda.h"

/* What is the same for all pairs. */
template <typename real> struct smooth {
    real value[split_most_terms], factor[split_most_terms]; /* of split.h */
    real near2;          /* below this r² a pair is near: place_cuda.cuh */
    real of_reach, fall; /* reach α; −α², for a power of 2 */
    real at_zero;        /* erf(α r)/r at r = 0 */
};

/* In place of a number of terms. */
enum { by_exponential = 0 };

static const double reach = 0.3875;

template <typename real>
static inline struct smooth<real> smooth_of(const struct pme_cuda_problem &problem) {
    const double pi = 3.14159265358979323846, alpha = problem.alpha * problem.cutoff;
    struct smooth<real> smooth = {
    };
    smooth.near2 = s2_floor<real>();
    if (sizeof(real) == sizeof(float)) /* greater: pme_cuda.c */
        smooth.near2 = (real)(problem.near * problem.near);
    smooth.of_reach = (real)(reach * alpha);
    smooth.fall = (real)(-alpha * alpha / log(2.0));
    smooth.at_zero = (real)(2 / sqrt(pi) * alpha);
    for (int k = 0; k < problem.split.terms; k++) {
        smooth.value[k] = (real)problem.split.value[k];
        smooth.factor[k] = (real)problem.split.factor[k];
    }
    return smooth;
}

__device__ inline float
root_of(float r2)
{
    float root;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(r2)); /* r2 is not subnormal */
    return root;
}

__device__ inline double root_of(double r2)
{
    return rsqrt(r2);
}

/* With root = 1/r. */
template <int terms, typename real>
__device__ inline void split_pair(const struct smooth<real> &smooth, real r2, real root,
                                  real *value, real *factor)
{
    const real z = fma((real)2, r2, (real)-1);
    real of_value = smooth.value[terms - 1], of_factor = smooth.factor[terms - 1];
#pragma unroll
    for (int k = terms - 2; k >= 0; k--) {
        of_value = fma(of_value, z, smooth.value[k]);
        of_factor = fma(of_factor, z, smooth.factor[k]);
    }
    *value = root - of_value;
    *factor = fma(root * root, root, -of_factor);
}

template <>
__device__ inline void split_pair<by_exponential, float>(const struct smooth<float> &smooth,
                                                         float r2, float root, float *value,
                                                         float *factor)
{
    const float p[] = {0.23607117f,  0.07451163f, 0.69260334f,
                       -0.69755606f, 0.92695269f, -0.23258277f};
    float t, exponential;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(t) : "f"(fmaf(smooth.of_reach * r2, root, 1.0f)));
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(exponential) : "f"(smooth.fall * r2));
    float sum = p[5];
#pragma unroll
    for (int k = 4; k >= 0; k--)
        sum = fmaf(sum, t, p[k]);
    *value = sum * t * exponential * root;
    *factor = root * root * fmaf(smooth.at_zero, exponential, *value);
}

#endif
