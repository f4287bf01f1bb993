/* Sums over pairs by any law on a GPU, for one precision (law/for_each_real_cuda.h).
 *
 * A thread holds some targets in registers. A block brings tiles of sources to shared memory, from
 * where all its threads read one source at a time. The sources are dealt to gridDim.y parts, whose
 * sums law_sums_cuda.cu adds. A sum over a tile is added to the sum of tiles: a float result is
 * then good for any number of sources. */

enum { NAME(law_sums_targets) = LAW_SUMS_TARGETS(REAL) };

/* What is read of every source, side by side so that one load fetches it. */
struct NAME(law_source) {
    alignas(4 * sizeof(REAL)) REAL x[3];
    REAL weight;
};

/* What only some laws and options need. */
struct NAME(law_source_more) {
    REAL charge, half_softening2;
};

/* A target, and its sums. */
struct NAME(law_target) {
    REAL x[3], weight, charge, softening2;
    REAL tile[law_sums_values], sum[law_sums_values];
};

LAW_INLINE REAL NAME(law_element)(const void *column, long long i, double otherwise)
{
    return column ? ((const REAL *)column)[i] : (REAL)otherwise;
}

LAW_INLINE void NAME(law_load_target)(const struct law_sums_variant variant,
                                      const struct law_sums_problem *problem, long long i,
                                      struct NAME(law_target) * target)
{
    const long long last = problem->target_count - 1, row = i < last ? i : last;
    for (int c = 0; c < 3; c++)
        target->x[c] = NAME(law_element)(problem->target_position[c], row, 0);
    target->softening2 = (REAL)problem->softening2;
    if (variant.per_body)
        target->softening2 += NAME(law_element)(problem->target_half_softening2, row, 0);
    target->weight = 1;
    if (variant.form.weighting == law_sum || variant.form.kind == law_custom)
        target->weight = NAME(law_element)(problem->target_weight, row, 1);
    if (variant.form.kind == law_custom)
        target->charge = NAME(law_element)(problem->target_charge, row, 1);
    for (int v = 0; v < law_sums_values; v++)
        target->tile[v] = target->sum[v] = 0;
}

/* omit: this pair is i = j. */
LAW_INLINE void NAME(law_add_pair)(const struct law_sums_variant variant,
                                   const struct NAME(law_constants) * law,
                                   const struct NAME(law_source) * source,
                                   const struct NAME(law_source_more) * more, bool omit,
                                   struct NAME(law_target) * target)
{
    struct NAME(law_pair) pair;
    pair.s2 = target->softening2;
    if (variant.per_body)
        pair.s2 += more->half_softening2;
    for (int c = 0; c < 3; c++) {
        pair.d[c] = source->x[c] - target->x[c];
        pair.s2 = law_fma(pair.d[c], pair.d[c], pair.s2);
    }
    pair.w_i = target->weight;
    pair.w_j = source->weight;
    if (variant.form.kind == law_custom) {
        pair.q_i = target->charge;
        pair.q_j = more->charge;
    }
    REAL *sum = target->tile;
    if (variant.sums != law_sums_value && variant.central) {
        const REAL of_pair = NAME(law_factor)(variant.form, law, &pair);
        const REAL factor = omit ? (REAL)0 : of_pair;
        for (int c = 0; c < 3; c++)
            sum[c] = law_fma(factor, pair.d[c], sum[c]);
    } else if (variant.sums != law_sums_value) {
        REAL force[3];
        NAME(law_force)(variant.form, law, &pair, force);
        for (int c = 0; c < 3; c++)
            sum[c] += omit ? (REAL)0 : force[c];
    }
    if (variant.sums != law_sums_force) {
        const REAL value = NAME(law_value)(variant.form, law, &pair);
        sum[3] += omit ? (REAL)0 : value;
    }
}

/* Element k of the tile from source `first` on, by thread k. */
LAW_INLINE void NAME(law_load_source)(const struct law_sums_variant variant,
                                      const struct law_sums_problem *problem, long long j,
                                      struct NAME(law_source) * source,
                                      struct NAME(law_source_more) * more)
{
    if (j >= problem->source_count)
        return;
    for (int c = 0; c < 3; c++)
        source->x[c] = NAME(law_element)(problem->source_position[c], j, 0);
    source->weight = NAME(law_element)(problem->source_weight, j, 1);
    if (variant.form.kind == law_custom)
        more->charge = NAME(law_element)(problem->source_charge, j, 1);
    if (variant.per_body)
        more->half_softening2 = NAME(law_element)(problem->source_half_softening2, j, 0);
}

/* The sources of a tile, of which the first is `first`, on all targets of a thread, of which the
 * first is i. */
LAW_INLINE void NAME(law_add_tile)(const struct law_sums_variant variant, bool leaves_out,
                                   const struct NAME(law_constants) * law,
                                   const struct NAME(law_source) * source,
                                   const struct NAME(law_source_more) * more, int count,
                                   long long self, struct NAME(law_target) * target)
{
#pragma unroll 4
    for (int k = 0; k < count; k++)
#pragma unroll
        for (int t = 0; t < NAME(law_sums_targets); t++)
            NAME(law_add_pair)
    (variant, law, &source[k], &more[k], leaves_out && self + t * law_sums_block == k, &target[t]);
}

/* Part p's value v of target i is element (4 p + v) · room + i of partial. */
LAW_INLINE void NAME(law_sums)(const struct law_sums_variant variant,
                               const struct law_sums_problem *problem, REAL *partial,
                               long long room, long long part_sources)
{
    __shared__ struct NAME(law_source) source[law_sums_block];
    __shared__ struct NAME(law_source_more) more[law_sums_block];
    enum { targets = NAME(law_sums_targets) };
    const struct NAME(law_constants) law = NAME(law_load)(&problem->numbers);
    const long long block_begin = (long long)blockIdx.x * (targets * law_sums_block);
    const long long i = block_begin + threadIdx.x;
    struct NAME(law_target) target[targets];
#pragma unroll
    for (int t = 0; t < targets; t++)
        NAME(law_load_target)(variant, problem, i + t * law_sums_block, &target[t]);

    /* Without softening a central force of i = j is 0 by itself. */
    const bool may_meet = problem->self && (variant.sums != law_sums_force || !variant.central ||
                                            problem->softening2 > 0);
    const long long begin = blockIdx.y * part_sources;
    const long long behind = begin + part_sources;
    const long long end = behind < problem->source_count ? behind : problem->source_count;
    for (long long first = begin; first < end; first += law_sums_block) {
        const int count = end - first < law_sums_block ? (int)(end - first) : law_sums_block;
        __syncthreads();
        NAME(law_load_source)
        (variant, problem, first + threadIdx.x, &source[threadIdx.x], &more[threadIdx.x]);
        __syncthreads();
        const bool has_self = may_meet && first < block_begin + targets * law_sums_block &&
                              block_begin < first + count;
        if (has_self)
            NAME(law_add_tile)(variant, true, &law, source, more, count, i - first, target);
        else
            NAME(law_add_tile)(variant, false, &law, source, more, count, 0, target);
#pragma unroll
        for (int t = 0; t < targets; t++)
#pragma unroll
            for (int v = 0; v < law_sums_values; v++) {
                target[t].sum[v] += target[t].tile[v];
                target[t].tile[v] = 0;
            }
    }
#pragma unroll
    for (int t = 0; t < targets; t++)
#pragma unroll
        for (int v = variant.sums == law_sums_value ? 3 : 0;
             v < (variant.sums == law_sums_force ? 3 : 4); v++)
            if (i + t * law_sums_block < problem->target_count)
                partial[((long long)blockIdx.y * law_sums_values + v) * room + i +
                        t * law_sums_block] = target[t].sum[v];
}

#ifdef LAW_CUSTOM_BODY
#define LAW_CUSTOM_SUMS(name, sums, per_body, central)                                             \
    extern "C" __global__ void __launch_bounds__(law_sums_block)                                   \
        NAME(law_sums_##name)(const struct law_sums_problem problem, REAL *partial,                \
                              long long room, long long part_sources)                              \
    {                                                                                              \
        const struct law_sums_variant variant = {                                                  \
            {law_custom, law_unweighted}, sums, per_body, central};                                \
        NAME(law_sums)(variant, &problem, partial, room, part_sources);                            \
    }
LAW_CUSTOM_SUMS(custom_force, law_sums_force, false, true)
LAW_CUSTOM_SUMS(custom_value, law_sums_value, false, true)
LAW_CUSTOM_SUMS(custom_both, law_sums_both, false, true)
LAW_CUSTOM_SUMS(custom_any, law_sums_both, true, false)
#undef LAW_CUSTOM_SUMS
#else
template <enum law_kind kind, enum law_sums sums, bool per_body>
__global__ void __launch_bounds__(law_sums_block)
    NAME(law_sums_kernel)(const struct law_sums_problem problem, REAL *partial, long long room,
                          long long part_sources)
{
    if (kind == law_constant && problem.weighting == law_sum)
        NAME(law_sums)
    ({{kind, law_sum}, sums, per_body, true}, &problem, partial, room, part_sources);
    else if (kind == law_constant && problem.weighting == law_product) NAME(law_sums)(
        {{kind, law_product}, sums, per_body, true}, &problem, partial, room, part_sources);
    else NAME(law_sums)({{kind, LAW_SUMS_WEIGHTING(kind)}, sums, per_body, true}, &problem, partial,
                        room, part_sources);
}
#endif
