/* The root of Kepler's equation for one planet, on a GPU, whose units for single precision have
 * nothing else to do. Included by whfast_kepler.h.
 *
 * With σ = s r / h the equation is F(σ) = 0,
 *
 *     F = σ + a σ² c_2(k σ²) + b σ³ c_3(k σ²) − 1,  a = (r·v) h / r²,  b = ζ h² / r³,  k = β h² /
 * r²,
 *
 * numbers without a unit, of which σ = 1 + … is found in single precision: from the series that
 * vectors have as their guess, by one step of third order. What is then left of the error, some
 * 2^−22, is removed by one step of second order in double precision. */

/* The root of 1 = σ (1 + A σ + …), as whfast_revert with u = 1. */
SIMD_INLINE float whfast_first_sigma(float a, float b, float k)
{
    const float A = a * 0.5f, B = b * (1.0f / 6), C = k * A * (-1.0f / 12),
                D = k * B * (-1.0f / 20);
    const float A2 = A * A;
    const float two = fmaf(A + A, A, -B) - A;
    const float three = fmaf(5.0f * A, B - A2, -C);
    const float four = fmaf(A2, fmaf(14.0f, A2, -21.0f * B), -D) + 3.0f * fmaf(B, B, (A + A) * C);
    return 1.0f + (two + (three + four));
}

/* F' and its derivatives are of an order that the last step needs, if *is_smooth. */
SIMD_INLINE float whfast_sigma(float a, float b, float k, vint64 *is_smooth)
{
    const float most_z = 0.34f, most_third = 12;
    const float first = whfast_first_sigma(a, b, k), first2 = first * first, z = k * first2;
    const float c2 = fmaf(-z, fmaf(-z, fmaf(-z, 1.0f / 40320, 1.0f / 720), 1.0f / 24), 0.5f);
    const float c3 = fmaf(-z, fmaf(-z, fmaf(-z, 1.0f / 362880, 1.0f / 5040), 1.0f / 120), 1.0f / 6);
    const float c1 = fmaf(-z, c3, 1.0f), c0 = fmaf(-z, c2, 1.0f);
    const float g1 = first * c1, g2 = first2 * c2, g3 = first * first2 * c3;
    const float miss = fmaf(b, g3, fmaf(a, g2, first - 1.0f));
    const float slope = fmaf(b, g2, fmaf(a, g1, 1.0f));
    const float curve = fmaf(b, g1, a * c0), third = fmaf(b, c0, -(k * a * g1));
    const float inverse = simd_float_reciprocal(slope), u = -miss * inverse;
    const float A = curve * inverse * 0.5f * u, B = third * inverse * (1.0f / 6) * u * u;
    *is_smooth = fabsf(z) <= most_z && fabsf(third * inverse * first2) <= most_third ? -1 : 0;
    return fmaf(u, fmaf(A + A, A, -B) - A, first + u);
}

SIMD_INLINE struct whfast_start whfast_begin(vdouble mu, vdouble h, const vdouble q[3],
                                             const vdouble v[3])
{
    const vdouble r2 = whfast_dot(q, q), rv = whfast_dot(q, v), v2 = whfast_dot(v, v);
    vdouble inverse;
    const vdouble r = simd_roots(r2, &inverse), pull = mu * inverse;
    const vdouble beta = (pull + pull) - v2, u = h * inverse, u2 = u * u;
    struct whfast_start start = {{r, rv, beta, simd_fma(-beta, r, mu), mu, h}, inverse, 0, 0};
    start.guess = u * whfast_sigma((float)(rv * inverse * u), (float)((v2 - pull) * u2),
                                   (float)(beta * u2), &start.is_smooth);
    return start;
}

/* The functions at s + d for a d of 2^−19 s. */
SIMD_INLINE struct whfast_functions whfast_shift_little(const struct whfast_orbit *orbit,
                                                        const struct whfast_functions *at,
                                                        vdouble g0, vdouble d)
{
    const vdouble half = d * d * 0.5;
    const vdouble g3 = simd_fma(half, at->g1, simd_fma(d, at->g2, at->g3));
    const vdouble g2 = simd_fma(half, g0, simd_fma(d, at->g1, at->g2));
    const vdouble s = at->s + d;
    const struct whfast_functions there = {s, simd_fma(-orbit->beta, g3, s), g2, g3};
    return there;
}

/* The functions at the guess, and a correction u (1 − A + 2 A² − B + …) of s; whether terms after A
 * are less than 2^−56 s. */
SIMD_INLINE vint64 whfast_try(const struct whfast_start *start, struct whfast_functions *at,
                              vdouble *g0, vdouble *d)
{
    const double small = 0x1p-19;
    const struct whfast_orbit *orbit = &start->orbit;
    *at = whfast_functions_at(orbit, start->guess, whfast_usual_terms);
    *g0 = simd_fma(-orbit->beta, at->g2, 1.0);
    const vdouble miss =
        simd_fma(orbit->r, at->s, -orbit->h) + simd_fma(orbit->rv, at->g2, orbit->zeta * at->g3);
    const vdouble slope = simd_fma(orbit->rv, at->g1, simd_fma(orbit->zeta, at->g2, orbit->r));
    const vdouble curve = simd_fma(orbit->rv, *g0, orbit->zeta * at->g1);
    const vdouble inverse = simd_rough_reciprocal(slope), u = -miss * inverse;
    const vdouble A = curve * inverse * (0.5 * u);
    *d = simd_fma(-A, u, u);
    return simd_is_at_most(simd_fabs(u), simd_fabs(at->s) * small) &
           simd_is_at_most(simd_fabs(A), small) & start->is_smooth;
}

SIMD_INLINE struct whfast_functions whfast_solve(const struct whfast_start *start)
{
    struct whfast_functions at;
    vdouble g0, d;
    if (__builtin_expect(whfast_try(start, &at, &g0, &d) == 0, 0))
        return whfast_solve_rest(&start->orbit, at, 0);
    return whfast_shift_little(&start->orbit, &at, g0, d);
}
