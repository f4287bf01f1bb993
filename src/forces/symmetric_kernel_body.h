/* The symmetric kernel for one precision. Included by symmetric_kernel.c for each, with
 *
 *   REAL, VREAL  float, vfloat or double, vdouble
 *   NAME(name)   name_float or name_double
 *   S2_FLOOR     forces/s2_floor.h
 *
 * A few vectors of targets sit in registers, a target a lane, and every source of a chunk is
 * broadcast to them. What the lanes do to the source is added up lane by lane, in memory that stays
 * in the first cache; the lanes are summed when the chunk has met all targets. */

enum { NAME(lanes) = SIMD_BYTES / sizeof(REAL) };

/* The sums of a source over the targets in its lane. */
struct NAME(lane_sums) {
    VREAL field[3], potential;
};

/* A vector of targets, or a source in all lanes; with softening_per_body half of ε². */
struct NAME(bodies) {
    VREAL x[3], mass, half_softening2;
};

SIMD_INLINE struct NAME(bodies)
    NAME(load_targets)(const struct variant variant, const struct symmetric_bodies *targets,
                       int64_t i)
{
    struct NAME(bodies) loaded = {0};
    SIMD_UNROLL
    for (int32_t c = 0; c < variant.dimensions; c++)
        loaded.x[c] = simd_load((const REAL *)targets->position[c] + i);
    loaded.mass = simd_load((const REAL *)targets->mass + i);
    if (variant.softening == softening_per_body)
        loaded.half_softening2 = simd_load((const REAL *)targets->half_softening2 + i);
    return loaded;
}

SIMD_INLINE struct NAME(bodies)
    NAME(load_source)(const struct variant variant, const struct symmetric_bodies *sources,
                      REAL softening2, int64_t j)
{
    struct NAME(bodies) loaded = {0};
    SIMD_UNROLL
    for (int32_t c = 0; c < variant.dimensions; c++)
        loaded.x[c] = simd_all(((const REAL *)sources->position[c])[j]);
    loaded.mass = simd_all(((const REAL *)sources->mass)[j]);
    loaded.half_softening2 = simd_all(softening2 + S2_FLOOR);
    if (variant.softening == softening_per_body)
        loaded.half_softening2 += ((const REAL *)sources->half_softening2)[j];
    return loaded;
}

/* Adds the pairs of a source with a vector of targets to the sums of both. */
SIMD_INLINE void NAME(add_pairs)(const struct variant variant, const struct NAME(bodies) * source,
                                 const struct NAME(bodies) * targets,
                                 struct NAME(lane_sums) * of_targets,
                                 struct NAME(lane_sums) * of_source)
{
    VREAL d[3], s2 = source->half_softening2;
    if (variant.softening == softening_per_body)
        s2 += targets->half_softening2;
    SIMD_UNROLL
    for (int32_t c = 0; c < variant.dimensions; c++) {
        d[c] = source->x[c] - targets->x[c];
        s2 = simd_fma(d[c], d[c], s2);
    }
    const VREAL rsqrt3 = simd_rsqrt3_scaled(s2);

    if (variant.form == sums_are_forces) {
        const VREAL factor = source->mass * targets->mass * rsqrt3;
        SIMD_UNROLL
        for (int32_t c = 0; c < variant.dimensions; c++) {
            const VREAL force = factor * d[c];
            of_targets->field[c] += force;
            of_source->field[c] -= force;
        }
        if (variant.outputs == with_potential) {
            const VREAL energy = factor * (s2 - S2_FLOOR);
            of_targets->potential += energy;
            of_source->potential += energy;
        }
    } else {
        const VREAL to_targets = source->mass * rsqrt3, to_source = targets->mass * rsqrt3;
        SIMD_UNROLL
        for (int32_t c = 0; c < variant.dimensions; c++) {
            of_targets->field[c] = simd_fma(to_targets, d[c], of_targets->field[c]);
            of_source->field[c] = simd_fma(-to_source, d[c], of_source->field[c]);
        }
        if (variant.outputs == with_potential) {
            of_targets->potential = simd_fma(to_targets, s2 - S2_FLOOR, of_targets->potential);
            of_source->potential = simd_fma(to_source, s2 - S2_FLOOR, of_source->potential);
        }
    }
}

SIMD_INLINE int32_t NAME(components)(const struct variant variant)
{
    return variant.dimensions + (variant.outputs == with_potential ? 1 : 0);
}

SIMD_INLINE void NAME(load_sums)(const struct variant variant, const VREAL *memory,
                                 struct NAME(lane_sums) * sums)
{
    SIMD_UNROLL
    for (int32_t c = 0; c < variant.dimensions; c++)
        sums->field[c] = memory[c];
    if (variant.outputs == with_potential)
        sums->potential = memory[variant.dimensions];
}

SIMD_INLINE void NAME(store_sums)(const struct variant variant, const struct NAME(lane_sums) * sums,
                                  VREAL *memory)
{
    SIMD_UNROLL
    for (int32_t c = 0; c < variant.dimensions; c++)
        memory[c] = sums->field[c];
    if (variant.outputs == with_potential)
        memory[variant.dimensions] = sums->potential;
}

SIMD_INLINE void NAME(add_to_column)(void *column, int64_t i, bool is_first, VREAL sum)
{
    REAL *const at = (REAL *)column + i;
    simd_store(at, is_first ? sum : simd_load(at) + sum);
}

/* The sources first … last − 1, less than a chunk of them, with the vectors of targets at i. */
SIMD_INLINE void NAME(meet_vectors)(const struct variant variant, const int32_t vectors,
                                    const struct symmetric_meeting *meeting, int64_t i,
                                    int64_t first, int64_t last, VREAL *of_sources)
{
    const int32_t components = NAME(components)(variant);
    const REAL softening2 = (REAL)meeting->softening2;
    struct NAME(bodies) targets[wide];
    struct NAME(lane_sums) sums[wide];
    SIMD_UNROLL
    for (int32_t k = 0; k < vectors; k++) {
        targets[k] = NAME(load_targets)(variant, &meeting->targets, i + k * NAME(lanes));
        sums[k] = (struct NAME(lane_sums)){0};
    }

    for (int64_t j = first; j < last; j++) {
        const struct NAME(bodies) source =
            NAME(load_source)(variant, &meeting->sources, softening2, j);
        VREAL *const memory = &of_sources[(j - first) * components];
        struct NAME(lane_sums) of_source = {0};
        if (i > 0)
            NAME(load_sums)(variant, memory, &of_source);
        SIMD_UNROLL
        for (int32_t k = 0; k < vectors; k++)
            NAME(add_pairs)(variant, &source, &targets[k], &sums[k], &of_source);
        NAME(store_sums)(variant, &of_source, memory);
    }

    SIMD_UNROLL
    for (int32_t k = 0; k < vectors; k++) {
        const int64_t at = i + k * NAME(lanes);
        SIMD_UNROLL
        for (int32_t c = 0; c < variant.dimensions; c++)
            NAME(add_to_column)(meeting->of_targets.field[c], at, first == 0, sums[k].field[c]);
        if (variant.outputs == with_potential)
            NAME(add_to_column)(meeting->of_targets.potential, at, first == 0, sums[k].potential);
    }
}

/* The lanes of one component of so many sources summed, a vector of sources at a time. */
SIMD_INLINE void NAME(sum_lanes)(const VREAL *of_sources, int32_t components, int32_t component,
                                 int64_t count, REAL *result)
{
    for (int64_t j = 0; j < count; j += NAME(lanes)) {
        VREAL rows[NAME(lanes)];
        SIMD_UNROLL
        for (int32_t k = 0; k < NAME(lanes); k++)
            rows[k] = of_sources[(j + k) * components + component];
        simd_store(result + j, simd_sum_rows(rows));
    }
}

SIMD_INLINE void NAME(meet)(const struct variant variant, const struct symmetric_meeting *meeting)
{
    const int64_t targets = meeting->targets.count, sources = meeting->sources.count;
    const int32_t components = NAME(components)(variant);
    VREAL of_sources[chunk_sources * max_components]; /* [source][component] */
    for (int64_t first = 0; first < sources; first += chunk_sources) {
        const int64_t left = sources - first, count = left < chunk_sources ? left : chunk_sources;
        int64_t i = 0;
        for (; targets - i > (wide - 1) * NAME(lanes); i += wide * NAME(lanes))
            NAME(meet_vectors)(variant, wide, meeting, i, first, first + count, of_sources);
        for (; i < targets; i += NAME(lanes))
            NAME(meet_vectors)(variant, 1, meeting, i, first, first + count, of_sources);

        for (int32_t c = 0; c < components; c++)
            NAME(sum_lanes)
        (of_sources, components, c, count,
         (REAL *)(c < variant.dimensions ? meeting->of_sources.field[c]
                                         : meeting->of_sources.potential) +
             first);
    }
}

#define DEFINE_VARIANT(outputs, softening, form, dimensions)                                       \
    static void NAME(outputs##_##softening##_##form##_##dimensions)(                               \
        const struct symmetric_meeting *meeting)                                                   \
    {                                                                                              \
        const struct variant variant = {outputs, softening, form, dimensions};                     \
        NAME(meet)(variant, meeting);                                                              \
    }

EACH_VARIANT(DEFINE_VARIANT)
#undef DEFINE_VARIANT

static void NAME(forces_symmetric)(const struct symmetric_meeting *meeting)
{
#define NAME_VARIANT(outputs, softening, form, dimensions)                                         \
    NAME(outputs##_##softening##_##form##_##dimensions),
    static forces_symmetric_kernel *const kernels[] = {EACH_VARIANT(NAME_VARIANT)};
#undef NAME_VARIANT

    const enum softening softening =
        meeting->targets.half_softening2 ? softening_per_body : softening_common;
    const enum outputs outputs = meeting->of_targets.potential ? with_potential : only_field;
    const int32_t row =
        (((int32_t)outputs * 2 + (int32_t)softening) * 2 + (int32_t)meeting->form) * 2 +
        meeting->dimensions - 2;
    kernels[row](meeting);
}

static void NAME(add_columns)(double *restrict sums, const void *const *columns,
                              int32_t column_count, int64_t count)
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

/* The arithmetic of turns × wide vectors of pairs, with everything in registers; the number of
 * interactions. */
SIMD_INLINE int64_t NAME(take_turns)(const struct variant variant, int64_t turns)
{
    struct NAME(bodies) source, targets[wide];
    struct NAME(lane_sums) of_source = {0}, of_targets[wide] = {0};
    for (int32_t c = 0; c < 3; c++)
        source.x[c] = simd_all((REAL)c);
    source.mass = source.half_softening2 = simd_all((REAL)1);
    SIMD_UNROLL
    for (int32_t k = 0; k < wide; k++) {
        targets[k] = source;
        SIMD_UNROLL
        for (int32_t c = 0; c < 3; c++)
            SIMD_LAUNDER(targets[k].x[c]);
        SIMD_LAUNDER(targets[k].mass);
    }

    for (int64_t turn = 0; turn < turns; turn++) {
        SIMD_UNROLL
        for (int32_t c = 0; c < 3; c++)
            SIMD_LAUNDER(source.x[c]);
        SIMD_LAUNDER(source.mass);
        SIMD_UNROLL
        for (int32_t k = 0; k < wide; k++)
            NAME(add_pairs)(variant, &source, &targets[k], &of_targets[k], &of_source);
    }
    SIMD_UNROLL
    for (int32_t c = 0; c < 3; c++) {
        SIMD_LAUNDER(of_source.field[c]);
        SIMD_UNROLL
        for (int32_t k = 0; k < wide; k++)
            SIMD_LAUNDER(of_targets[k].field[c]);
    }
    return 2 * turns * wide * NAME(lanes);
}

static int64_t NAME(limit)(enum symmetric_form form, int64_t turns)
{
    const struct variant forces = {only_field, softening_common, sums_are_forces, 3};
    const struct variant accelerations = {only_field, softening_common, sums_are_accelerations, 3};
    return form == sums_are_forces ? NAME(take_turns)(forces, turns)
                                   : NAME(take_turns)(accelerations, turns);
}
