/* The sums over near points by a law, for one precision (law/for_each_real.h): a source a lane. */

/* Lanes of the sources j … of a target i that count: those before the last, and not i itself. */
SIMD_INLINE VMASK NAME(counted)(const struct tree_near_law *near, long long i, long long j)
{
    const int lanes = SIMD_BYTES / sizeof(REAL);
    VMASK mask = {0};
    SIMD_UNROLL
    for (int k = 0; k < lanes; k++)
        mask[k] = j + k < near->sources && !(near->self && j + k == i) ? -1 : 0;
    return mask;
}

SIMD_INLINE REAL NAME(sum_of_lanes)(VREAL x)
{
    REAL lane[SIMD_BYTES / sizeof(REAL)];
    simd_store(lane, x);
    SIMD_UNROLL
    for (int count = SIMD_BYTES / (int)sizeof(REAL) / 2; count > 0; count /= 2) {
        SIMD_UNROLL
        for (int k = 0; k < count; k++)
            lane[k] += lane[k + count];
    }
    return lane[0];
}

SIMD_INLINE void NAME(meet)(const struct law_form form, const struct tree_near_law *near,
                            const bool has_magnitude)
{
    const struct NAME(law_constants) law = NAME(law_load)(&near->numbers);
    const VREAL one = law_all((REAL)1), softening2 = simd_all((REAL)near->softening2);
    const long long lanes = SIMD_BYTES / sizeof(REAL);
    for (long long i = 0; i < near->targets; i++) {
        VREAL potential = {0}, field[3] = {{0}}, magnitude = {0};
        for (long long j = 0; j < near->sources; j += lanes) {
            struct NAME(law_pair)
                pair = {.s2 = softening2, .w_i = one, .w_j = one, .q_i = one, .q_j = one};
            VREAL weight = simd_load((const REAL *)near->weight + j);
            SIMD_UNROLL
            for (int c = 0; c < 3; c++) {
                pair.d[c] = simd_load((const REAL *)near->source[c] + j) -
                            ((const REAL *)near->target[c])[i];
                pair.s2 = simd_fma(pair.d[c], pair.d[c], pair.s2);
            }
            VREAL value = NAME(law_value)(form, &law, &pair);
            VREAL factor = NAME(law_factor)(form, &law, &pair);
            const bool is_whole =
                j + lanes <= near->sources && !(near->self && i - j < lanes && i >= j);
            if (!is_whole) {
                const VMASK mask = NAME(counted)(near, i, j);
                value = (VREAL)(mask & (VMASK)value);
                factor = (VREAL)(mask & (VMASK)factor);
                weight = (VREAL)(mask & (VMASK)weight);
            }
            potential = simd_fma(weight, value, potential);
            factor *= weight;
            SIMD_UNROLL
            for (int c = 0; c < 3; c++)
                field[c] = simd_fma(factor, pair.d[c], field[c]);
            if (has_magnitude) {
                VREAL r2 = pair.d[0] * pair.d[0];
                r2 = simd_fma(pair.d[1], pair.d[1], r2);
                r2 = simd_fma(pair.d[2], pair.d[2], r2);
                magnitude = simd_fma(law_fabs(factor), law_sqrt(r2), magnitude);
            }
        }
        ((REAL *)near->potential)[i] += NAME(sum_of_lanes)(potential);
        for (int c = 0; c < 3; c++)
            ((REAL *)near->gradient[c])[i] -= NAME(sum_of_lanes)(field[c]);
        if (has_magnitude)
            ((REAL *)near->magnitude)[i] += NAME(sum_of_lanes)(magnitude);
    }
}

/* The loop over near points has no magnitudes, which only the samples of an estimate have. */
SIMD_INLINE void NAME(meet_near)(const struct law_form form, const struct tree_near_law *near)
{
    if (near->magnitude)
        NAME(meet)(form, near, true);
    else
        NAME(meet)(form, near, false);
}

#ifdef LAW_CUSTOM_BODY
__attribute__((visibility("default"))) void
    NAME(tree_near_custom)(const struct tree_near_law *near);
void NAME(tree_near_custom)(const struct tree_near_law *near)
{
    NAME(meet_near)((struct law_form){law_custom, law_unweighted}, near);
}
#else
#define DEFINE(kind)                                                                               \
    static void NAME(near_##kind)(const struct tree_near_law *near)                                \
    {                                                                                              \
        NAME(meet_near)((struct law_form){law_##kind, law_unweighted}, near);                      \
    }
LAW_EACH_BUILT_IN(DEFINE)
#undef DEFINE
#endif
