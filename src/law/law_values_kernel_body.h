/* The values of pairs, for one precision (law/for_each_real.h). */

SIMD_INLINE void NAME(values)(const struct law_form form, const struct law_values_problem *problem)
{
    const struct NAME(law_constants) law = NAME(law_load)(&problem->numbers);
    const long long lanes = SIMD_BYTES / sizeof(REAL);
    for (long long k = 0; k < problem->count; k += lanes) {
        struct NAME(law_pair) pair = {.s2 = simd_all((REAL)problem->softening2)};
        VREAL force[3];
        for (int c = 0; c < 3; c++) {
            pair.d[c] = simd_load((const REAL *)problem->d[c] + k);
            pair.s2 = simd_fma(pair.d[c], pair.d[c], pair.s2);
        }
        pair.w_i = simd_load((const REAL *)problem->w_i + k);
        pair.w_j = simd_load((const REAL *)problem->w_j + k);
        if (form.kind == law_custom) {
            pair.q_i = simd_load((const REAL *)problem->q_i + k);
            pair.q_j = simd_load((const REAL *)problem->q_j + k);
        }
        simd_store((REAL *)problem->value + k, NAME(law_value)(form, &law, &pair));
        NAME(law_force)(form, &law, &pair, force);
        for (int c = 0; c < 3; c++)
            simd_store((REAL *)problem->force[c] + k, force[c]);
    }
}

#ifdef LAW_CUSTOM_BODY
__attribute__((visibility("default"))) void
    NAME(law_values_custom)(const struct law_values_problem *problem);
void NAME(law_values_custom)(const struct law_values_problem *problem)
{
    NAME(values)((struct law_form){law_custom, law_unweighted}, problem);
}
#endif
