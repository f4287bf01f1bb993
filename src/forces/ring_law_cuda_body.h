/* A law as the symmetric kernel needs it, for one precision (law/for_each_real_cuda.h): f(s²) and V
 * of a pair of weights 1, any s² ≥ 0. */

template <> struct ring_law_numbers<REAL> {
    struct NAME(law_constants) law;
};

template <enum law_kind kind>
LAW_INLINE REAL ring_law_factor(const struct ring_law_numbers<REAL> &numbers, REAL s2)
{
    struct NAME(law_pair) pair;
    pair.s2 = s2;
    return NAME(law_factor)(law_form{kind, law_unweighted}, &numbers.law, &pair);
}

template <enum law_kind kind>
LAW_INLINE REAL ring_law_value(const struct ring_law_numbers<REAL> &numbers, REAL s2)
{
    struct NAME(law_pair) pair;
    pair.s2 = s2;
    return NAME(law_value)(law_form{kind, law_unweighted}, &numbers.law, &pair);
}

LAW_INLINE struct ring_law_numbers<REAL> ring_law_load(const struct law_numbers &numbers, REAL) {
    return {NAME(law_load)(&numbers)};
}
