/* Sums over listed pairs by any law on a GPU, for one precision (law/for_each_real_cuda.h). Some
 * threads share the pairs of a target, and their sums are added in one order. */

/* What a pair needs of its target. */
struct NAME(cutoff_target) {
    REAL x[3], weight, charge, softening2;
};

/* The force, V, the virial. */
enum { NAME(cutoff_values) = 13 };

LAW_INLINE REAL NAME(cutoff_element)(const void *column, long long row, double otherwise)
{
    return column ? ((const REAL *)column)[row] : (REAL)otherwise;
}

/* V and its force factor of a law shifted by what they are at the cutoff (kith/forces.h). */
LAW_INLINE void NAME(cutoff_shift_pair)(const struct law_form form,
                                        const struct cutoff_cuda_problem *problem,
                                        const struct NAME(law_constants) * law,
                                        const struct NAME(law_pair) * pair, REAL r2, REAL *factor,
                                        REAL *value)
{
    const REAL cutoff = (REAL)problem->cutoff;
    struct NAME(law_pair) last = *pair;
    last.s2 = (pair->s2 - r2) + cutoff * cutoff;
    REAL there = NAME(law_value)(form, law, &last);
    if (problem->shift == cutoff_cuda_shift_force) {
        const REAL slope = NAME(law_factor)(form, law, &last) * cutoff;
        const REAL inverse_r = r2 > (REAL)0 ? law_rsqrt(r2) : (REAL)0;
        there += (r2 * inverse_r - cutoff) * slope;
        if (pair->s2 != (REAL)0)
            *factor -= slope * inverse_r;
    }
    if (NAME(law_diverges)(form.kind, law) && pair->s2 == (REAL)0)
        there = (REAL)0;
    *value -= there;
}

/* Where the image of a source lies from its target. */
LAW_INLINE void NAME(cutoff_separate)(const struct cutoff_cuda_problem *problem,
                                      const struct NAME(cutoff_target) * target, long long j,
                                      unsigned image, REAL d[3])
{
    double t[3];
    bool moved = false;
    for (int k = 0; k < 3; k++) {
        const unsigned mask = (1U << cutoff_cuda_image_bits) - 1;
        const int turns =
            (int)((image >> (k * cutoff_cuda_image_bits)) & mask) - cutoff_cuda_image_zero;
        moved = moved || turns != 0;
        t[k] = turns;
    }
    for (int c = 0; c < 3; c++) {
        d[c] = NAME(cutoff_element)(problem->source_position[c], j, 0) - target->x[c];
        if (moved)
            d[c] += (REAL)__dadd_rn(__dadd_rn(__dmul_rn(t[0], problem->basis[0][c]),
                                              __dmul_rn(t[1], problem->basis[1][c])),
                                    __dmul_rn(t[2], problem->basis[2][c]));
    }
}

LAW_INLINE void NAME(cutoff_add_pair)(const struct law_form form, const bool everything,
                                      const struct cutoff_cuda_problem *problem,
                                      const struct NAME(law_constants) * law,
                                      const struct NAME(cutoff_target) * target, long long j,
                                      unsigned image, double *sum)
{
    struct NAME(law_pair) pair;
    NAME(cutoff_separate)(problem, target, j, image, pair.d);
    const REAL r2 =
        law_fma(pair.d[2], pair.d[2], law_fma(pair.d[1], pair.d[1], pair.d[0] * pair.d[0]));
    pair.s2 =
        r2 + (target->softening2 + NAME(cutoff_element)(problem->source_half_softening2, j, 0));
    pair.w_i = target->weight;
    pair.w_j = NAME(cutoff_element)(problem->source_weight, j, 1);
    pair.q_i = target->charge;
    pair.q_j = NAME(cutoff_element)(problem->source_charge, j, 1);
    REAL force[3], factor = (REAL)0, value = (REAL)0;
    const bool is_central = form.kind != law_custom || problem->is_central;
    if (everything)
        value = NAME(law_value)(form, law, &pair);
    if (is_central)
        factor = NAME(law_factor)(form, law, &pair);
    else
        NAME(law_force)(form, law, &pair, force);
    if (problem->shift != cutoff_cuda_plain)
        NAME(cutoff_shift_pair)(form, problem, law, &pair, r2, &factor, &value);
    for (int c = 0; c < 3; c++) {
        if (is_central)
            force[c] = factor * pair.d[c];
        sum[c] += (double)force[c];
    }
    if (!everything)
        return;
    sum[3] += (double)value;
    for (int k = 0; k < 9; k++)
        sum[4 + k] += (double)pair.d[k / 3] * (double)force[k % 3];
}

LAW_INLINE void NAME(cutoff_put)(const struct cutoff_cuda_problem *problem, void *column,
                                 long long at, double result)
{
    REAL *const to = (REAL *)column + at;
    const double whole = problem->accumulates ? (double)*to + result : result + 0.0;
    *to = (REAL)(problem->bad && *problem->bad ? nan("") : whole);
}

LAW_INLINE void NAME(cutoff_store)(const struct cutoff_cuda_problem *problem, long long row,
                                   const double *sum)
{
    const double factor =
        problem->factor / (double)NAME(cutoff_element)(problem->target_mass, row, 1);
    for (int c = 0; c < 3; c++)
        if (problem->acceleration[c])
            NAME(cutoff_put)
    (problem, problem->acceleration[c], row * problem->acceleration_stride, factor * sum[c]);
    if (problem->value)
        NAME(cutoff_put)
    (problem, problem->value, row * problem->value_stride, problem->factor * sum[3]);
}

/* The totals of a block's targets, one after another. */
LAW_INLINE void NAME(cutoff_total)(const struct cutoff_cuda_problem *problem, long long row,
                                   bool is_first, const double *sum)
{
    enum { targets = cutoff_cuda_block / cutoff_cuda_lanes };
    __shared__ double of_target[targets][cutoff_cuda_totals];
    if (is_first) {
        const double half =
            row < 0 ? 0 : 0.5 * (double)NAME(cutoff_element)(problem->total_weight, row, 1);
        for (int k = 0; k < cutoff_cuda_totals; k++)
            of_target[threadIdx.x / cutoff_cuda_lanes][k] =
                k == 0 ? half * sum[3] : -half * sum[3 + k];
    }
    __syncthreads();
    if (threadIdx.x < cutoff_cuda_totals) {
        double total = 0;
        for (int target = 0; target < targets; target++)
            total += of_target[target][threadIdx.x];
        problem->totals[(long long)blockIdx.x * cutoff_cuda_totals + threadIdx.x] = total;
    }
}

LAW_INLINE void NAME(cutoff_sum)(const struct law_form form, const bool everything,
                                 const struct cutoff_cuda_problem *problem)
{
    const struct NAME(law_constants) law = NAME(law_load)(&problem->numbers);
    const int lane = (int)threadIdx.x % cutoff_cuda_lanes;
    const long long k =
        ((long long)blockIdx.x * cutoff_cuda_block + threadIdx.x) / cutoff_cuda_lanes;
    const long long row = k < problem->count ? (long long)problem->order[k] : -1;
    double sum[NAME(cutoff_values)] = {0};
    if (row >= 0) {
        struct NAME(cutoff_target) target;
        for (int c = 0; c < 3; c++)
            target.x[c] = NAME(cutoff_element)(problem->target_position[c], row, 0);
        target.weight = NAME(cutoff_element)(problem->target_weight, row, 1);
        target.charge = NAME(cutoff_element)(problem->target_charge, row, 1);
        target.softening2 = (REAL)problem->softening2 +
                            NAME(cutoff_element)(problem->target_half_softening2, row, 0);
        const long long end = problem->begin[k + 1];
        for (long long p = problem->begin[k] + lane; p < end; p += cutoff_cuda_lanes)
            NAME(cutoff_add_pair)
        (form, everything, problem, &law, &target, problem->partner[p], problem->image[p], sum);
    }
    for (int v = 0; v < (everything ? (int)NAME(cutoff_values) : 3); v++)
        for (int half = cutoff_cuda_lanes / 2; half > 0; half /= 2)
            sum[v] += __shfl_down_sync(0xffffffffU, sum[v], half, cutoff_cuda_lanes);
    if (row >= 0 && lane == 0)
        NAME(cutoff_store)(problem, row, sum);
    if (everything && problem->totals)
        NAME(cutoff_total)(problem, row, lane == 0, sum);
}

#ifdef LAW_CUSTOM_BODY
#define CUTOFF_CUSTOM(name, everything)                                                            \
    extern "C" __global__ void __launch_bounds__(cutoff_cuda_block)                                \
        NAME(cutoff_custom_##name)(const struct cutoff_cuda_problem problem)                       \
    {                                                                                              \
        NAME(cutoff_sum)({law_custom, law_unweighted}, everything, &problem);                      \
    }
CUTOFF_CUSTOM(force, false)
CUTOFF_CUSTOM(all, true)
#undef CUTOFF_CUSTOM
#else
template <enum law_kind kind, bool everything>
__global__ void __launch_bounds__(cutoff_cuda_block)
    NAME(cutoff_kernel)(const struct cutoff_cuda_problem problem)
{
    if (kind == law_constant && problem.weighting == law_sum)
        NAME(cutoff_sum)({kind, law_sum}, everything, &problem);
    else if (kind == law_constant && problem.weighting == law_product)
        NAME(cutoff_sum)({kind, law_product}, everything, &problem);
    else
        NAME(cutoff_sum)({kind, LAW_SUMS_WEIGHTING(kind)}, everything, &problem);
}
#endif
