#ifndef TREE_FIXED_CUDA_CUH
#define TREE_FIXED_CUDA_CUH

/* Operators of an order that is known when they are compiled: all loops are unrolled, and
 * coefficients stay in registers as far as there are enough. */

#include <utility>

#include "device/reals_cuda.cuh"
#include "tree/expansion_cuda.cuh"

/* f(0), …, f(n − 1), of constants. */
template <typename function, int... k>
static __device__ __forceinline__ void repeat_each(function f, std::integer_sequence<int, k...>)
{
    (f(std::integral_constant<int, k>()), ...);
}

template <int n, typename function> static __device__ __forceinline__ void repeat(function f)
{
    repeat_each(f, std::make_integer_sequence<int, n>());
}

/* What of an expansion is known when it is compiled. */
template <expansion_basis basis_is, int order_is> struct fixed {
    static constexpr expansion_basis basis = basis_is;
    static constexpr int order = order_is;
    static constexpr int max_c = basis == expansion_harmonic ? 1
                                 : basis == expansion_plane  ? 0
                                                             : order;
    static constexpr int planes = basis == expansion_full ? order + 1 : 1;
    __host__ __device__ static constexpr int below(int n)
    {
        return n * (n + 1) * (n + 2) / 6;
    }
    __host__ __device__ static constexpr int row(int b, int c)
    {
        return below(order + 1) - below(order - c + 1) + b * (order - c + 1) - b * (b - 1) / 2;
    }
    static constexpr int count = row(0, max_c + 1);
    static constexpr int derivatives = basis == expansion_harmonic ? row(0, 3) : count;
};

/* H_α(d) of expansion_harmonic, in rows: make_harmonics. use(n) when those of degree n are made.
 */
template <typename known, typename real, typename function>
static __device__ __forceinline__ void make_fixed_harmonics(const real d[3], real *h, function use)
{
    h[0] = 1;
    use(std::integral_constant<int, 0>());
    repeat<known::order>([&](auto of_degree) {
        constexpr int n = decltype(of_degree)::value + 1;
        const real x = d[0] * (real)(1.0 / n), y = d[1] * (real)(1.0 / n),
                   z = d[2] * (real)(1.0 / n);
        repeat<n + 1>([&](auto of_row) {
            constexpr int b = decltype(of_row)::value, a = n - b;
            real sum = 0;
            if constexpr (a > 0)
                sum = fma(x, h[known::row(b, 0) + a - 1], sum);
            if constexpr (b > 0)
                sum = fma(y, h[known::row(b - 1, 0) + a], sum);
            if constexpr (a > 1)
                sum = fma(-z, h[known::row(b, 1) + a - 2], sum);
            if constexpr (b > 1)
                sum = fma(-z, h[known::row(b - 2, 1) + a], sum);
            h[known::row(b, 0) + a] = sum;
        });
        repeat<n>([&](auto of_row) {
            constexpr int b = decltype(of_row)::value, a = n - 1 - b;
            real sum = z * h[known::row(b, 0) + a];
            if constexpr (a > 0)
                sum = fma(x, h[known::row(b, 1) + a - 1], sum);
            if constexpr (b > 0)
                sum = fma(y, h[known::row(b - 1, 1) + a], sum);
            h[known::row(b, 1) + a] = sum;
        });
        use(std::integral_constant<int, n>());
    });
}

/* d^α / α! of the other bases, in rows, each from one of the degree before. */
template <typename known, typename real, typename function>
static __device__ __forceinline__ void make_fixed_monomials(const real d[3], real *h, function use)
{
    h[0] = 1;
    use(std::integral_constant<int, 0>());
    repeat<known::order>([&](auto of_degree) {
        constexpr int n = decltype(of_degree)::value + 1;
        repeat<(n < known::max_c ? n : known::max_c) + 1>([&](auto of_c) {
            repeat<n + 1 - decltype(of_c)::value>([&](auto of_b) {
                constexpr int c = decltype(of_c)::value, b = decltype(of_b)::value, a = n - b - c;
                constexpr int at = known::row(b, c) + a;
                if constexpr (c > 0)
                    h[at] = d[2] * (real)(1.0 / c) * h[known::row(b, c - 1) + a];
                else if constexpr (b > 0)
                    h[at] = d[1] * (real)(1.0 / b) * h[known::row(b - 1, 0) + a];
                else
                    h[at] = d[0] * (real)(1.0 / a) * h[a - 1];
            });
        });
        use(std::integral_constant<int, n>());
    });
}

/* make_polynomials of a constant order */
template <typename known, typename real, typename function>
static __device__ __forceinline__ void make_fixed_polynomials(const real d[3], real *h,
                                                              function use)
{
    if constexpr (known::basis == expansion_harmonic)
        make_fixed_harmonics<known>(d, h, use);
    else
        make_fixed_monomials<known>(d, h, use);
}

template <typename known, typename real>
static __device__ __forceinline__ void make_fixed_polynomials(const real d[3], real *h)
{
    make_fixed_polynomials<known>(d, h, [](auto) {});
}

/* total[a] += Σ_i terms[i] field[a + i], a + i ≤ last. */
template <int last, typename real>
static __device__ __forceinline__ void contract_row(const real *terms, const real *field,
                                                    real *total)
{
#pragma unroll
    for (int i = 0; i <= last; i++)
#pragma unroll
        for (int a = 0; a <= last; a++)
            if (a + i <= last)
                total[a] = fma(terms[i], field[a + i], total[a]);
}

/* sum_α += scale[|α|] Σ_β terms_β field_{α + β} */
template <typename known, typename real>
static __device__ __forceinline__ void contract_fixed(const real *terms, const real *field,
                                                      const real *scale, real *sum)
{
    constexpr int order = known::order;
    repeat<known::max_c + 1>([&](auto of_c) {
        repeat<order + 1 - decltype(of_c)::value>([&](auto of_b) {
            constexpr int c = decltype(of_c)::value, b = decltype(of_b)::value;
            constexpr int left = order - b - c;
            real total[left + 1];
#pragma unroll
            for (int a = 0; a <= left; a++)
                total[a] = 0;
            repeat<(known::max_c < left ? known::max_c : left) + 1>([&](auto of_k) {
                repeat<left + 1 - decltype(of_k)::value>([&](auto of_j) {
                    constexpr int k = decltype(of_k)::value, j = decltype(of_j)::value;
                    contract_row<left - k - j>(terms + known::row(j, k),
                                               field + known::row(b + j, c + k), total);
                });
            });
#pragma unroll
            for (int a = 0; a <= left; a++)
                sum[known::row(b, c) + a] =
                    fma(scale[a + b + c], total[a], sum[known::row(b, c) + a]);
        });
    });
}

/* A multipole; each lane reads another one, four coefficients at a time. */
template <typename known, typename real>
static __device__ __forceinline__ void load_fixed(const real4_of<real> *multipole, real *terms)
{
    constexpr int groups = (known::count + 3) / 4;
#pragma unroll
    for (int k = 0; k < groups; k++) {
        const real4_of<real> four = multipole[k];
        terms[4 * k] = four.x;
        terms[4 * k + 1] = four.y;
        terms[4 * k + 2] = four.z;
        terms[4 * k + 3] = four.w;
    }
}

/* terms_α *= power[|α|] */
template <typename known, typename real>
static __device__ __forceinline__ void scale_fixed(const real *power, real *terms)
{
    repeat<known::max_c + 1>([&](auto of_c) {
        repeat<known::order + 1 - decltype(of_c)::value>([&](auto of_b) {
            constexpr int c = decltype(of_c)::value, b = decltype(of_b)::value;
#pragma unroll
            for (int a = 0; a <= known::order - b - c; a++)
                terms[known::row(b, c) + a] *= power[a + b + c];
        });
    });
}

/* sum_{α + β} += first_α second_β, |α| + |β| ≤ order; of expansion_harmonic sum has c ≤ 2. */
template <typename known, typename real>
static __device__ __forceinline__ void multiply_fixed(const real *first, const real *second,
                                                      real *sum)
{
    constexpr int most = known::max_c;
    repeat<most + 1>([&](auto of_c) {
        repeat<known::order + 1 - decltype(of_c)::value>([&](auto of_b) {
            constexpr int c = decltype(of_c)::value, b = decltype(of_b)::value;
            constexpr int left = known::order - b - c;
            repeat<(left < most ? left : most) + 1>([&](auto of_k) {
                repeat<left + 1 - decltype(of_k)::value>([&](auto of_j) {
                    constexpr int k = decltype(of_k)::value, j = decltype(of_j)::value;
                    constexpr int last = left - j - k;
#pragma unroll
                    for (int a = 0; a <= last; a++)
#pragma unroll
                        for (int i = 0; i <= last; i++)
                            if (a + i <= last)
                                sum[known::row(b + j, c + k) + a + i] =
                                    fma(first[known::row(b, c) + a], second[known::row(j, k) + i],
                                        sum[known::row(b + j, c + k) + a + i]);
                });
            });
        });
    });
}

/* Of expansion_harmonic, from Laplace's equation: use(i, x, y) of the coefficients (a, b, 2), which
 * are −x − y. */
template <typename known, typename function>
static __device__ __forceinline__ void for_each_second_in_z(function use)
{
    if constexpr (known::basis == expansion_harmonic)
        repeat<known::order - 1>([&](auto of_row) {
            constexpr int b = decltype(of_row)::value;
#pragma unroll
            for (int a = 0; a <= known::order - 2 - b; a++)
                use(known::row(b, 2) + a, known::row(b, 0) + a + 2, known::row(b + 2, 0) + a);
        });
}

/* launch(known) for the orders that tree_choose_cuda chooses; false for others. */
template <typename function>
static inline bool with_fixed(const struct expansion_shape &shape, function launch)
{
    const bool harmonic = shape.basis == expansion_harmonic, full = shape.basis == expansion_full;
    if (harmonic && shape.order == 4)
        launch(fixed<expansion_harmonic, 4>());
    else if (harmonic && shape.order == 6)
        launch(fixed<expansion_harmonic, 6>());
    else if (harmonic && shape.order == 8)
        launch(fixed<expansion_harmonic, 8>());
    else if (full && shape.order == 4)
        launch(fixed<expansion_full, 4>());
    else if (full && shape.order == 6)
        launch(fixed<expansion_full, 6>());
    else
        return false;
    return true;
}

/* The same of the operators between cells and points, whose code is short: of higher orders too,
 * which are of double precision. */
template <typename real, typename function>
static inline bool with_fixed_for_points(const struct expansion_shape &shape, function launch)
{
    if constexpr (sizeof(real) == sizeof(double)) {
        if (shape.basis == expansion_harmonic && shape.order == 12) {
            launch(fixed<expansion_harmonic, 12>());
            return true;
        }
        if (shape.basis == expansion_harmonic && shape.order == 14) {
            launch(fixed<expansion_harmonic, 14>());
            return true;
        }
    }
    return with_fixed(shape, launch);
}

#endif
