#ifndef TREE_RADIAL_CUDA_CUH
#define TREE_RADIAL_CUDA_CUH

/* (s^{-1} d/ds)^m f(s), m = 0 … order, in units of length of which one is 1 / inverse_unit, for the
 * kernels of M2L and M2P: of f = 1/s and ln s by their powers, of other laws by bins. */

#include "device/reals_cuda.cuh"
#include "tree/expansion_cuda.cuh"

/* What a unit of f is times is `first`. */
struct radial_of_powers {
    template <typename real>
    static __device__ __forceinline__ real first(const struct expansion_shape &shape, real inverse)
    {
        return shape.law == expansion_logarithm ? (real)1 : inverse;
    }

    template <typename real>
    static __device__ __forceinline__ void make(const struct expansion_shape &shape, int32_t order,
                                                real s2, real inverse_unit, real *base)
    {
        make_radial(shape.law, order, s2, inverse_unit, base);
    }

    template <int order, typename real>
    static __device__ __forceinline__ void make_fixed(const struct expansion_shape &shape, real s2,
                                                      real inverse_unit, real *base)
    {
        const bool logarithm = shape.law == expansion_logarithm;
        const real root = rsqrt(s2), inverse2 = root * root;
        base[0] = logarithm ? log(s2) * (real)0.5 - log(inverse_unit) : root;
#pragma unroll
        for (int m = 1; m <= order; m++)
            base[m] = logarithm ? (m == 1 ? inverse2 : base[m - 1] * inverse2 * (real)(2 - 2 * m))
                                : base[m - 1] * inverse2 * (real)(1 - 2 * m);
    }
};

/* The number of a bin, and its middle. */
static __device__ inline int32_t bin_of(float x)
{
    return __float_as_int(x) >> (FLT_MANT_DIG - 1 - expansion_bin_bits);
}

static __device__ inline int64_t bin_of(double x)
{
    return expansion_bin_of(x);
}

static __device__ inline float middle_of(int64_t bin, float)
{
    const int32_t half = 1 << (FLT_MANT_DIG - 2 - expansion_bin_bits);
    return __int_as_float((int32_t)bin * (2 * half) + half);
}

static __device__ inline double middle_of(int64_t bin, double)
{
    return expansion_middle_of(bin);
}

/* 2^m times derivative m by s², from the series about the middle of the bin. Outside of the bins it
 * is that of a middle. */
struct radial_of_bins {
    struct expansion_bins bins; /* rows are in the device's memory */

    template <typename real>
    static __device__ __forceinline__ real first(const struct expansion_shape &, real)
    {
        return 1;
    }

    /* Where the series of s² is, with t and what a derivative by t is times for one by s². */
    template <typename real>
    __device__ __forceinline__ const real4_of<real> *find(real s2, real inverse_unit, real *t,
                                                          real *step) const
    {
        const bool is_float = sizeof(real) == sizeof(float);
        const int64_t begin = is_float ? bins.first_float : bins.first_double;
        const real scale = (real)bins.per_unit / inverse_unit, place = s2 * scale * scale;
        const int64_t number = bin_of(place), wanted = number - begin;
        const int64_t bin = wanted < 0 ? 0 : wanted >= bins.count ? bins.count - 1 : wanted;
        const real center = middle_of(bin + begin, (real)0);
        *t = bin == wanted ? (place - center) / center : (real)0;
        *step = 2 * scale * scale / center;
        return (const real4_of<real> *)((const real *)bins.rows + bin * bins.terms);
    }

    template <typename real>
    __device__ __forceinline__ void make(const struct expansion_shape &, int32_t order, real s2,
                                         real inverse_unit, real *base) const
    {
        real series[expansion_most_terms], t, step, power = 1;
        const real4_of<real> *row = find(s2, inverse_unit, &t, &step);
        const int32_t terms = bins.terms;
        for (int32_t k = 0; k < terms; k += 4) {
            const real4_of<real> four = row[k / 4];
            series[k] = four.x;
            series[k + 1] = four.y;
            series[k + 2] = four.z;
            series[k + 3] = four.w;
        }
        for (int32_t m = 0; m <= order; m++) {
            for (int32_t k = terms - 2; k >= m; k--)
                series[k] = fma(t, series[k + 1], series[k]);
            base[m] = series[m] * power;
            power *= step * (real)(m + 1);
        }
    }

    template <int order, typename real>
    __device__ __forceinline__ void make_fixed(const struct expansion_shape &, real s2,
                                               real inverse_unit, real *base) const
    {
        constexpr int terms = (order + 1 + expansion_more_terms + 3) / 4 * 4; /* of bins.terms */
        static_assert(terms <= expansion_most_terms, "expansion_terms_of");
        real series[terms], t, step, power = 1;
        const real4_of<real> *row = find(s2, inverse_unit, &t, &step);
#pragma unroll
        for (int k = 0; k < terms; k += 4) {
            const real4_of<real> four = row[k / 4];
            series[k] = four.x;
            series[k + 1] = four.y;
            series[k + 2] = four.z;
            series[k + 3] = four.w;
        }
#pragma unroll
        for (int m = 0; m <= order; m++) {
#pragma unroll
            for (int k = terms - 2; k >= m; k--)
                series[k] = fma(t, series[k + 1], series[k]);
            base[m] = series[m] * power;
            power *= step * (real)(m + 1);
        }
    }
};

/* ∂^α f for |α| ≤ order, as make_derivatives has them, by a law. */
template <typename real, typename radial>
static __device__ __forceinline__ void
make_derivatives_of(const radial &of_law, const struct expansion_shape &shape, int32_t order,
                    const struct expansion_direction<real> &to, real *e)
{
    real base[expansion_max_full + 2];
    of_law.make(shape, order, to.s2, to.inverse, base);
    make_derivatives(shape.basis, order, to.d, base, e);
}

#endif
