/* The one-sided loop for one precision: what all sources do to a block of targets, by any pair
 * function. The including body has defined
 *
 *   struct variant           what the loop is compiled for; of its members the loop reads vectors
 *                            (of targets in registers) and adds_apart (a smaller loop, of which all
 *                            values are summed)
 *   NAME(lanes), NAME(block) of a vector, and of all targets of a block
 *   one_sided_values         sums of a target, at most
 *   struct NAME(constants)   what is the same for all pairs of a call
 *   struct NAME(source)      a source, to be broadcast
 *   struct NAME(targets)     a vector of targets
 *   struct NAME(sums)        value[one_sided_values]: what a target in each lane has felt
 *   NAME(values)             how many of these are summed
 *   NAME(load_source), NAME(load_targets)
 *   NAME(add_pairs)          adds the pairs of a source with a vector of targets to their sums
 *   NAME(are_valid)          whether the sums of a chunk of sources may be added to the others
 *
 * (direct_kernel_body.h, law_sums_kernel_body.h, law_jerk_kernel_body.h). A few vectors of targets
 * sit in registers, a target a lane, and every source is broadcast to them. */

/* Sums over all chunks of sources, for all targets of a block. */
struct NAME(totals) {
    double value[one_sided_values][NAME(block)];
};

SIMD_INLINE void NAME(add_sums)(const struct NAME(sums) * sums, int32_t values, int32_t first_lane,
                                struct NAME(totals) * totals)
{
    SIMD_UNROLL
    for (int32_t v = 0; v < values; v++)
        for (int32_t lane = 0; lane < NAME(lanes); lane++)
            totals->value[v][first_lane + lane] += (double)sums->value[v][lane];
}

/* Compiled once for all laws: it takes as long to compile as the loop. */
static __attribute__((noinline, unused)) void NAME(add_sums_apart)(const struct NAME(sums) * sums,
                                                                   int32_t first_lane,
                                                                   struct NAME(totals) * totals)
{
    NAME(add_sums)(sums, one_sided_values, first_lane, totals);
}

/* Adds what the sources first … last − 1 do to the vectors of targets from the k-th on of the block
 * at begin; or nothing, if the sums are not valid. */
SIMD_INLINE bool NAME(add_chunk)(const struct variant variant,
                                 const struct NAME(constants) * constants, int64_t begin, int32_t k,
                                 int64_t first, int64_t last, struct NAME(totals) * totals)
{
    const int64_t at = begin + k * NAME(lanes);
    struct NAME(targets) targets[one_sided_vectors];
    struct NAME(sums) sums[one_sided_vectors], found[one_sided_vectors]; /* sums: in registers */
    SIMD_UNROLL
    for (int32_t t = 0; t < variant.vectors; t++) {
        targets[t] = NAME(load_targets)(variant, constants, at, t);
        sums[t] = (struct NAME(sums)){0};
    }
    for (int64_t j = first; j < last; j++) {
        const struct NAME(source) source = NAME(load_source)(variant, constants, at, j);
        SIMD_UNROLL
        for (int32_t t = 0; t < variant.vectors; t++)
            NAME(add_pairs)(variant, constants, &source, &targets[t], &sums[t]);
    }
    SIMD_UNROLL
    for (int32_t t = 0; t < variant.vectors; t++)
        found[t] = sums[t];
    if (!NAME(are_valid)(variant, found))
        return false;
    SIMD_UNROLL
    for (int32_t t = 0; t < variant.vectors; t++)
        if (variant.adds_apart)
            NAME(add_sums_apart)(&found[t], (k + t) * NAME(lanes), totals);
        else
            NAME(add_sums)
    (&found[t], NAME(values)(variant), (k + t) * NAME(lanes), totals);
    return true;
}
