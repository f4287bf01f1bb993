/* The laws, for one kind of number. The including file defines
 *
 *   REAL         float or double
 *   VREAL        the same, or a vector of them
 *   NAME(name)   name_float or name_double, or what else distinguishes the inclusions
 *   VMASK        what a comparison of two VREAL gives; for custom laws only
 *   LAW_INLINE   how an inline function begins
 *   S2_FLOOR    S2_FLOOR_FLOAT or S2_FLOOR_DOUBLE
 *
 * and law_all, law_fma, law_reciprocal and law_rsqrt (of normal x > 0), law_sqrt, law_exp2,
 * law_log, law_log2, and law_unless_equal (a ≠ b ? value : 0) for VREAL: law_math_simd.h and
 * law_math_cuda.h have them, and law_rsqrt3_scaled(x), 1/√x³, and
 * law_rsqrt_or_0_scaled(x), 1/√x and 0 for x = 0, both times a factor by which
 * law_rsqrt3_unscaled(c) and law_rsqrt_or_0_unscaled(c) divide. law/pair_law.h describes how to use
 * what is here.
 *
 * u(s²) is the value of a pair of weights 1, as far as s² > 0; f(s²) = (du/ds)/s the factor of d in
 * the force on i. law_bodies.h has them, written by law_writer.c of the laws' formulas. */

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

#ifdef LAW_CUSTOM_BODY
#define LAW_EACH_OF_TABLE(ROW)
#else
#include "law/law_bodies.h"
#include "law/law_powers_body.h"
#define LAW_EACH_OF_TABLE LAW_EACH_BUILT_IN
#endif

/* u(s²), f(s²) and g(s²) = (df/ds)/s, s² > 0, of a kind that is constant once inlined. */
#define LAW_CASE_U(kind)                                                                           \
    case law_##kind:                                                                               \
        return NAME(law_##kind##_u)(law, s2);
#define LAW_CASE_F(kind)                                                                           \
    case law_##kind:                                                                               \
        return NAME(law_##kind##_f)(law, s2);
#define LAW_CASE_G(kind)                                                                           \
    case law_##kind:                                                                               \
        return NAME(law_##kind##_g)(law, s2);
LAW_INLINE VREAL NAME(law_u)(enum law_kind kind, const struct NAME(law_constants) * law, VREAL s2)
{
    (void)law;
    switch (kind) {
        LAW_EACH_OF_TABLE(LAW_CASE_U)
    default:
        return s2;
    }
}

LAW_INLINE VREAL NAME(law_f)(enum law_kind kind, const struct NAME(law_constants) * law, VREAL s2)
{
    (void)law;
    switch (kind) {
        LAW_EACH_OF_TABLE(LAW_CASE_F)
    default:
        return s2;
    }
}

LAW_INLINE VREAL NAME(law_g)(enum law_kind kind, const struct NAME(law_constants) * law, VREAL s2)
{
    (void)law;
    switch (kind) {
        LAW_EACH_OF_TABLE(LAW_CASE_G)
    default:
        return s2;
    }
}
#undef LAW_CASE_U
#undef LAW_CASE_F
#undef LAW_CASE_G
#undef LAW_EACH_OF_TABLE

LAW_INLINE int NAME(law_diverges)(enum law_kind kind, const struct NAME(law_constants) * law)
{
    return LAW_ALWAYS_DIVERGES(kind) || (LAW_MAY_DIVERGE(kind) && law->diverges);
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

/* The factor of d in the force on i, of a law that is central, s² > 0. For s² = 0 it may be any
 * number, NaN or infinity: times d = 0 that is 0 or NaN. */
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
