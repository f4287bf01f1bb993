/* Gravity in the symmetric loop, with arithmetic of its own, for one precision
 * (core/real.h).
 *
 *     field += m d / s³, potential += m / s, times what simd_rsqrt3_scaled multiplies by */

struct constants {
    REAL softening2;
};

/* The sums of a source over the targets in its lane, or of a vector of targets. */
struct lane_sums {
    VREAL field[3], potential;
};

/* A vector of targets, or a source in all lanes; with softening_per_body half of ε². */
struct bodies {
    VREAL x[3], mass, half_softening2;
};

SIMD_INLINE struct bodies load_targets(const struct variant variant,
                                       const struct constants *constants,
                                       const struct symmetric_bodies *targets, int64_t i)
{
    (void)constants;
    struct bodies loaded = {0};
    SIMD_UNROLL
    for (int32_t c = 0; c < variant.fields; c++)
        loaded.x[c] = simd_load((const REAL *)targets->position[c] + i);
    loaded.mass = simd_load((const REAL *)targets->weight + i);
    if (variant.softening == softening_per_body)
        loaded.half_softening2 = simd_load((const REAL *)targets->half_softening2 + i);
    return loaded;
}

SIMD_INLINE struct bodies load_source(const struct variant variant,
                                      const struct constants *constants,
                                      const struct symmetric_bodies *sources, int64_t j)
{
    struct bodies loaded = {0};
    SIMD_UNROLL
    for (int32_t c = 0; c < variant.fields; c++)
        loaded.x[c] = simd_all(((const REAL *)sources->position[c])[j]);
    loaded.mass = simd_all(((const REAL *)sources->weight)[j]);
    loaded.half_softening2 = simd_all(constants->softening2 + S2_FLOOR);
    if (variant.softening == softening_per_body)
        loaded.half_softening2 += ((const REAL *)sources->half_softening2)[j];
    return loaded;
}

/* Adds the pairs of a source with a vector of targets to the sums of both. */
SIMD_INLINE void add_pairs(const struct variant variant, const struct constants *constants,
                           const struct bodies *source, const struct bodies *targets,
                           struct lane_sums *of_targets, struct lane_sums *of_source)
{
    (void)constants;
    VREAL d[3], s2 = source->half_softening2;
    if (variant.softening == softening_per_body)
        s2 += targets->half_softening2;
    SIMD_UNROLL
    for (int32_t c = 0; c < variant.fields; c++) {
        d[c] = source->x[c] - targets->x[c];
        s2 = simd_fma(d[c], d[c], s2);
    }
    const VREAL rsqrt3 = simd_rsqrt3_scaled(s2);

    if (variant.form == sums_are_forces) {
        const VREAL factor = source->mass * targets->mass * rsqrt3;
        SIMD_UNROLL
        for (int32_t c = 0; c < variant.fields; c++) {
            const VREAL force = factor * d[c];
            of_targets->field[c] += force;
            of_source->field[c] -= force;
        }
        if (variant.potential) {
            const VREAL energy = factor * (s2 - S2_FLOOR);
            of_targets->potential += energy;
            of_source->potential += energy;
        }
    } else {
        const VREAL to_targets = source->mass * rsqrt3, to_source = targets->mass * rsqrt3;
        SIMD_UNROLL
        for (int32_t c = 0; c < variant.fields; c++) {
            of_targets->field[c] = simd_fma(to_targets, d[c], of_targets->field[c]);
            of_source->field[c] = simd_fma(-to_source, d[c], of_source->field[c]);
        }
        if (variant.potential) {
            of_targets->potential = simd_fma(to_targets, s2 - S2_FLOOR, of_targets->potential);
            of_source->potential = simd_fma(to_source, s2 - S2_FLOOR, of_source->potential);
        }
    }
}

SIMD_INLINE void launder(const struct variant variant, struct bodies *bodies)
{
    SIMD_UNROLL
    for (int32_t c = 0; c < variant.fields; c++)
        SIMD_LAUNDER(bodies->x[c]);
    SIMD_LAUNDER(bodies->mass);
}

#include "forces/symmetric_loop_body.h"

#define DEFINE_VARIANT(potential, softening, form, fields)                                         \
    static void meet_##potential##_##softening##_##form##_##fields(                                \
        const struct symmetric_meeting *meeting)                                                   \
    {                                                                                              \
        const struct variant variant = {symmetric_vectors, fields,    true,                        \
                                        potential,         softening, form};                       \
        const struct constants constants = {(REAL)meeting->softening2};                            \
        meet(variant, &constants, meeting);                                                        \
    }

EACH_VARIANT(DEFINE_VARIANT)
#undef DEFINE_VARIANT

static void forces_symmetric(const struct symmetric_meeting *meeting)
{
#define NAME_VARIANT(potential, softening, form, fields)                                           \
    meet_##potential##_##softening##_##form##_##fields,
    static forces_symmetric_kernel *const kernels[] = {EACH_VARIANT(NAME_VARIANT)};
#undef NAME_VARIANT

    const enum softening softening =
        meeting->targets.half_softening2 ? softening_per_body : softening_common;
    const int32_t potential = meeting->of_targets.potential ? 1 : 0;
    const int32_t row = ((potential * 2 + (int32_t)softening) * 2 + (int32_t)meeting->form) * 2 +
                        meeting->dimensions - 2;
    kernels[row](meeting);
}

static void add_columns(double *restrict sums, const void *const *columns, int32_t column_count,
                        int64_t count)
{
    enum { strip = 16 };
    int64_t i = 0;
    for (; i + strip <= count; i += strip) {
        double total[strip];
        memcpy(total, sums + i, sizeof total);
        for (int32_t k = 0; k < column_count; k++)
            for (int32_t lane = 0; lane < strip; lane++)
                total[lane] += (double)((const REAL *)columns[k])[i + lane];
        memcpy(sums + i, total, sizeof total);
    }
    for (; i < count; i++)
        for (int32_t k = 0; k < column_count; k++)
            sums[i] += (double)((const REAL *)columns[k])[i];
}

static int64_t limit(enum symmetric_form form, int64_t turns)
{
    const struct variant forces = {symmetric_vectors, 3, false, false, softening_common,
                                   sums_are_forces};
    const struct variant accelerations = {symmetric_vectors,     3, false, false, softening_common,
                                          sums_are_accelerations};
    const struct constants constants = {0};
    const struct bodies any = {.mass = simd_all((REAL)1), .half_softening2 = simd_all((REAL)1)};
    return form == sums_are_forces ? take_turns(forces, &constants, any, turns)
                                   : take_turns(accelerations, &constants, any, turns);
}
