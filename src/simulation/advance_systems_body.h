/* Steps of an ensemble, a system in each lane. Part of advance_kernel_body.h. */

SIMD_INLINE void NAME(load_motion)(const struct advance_problem *problem, int64_t s,
                                   struct NAME(block) * block)
{
    for (int32_t i = 0; i < block->bodies; i++)
        for (int32_t c = 0; c < problem->forces.dimensions; c++) {
            const int64_t at = i * problem->forces.system_stride + s;
            block->place[i].v[c] = simd_load((const REAL *)problem->velocity[c] + at);
            if (problem->keeps_acceleration)
                block->pull[i].acceleration[c] =
                    simd_load((const REAL *)problem->acceleration[c] + at);
        }
}

SIMD_INLINE void NAME(store_motion)(const struct advance_problem *problem, int64_t s,
                                    const struct NAME(block) * block)
{
    for (int32_t i = 0; i < block->bodies; i++)
        for (int32_t c = 0; c < problem->forces.dimensions; c++) {
            const int64_t at = i * problem->forces.system_stride + s;
            simd_store((REAL *)problem->position[c] + at, block->place[i].x[c]);
            simd_store((REAL *)problem->velocity[c] + at, block->place[i].v[c]);
            if (problem->keeps_acceleration)
                simd_store((REAL *)problem->acceleration[c] + at, block->pull[i].acceleration[c]);
        }
}

SIMD_INLINE void NAME(advance_block)(const int32_t dimensions,
                                     const struct advance_program *program,
                                     struct NAME(block) * block)
{
    for (int32_t k = 0; k < program->stage_count; k++) {
        const struct advance_stage *stage = &program->stage[k];
        if (stage->evaluate)
            NAME(block_evaluate)(dimensions, systems_acceleration, block);
        for (int32_t i = 0; i < block->bodies; i++) {
            SIMD_UNROLL
            for (int32_t c = 0; c < dimensions; c++)
                NAME(kick_and_drift)
            (stage, block->pull[i].acceleration[c], &block->place[i].v[c], &block->place[i].x[c]);
        }
    }
}

#define DEFINE_SYSTEMS(dimensions)                                                                 \
    static void NAME(advance_systems_##dimensions)(const struct advance_problem *problem,          \
                                                   const struct advance_program *program,          \
                                                   int64_t begin, int64_t end)                     \
    {                                                                                              \
        struct NAME(block) block;                                                                  \
        for (int64_t s = begin; s < end; s += NAME(lanes)) {                                       \
            NAME(block_load)(&problem->forces, NAME(mass_factor)(&problem->forces), s, &block);    \
            NAME(load_motion)(problem, s, &block);                                                 \
            for (int64_t step = 0; step < problem->steps; step++)                                  \
                NAME(advance_block)(dimensions, program, &block);                                  \
            NAME(store_motion)(problem, s, &block);                                                \
        }                                                                                          \
    }

DEFINE_SYSTEMS(2)
DEFINE_SYSTEMS(3)
#undef DEFINE_SYSTEMS

static void NAME(advance_systems)(const struct advance_problem *problem,
                                  const struct advance_program *program, int64_t begin, int64_t end)
{
    if (problem->forces.dimensions == 2)
        NAME(advance_systems_2)(problem, program, begin, end);
    else
        NAME(advance_systems_3)(problem, program, begin, end);
}
