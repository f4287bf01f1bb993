/* The rates at which forces by laws change; to be included after law_body.h, with the same
 * definitions.
 *
 *     F = f(s²) d,   dF/dt = f u + g (d·u) d,   g(s²) = (df/ds)/s
 *
 * is the force of a pair of weights 1 whose d changes at the rate u = v_j − v_i, and how it
 * changes, as ds/dt = d·u / s. */

LAW_INLINE VREAL NAME(law_inverse_g)(const struct NAME(law_constants) * law, VREAL s2)
{
    const VREAL y = law_rsqrt(s2), y2 = y * y;
    return y2 * y2 * (y * (3 * law->c[0]));
}

LAW_INLINE VREAL NAME(law_inverse_square_g)(const struct NAME(law_constants) * law, VREAL s2)
{
    const VREAL y = law_reciprocal(s2);
    return y * y * (y * (8 * law->c[0]));
}

/* f falls with the power A + 2. */
LAW_INLINE VREAL NAME(law_whole_power_g)(const struct NAME(law_constants) * law, VREAL s2)
{
    return NAME(law_whole_power_f)(law, s2) * (law_reciprocal(s2) * (law->c[1] - 2));
}

LAW_INLINE VREAL NAME(law_half_power_g)(const struct NAME(law_constants) * law, VREAL s2)
{
    return NAME(law_half_power_f)(law, s2) * (law_reciprocal(s2) * (law->c[1] - 2));
}

LAW_INLINE VREAL NAME(law_real_power_g)(const struct NAME(law_constants) * law, VREAL s2)
{
    return NAME(law_real_power_f)(law, s2) * (law_reciprocal(s2) * (law->c[1] - 2));
}

/* e^{−s/L} (3/s² + 3/(s L) + 1/L²) / s³ */
LAW_INLINE VREAL NAME(law_yukawa_g)(const struct NAME(law_constants) * law, VREAL s2)
{
    const VREAL y = law_rsqrt(s2), k = law_all(law->c[2]);
    const VREAL sum = law_fma(y * 3, y + k, k * k);
    return law_exp2(s2 * y * law->c[1]) * (y * y * (y * law->c[0])) * sum;
}

/* 4ε (168 t² − 48 t) / s⁴ */
LAW_INLINE VREAL NAME(law_lennard_jones_g)(const struct NAME(law_constants) * law, VREAL s2)
{
    const VREAL y = law_reciprocal(s2), q = y * law->c[1], t = q * q * q;
    return law_fma(t * 168, t, t * -48) * (y * (y * law->c[0]));
}

/* 2 A D [A (2e² − e) − (e − e²) / s] / s² */
LAW_INLINE VREAL NAME(law_morse_g)(const struct NAME(law_constants) * law, VREAL s2)
{
    const VREAL y = law_rsqrt(s2);
    const VREAL e = law_exp2(law_fma(s2 * y, law_all(law->c[1]), law_all(law->c[2])));
    const VREAL steepness = law_fma(e * 2, e, -e) * law->c[4];
    return law_fma(law_fma(e, e, -e), y, steepness) * (y * y * law->c[3]);
}

LAW_INLINE VREAL NAME(law_gaussian_g)(const struct NAME(law_constants) * law, VREAL s2)
{
    return law_exp2(s2 * law->c[1]) * law->c[3];
}

LAW_INLINE VREAL NAME(law_multiquadric_g)(const struct NAME(law_constants) * law, VREAL s2)
{
    const VREAL y = law_rsqrt(s2 + law->c[1]);
    return y * y * (y * -law->c[0]);
}

LAW_INLINE VREAL NAME(law_thin_plate_g)(const struct NAME(law_constants) * law, VREAL s2)
{
    return law_reciprocal(s2) * (2 * law->c[0]);
}

LAW_INLINE VREAL NAME(law_distance_g)(const struct NAME(law_constants) * law, VREAL s2)
{
    const VREAL y = law_rsqrt(s2);
    return y * y * (y * -law->c[0]);
}

LAW_INLINE VREAL NAME(law_distance2_g)(const struct NAME(law_constants) * law, VREAL s2)
{
    (void)law;
    (void)s2;
    return law_all((REAL)0);
}

LAW_INLINE VREAL NAME(law_constant_g)(const struct NAME(law_constants) * law, VREAL s2)
{
    (void)law;
    (void)s2;
    return law_all((REAL)0);
}

/* g(s²), s² > 0, of a kind that is constant once inlined. */
LAW_INLINE VREAL NAME(law_g)(enum law_kind kind, const struct NAME(law_constants) * law, VREAL s2)
{
    switch (kind) {
#define LAW_CASE(kind)                                                                             \
    case law_##kind:                                                                               \
        return NAME(law_##kind##_g)(law, s2);
        LAW_EACH_BUILT_IN(LAW_CASE)
#undef LAW_CASE
    default:
        return s2;
    }
}

#ifdef LAW_CUSTOM_BODY
#define LAW_CUSTOM(function, otherwise) function
#else
#define LAW_CUSTOM(function, otherwise) otherwise
#endif

/* The rate of the force on i, of every law, while d changes at the rate u; 0 for s² = 0. */
LAW_INLINE void NAME(law_rate)(const struct law_form form, const struct NAME(law_constants) * law,
                               const struct NAME(law_pair) * pair, const VREAL u[3], VREAL rate[3])
{
    const VREAL *d = pair->d;
    if (form.kind == law_custom) {
        LAW_CUSTOM(NAME(law_custom_rate)(law, pair, u, rate), (void)rate);
    } else {
        const VREAL f = NAME(law_factor_apart)(form, law, pair);
        const VREAL g = NAME(law_weighted)(form, pair, NAME(law_g)(form.kind, law, pair->s2));
        const VREAL along_d = g * law_fma(d[0], u[0], law_fma(d[1], u[1], d[2] * u[2]));
        for (int c = 0; c < 3; c++)
            rate[c] = law_fma(f, u[c], along_d * d[c]);
    }
    for (int c = 0; c < 3; c++)
        rate[c] = law_unless_equal(pair->s2, law_all((REAL)0), rate[c]);
}

#undef LAW_CUSTOM
