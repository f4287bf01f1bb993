/* A drift of one planet, on a GPU. Included by whfast_kepler.h.
 *
 * With σ = s r / h, γ_n = G_n (r / h)^n and the numbers without a unit
 *
 *     a = (r·v) h / r²,  p = μ h² / r³,  b = ζ h² / r³ = v² h² / r² − p,  k = β h² / r² = p − b
 *
 * Kepler's equation is F = x + a γ_2 + b γ_3 = 0 for x = σ − 1, with γ_n = σ^n c_n(k σ²), and
 *
 *     r' / r = F' = ρ = 1 + a γ_1 + b γ_2.
 *
 * x is found in single precision, whose units have nothing else to do: from the series that
 * vectors have as their guess, by one step of third order. As x is small, what is left of the error
 * of σ is about 2^−24 x, and one step of Newton's removes it. */

/* f, g and their rates: q − f q + g v and v − f_rate q − g_rate v are the end of a drift. */
struct whfast_gauss {
    vdouble f, g, f_rate, g_rate;
};

/* x, from the first terms of its series, −A + 2 A² − B and 5 A (B − A²) + k A / 12 with A = a / 2
 * and B = b / 6; then F at σ = 1 + x, and F'' of the step. */
SIMD_INLINE float whfast_x(float a, float b, float k, vint64 *is_smooth)
{
    const float most_z = 0.34f;
    const float A = a * 0.5f, B = b * (1.0f / 6), A2 = A * A;
    const float two = fmaf(A + A, A, -B) - A;
    const float x = fmaf(A, fmaf(5.0f, B - A2, k * (1.0f / 12)), two);
    const float s = 1.0f + x, s2 = s * s, z = k * s2;
    const float c2 = fmaf(-z, fmaf(-z, fmaf(-z, 1.0f / 40320, 1.0f / 720), 1.0f / 24), 0.5f);
    const float c3 = fmaf(-z, fmaf(-z, fmaf(-z, 1.0f / 362880, 1.0f / 5040), 1.0f / 120), 1.0f / 6);
    const float g1 = s * fmaf(-z, c3, 1.0f), g2 = s2 * c2, g3 = s * s2 * c3;
    const float miss = fmaf(b, g3, fmaf(a, g2, x)), slope = fmaf(b, g2, fmaf(a, g1, 1.0f));
    const float curve = fmaf(b, g1, a * fmaf(-z, c2, 1.0f)), inverse = simd_float_reciprocal(slope);
    const float u = miss * inverse;
    *is_smooth = fabsf(z) <= most_z ? -1 : 0;
    return x - fmaf(curve * inverse * 0.5f, u * u, u);
}

/* Whether |d| is less than 2^−25, by its exponent: comparisons of doubles take their time. */
SIMD_INLINE vint64 whfast_is_small(vdouble d)
{
    const int32_t exponent = 1023 - 25;
    uint64_t bits;
    memcpy(&bits, &d, sizeof bits);
    return (int32_t)(bits >> 32 & 0x7fffffff) < exponent << 20 ? -1 : 0;
}

/* A number of single precision with the last bits of another one after its own: rounding of the
 * squares of short numbers has a bias. */
SIMD_INLINE vdouble whfast_fill(vdouble x, vdouble other)
{
    uint64_t bits, rest;
    memcpy(&bits, &x, sizeof bits);
    memcpy(&rest, &other, sizeof rest);
    bits |= rest & 0x1fffffff;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Σ_k coefficient[k] z^k of the usual terms. */
SIMD_INLINE vdouble whfast_horner(vdouble z, const double *coefficient)
{
    vdouble sum = coefficient[whfast_usual_terms - 1];
    SIMD_UNROLL
    for (int32_t k = whfast_usual_terms - 2; k >= 0; k--)
        sum = simd_fma(sum, z, coefficient[k]);
    return sum;
}

/* A drift by h, if *is_found. */
SIMD_INLINE struct whfast_gauss whfast_try(vdouble mu, vdouble h, const vdouble q[3],
                                           const vdouble v[3], vint64 *is_found)
{
    const vdouble r2 = whfast_dot(q, q), rv = whfast_dot(q, v), v2 = whfast_dot(v, v);
    const vdouble i = simd_rsqrt(r2), i2 = i * i, hi2 = h * i2;
    const vdouble pull = (mu * h) * (i2 * i), p = h * pull;
    const vdouble a = rv * hi2, b = simd_fma(v2, h * hi2, -p), k = p - b;
    const vdouble x = whfast_fill(whfast_x((float)a, (float)b, (float)k, is_found), a);
    const vdouble s = 1.0 + x, s2 = s * s, z = k * s2;
    const vdouble c2 = simd_fma(-z, whfast_horner(z, whfast_of_c2), 0.5);
    const vdouble c3 = simd_fma(-z, whfast_horner(z, whfast_of_c3), whfast_rest_of_sixth) + 1.0 / 6;
    vdouble g2 = s2 * c2, g3 = s * s2 * c3, g1 = simd_fma(-k, g3, s);
    const vdouble g0 = simd_fma(-k, g2, 1.0);
    const vdouble miss = simd_fma(a, g2, simd_fma(b, g3, x));
    const vdouble slope = simd_fma(a, g1, simd_fma(b, g2, 1.0));
    const vdouble rough = simd_rough_reciprocal(slope), d = miss * rough, half = 0.5 * d;
    g3 = simd_fma(-d, simd_fma(-half, g1, g2), g3);
    g2 = simd_fma(-d, simd_fma(-half, g0, g1), g2);
    g1 = simd_fma(-d, g0, g1);
    const vdouble end = simd_fma(a, g1, simd_fma(b, g2, 1.0));
    const vdouble inverse = simd_fma(rough, simd_fma(-end, rough, 1.0), rough);
    *is_found &= whfast_is_small(d);
    const vdouble f = p * g2;
    const struct whfast_gauss gauss = {f, simd_fma(-(h * p), g3, h), pull * g1 * inverse,
                                       f * inverse};
    return gauss;
}

/* A drift that the usual steps do not solve. */
SIMD_OUTLINE struct whfast_gauss whfast_drift_rest(vdouble mu, vdouble h, const vdouble q[3],
                                                   const vdouble v[3])
{
    const vdouble r2 = whfast_dot(q, q), rv = whfast_dot(q, v), v2 = whfast_dot(v, v);
    vdouble inverse;
    const vdouble r = simd_roots(r2, &inverse), pull = mu * inverse;
    const vdouble beta = (pull + pull) - v2;
    const struct whfast_orbit orbit = {r, rv, beta, simd_fma(-beta, r, mu), mu, h};
    const struct whfast_functions first = {h * inverse, 0, 0, 0};
    const struct whfast_functions at = whfast_solve_rest(&orbit, first, 0);
    const vdouble end = simd_fma(rv, at.g1, simd_fma(orbit.zeta, at.g2, r));
    const vdouble at_end = simd_quotient(mu, end);
    const struct whfast_gauss gauss = {pull * at.g2, simd_fma(-mu, at.g3, h),
                                       at_end * at.g1 * inverse, at_end * at.g2};
    return gauss;
}

/* Moves a planet from from_q and from_v. */
SIMD_INLINE void whfast_move(const struct whfast_gauss *gauss, const vdouble from_q[3],
                             const vdouble from_v[3], vdouble q[3], vdouble v[3], vdouble lost_q[3],
                             vdouble lost_v[3])
{
    SIMD_UNROLL
    for (int32_t c = 0; c < 3; c++) {
        const vdouble way =
            simd_fma(-gauss->f, from_q[c], simd_fma(gauss->g, from_v[c], lost_q[c]));
        const vdouble change =
            simd_fma(-gauss->f_rate, from_q[c], simd_fma(-gauss->g_rate, from_v[c], lost_v[c]));
        q[c] = whfast_add(q[c], way, &lost_q[c]);
        v[c] = whfast_add(v[c], change, &lost_v[c]);
    }
}

/* Moves a planet for a time h. */
SIMD_INLINE void whfast_kepler(vdouble mu, vdouble h, vdouble q[3], vdouble v[3], vdouble lost_q[3],
                               vdouble lost_v[3])
{
    const vdouble from_q[3] = {q[0], q[1], q[2]}, from_v[3] = {v[0], v[1], v[2]};
    vint64 is_found;
    struct whfast_gauss gauss = whfast_try(mu, h, q, v, &is_found);
    if (__builtin_expect(is_found == 0, 0))
        gauss = whfast_drift_rest(mu, h, q, v);
    whfast_move(&gauss, from_q, from_v, q, v, lost_q, lost_v);
}
