/* The forces of an ensemble for one precision. Included by systems_kernel.c; REAL, VREAL and
 * S2_FLOOR are those of core/real.h. */

#include "forces/pair.h"
#include "forces/systems_block.h"

SIMD_INLINE void load_velocities(const struct forces_problem *problem, int64_t s,
                                 struct block *block)
{
    for (int32_t i = 0; i < block->bodies; i++)
        for (int32_t c = 0; c < problem->dimensions; c++)
            block->place[i].v[c] = simd_load((const REAL *)problem->target_velocity[c] +
                                             i * problem->system_stride + s);
}

/* + 0: no −0 of an empty sum. */
SIMD_INLINE void store_scaled(void *to, int64_t at, REAL factor, VREAL sum)
{
    simd_store((REAL *)to + at, factor * sum + (REAL)0);
}

/* Writes the sums times G to the outputs that are requested. */
SIMD_INLINE void store_block(const enum forces_outputs outputs,
                             const struct forces_problem *problem, int64_t s,
                             const struct block *block)
{
    const double g = problem->gravitational_constant;
    const double of_acceleration = outputs == forces_acceleration ? g / FIELD_SCALE : g;
    for (int32_t i = 0; i < block->bodies; i++) {
        const int64_t at = i * problem->system_stride + s;
        const struct pull *pull = &block->pull[i];
        for (int32_t c = 0; c < problem->dimensions; c++) {
            if (problem->acceleration[c])
                store_scaled(problem->acceleration[c], at, (REAL)of_acceleration,
                             pull->acceleration[c]);
            if (outputs == forces_jerk)
                store_scaled(problem->jerk[c], at, (REAL)g, pull->jerk[c]);
        }
        if (outputs != forces_acceleration && problem->potential)
            store_scaled(problem->potential, at, (REAL)-g, pull->potential);
    }
}

#define DEFINE_VARIANT(outputs, dimensions)                                                        \
    static void outputs##_##dimensions(const struct forces_problem *problem, int64_t begin,        \
                                       int64_t end)                                                \
    {                                                                                              \
        const struct systems_variant variant = {dimensions, outputs};                              \
        struct block block;                                                                        \
        for (int64_t s = begin; s < end; s += REAL_LANES) {                                        \
            block_load(problem, 1, s, &block);                                                     \
            if ((outputs) == forces_jerk)                                                          \
                load_velocities(problem, s, &block);                                               \
            block_evaluate(variant, NULL, &block);                                                 \
            store_block(outputs, problem, s, &block);                                              \
        }                                                                                          \
    }

EACH_VARIANT(DEFINE_VARIANT)
#undef DEFINE_VARIANT

void KITH_REAL_SYMBOL(forces_systems)(const struct forces_problem *problem, int64_t begin,
                                      int64_t end)
{
#define NAME_VARIANT(outputs, dimensions) outputs##_##dimensions,
    static forces_systems_kernel *const kernels[] = {EACH_VARIANT(NAME_VARIANT)};
#undef NAME_VARIANT

    const enum forces_outputs outputs = forces_outputs_of(problem);
    kernels[(int32_t)outputs * 2 + problem->dimensions - 2](problem, begin, end);
}
