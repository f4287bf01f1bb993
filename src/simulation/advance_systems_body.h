/* Steps of an ensemble, a system in each lane. Part of advance_kernel_body.h. */

/* What of the positions and velocities of a body did not fit. */
struct lost {
    VREAL x[3], v[3];
};

SIMD_INLINE void load_motion(const struct advance_problem *problem, int64_t s, struct block *block,
                             struct lost *lost)
{
    for (int32_t i = 0; i < block->bodies; i++)
        for (int32_t c = 0; c < problem->forces.dimensions; c++) {
            const int64_t at = i * problem->forces.system_stride + s;
            block->place[i].v[c] = simd_load((const REAL *)problem->velocity[c] + at);
            lost[i].x[c] = simd_load((const REAL *)problem->lost_position[c] + at);
            lost[i].v[c] = simd_load((const REAL *)problem->lost_velocity[c] + at);
            if (problem->keeps_acceleration)
                block->pull[i].acceleration[c] =
                    simd_load((const REAL *)problem->acceleration[c] + at);
        }
}

SIMD_INLINE void store_motion(const struct advance_problem *problem, int64_t s,
                              const struct block *block, const struct lost *lost)
{
    for (int32_t i = 0; i < block->bodies; i++)
        for (int32_t c = 0; c < problem->forces.dimensions; c++) {
            const int64_t at = i * problem->forces.system_stride + s;
            simd_store((REAL *)problem->position[c] + at, block->place[i].x[c]);
            simd_store((REAL *)problem->velocity[c] + at, block->place[i].v[c]);
            simd_store((REAL *)problem->lost_position[c] + at, lost[i].x[c]);
            simd_store((REAL *)problem->lost_velocity[c] + at, lost[i].v[c]);
            if (problem->keeps_acceleration)
                simd_store((REAL *)problem->acceleration[c] + at, block->pull[i].acceleration[c]);
        }
}

SIMD_INLINE void run_body(struct block *block, struct lost *lost, int32_t i,
                          const int32_t dimensions,
                          const struct composition_program_double *program, const bool is_begin,
                          int32_t first, int32_t end)
{
    VREAL x[3], v[3], lost_x[3], lost_v[3];
    SIMD_UNROLL
    for (int32_t c = 0; c < dimensions; c++) {
        x[c] = block->place[i].x[c];
        v[c] = block->place[i].v[c];
        lost_x[c] = lost[i].x[c];
        lost_v[c] = lost[i].v[c];
    }
    run_stages(program, is_begin, first, end, dimensions, block->pull[i].acceleration, v, x, lost_v,
               lost_x);
    SIMD_UNROLL
    for (int32_t c = 0; c < dimensions; c++) {
        block->place[i].x[c] = x[c];
        block->place[i].v[c] = v[c];
        lost[i].x[c] = lost_x[c];
        lost[i].v[c] = lost_v[c];
    }
}

/* Evaluates forces and goes on through the stages first … end − 1, for any number of bodies. */
SIMD_INLINE void advance_many(struct block *block, struct lost *lost, const int32_t dimensions,
                              const struct composition_program_double *program, int32_t first,
                              int32_t end)
{
    const struct systems_variant variant = {dimensions, forces_acceleration};
    block_evaluate(variant, NULL, block);
    for (int32_t i = 0; i < block->bodies; i++)
        run_body(block, lost, i, dimensions, program, false, first, end);
}

/* The same for a constant number of bodies, up to 8, without a loop. A body goes on as soon as its
 * last pair is done, which is also the last to need its position. */
SIMD_INLINE void advance_few(struct block *block, struct lost *lost, const int32_t bodies,
                             const int32_t dimensions,
                             const struct composition_program_double *program, int32_t first,
                             int32_t end)
{
    const struct systems_variant variant = {dimensions, forces_acceleration};
    struct pull pull[8];
    SIMD_UNROLL
    for (int32_t i = 0; i < bodies; i++) {
        SIMD_UNROLL
        for (int32_t c = 0; c < dimensions; c++)
            pull[i].acceleration[c] = (VREAL){0};
    }
    SIMD_UNROLL
    for (int32_t i = 0; i < bodies; i++) {
        SIMD_UNROLL
        for (int32_t j = i + 1; j < bodies; j++)
            pull_together(variant, NULL, &block->place[i], &block->place[j], &pull[i], &pull[j]);
        copy_pull(variant, &pull[i], &block->pull[i]);
    }
    for (int32_t i = 0; i < bodies; i++)
        run_body(block, lost, i, dimensions, program, false, first, end);
}

/* few: the number of bodies as a constant, 0 for any. */
SIMD_INLINE void advance_block(const int32_t few, const int32_t dimensions,
                               const struct composition_program_double *program, int64_t steps,
                               struct block *block, struct lost *lost)
{
    for (int32_t i = 0; i < block->bodies; i++)
        run_body(block, lost, i, dimensions, program, true, 0, program->evaluation[0]);
    for (int64_t step = 1; step <= steps; step++)
        for (int32_t k = 0; k < program->evaluation_count; k++) {
            const int32_t first = program->evaluation[k];
            const int32_t end = COMPOSITION_END(program, k, step == steps);
            if (few > 0)
                advance_few(block, lost, few, dimensions, program, first, end);
            else
                advance_many(block, lost, dimensions, program, first, end);
        }
}

typedef void block_kernel(const struct composition_program_double *program, int64_t steps,
                          struct block *block, struct lost *lost);

#define EACH_FEW(ROW, dimensions)                                                                  \
    ROW(0, dimensions)                                                                             \
    ROW(2, dimensions)                                                                             \
    ROW(3, dimensions)                                                                             \
    ROW(4, dimensions)                                                                             \
    ROW(5, dimensions)                                                                             \
    ROW(6, dimensions)                                                                             \
    ROW(7, dimensions)                                                                             \
    ROW(8, dimensions)
#define DEFINE_FEW(few, dimensions)                                                                \
    static void block_##dimensions##_##few(const struct composition_program_double *program,       \
                                           int64_t steps, struct block *block, struct lost *lost)  \
    {                                                                                              \
        advance_block(few, dimensions, program, steps, block, lost);                               \
    }
#define NAME_FEW(few, dimensions) block_##dimensions##_##few,

EACH_FEW(DEFINE_FEW, 2)
EACH_FEW(DEFINE_FEW, 3)

static void advance_systems(const struct advance_problem *problem,
                            const struct composition_program_double *program, int64_t begin,
                            int64_t end)
{
    static block_kernel *const kernels[2][8] = {{EACH_FEW(NAME_FEW, 2)}, {EACH_FEW(NAME_FEW, 3)}};
    const struct forces_problem *forces = &problem->forces;
    const int64_t bodies = forces->target_count;
    block_kernel *const kernel =
        kernels[forces->dimensions - 2][bodies >= 2 && bodies <= 8 ? bodies - 1 : 0];
    struct block block;
    struct lost lost[systems_most_bodies];
    for (int64_t s = begin; s < end; s += REAL_LANES) {
        block_load(forces, mass_factor(forces), s, &block);
        load_motion(problem, s, &block, lost);
        kernel(program, problem->steps, &block, lost);
        store_motion(problem, s, &block, lost);
    }
}

#undef EACH_FEW
#undef DEFINE_FEW
#undef NAME_FEW
