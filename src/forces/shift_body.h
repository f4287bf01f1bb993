/* What a shift does to a pair, for one real type. */

/* V and its force factor of a law shifted by what they are at the cutoff (kith/forces.h). */
SIMD_INLINE void shift_pair(const struct law_form form, const enum cutoff_shift shift, VREAL cutoff,
                            const struct NAME(law_constants) * law,
                            const struct NAME(law_pair) * pair, VREAL r2, VREAL *factor,
                            VREAL *value)
{
    const VREAL zero = simd_all((REAL)0);
    struct NAME(law_pair) last = *pair;
    last.s2 = (pair->s2 - r2) + cutoff * cutoff;
    VREAL there = NAME(law_value)(form, law, &last);
    if (shift == cutoff_shift_force) {
        const VREAL slope = NAME(law_factor)(form, law, &last) * cutoff;
        const VREAL inverse_r = simd_unless_equal(r2, zero, simd_rsqrt(r2));
        there += (r2 * inverse_r - cutoff) * slope;
        *factor -= simd_unless_equal(pair->s2, zero, slope * inverse_r);
    }
    if (NAME(law_diverges)(form.kind, law))
        there = simd_unless_equal(pair->s2, zero, there);
    *value -= there;
}
