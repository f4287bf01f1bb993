/* Steps of one system that fits into a vector: a body in each lane, all state in registers. Part of
 * advance_kernel_body.h.
 *
 * The bodies are arranged in a ring. In turn r = 1, 2, … N/2 each meets the one r places ahead, so
 * that after the last every pair has met once; what the pair feels goes to the body itself, and
 * back to the one ahead. In the last turn of an even ring each pair meets from both sides, and
 * nothing goes back. The lanes after the N-th meet themselves, which adds 0. The turns do not wait
 * for each other: that hides most of their latency, which is what a step costs. */

enum { ring_turns = REAL_LANES / 2 };

/* What does not change from step to step. */
struct ring {
    vint32 ahead[ring_turns], behind[ring_turns]; /* the orders of turn r − 1 */
    VREAL softening2[ring_turns];
    VREAL mass_ahead[ring_turns], minus_mass_behind[ring_turns]; /* times G */
};

struct ring_state {
    VREAL x[3], v[3], a[3], lost_x[3], lost_v[3];
};

SIMD_INLINE VREAL load_lanes(const void *from, int32_t count)
{
    VREAL x = {0};
    memcpy(&x, from, (size_t)count * sizeof(REAL));
    return x;
}

SIMD_INLINE void store_lanes(void *to, VREAL x, int32_t count)
{
    memcpy(to, &x, (size_t)count * sizeof(REAL));
}

/* Lane k takes from shift places on in a ring of this many; lanes outside keep theirs. */
SIMD_INLINE vint32 ring_order(int32_t bodies, int32_t shift)
{
    int32_t from[REAL_LANES];
    for (int32_t k = 0; k < REAL_LANES; k++)
        from[k] = k < bodies ? (k + shift) % bodies : k;
    return simd_permutation(from, sizeof(REAL));
}

static void ring_prepare(const struct forces_problem *forces, struct ring *ring)
{
    const int32_t bodies = (int32_t)forces->target_count;
    const VREAL factor = simd_all((REAL)mass_factor(forces));
    const VREAL mass = load_lanes(forces->source_mass, bodies) * factor;
    VREAL half = simd_all((REAL)(forces->softening2 / 2));
    if (forces->target_half_softening2)
        half = load_lanes(forces->target_half_softening2, bodies);
    for (int32_t turn = 1; turn <= bodies / 2; turn++) {
        const int32_t k = turn - 1;
        ring->ahead[k] = ring_order(bodies, turn);
        ring->behind[k] = ring_order(bodies, bodies - turn);
        ring->mass_ahead[k] = simd_permute(mass, ring->ahead[k]);
        ring->minus_mass_behind[k] = -simd_permute(mass, ring->behind[k]);
        ring->softening2[k] = (half + S2_FLOOR) + simd_permute(half, ring->ahead[k]);
    }
}

SIMD_INLINE void ring_evaluate(const int32_t bodies, const int32_t dimensions,
                               const struct ring *ring, const VREAL x[3], VREAL a[3])
{
    VREAL from_ahead[3] = {{0}}, from_behind[3] = {{0}};
    SIMD_UNROLL
    for (int32_t k = 0; k < bodies / 2; k++) {
        VREAL d[3], field[3];
        SIMD_UNROLL
        for (int32_t c = 0; c < dimensions; c++)
            d[c] = simd_permute(x[c], ring->ahead[k]) - x[c];
        pair_field(dimensions, d, ring->softening2[k], field);
        SIMD_UNROLL
        for (int32_t c = 0; c < dimensions; c++)
            from_ahead[c] = simd_fma(ring->mass_ahead[k], field[c], from_ahead[c]);
        if (2 * (k + 1) == bodies)
            continue;
        SIMD_UNROLL
        for (int32_t c = 0; c < dimensions; c++)
            from_behind[c] = simd_fma(ring->minus_mass_behind[k],
                                      simd_permute(field[c], ring->behind[k]), from_behind[c]);
    }
    SIMD_UNROLL
    for (int32_t c = 0; c < dimensions; c++)
        a[c] = from_ahead[c] + from_behind[c];
}

/* bodies and dimensions are constants: a loop of its own for each. */
SIMD_INLINE void ring_steps(const int32_t bodies, const int32_t dimensions,
                            const struct composition_program_double *program, int64_t steps,
                            const struct ring *ring, struct ring_state *state)
{
    struct ring_state now = *state;
    run_stages(program, true, 0, program->evaluation[0], dimensions, now.a, now.v, now.x,
               now.lost_v, now.lost_x);
    for (int64_t step = 1; step <= steps; step++)
        for (int32_t k = 0; k < program->evaluation_count; k++) {
            ring_evaluate(bodies, dimensions, ring, now.x, now.a);
            run_stages(program, false, program->evaluation[k],
                       COMPOSITION_END(program, k, step == steps), dimensions, now.a, now.v, now.x,
                       now.lost_v, now.lost_x);
        }
    *state = now;
}

typedef void ring_kernel(const struct composition_program_double *program, int64_t steps,
                         const struct ring *ring, struct ring_state *state);

#define EACH_RING(ROW)                                                                             \
    ROW(1)                                                                                         \
    ROW(2)                                                                                         \
    ROW(3)                                                                                         \
    ROW(4)                                                                                         \
    ROW(5) ROW(6) ROW(7) ROW(8) ROW(9) ROW(10) ROW(11) ROW(12) ROW(13) ROW(14) ROW(15) ROW(16)
#define DEFINE_RING_OF(bodies, dimensions)                                                         \
    static void ring_##dimensions##_##bodies(const struct composition_program_double *program,     \
                                             int64_t steps, const struct ring *ring,               \
                                             struct ring_state *state)                             \
    {                                                                                              \
        if ((bodies) <= REAL_LANES)                                                                \
            ring_steps(bodies, dimensions, program, steps, ring, state);                           \
    }
#define DEFINE_RING(bodies) DEFINE_RING_OF(bodies, 2) DEFINE_RING_OF(bodies, 3)
#define NAME_RING_2(bodies) ring_2_##bodies,
#define NAME_RING_3(bodies) ring_3_##bodies,

EACH_RING(DEFINE_RING)

static void advance_ring(const struct advance_problem *problem,
                         const struct composition_program_double *program)
{
    static ring_kernel *const kernels[2][16] = {{EACH_RING(NAME_RING_2)}, {EACH_RING(NAME_RING_3)}};
    const int32_t bodies = (int32_t)problem->forces.target_count;
    const int32_t dimensions = problem->forces.dimensions;
    struct ring ring;
    struct ring_state state = {0};
    ring_prepare(&problem->forces, &ring);
    for (int32_t c = 0; c < dimensions; c++) {
        state.x[c] = load_lanes(problem->position[c], bodies);
        state.v[c] = load_lanes(problem->velocity[c], bodies);
        state.lost_x[c] = load_lanes(problem->lost_position[c], bodies);
        state.lost_v[c] = load_lanes(problem->lost_velocity[c], bodies);
        if (problem->keeps_acceleration)
            state.a[c] = load_lanes(problem->acceleration[c], bodies);
    }
    kernels[dimensions - 2][bodies - 1](program, problem->steps, &ring, &state);
    for (int32_t c = 0; c < dimensions; c++) {
        store_lanes(problem->position[c], state.x[c], bodies);
        store_lanes(problem->velocity[c], state.v[c], bodies);
        store_lanes(problem->lost_position[c], state.lost_x[c], bodies);
        store_lanes(problem->lost_velocity[c], state.lost_v[c], bodies);
        if (problem->keeps_acceleration)
            store_lanes(problem->acceleration[c], state.a[c], bodies);
    }
}

#undef EACH_RING
#undef DEFINE_RING_OF
#undef DEFINE_RING
#undef NAME_RING_2
#undef NAME_RING_3
