/* Powers of s whose exponent is a parameter, which no formula's body has: part of law_body.h.
 *
 *   whole_power  c0 b^n
 *   half_power   c0 √b b^n
 *
 * with n = whole and b = s, s² or their inverses as base says; c1 = −A, where s has the power −A.
 */

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
        return s2 * law_rsqrt(s2 + S2_FLOOR);
    case law_base_s2:
        return s2;
    case law_base_inverse_s:
        return law_rsqrt(s2);
    default:
        return law_reciprocal(s2);
    }
}

LAW_INLINE VREAL NAME(law_whole_power_u)(const struct NAME(law_constants) * law, VREAL s2)
{
    return NAME(law_whole_power)(NAME(law_base)(law->base, s2), law->whole) * law->c[0];
}

LAW_INLINE VREAL NAME(law_whole_power_f)(const struct NAME(law_constants) * law, VREAL s2)
{
    return NAME(law_whole_power_u)(law, s2) * (law_reciprocal(s2) * law->c[1]);
}

/* f falls with the power A + 2. */
LAW_INLINE VREAL NAME(law_whole_power_g)(const struct NAME(law_constants) * law, VREAL s2)
{
    return NAME(law_whole_power_f)(law, s2) * (law_reciprocal(s2) * (law->c[1] - 2));
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

LAW_INLINE VREAL NAME(law_half_power_g)(const struct NAME(law_constants) * law, VREAL s2)
{
    return NAME(law_half_power_f)(law, s2) * (law_reciprocal(s2) * (law->c[1] - 2));
}
