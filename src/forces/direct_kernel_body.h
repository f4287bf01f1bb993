/* The direct kernel for one precision. Included by direct_kernel.c, with
 *
 *   REAL, VREAL  float, vfloat or double, vdouble
 *   REAL_LANES   reals in a vector
 *   S2_FLOOR     core/floors.h
 *   FIELD_SCALE  what simd_rsqrt3_scaled multiplies by
 *
 * Gravity in the one-sided loop, with arithmetic of its own:
 *
 *     value[0 … 2] += m d / s³, value[3] += m / s, value[4 … 6] += m [u / s³ − 3 (d·u) d / s⁵]
 *
 * without the jerk times what simd_rsqrt3_scaled multiplies by. */

enum { block_targets = one_sided_vectors * REAL_LANES };

struct source {
    REAL x[3], v[3], mass, half_softening2;
    REAL index; /* from the block's first target; −1 if the targets are not the sources */
};

/* A vector of targets. */
struct targets {
    VREAL x[3], v[3];
    VREAL softening2; /* ε², or with softening_per_body the target's half of it, + S2_FLOOR */
    VREAL index;      /* from the block's first */
};

struct sums {
    VREAL value[one_sided_values];
};

struct constants {
    const struct forces_problem *problem;
};

/* Each output includes those before it. */
SIMD_INLINE int32_t values(const struct variant variant)
{
    return variant.outputs == forces_jerk ? 7 : variant.outputs == forces_potential ? 4 : 3;
}

SIMD_INLINE bool are_valid(const struct variant variant, const struct sums *sums)
{
    (void)variant, (void)sums;
    return true;
}

SIMD_INLINE int64_t source_shift(const struct constants *constants)
{
    return constants->problem->source_shift;
}

SIMD_INLINE struct source load_source(const struct variant variant,
                                      const struct constants *constants, int64_t begin, int64_t j)
{
    const struct forces_problem *problem = constants->problem;
    struct source source = {.mass = ((const REAL *)problem->source_mass)[j],
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

/* The k-th vector from begin on. */
SIMD_INLINE struct targets load_targets(const struct variant variant,
                                        const struct constants *constants, int64_t begin, int32_t k)
{
    const struct forces_problem *problem = constants->problem;
    const int64_t i = begin + k * REAL_LANES;
    struct targets targets;
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
    for (int32_t lane = 0; lane < REAL_LANES; lane++)
        targets.index[lane] = (REAL)(k * REAL_LANES + lane);
    return targets;
}

/* Adds the pairs of a source with a vector of targets.
 *
 * At the same position d = 0 and s² is the floor, whose 1/s³ is finite, so that the pair adds 0 by
 * itself to the acceleration, to the potential as (s² − floor)/s³, and to the jerk but for u: where
 * velocities differ, that pair must be left out. So must j = i if there is softening, from all but
 * the acceleration: omits_self. */
SIMD_INLINE void add_pairs(const struct variant variant, const struct constants *constants,
                           const struct source *source, const struct targets *targets,
                           struct sums *sums)
{
    (void)constants;
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
    if (variant.omits_self)
        m_over_s3 = simd_unless_equal(targets->index, simd_all(source->index), m_over_s3);
    if (variant.outputs != forces_acceleration)
        sums->value[3] = simd_fma(m_over_s3, s2 - S2_FLOOR, sums->value[3]);

    SIMD_UNROLL
    for (int32_t c = 0; c < variant.dimensions; c++)
        sums->value[c] = simd_fma(m_over_s3, d[c], sums->value[c]);

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
            sums->value[4 + c] =
                simd_fma(m_over_s3, simd_fma(factor, d[c], u[c]), sums->value[4 + c]);
    }
}

#include "forces/one_sided_loop_body.h"

static void store(void *to, int64_t begin, int32_t count, double factor,
                  const double *restrict total)
{
    REAL *restrict result = (REAL *)to + begin;
    for (int32_t lane = 0; lane < count; lane++)
        result[lane] = (REAL)(factor * total[lane] + 0.0); /* + 0: no −0 of an empty sum */
}

/* Writes the totals of the block at begin, times G, to the outputs that are requested. */
SIMD_INLINE void store_block(const struct variant variant, const struct forces_problem *problem,
                             int64_t begin, const struct totals *totals)
{
    const int32_t count = variant.vectors * REAL_LANES;
    const double g =
        problem->gravitational_constant / (variant.outputs == forces_jerk ? 1 : FIELD_SCALE);
    for (int32_t c = 0; c < variant.dimensions; c++) {
        if (problem->acceleration[c])
            store(problem->acceleration[c], begin, count, g, totals->value[c]);
        if (variant.outputs == forces_jerk)
            store(problem->jerk[c], begin, count, g, totals->value[4 + c]);
    }
    if (variant.outputs != forces_acceleration && problem->potential)
        store(problem->potential, begin, count, -g, totals->value[3]);
}

/* All sources on one block of targets. Where speed matters most there is a loop of its own for the
 * chunks that cannot hold a target itself. */
SIMD_INLINE void compute_block(const struct variant variant, const struct forces_problem *problem,
                               int64_t begin)
{
    const struct constants constants = {problem};
    struct variant careful = variant;
    careful.omits_self = true;
    struct totals totals = {0};
    const int64_t shift = problem->source_shift, end = begin + variant.vectors * REAL_LANES;
    take_totals(problem->totals, values(variant), kith_padded(problem->target_count), begin,
                variant.vectors * REAL_LANES, &totals);
    for (int64_t first = 0; first < problem->source_count; first += chunk_sources) {
        const int64_t left = problem->source_count - first;
        const int64_t last = first + (left < chunk_sources ? left : chunk_sources);
        const bool has_self = problem->self && first + shift < end && begin < last + shift;
        if (variant.outputs == forces_acceleration ||
            (variant.outputs == forces_potential && variant.vectors == one_sided_vectors &&
             !has_self))
            add_chunk(variant, &constants, begin, 0, first, last, &totals);
        else
            add_chunk(careful, &constants, begin, 0, first, last, &totals);
    }
    if (problem->totals && problem->source_count > 0)
        keep_totals(problem->totals, values(variant), kith_padded(problem->target_count), begin,
                    variant.vectors * REAL_LANES, &totals);
    else
        store_block(variant, problem, begin, &totals);
}

#define DEFINE_VARIANT(outputs, softening, dimensions)                                             \
    static void outputs##_##softening##_##dimensions(const struct forces_problem *problem,         \
                                                     int64_t begin, int64_t end)                   \
    {                                                                                              \
        const struct variant blocks = {one_sided_vectors, false,     false,                        \
                                       dimensions,        softening, outputs};                     \
        const struct variant rest = {1, false, false, dimensions, softening, outputs};             \
        int64_t i = begin;                                                                         \
        for (; end - i > (one_sided_vectors - 1) * REAL_LANES; i += block_targets)                 \
            compute_block(blocks, problem, i);                                                     \
        for (; i < end; i += REAL_LANES)                                                           \
            compute_block(rest, problem, i);                                                       \
    }

EACH_VARIANT(DEFINE_VARIANT)
#undef DEFINE_VARIANT

static void forces_direct(const struct forces_problem *problem, int64_t begin, int64_t end)
{
#define NAME_VARIANT(outputs, softening, dimensions) outputs##_##softening##_##dimensions,
    static forces_direct_kernel *const kernels[] = {EACH_VARIANT(NAME_VARIANT)};
#undef NAME_VARIANT

    const enum softening softening =
        problem->target_half_softening2 ? softening_per_body : softening_common;
    const enum forces_outputs outputs = forces_outputs_of(problem);
    const int32_t row = ((int32_t)outputs * 2 + (int32_t)softening) * 2 + problem->dimensions - 2;
    kernels[row](problem, begin, end);
}
