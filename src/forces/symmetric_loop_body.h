/* The symmetric loop for one precision: two blocks of bodies meet, and each of their pairs is
 * evaluated once, by any pair function. The including body has defined
 *
 *   struct variant             what the loop is compiled for; of its members the loop reads vectors
 *                              (of targets in registers), has_rest (their number need not be a
 *                              multiple of that), fields (components of the force that are summed,
 *                              or 0) and potential (whether that is summed)
 *   REAL_LANES                 of a vector
 *   struct constants           what is the same for all pairs
 *   struct bodies              a vector of targets, or a source in all lanes
 *   struct lane_sums           field[3] and potential: what a body in each lane has felt
 *   load_targets, load_source, launder
 *   add_pairs                  adds the pairs of a source with a vector of targets to both sums
 *
 * (symmetric_gravity_body.h, symmetric_law_body.h). A few vectors of targets sit in registers, a
 * target a lane, and every source of a chunk is broadcast to them. What the lanes do to the source
 * is added up lane by lane, in memory that stays in the first cache; the lanes are summed when the
 * chunk has met all targets. */

SIMD_INLINE int32_t component_count(const struct variant variant)
{
    return variant.fields + (variant.potential ? 1 : 0);
}

SIMD_INLINE void load_sums(const struct variant variant, const VREAL *memory,
                           struct lane_sums *sums)
{
    SIMD_UNROLL
    for (int32_t c = 0; c < variant.fields; c++)
        sums->field[c] = memory[c];
    if (variant.potential)
        sums->potential = memory[variant.fields];
}

SIMD_INLINE void store_sums(const struct variant variant, const struct lane_sums *sums,
                            VREAL *memory)
{
    SIMD_UNROLL
    for (int32_t c = 0; c < variant.fields; c++)
        memory[c] = sums->field[c];
    if (variant.potential)
        memory[variant.fields] = sums->potential;
}

SIMD_INLINE void add_to_column(void *column, int64_t i, bool is_first, VREAL sum)
{
    if (!column)
        return;
    REAL *const at = (REAL *)column + i;
    simd_store(at, is_first ? sum : simd_load(at) + sum);
}

/* The sources first … last − 1, less than a chunk of them, with the vectors of targets at i. */
SIMD_INLINE void meet_vectors(const struct variant variant, const int32_t vectors,
                              const struct constants *constants,
                              const struct symmetric_meeting *meeting, int64_t i, int64_t first,
                              int64_t last, VREAL *of_sources)
{
    const int32_t components = component_count(variant);
    struct bodies targets[symmetric_vectors];
    struct lane_sums sums[symmetric_vectors];
    SIMD_UNROLL
    for (int32_t k = 0; k < vectors; k++) {
        targets[k] = load_targets(variant, constants, &meeting->targets, i + k * REAL_LANES);
        sums[k] = (struct lane_sums){0};
    }

    for (int64_t j = first; j < last; j++) {
        const struct bodies source = load_source(variant, constants, &meeting->sources, j);
        VREAL *const memory = &of_sources[(j - first) * components];
        struct lane_sums of_source = {0};
        if (i > 0)
            load_sums(variant, memory, &of_source);
        SIMD_UNROLL
        for (int32_t k = 0; k < vectors; k++)
            add_pairs(variant, constants, &source, &targets[k], &sums[k], &of_source);
        store_sums(variant, &of_source, memory);
    }

    SIMD_UNROLL
    for (int32_t k = 0; k < vectors; k++) {
        const int64_t at = i + k * REAL_LANES;
        SIMD_UNROLL
        for (int32_t c = 0; c < variant.fields; c++)
            add_to_column(meeting->of_targets.field[c], at, first == 0, sums[k].field[c]);
        if (variant.potential)
            add_to_column(meeting->of_targets.potential, at, first == 0, sums[k].potential);
    }
}

/* The lanes of one component of this many sources summed, a vector of sources at a time. */
static __attribute__((noinline)) void sum_lanes(const VREAL *of_sources, int32_t components,
                                                int32_t component, int64_t count, REAL *result)
{
    for (int64_t j = 0; j < count; j += REAL_LANES) {
        VREAL rows[REAL_LANES];
        SIMD_UNROLL
        for (int32_t k = 0; k < REAL_LANES; k++)
            rows[k] = of_sources[(j + k) * components + component];
        simd_store(result + j, simd_sum_rows(rows));
    }
}

SIMD_INLINE void meet(const struct variant variant, const struct constants *constants,
                      const struct symmetric_meeting *meeting)
{
    const int64_t targets = meeting->targets.count, sources = meeting->sources.count;
    const int32_t components = component_count(variant);
    VREAL of_sources[symmetric_chunk * symmetric_components]; /* [source][component] */
    for (int64_t first = 0; first < sources; first += symmetric_chunk) {
        const int64_t left = sources - first,
                      count = left < symmetric_chunk ? left : symmetric_chunk;
        int64_t i = 0;
        for (; targets - i > (variant.vectors - 1) * REAL_LANES; i += variant.vectors * REAL_LANES)
            meet_vectors(variant, variant.vectors, constants, meeting, i, first, first + count,
                         of_sources);
        for (; variant.has_rest && i < targets; i += REAL_LANES)
            meet_vectors(variant, 1, constants, meeting, i, first, first + count, of_sources);

        for (int32_t c = 0; c < components; c++) {
            REAL *const column = (REAL *)(c < variant.fields ? meeting->of_sources.field[c]
                                                             : meeting->of_sources.potential);
            if (column)
                sum_lanes(of_sources, components, c, count, column + first);
        }
    }
}

/* The arithmetic of turns × variant.vectors vectors of pairs, with everything in registers; the
 * number of interactions. */
SIMD_INLINE int64_t take_turns(const struct variant variant, const struct constants *constants,
                               struct bodies any, int64_t turns)
{
    struct bodies source = any, targets[symmetric_vectors];
    struct lane_sums of_source = {0}, of_targets[symmetric_vectors] = {0};
    SIMD_UNROLL
    for (int32_t k = 0; k < variant.vectors; k++) {
        targets[k] = any;
        launder(variant, &targets[k]);
    }

    for (int64_t turn = 0; turn < turns; turn++) {
        launder(variant, &source);
        SIMD_UNROLL
        for (int32_t k = 0; k < variant.vectors; k++)
            add_pairs(variant, constants, &source, &targets[k], &of_targets[k], &of_source);
    }
    SIMD_UNROLL
    for (int32_t c = 0; c < variant.fields; c++) {
        SIMD_LAUNDER(of_source.field[c]);
        SIMD_UNROLL
        for (int32_t k = 0; k < variant.vectors; k++)
            SIMD_LAUNDER(of_targets[k].field[c]);
    }
    return 2 * turns * variant.vectors * REAL_LANES;
}
