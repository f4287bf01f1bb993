/* The loops over candidates, for REAL; included by pairs_kernel.c. The arithmetic is that of
 * geometry.h. */

/* A target, and what its candidates are compared with, in all lanes. */
struct NAME(target) {
    VREAL x, y, z;
    VREAL limit;
    VREAL radius, cutoff; /* with radii */
    VINDEX index;
};

SIMD_INLINE struct NAME(target)
    NAME(target_at)(const struct pairs_scan *scan, const struct pairs_points *targets,
                    int64_t position)
{
    const REAL *x = targets->position[0], *y = targets->position[1], *z = targets->position[2];
    const REAL *radius = targets->radius;
    struct NAME(target) target = {
        .x = simd_all(x[position]),
        .y = simd_all(y[position]),
        .limit = simd_all((REAL)scan->limit),
        .index = targets->index[position] - (VINDEX){0},
    };
    if (scan->dimensions == 3)
        target.z = simd_all(z[position]);
    if (radius) {
        target.radius = simd_all(radius[position]);
        target.cutoff = simd_all((REAL)scan->cutoff);
    }
    return target;
}

/* Which of the candidates from p on are partners. */
SIMD_INLINE uint32_t NAME(partners)(const struct NAME(target) * target,
                                    const struct pairs_points *points, const struct pairs_run *run,
                                    int64_t p, struct variant variant, VINDEX index)
{
    const REAL *x = points->position[0], *y = points->position[1], *z = points->position[2];
    VREAL dx = simd_load(x + p) - target->x, dy = simd_load(y + p) - target->y;
    if (variant.moved) {
        dx = dx + simd_all((REAL)run->translation[0]);
        dy = dy + simd_all((REAL)run->translation[1]);
    }
    VREAL r2 = dx * dx + dy * dy;
    if (variant.dimensions == 3) {
        VREAL dz = simd_load(z + p) - target->z;
        if (variant.moved)
            dz = dz + simd_all((REAL)run->translation[2]);
        r2 = r2 + dz * dz;
    }
    VREAL limit = target->limit;
    if (variant.radii) {
        const VREAL reach =
            (target->radius + simd_load((const REAL *)points->radius + p)) + target->cutoff;
        limit = reach * reach;
    }
    uint32_t mask = NAME(lanes_below)(r2, limit);
    if (variant.admission == pairs_admit_others)
        mask &= NAME(lanes_differ)(index, target->index);
    if (variant.admission == pairs_admit_after)
        mask &= NAME(lanes_above)(index, target->index - (run->equal_too ? 1 : 0));
    return mask;
}

SIMD_INLINE VINDEX NAME(load_index)(const int32_t *from)
{
    VINDEX index;
    memcpy(&index, from, sizeof index);
    return index;
}

/* The lanes from p on that are before the end. */
SIMD_INLINE uint32_t NAME(lanes_before)(int64_t p, int64_t end)
{
    const int64_t left = end - p;
    return left >= LANES ? ~0U : (1U << left) - 1;
}

SIMD_INLINE int64_t NAME(count_run)(const struct NAME(target) * target,
                                    const struct pairs_points *points, const struct pairs_run *run,
                                    struct variant variant)
{
    int64_t count = 0;
    for (int64_t p = run->begin; p < run->end; p += LANES) {
        const VINDEX index = NAME(load_index)(points->index + p);
        const uint32_t mask = NAME(partners)(target, points, run, p, variant, index);
        count += __builtin_popcount(mask & NAME(lanes_before)(p, run->end));
    }
    return count;
}

SIMD_INLINE void NAME(find_in_run)(const struct NAME(target) * target,
                                   const struct pairs_points *points, const struct pairs_run *run,
                                   struct pairs_hits *hits, struct variant variant)
{
    int64_t count = hits->count;
    for (int64_t p = run->begin; p < run->end; p += LANES) {
        const VINDEX index = NAME(load_index)(points->index + p);
        const uint32_t mask = NAME(partners)(target, points, run, p, variant, index) &
                              NAME(lanes_before)(p, run->end);
        NAME(lanes_store_chosen)(hits->index + count, index, mask);
        if (variant.places)
            NAME(lanes_store_chosen)(hits->place + count, (int32_t)p + NAME(lane_numbers), mask);
        count += __builtin_popcount(mask);
    }
    hits->count = count;
}

SIMD_INLINE int64_t NAME(count_row)(const struct pairs_scan *scan,
                                    const struct NAME(target) * target, struct variant variant)
{
    int64_t count = 0;
    for (int64_t r = 0; r < scan->run_count; r++) {
        const struct pairs_run *run = &scan->runs[r];
        DISPATCH_ADMISSION(run->admission, variant,
                           count += NAME(count_run)(target, scan->points, run, variant));
    }
    return count;
}

static void NAME(count)(const struct pairs_scan *scan, const struct pairs_points *targets,
                        int64_t begin, int64_t end, int64_t *counts)
{
    const bool radii = scan->points->radius != NULL;
    for (int64_t k = begin; k < end; k++) {
        const struct NAME(target) target = NAME(target_at)(scan, targets, k);
        int64_t *count = &counts[targets->index[k]];
        if (radii && scan->dimensions == 3)
            *count =
                NAME(count_row)(scan, &target, (struct variant){.dimensions = 3, .radii = true});
        else if (radii)
            *count =
                NAME(count_row)(scan, &target, (struct variant){.dimensions = 2, .radii = true});
        else if (scan->dimensions == 3)
            *count = NAME(count_row)(scan, &target, (struct variant){.dimensions = 3});
        else
            *count = NAME(count_row)(scan, &target, (struct variant){.dimensions = 2});
    }
}

SIMD_INLINE void NAME(find_row)(const struct pairs_scan *scan, const struct NAME(target) * target,
                                struct pairs_hits *hits, struct variant variant)
{
    for (int64_t r = 0; r < scan->run_count; r++) {
        const struct pairs_run *run = &scan->runs[r];
        DISPATCH_ADMISSION(run->admission, variant,
                           NAME(find_in_run)(target, scan->points, run, hits, variant));
        if (variant.places)
            hits->ends[r] = hits->count;
    }
}

static void NAME(find)(const struct pairs_scan *scan, const struct pairs_points *targets,
                       int64_t position, struct pairs_hits *hits)
{
    const struct NAME(target) target = NAME(target_at)(scan, targets, position);
    const bool radii = scan->points->radius != NULL, flat = scan->dimensions == 2;
    hits->count = 0;
    if (radii && flat)
        NAME(find_row)
        (scan, &target, hits, (struct variant){.dimensions = 2, .radii = true, .places = true});
    else if (radii)
        NAME(find_row)
        (scan, &target, hits, (struct variant){.dimensions = 3, .radii = true, .places = true});
    else if (hits->place && flat)
        NAME(find_row)(scan, &target, hits, (struct variant){.dimensions = 2, .places = true});
    else if (hits->place)
        NAME(find_row)(scan, &target, hits, (struct variant){.dimensions = 3, .places = true});
    else if (flat)
        NAME(find_row)(scan, &target, hits, (struct variant){.dimensions = 2});
    else
        NAME(find_row)(scan, &target, hits, (struct variant){.dimensions = 3});
}
