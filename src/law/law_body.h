/* The laws, one small function each, for one kind of number. The including file defines
 *
 *   REAL         float or double
 *   VREAL        the same, or a vector of them
 *   NAME(name)   name_float or name_double, or what else tells the inclusions apart
 *   VMASK        what a comparison of two VREAL gives; for custom laws only
 *   LAW_INLINE   how an inline function begins
 *   LAW_FLOOR    LAW_FLOOR_FLOAT or LAW_FLOOR_DOUBLE
 *
 * and law_all, law_fma, law_reciprocal and law_rsqrt (of normal x > 0), law_sqrt, law_exp2,
 * law_log, law_log2, and law_unless_equal (a ≠ b ? value : 0) for VREAL: law_math_scalar.h,
 * law_math_simd.h and law_math_cuda.h have them, and law_rsqrt3_scaled(x), 1/√x³, and
 * law_rsqrt_or_0_scaled(x), 1/√x and 0 for x = 0, both times a factor by which
 * law_rsqrt3_unscaled(c) and law_rsqrt_or_0_unscaled(c) divide. law/pair_law.h tells how to use
 * what is here.
 *
 * u(s²) is the value of a pair of weights 1, as far as s² > 0; f(s²) = (du/ds)/s the factor of d in
 * the force on i. */

/* law_numbers in this precision. */
struct NAME(law_constants) {
    REAL c[law_constant_count];
    int whole;
    enum law_base base;
    int diverges;
};

LAW_INLINE struct NAME(law_constants) NAME(law_load)(const struct law_numbers *numbers)
{
    struct NAME(law_constants) law;
    for (int k = 0; k < law_constant_count; k++)
        law.c[k] = (REAL)numbers->c[k];
    law.whole = numbers->whole;
    law.base = numbers->base;
    law.diverges = numbers->diverges;
    return law;
}

/* b^n for n ≥ 0 by squaring. */
LAW_INLINE VREAL NAME(law_whole_power)(VREAL b, int n)
{
    VREAL result = law_all((REAL)1);
    for (; n > 0; n >>= 1) {
        if (n & 1)
            result = result * b;
        b = b * b;
    }
    return result;
}

LAW_INLINE VREAL NAME(law_base)(enum law_base base, VREAL s2)
{
    switch (base) {
    case law_base_s:
        return s2 * law_rsqrt(s2 + LAW_FLOOR);
    case law_base_s2:
        return s2;
    case law_base_inverse_s:
        return law_rsqrt(s2);
    default:
        return law_reciprocal(s2);
    }
}

/* s, and 0 for s² = 0. */
LAW_INLINE VREAL NAME(law_length)(VREAL s2)
{
    return s2 * law_rsqrt(s2 + LAW_FLOOR);
}

LAW_INLINE VREAL NAME(law_inverse_u)(const struct NAME(law_constants) * law, VREAL s2)
{
    return law_rsqrt(s2) * law->c[0];
}

LAW_INLINE VREAL NAME(law_inverse_f)(const struct NAME(law_constants) * law, VREAL s2)
{
    return law_rsqrt3_scaled(s2) * law_rsqrt3_unscaled(law_all(-law->c[0]));
}

LAW_INLINE VREAL NAME(law_inverse_square_u)(const struct NAME(law_constants) * law, VREAL s2)
{
    return law_reciprocal(s2) * law->c[0];
}

LAW_INLINE VREAL NAME(law_inverse_square_f)(const struct NAME(law_constants) * law, VREAL s2)
{
    const VREAL y = law_reciprocal(s2);
    return y * y * (-2 * law->c[0]);
}

LAW_INLINE VREAL NAME(law_whole_power_u)(const struct NAME(law_constants) * law, VREAL s2)
{
    return NAME(law_whole_power)(NAME(law_base)(law->base, s2), law->whole) * law->c[0];
}

LAW_INLINE VREAL NAME(law_whole_power_f)(const struct NAME(law_constants) * law, VREAL s2)
{
    return NAME(law_whole_power_u)(law, s2) * (law_reciprocal(s2) * law->c[1]);
}

LAW_INLINE VREAL NAME(law_half_power_u)(const struct NAME(law_constants) * law, VREAL s2)
{
    const VREAL base = NAME(law_base)(law->base, s2);
    return NAME(law_whole_power)(base, law->whole) * (law_sqrt(base) * law->c[0]);
}

LAW_INLINE VREAL NAME(law_half_power_f)(const struct NAME(law_constants) * law, VREAL s2)
{
    return NAME(law_half_power_u)(law, s2) * (law_reciprocal(s2) * law->c[1]);
}

LAW_INLINE VREAL NAME(law_real_power_u)(const struct NAME(law_constants) * law, VREAL s2)
{
    return law_exp2(law_log2(s2) * law->c[2]) * law->c[0];
}

LAW_INLINE VREAL NAME(law_real_power_f)(const struct NAME(law_constants) * law, VREAL s2)
{
    return NAME(law_real_power_u)(law, s2) * (law_reciprocal(s2) * law->c[1]);
}

LAW_INLINE VREAL NAME(law_yukawa_u)(const struct NAME(law_constants) * law, VREAL s2)
{
    const VREAL y = law_rsqrt(s2);
    return law_exp2(s2 * y * law->c[1]) * (y * law->c[0]);
}

/* −e^{−s/L} (1/s + 1/L) / s² */
LAW_INLINE VREAL NAME(law_yukawa_f)(const struct NAME(law_constants) * law, VREAL s2)
{
    const VREAL y = law_rsqrt(s2);
    return law_exp2(s2 * y * law->c[1]) * (y * y * -law->c[0]) * (y + law->c[2]);
}

LAW_INLINE VREAL NAME(law_lennard_jones_u)(const struct NAME(law_constants) * law, VREAL s2)
{
    const VREAL q = law_reciprocal(s2) * law->c[1], t = q * q * q;
    return law_fma(t, t, -t) * law->c[0];
}

/* 4ε (−12 t² + 6 t) / s² */
LAW_INLINE VREAL NAME(law_lennard_jones_f)(const struct NAME(law_constants) * law, VREAL s2)
{
    const VREAL y = law_reciprocal(s2), q = y * law->c[1], t = q * q * q;
    return law_fma(t * -2, t, t) * (y * (6 * law->c[0]));
}

LAW_INLINE VREAL NAME(law_morse_u)(const struct NAME(law_constants) * law, VREAL s2)
{
    const VREAL e = law_exp2(law_fma(NAME(law_length)(s2), law_all(law->c[1]), law_all(law->c[2])));
    return law_fma(e, e, e * -2) * law->c[0];
}

/* 2 A D e (1 − e) / s */
LAW_INLINE VREAL NAME(law_morse_f)(const struct NAME(law_constants) * law, VREAL s2)
{
    const VREAL y = law_rsqrt(s2);
    const VREAL e = law_exp2(law_fma(s2 * y, law_all(law->c[1]), law_all(law->c[2])));
    return law_fma(-e, e, e) * (y * law->c[3]);
}

LAW_INLINE VREAL NAME(law_gaussian_u)(const struct NAME(law_constants) * law, VREAL s2)
{
    return law_exp2(s2 * law->c[1]) * law->c[0];
}

LAW_INLINE VREAL NAME(law_gaussian_f)(const struct NAME(law_constants) * law, VREAL s2)
{
    return law_exp2(s2 * law->c[1]) * law->c[2];
}

LAW_INLINE VREAL NAME(law_multiquadric_u)(const struct NAME(law_constants) * law, VREAL s2)
{
    return NAME(law_length)(s2 + law->c[1]) * law->c[0];
}

LAW_INLINE VREAL NAME(law_multiquadric_f)(const struct NAME(law_constants) * law, VREAL s2)
{
    return law_rsqrt(s2 + law->c[1]) * law->c[0];
}

LAW_INLINE VREAL NAME(law_thin_plate_u)(const struct NAME(law_constants) * law, VREAL s2)
{
    return s2 * law_log(s2 + LAW_FLOOR) * ((REAL)0.5 * law->c[0]);
}

/* 2 ln s + 1 */
LAW_INLINE VREAL NAME(law_thin_plate_f)(const struct NAME(law_constants) * law, VREAL s2)
{
    return law_fma(law_log(s2), law_all(law->c[0]), law_all(law->c[0]));
}

LAW_INLINE VREAL NAME(law_distance_u)(const struct NAME(law_constants) * law, VREAL s2)
{
    return NAME(law_length)(s2) * law->c[0];
}

LAW_INLINE VREAL NAME(law_distance_f)(const struct NAME(law_constants) * law, VREAL s2)
{
    return law_rsqrt(s2) * law->c[0];
}

LAW_INLINE VREAL NAME(law_distance2_u)(const struct NAME(law_constants) * law, VREAL s2)
{
    return s2 * law->c[0];
}

LAW_INLINE VREAL NAME(law_distance2_f)(const struct NAME(law_constants) * law, VREAL s2)
{
    (void)s2;
    return law_all(2 * law->c[0]);
}

LAW_INLINE VREAL NAME(law_constant_u)(const struct NAME(law_constants) * law, VREAL s2)
{
    (void)s2;
    return law_all(law->c[0]);
}

LAW_INLINE VREAL NAME(law_constant_f)(const struct NAME(law_constants) * law, VREAL s2)
{
    (void)law;
    (void)s2;
    return law_all((REAL)0);
}

/* u(s²) and f(s²), s² > 0, of a kind that is constant once inlined. */
LAW_INLINE VREAL NAME(law_u)(enum law_kind kind, const struct NAME(law_constants) * law, VREAL s2)
{
    switch (kind) {
#define LAW_CASE(kind)                                                                             \
    case law_##kind:                                                                               \
        return NAME(law_##kind##_u)(law, s2);
        LAW_EACH_BUILT_IN(LAW_CASE)
#undef LAW_CASE
    default:
        return s2;
    }
}

LAW_INLINE VREAL NAME(law_f)(enum law_kind kind, const struct NAME(law_constants) * law, VREAL s2)
{
    switch (kind) {
#define LAW_CASE(kind)                                                                             \
    case law_##kind:                                                                               \
        return NAME(law_##kind##_f)(law, s2);
        LAW_EACH_BUILT_IN(LAW_CASE)
#undef LAW_CASE
    default:
        return s2;
    }
}

LAW_INLINE int NAME(law_diverges)(enum law_kind kind, const struct NAME(law_constants) * law)
{
    switch (kind) {
    case law_inverse:
    case law_inverse_square:
    case law_yukawa:
    case law_lennard_jones:
        return 1;
    case law_whole_power:
    case law_half_power:
    case law_real_power:
    case law_custom:
        return law->diverges;
    default:
        return 0;
    }
}

/* Two particles: s² ≥ 0; the weights of the law, or for a custom law the masses; the charges and d
 * for custom laws only. */
struct NAME(law_pair) {
    VREAL s2, d[3], w_i, w_j, q_i, q_j;
};

/* What the formula of a custom law became: law_custom_value, law_custom_factor and
 * law_custom_force, of a law and a pair; value and factor also as products of an outer part, which
 * depends on i alone, and an inner one. */
#ifdef LAW_CUSTOM_BODY
#include LAW_CUSTOM_BODY
#define LAW_CUSTOM(function, otherwise) function
#else
#define LAW_CUSTOM(function, otherwise) otherwise
#endif

LAW_INLINE VREAL NAME(law_weighted)(const struct law_form form, const struct NAME(law_pair) * pair,
                                    VREAL u)
{
    if (form.weighting == law_product)
        return pair->w_i * pair->w_j * u;
    if (form.weighting == law_sum)
        return (pair->w_i + pair->w_j) * u;
    return u;
}

/* c0 w_i w_j / s, the constants and the weight of i first: in most loops they are the same again
 * and again. */
LAW_INLINE VREAL NAME(law_value_of_inverse)(const struct law_form form,
                                            const struct NAME(law_constants) * law,
                                            const struct NAME(law_pair) * pair)
{
    VREAL strength = law_rsqrt_or_0_unscaled(law_all(law->c[0]));
    if (form.weighting == law_product)
        strength = strength * pair->w_i * pair->w_j;
    return strength * law_rsqrt_or_0_scaled(pair->s2);
}

/* −c0 w_i w_j / s³ */
LAW_INLINE VREAL NAME(law_factor_of_inverse)(const struct law_form form,
                                             const struct NAME(law_constants) * law,
                                             const struct NAME(law_pair) * pair)
{
    VREAL strength = law_rsqrt3_unscaled(law_all(-law->c[0]));
    if (form.weighting == law_product)
        strength = strength * pair->w_i * pair->w_j;
    return strength * law_rsqrt3_scaled(pair->s2);
}

/* V of a pair, any s² ≥ 0. */
LAW_INLINE VREAL NAME(law_value)(const struct law_form form, const struct NAME(law_constants) * law,
                                 const struct NAME(law_pair) * pair)
{
    VREAL value;
    if (form.kind == law_inverse)
        return NAME(law_value_of_inverse)(form, law, pair);
    if (form.kind == law_custom)
        value = LAW_CUSTOM(NAME(law_custom_value)(law, pair), pair->s2);
    else
        value = NAME(law_weighted)(form, pair, NAME(law_u)(form.kind, law, pair->s2));
    if (NAME(law_diverges)(form.kind, law))
        value = law_unless_equal(pair->s2, law_all((REAL)0), value);
    return value;
}

/* The factor of d in the force on i, of a law that is central, s² > 0. For s² = 0 it is any number
 * or none: times d = 0 that is 0, or not a number. */
LAW_INLINE VREAL NAME(law_factor_apart)(const struct law_form form,
                                        const struct NAME(law_constants) * law,
                                        const struct NAME(law_pair) * pair)
{
    if (form.kind == law_custom)
        return LAW_CUSTOM(NAME(law_custom_factor)(law, pair), pair->s2);
    if (form.kind == law_inverse)
        return NAME(law_factor_of_inverse)(form, law, pair);
    return NAME(law_weighted)(form, pair, NAME(law_f)(form.kind, law, pair->s2));
}

/* The same, any s² ≥ 0. */
LAW_INLINE VREAL NAME(law_factor)(const struct law_form form,
                                  const struct NAME(law_constants) * law,
                                  const struct NAME(law_pair) * pair)
{
    return law_unless_equal(pair->s2, law_all((REAL)0), NAME(law_factor_apart)(form, law, pair));
}

/* The force on i, of every law, any s² ≥ 0. */
LAW_INLINE void NAME(law_force)(const struct law_form form, const struct NAME(law_constants) * law,
                                const struct NAME(law_pair) * pair, VREAL force[3])
{
    if (form.kind == law_custom) {
        LAW_CUSTOM(NAME(law_custom_force)(law, pair, force), (void)force);
        for (int c = 0; c < 3; c++)
            force[c] = law_unless_equal(pair->s2, law_all((REAL)0), force[c]);
    } else {
        const VREAL factor = NAME(law_factor)(form, law, pair);
        for (int c = 0; c < 3; c++)
            force[c] = factor * pair->d[c];
    }
}

#undef LAW_CUSTOM
