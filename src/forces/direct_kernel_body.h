/* The direct kernel for one precision. Included by direct_kernel.c for each, with
 *
 *   REAL, VREAL  float, vfloat or double, vdouble
 *   NAME(name)   name_float or name_double
 *   S2_FLOOR     core/floors.h
 *   FIELD_SCALE  what simd_rsqrt3_scaled multiplies by
 *
 * A block of targets sits in registers, a target a lane, and every source is broadcast to it. */

enum { NAME(lanes) = SIMD_BYTES / sizeof(REAL), NAME(block) = wide * NAME(lanes) };

struct NAME(source) {
    REAL x[3], v[3], mass, half_softening2;
    REAL index; /* from the block's first target; −1 if the targets are not the sources */
};

/* A vector of targets. */
struct NAME(targets) {
    VREAL x[3], v[3];
    VREAL softening2; /* ε², or with softening_per_body the target's half of it, + S2_FLOOR */
    VREAL index;      /* from the block's first */
};

/* What a vector of targets feels, without G: Σ m d / s³, Σ m [u / s³ − 3 (d·u) d / s⁵], Σ m / s. */
struct NAME(sums) {
    VREAL acceleration[3], jerk[3], potential;
};

/* The same for all targets of a block. */
struct NAME(totals) {
    double acceleration[3][NAME(block)], jerk[3][NAME(block)], potential[NAME(block)];
};

SIMD_INLINE struct NAME(source)
    NAME(load_source)(const struct variant variant, const struct forces_problem *problem,
                      int64_t begin, int64_t j)
{
    struct NAME(source) source = {.mass = ((const REAL *)problem->source_mass)[j],
                                  .index = problem->self ? (REAL)(j - begin) : -1};
    SIMD_UNROLL
    for (int32_t c = 0; c < variant.dimensions; c++) {
        source.x[c] = ((const REAL *)problem->source_position[c])[j];
        if (variant.outputs == forces_jerk)
            source.v[c] = ((const REAL *)problem->source_velocity[c])[j];
    }
    if (variant.softening == softening_per_body)
        source.half_softening2 = ((const REAL *)problem->source_half_softening2)[j];
    return source;
}

/* The k-th vector of the block at begin. */
SIMD_INLINE struct NAME(targets)
    NAME(load_targets)(const struct variant variant, const struct forces_problem *problem,
                       int64_t begin, int32_t k)
{
    const int64_t i = begin + k * NAME(lanes);
    struct NAME(targets) targets;
    SIMD_UNROLL
    for (int32_t c = 0; c < variant.dimensions; c++) {
        targets.x[c] = simd_load((const REAL *)problem->target_position[c] + i);
        if (variant.outputs == forces_jerk)
            targets.v[c] = simd_load((const REAL *)problem->target_velocity[c] + i);
    }
    targets.softening2 = simd_all((REAL)problem->softening2 + S2_FLOOR);
    if (variant.softening == softening_per_body)
        targets.softening2 += simd_load((const REAL *)problem->target_half_softening2 + i);
    SIMD_UNROLL
    for (int32_t lane = 0; lane < NAME(lanes); lane++)
        targets.index[lane] = (REAL)(k * NAME(lanes) + lane);
    return targets;
}

/* Adds the pairs of a source with a vector of targets.
 *
 * At the same position d = 0 and s² is the floor, whose 1/s³ is finite, so that the pair adds 0 by
 * itself to the acceleration, to the potential as (s² − floor)/s³, and to the jerk but for u: where
 * velocities differ, that pair must be left out. So must j = i if there is softening, from all but
 * the acceleration: omit_self. */
SIMD_INLINE void NAME(add_pairs)(const struct variant variant, const bool omit_self,
                                 const struct NAME(source) * source,
                                 const struct NAME(targets) * targets, struct NAME(sums) * sums)
{
    VREAL d[3], s2 = targets->softening2;
    if (variant.softening == softening_per_body)
        s2 = s2 + source->half_softening2;
    SIMD_UNROLL
    for (int32_t c = 0; c < variant.dimensions; c++) {
        d[c] = source->x[c] - targets->x[c];
        s2 = simd_fma(d[c], d[c], s2);
    }

    /* Without jerk all is FIELD_SCALE times as much. */
    VREAL rsqrt = {0}, m_over_s3;
    if (variant.outputs == forces_jerk) {
        rsqrt = simd_rsqrt(s2);
        m_over_s3 = source->mass * rsqrt * (rsqrt * rsqrt);
    } else {
        m_over_s3 = source->mass * simd_rsqrt3_scaled(s2);
    }
    if (omit_self)
        m_over_s3 = simd_unless_equal(targets->index, simd_all(source->index), m_over_s3);
    if (variant.outputs != forces_acceleration)
        sums->potential = simd_fma(m_over_s3, s2 - S2_FLOOR, sums->potential);

    SIMD_UNROLL
    for (int32_t c = 0; c < variant.dimensions; c++)
        sums->acceleration[c] = simd_fma(m_over_s3, d[c], sums->acceleration[c]);

    if (variant.outputs == forces_jerk) {
        VREAL u[3], d_dot_u = {0};
        SIMD_UNROLL
        for (int32_t c = 0; c < variant.dimensions; c++) {
            u[c] = source->v[c] - targets->v[c];
            d_dot_u = simd_fma(d[c], u[c], d_dot_u);
        }
        const VREAL factor = d_dot_u * (rsqrt * rsqrt) * (REAL)-3;
        m_over_s3 = simd_unless_equal(s2, simd_all(S2_FLOOR), m_over_s3);
        SIMD_UNROLL
        for (int32_t c = 0; c < variant.dimensions; c++)
            sums->jerk[c] = simd_fma(m_over_s3, simd_fma(factor, d[c], u[c]), sums->jerk[c]);
    }
}

SIMD_INLINE void NAME(add_vector)(double *restrict total, VREAL sum)
{
    for (int32_t lane = 0; lane < NAME(lanes); lane++)
        total[lane] += (double)sum[lane];
}

/* Adds what the sources first … last − 1 do to the block of targets at begin. */
SIMD_INLINE void NAME(add_chunk)(const struct variant variant, const bool omit_self,
                                 const struct forces_problem *problem, int64_t begin, int64_t first,
                                 int64_t last, struct NAME(totals) * totals)
{
    struct NAME(targets) targets[wide];
    struct NAME(sums) sums[wide];
    SIMD_UNROLL
    for (int32_t k = 0; k < variant.vectors; k++) {
        targets[k] = NAME(load_targets)(variant, problem, begin, k);
        sums[k] = (struct NAME(sums)){0};
    }

    for (int64_t j = first; j < last; j++) {
        const struct NAME(source) source = NAME(load_source)(variant, problem, begin, j);
        SIMD_UNROLL
        for (int32_t k = 0; k < variant.vectors; k++)
            NAME(add_pairs)(variant, omit_self, &source, &targets[k], &sums[k]);
    }

    SIMD_UNROLL
    for (int32_t k = 0; k < variant.vectors; k++) {
        const int32_t lane = k * NAME(lanes);
        SIMD_UNROLL
        for (int32_t c = 0; c < variant.dimensions; c++) {
            NAME(add_vector)(totals->acceleration[c] + lane, sums[k].acceleration[c]);
            if (variant.outputs == forces_jerk)
                NAME(add_vector)(totals->jerk[c] + lane, sums[k].jerk[c]);
        }
        if (variant.outputs != forces_acceleration)
            NAME(add_vector)(totals->potential + lane, sums[k].potential);
    }
}

static void NAME(store)(void *to, int64_t begin, int32_t count, double factor,
                        const double *restrict total)
{
    REAL *restrict result = (REAL *)to + begin;
    for (int32_t lane = 0; lane < count; lane++)
        result[lane] = (REAL)(factor * total[lane] + 0.0); /* + 0: no −0 of an empty sum */
}

/* Writes the totals of the block at begin, times G, to the outputs that are requested. */
SIMD_INLINE void NAME(store_block)(const struct variant variant,
                                   const struct forces_problem *problem, int64_t begin,
                                   const struct NAME(totals) * totals)
{
    const int32_t count = variant.vectors * NAME(lanes);
    const double g =
        problem->gravitational_constant / (variant.outputs == forces_jerk ? 1 : FIELD_SCALE);
    for (int32_t c = 0; c < variant.dimensions; c++) {
        if (problem->acceleration[c])
            NAME(store)(problem->acceleration[c], begin, count, g, totals->acceleration[c]);
        if (variant.outputs == forces_jerk)
            NAME(store)(problem->jerk[c], begin, count, g, totals->jerk[c]);
    }
    if (variant.outputs != forces_acceleration && problem->potential)
        NAME(store)(problem->potential, begin, count, -g, totals->potential);
}

/* All sources on one block of targets. Where speed matters most there is a loop of its own for the
 * chunks that cannot hold a target itself. */
SIMD_INLINE void NAME(compute_block)(const struct variant variant,
                                     const struct forces_problem *problem, int64_t begin)
{
    struct NAME(totals) totals = {0};
    const int64_t end = begin + variant.vectors * NAME(lanes);
    for (int64_t first = 0; first < problem->source_count; first += chunk_sources) {
        const int64_t left = problem->source_count - first;
        const int64_t last = first + (left < chunk_sources ? left : chunk_sources);
        const bool has_self = problem->self && first < end && begin < last;
        if (variant.outputs == forces_acceleration ||
            (variant.outputs == forces_potential && variant.vectors == wide && !has_self))
            NAME(add_chunk)(variant, false, problem, begin, first, last, &totals);
        else
            NAME(add_chunk)(variant, true, problem, begin, first, last, &totals);
    }
    NAME(store_block)(variant, problem, begin, &totals);
}

#define DEFINE_VARIANT(outputs, softening, dimensions)                                             \
    static void NAME(outputs##_##softening##_##dimensions)(const struct forces_problem *problem,   \
                                                           int64_t begin, int64_t end)             \
    {                                                                                              \
        const struct variant blocks = {wide, dimensions, softening, outputs};                      \
        const struct variant rest = {1, dimensions, softening, outputs};                           \
        int64_t i = begin;                                                                         \
        for (; end - i > (wide - 1) * NAME(lanes); i += NAME(block))                               \
            NAME(compute_block)(blocks, problem, i);                                               \
        for (; i < end; i += NAME(lanes))                                                          \
            NAME(compute_block)(rest, problem, i);                                                 \
    }

EACH_VARIANT(DEFINE_VARIANT)
#undef DEFINE_VARIANT

static void NAME(forces_direct)(const struct forces_problem *problem, int64_t begin, int64_t end)
{
#define NAME_VARIANT(outputs, softening, dimensions) NAME(outputs##_##softening##_##dimensions),
    static forces_direct_kernel *const kernels[] = {EACH_VARIANT(NAME_VARIANT)};
#undef NAME_VARIANT

    const enum softening softening =
        problem->target_half_softening2 ? softening_per_body : softening_common;
    const enum forces_outputs outputs = forces_outputs_of(problem);
    const int32_t row = ((int32_t)outputs * 2 + (int32_t)softening) * 2 + problem->dimensions - 2;
    kernels[row](problem, begin, end);
}
