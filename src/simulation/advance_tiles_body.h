/* Steps of one system of a few vectors: a body in each lane, the state in the first-level cache.
 * Part of advance_kernel_body.h.
 *
 * A tile is a vector of bodies. Every two tiles meet once: the bodies of one, the sources, go round
 * the lanes of the other, the targets, place by place, and take along what they feel; so each pair
 * is evaluated once. The last tile may have fewer bodies: they go round in a period of 1, 2, 4 …
 * lanes that holds them all, repeated through the vector. */

enum { max_tiles = advance_max_vectors };

/* Bodies that rotate through a tile. */
struct sources {
    VREAL x[3], mass, half_softening2;
    VREAL a[3];
};

struct tiles {
    int32_t count;  /* of tiles */
    int32_t period; /* of the last */
    VREAL valid;    /* of the last: 0 in the lanes without a body */
    VREAL x[max_tiles][3], v[max_tiles][3], a[max_tiles][3];
    VREAL lost_x[max_tiles][3], lost_v[max_tiles][3];
    VREAL mass[max_tiles]; /* times G */
    VREAL half_softening2[max_tiles];
    vint32 repeat;    /* the order that repeats the period */
    vint32 rotate[5]; /* lane k takes from k + 1, k + 2, k + 4 … */
};

SIMD_INLINE int32_t log2_of(int32_t power_of_two)
{
    return __builtin_ctz((unsigned)power_of_two);
}

SIMD_INLINE void rotate(const struct tiles *tiles, const int32_t dimensions,
                        struct sources *sources)
{
    const vint32 by_one = tiles->rotate[0];
    SIMD_UNROLL
    for (int32_t c = 0; c < dimensions; c++) {
        sources->x[c] = simd_permute(sources->x[c], by_one);
        sources->a[c] = simd_permute(sources->a[c], by_one);
    }
    sources->mass = simd_permute(sources->mass, by_one);
    sources->half_softening2 = simd_permute(sources->half_softening2, by_one);
}

/* The bodies of tile b, those of the last repeated. */
SIMD_INLINE struct sources load_sources(const struct tiles *tiles, const int32_t dimensions,
                                        int32_t b)
{
    struct sources sources = {.mass = tiles->mass[b], .half_softening2 = tiles->half_softening2[b]};
    SIMD_UNROLL
    for (int32_t c = 0; c < dimensions; c++)
        sources.x[c] = tiles->x[b][c];
    if (b == tiles->count - 1) {
        SIMD_UNROLL
        for (int32_t c = 0; c < dimensions; c++)
            sources.x[c] = simd_permute(sources.x[c], tiles->repeat);
        sources.mass = simd_permute(sources.mass, tiles->repeat);
        sources.half_softening2 = simd_permute(sources.half_softening2, tiles->repeat);
    }
    return sources;
}

/* Each source with the target in its lane. */
SIMD_INLINE void meet(const int32_t dimensions, const VREAL x[3], VREAL mass, VREAL softening2,
                      VREAL a[3], struct sources *sources)
{
    VREAL d[3], field[3];
    SIMD_UNROLL
    for (int32_t c = 0; c < dimensions; c++)
        d[c] = sources->x[c] - x[c];
    pair_field(dimensions, d, softening2 + sources->half_softening2, field);
    SIMD_UNROLL
    for (int32_t c = 0; c < dimensions; c++) {
        a[c] = simd_fma(sources->mass, field[c], a[c]);
        sources->a[c] = simd_fma(mass, -field[c], sources->a[c]);
    }
}

/* Adds up what the copies of a body have felt, in each copy alike. */
SIMD_INLINE void fold(const struct tiles *tiles, const int32_t dimensions, int32_t period,
                      VREAL a[3])
{
    for (int32_t shift = REAL_LANES / 2; shift >= period; shift /= 2) {
        SIMD_UNROLL
        for (int32_t c = 0; c < dimensions; c++)
            a[c] = a[c] + simd_permute(a[c], tiles->rotate[log2_of(shift)]);
    }
}

/* The pairs within tile b: half a round, and in its last place each pair meets from both sides. */
SIMD_INLINE void meet_each_other(struct tiles *tiles, const int32_t dimensions, int32_t b)
{
    const int32_t period = b == tiles->count - 1 ? tiles->period : REAL_LANES;
    const VREAL mass = tiles->mass[b], softening2 = tiles->half_softening2[b] + S2_FLOOR;
    struct sources sources = load_sources(tiles, dimensions, b);
    VREAL x[3], a[3];
    SIMD_UNROLL
    for (int32_t c = 0; c < dimensions; c++) {
        x[c] = tiles->x[b][c];
        a[c] = tiles->a[b][c];
    }
    if (period > 1) {
        for (int32_t turn = 1; turn < period / 2; turn++) {
            rotate(tiles, dimensions, &sources);
            meet(dimensions, x, mass, softening2, a, &sources);
        }
        rotate(tiles, dimensions, &sources);
        struct sources last = sources;
        meet(dimensions, x, mass, softening2, a, &last);
        fold(tiles, dimensions, period, sources.a);
    }
    const vint32 home = tiles->rotate[log2_of(period > 1 ? period / 2 : 1)];
    SIMD_UNROLL
    for (int32_t c = 0; c < dimensions; c++)
        tiles->a[b][c] = period > 1 ? a[c] + simd_permute(sources.a[c], home) : a[c];
}

/* The pairs of tile b with the tiles before it. */
SIMD_INLINE void meet_others(struct tiles *tiles, const int32_t dimensions, int32_t b)
{
    const int32_t period = b == tiles->count - 1 ? tiles->period : REAL_LANES;
    struct sources sources = load_sources(tiles, dimensions, b);
    for (int32_t t = 0; t < b; t++) {
        const VREAL mass = tiles->mass[t], softening2 = tiles->half_softening2[t] + S2_FLOOR;
        VREAL x[3], a[3];
        SIMD_UNROLL
        for (int32_t c = 0; c < dimensions; c++) {
            x[c] = tiles->x[t][c];
            a[c] = tiles->a[t][c];
        }
        for (int32_t place = 0; place < period; place++) {
            meet(dimensions, x, mass, softening2, a, &sources);
            rotate(tiles, dimensions, &sources);
        }
        SIMD_UNROLL
        for (int32_t c = 0; c < dimensions; c++)
            tiles->a[t][c] = a[c];
    }
    fold(tiles, dimensions, period, sources.a);
    SIMD_UNROLL
    for (int32_t c = 0; c < dimensions; c++)
        tiles->a[b][c] = sources.a[c];
}

/* The lanes without a body are kept at rest. */
SIMD_INLINE void tiles_evaluate(struct tiles *tiles, const int32_t dimensions)
{
    const int32_t last = tiles->count - 1;
    for (int32_t b = 0; b <= last; b++) {
        meet_others(tiles, dimensions, b);
        meet_each_other(tiles, dimensions, b);
    }
    SIMD_UNROLL
    for (int32_t c = 0; c < dimensions; c++)
        tiles->a[last][c] = simd_unless_equal(tiles->valid, (VREAL){0}, tiles->a[last][c]);
}

SIMD_INLINE void tiles_run(struct tiles *tiles, const int32_t dimensions,
                           const struct composition_program_double *program, const bool is_begin,
                           int32_t first, int32_t end)
{
    for (int32_t t = 0; t < tiles->count; t++) {
        VREAL x[3], v[3];
        SIMD_UNROLL
        for (int32_t c = 0; c < dimensions; c++) {
            x[c] = tiles->x[t][c];
            v[c] = tiles->v[t][c];
        }
        run_stages(program, is_begin, first, end, dimensions, tiles->a[t], v, x, tiles->lost_v[t],
                   tiles->lost_x[t]);
        SIMD_UNROLL
        for (int32_t c = 0; c < dimensions; c++) {
            tiles->x[t][c] = x[c];
            tiles->v[t][c] = v[c];
        }
    }
}

SIMD_INLINE void tiles_steps(struct tiles *tiles, const int32_t dimensions,
                             const struct composition_program_double *program, int64_t steps)
{
    tiles_run(tiles, dimensions, program, true, 0, program->evaluation[0]);
    for (int64_t step = 1; step <= steps; step++)
        for (int32_t k = 0; k < program->evaluation_count; k++) {
            tiles_evaluate(tiles, dimensions);
            tiles_run(tiles, dimensions, program, false, program->evaluation[k],
                      COMPOSITION_END(program, k, step == steps));
        }
}

static void tiles_prepare_orders(int32_t bodies_of_last, struct tiles *tiles)
{
    int32_t from[REAL_LANES];
    tiles->period = 1;
    while (tiles->period < bodies_of_last)
        tiles->period *= 2;
    for (int32_t k = 0; k < REAL_LANES; k++) {
        from[k] = k % tiles->period;
        tiles->valid[k] = k < bodies_of_last;
    }
    tiles->repeat = simd_permutation(from, sizeof(REAL));
    for (int32_t shift = 1; shift < REAL_LANES; shift *= 2)
        tiles->rotate[log2_of(shift)] = ring_order(REAL_LANES, shift);
}

static void tiles_load(const struct advance_problem *problem, struct tiles *tiles)
{
    const struct forces_problem *forces = &problem->forces;
    const int32_t bodies = (int32_t)forces->target_count;
    const VREAL factor = simd_all((REAL)mass_factor(forces));
    tiles->count = (bodies + REAL_LANES - 1) / REAL_LANES;
    tiles_prepare_orders(bodies - (tiles->count - 1) * REAL_LANES, tiles);
    for (int32_t t = 0; t < tiles->count; t++) {
        const int32_t first = t * REAL_LANES, left = bodies - first;
        const int32_t count = left < REAL_LANES ? left : REAL_LANES;
        for (int32_t c = 0; c < forces->dimensions; c++) {
            tiles->x[t][c] = load_lanes((REAL *)problem->position[c] + first, count);
            tiles->v[t][c] = load_lanes((REAL *)problem->velocity[c] + first, count);
            tiles->lost_x[t][c] = load_lanes((REAL *)problem->lost_position[c] + first, count);
            tiles->lost_v[t][c] = load_lanes((REAL *)problem->lost_velocity[c] + first, count);
            if (problem->keeps_acceleration)
                tiles->a[t][c] = load_lanes((REAL *)problem->acceleration[c] + first, count);
        }
        tiles->mass[t] = load_lanes((const REAL *)forces->source_mass + first, count) * factor;
        tiles->half_softening2[t] = simd_all((REAL)(forces->softening2 / 2));
        if (forces->target_half_softening2)
            tiles->half_softening2[t] =
                load_lanes((const REAL *)forces->target_half_softening2 + first, count);
    }
}

static void tiles_store(const struct tiles *tiles, const struct advance_problem *problem)
{
    for (int32_t t = 0; t < tiles->count; t++) {
        const int32_t first = t * REAL_LANES;
        const int32_t left = (int32_t)problem->forces.target_count - first;
        const int32_t count = left < REAL_LANES ? left : REAL_LANES;
        for (int32_t c = 0; c < problem->forces.dimensions; c++) {
            store_lanes((REAL *)problem->position[c] + first, tiles->x[t][c], count);
            store_lanes((REAL *)problem->velocity[c] + first, tiles->v[t][c], count);
            store_lanes((REAL *)problem->lost_position[c] + first, tiles->lost_x[t][c], count);
            store_lanes((REAL *)problem->lost_velocity[c] + first, tiles->lost_v[t][c], count);
            if (problem->keeps_acceleration)
                store_lanes((REAL *)problem->acceleration[c] + first, tiles->a[t][c], count);
        }
    }
}

static void advance_tiles(const struct advance_problem *problem,
                          const struct composition_program_double *program)
{
    struct tiles tiles;
    tiles_load(problem, &tiles);
    if (problem->forces.dimensions == 2)
        tiles_steps(&tiles, 2, program, problem->steps);
    else
        tiles_steps(&tiles, 3, program, problem->steps);
    tiles_store(&tiles, problem);
}
