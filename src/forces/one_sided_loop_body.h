/* The one-sided loop for one precision: what all sources do to a block of targets, by any pair
 * function. The including body has defined
 *
 *   struct variant           what the loop is compiled for; of its members the loop reads vectors
 *                            (of targets in registers) and adds_apart (a smaller loop, of which all
 *                            values are summed)
 *   block_targets            targets of a block
 *   one_sided_values         sums of a target, at most
 *   struct constants         what is the same for all pairs of a call
 *   struct source            a source, to be broadcast
 *   struct targets           a vector of targets
 *   struct sums              value[one_sided_values]: what a target in each lane has felt
 *   values                   how many of these are summed
 *   load_source, load_targets
 *   source_shift             the first source among all, less the first target (forces/problem.h)
 *   add_pairs                adds the pairs of a source with a vector of targets to their sums
 *   are_valid                whether the sums of a chunk of sources may be added to the others
 *
 * (direct_kernel_body.h, law_sums_kernel_body.h, law_jerk_kernel_body.h). A few vectors of targets
 * sit in registers, a target a lane, and every source is broadcast to them. */

/* Sums over all chunks of sources, for all targets of a block. */
struct totals {
    double value[one_sided_values][block_targets];
};

SIMD_INLINE void add_sums(const struct sums *sums, int32_t values, int32_t first_lane,
                          struct totals *totals)
{
    SIMD_UNROLL
    for (int32_t v = 0; v < values; v++)
        for (int32_t lane = 0; lane < REAL_LANES; lane++)
            totals->value[v][first_lane + lane] += (double)sums->value[v][lane];
}

/* The totals of the targets from begin on, of columns for each value, `stride` apart. */
static __attribute__((noinline)) void take_totals(const double *columns, int32_t values,
                                                  int64_t stride, int64_t begin, int32_t count,
                                                  struct totals *totals)
{
    for (int32_t v = 0; columns && v < values; v++)
        for (int32_t lane = 0; lane < count; lane++)
            totals->value[v][lane] = columns[v * stride + begin + lane];
}

static __attribute__((noinline)) void keep_totals(double *columns, int32_t values, int64_t stride,
                                                  int64_t begin, int32_t count,
                                                  const struct totals *totals)
{
    for (int32_t v = 0; v < values; v++)
        for (int32_t lane = 0; lane < count; lane++)
            columns[v * stride + begin + lane] = totals->value[v][lane];
}

/* Compiled once for all laws: it takes as long to compile as the loop. */
static __attribute__((noinline, unused)) void
add_sums_apart(const struct sums *sums, int32_t first_lane, struct totals *totals)
{
    add_sums(sums, one_sided_values, first_lane, totals);
}

/* Adds what the sources first … last − 1 do to the vectors of targets from the k-th on of the block
 * at begin; or nothing, if the sums are not valid. */
SIMD_INLINE bool add_chunk(const struct variant variant, const struct constants *constants,
                           int64_t begin, int32_t k, int64_t first, int64_t last,
                           struct totals *totals)
{
    const int64_t at = begin + k * REAL_LANES, shift = source_shift(constants);
    struct targets targets[one_sided_vectors];
    struct sums sums[one_sided_vectors], found[one_sided_vectors]; /* sums: in registers */
    SIMD_UNROLL
    for (int32_t t = 0; t < variant.vectors; t++) {
        targets[t] = load_targets(variant, constants, at, t);
        sums[t] = (struct sums){0};
    }
    for (int64_t j = first; j < last; j++) {
        const struct source source = load_source(variant, constants, at - shift, j);
        SIMD_UNROLL
        for (int32_t t = 0; t < variant.vectors; t++)
            add_pairs(variant, constants, &source, &targets[t], &sums[t]);
    }
    SIMD_UNROLL
    for (int32_t t = 0; t < variant.vectors; t++)
        found[t] = sums[t];
    if (!are_valid(variant, found))
        return false;
    SIMD_UNROLL
    for (int32_t t = 0; t < variant.vectors; t++)
        if (variant.adds_apart)
            add_sums_apart(&found[t], (k + t) * REAL_LANES, totals);
        else
            add_sums(&found[t], values(variant), (k + t) * REAL_LANES, totals);
    return true;
}
