/* The loops over the points of a k-d tree, for REAL; included by kd_kernel.c. */

static const REAL *block_of(const struct pairs_kd_tree *tree, int64_t leaf)
{
    return (const REAL *)tree->position + pairs_kd_leaf_begin(tree, leaf) * tree->dimensions;
}

static const REAL *lows_of(const struct pairs_kd_tree *tree, int64_t node)
{
    return (const REAL *)tree->box + 2 * node * tree->dimensions;
}

/* The lower bound of r² between two boxes, or more than the limit if it is more. */
static REAL box_square(const REAL *a, const REAL *b, int64_t dimensions, REAL scale, REAL limit)
{
    REAL r2 = 0;
    for (int64_t c = 0; c < dimensions; c++) {
        const REAL right = b[c] - a[dimensions + c], left = a[c] - b[dimensions + c];
        const REAL gap = right > left ? right : left;
        const REAL d = gap > 0 ? gap * scale : 0;
        r2 = r2 + d * d;
        if (!(r2 < limit))
            break;
    }
    return r2;
}

static double gap(const struct pairs_kd_tree *targets, int64_t target_leaf,
                  const struct pairs_kd_tree *points, int64_t node, double scale)
{
    return (double)box_square(lows_of(targets, targets->leaf_count - 1 + target_leaf),
                              lows_of(points, node), targets->dimensions, (REAL)scale,
                              (REAL)INFINITY);
}

static int64_t leaves(const struct pairs_kd_tree *targets, int64_t target_leaf,
                      const struct pairs_kd_tree *points, double scale, double limit, double cutoff,
                      int32_t *leaves)
{
    const int64_t own = targets->leaf_count - 1 + target_leaf;
    const REAL *lows = lows_of(targets, own), *radii = points->largest_radius;
    int64_t count = 0, node = 0;
    for (;;) {
        REAL reach2 = (REAL)limit;
        if (radii) {
            const REAL reach =
                (((const REAL *)targets->largest_radius)[own] + radii[node]) + (REAL)cutoff;
            reach2 = reach * reach;
        }
        const bool near = box_square(lows, lows_of(points, node), targets->dimensions, (REAL)scale,
                                     reach2) < reach2;
        if (near && !pairs_kd_is_leaf(points, node)) {
            node = 2 * node + 1;
            continue;
        }
        if (near)
            leaves[count++] = (int32_t)(node - (points->leaf_count - 1));
        while (node > 0 && node % 2 == 0) /* up from right children */
            node = (node - 1) / 2;
        if (node == 0)
            return count;
        node++;
    }
}

/* Which targets of a leaf are so near to the box of another that it may have partners of them. */
static uint64_t targets_near(const struct pairs_kd_meeting *meeting)
{
    const struct pairs_kd_tree *targets = meeting->targets, *points = meeting->points;
    const int64_t dimensions = targets->dimensions, width = targets->width;
    const int64_t node = points->leaf_count - 1 + meeting->leaf;
    const REAL *x = block_of(targets, meeting->target_leaf);
    const REAL *lows = lows_of(points, node), *highs = lows + dimensions;
    const REAL *limits = meeting->limits, *radii = targets->radius;
    const VREAL scale = simd_all((REAL)meeting->scale);
    const int64_t count = pairs_kd_leaf_size(targets, meeting->target_leaf);
    uint64_t near = 0;
    for (int64_t p = 0; p < count; p += REAL_LANES) {
        VREAL r2 = {0};
        for (int64_t c = 0; c < dimensions; c++) {
            const VREAL at = simd_load(x + c * width + p);
            const VREAL gap = LARGER(simd_all(lows[c]) - at, at - simd_all(highs[c]));
            const VREAL d = LARGER(gap, (VREAL){0}) * scale;
            r2 = r2 + d * d;
        }
        VREAL limit;
        if (radii) {
            const REAL largest = ((const REAL *)points->largest_radius)[node];
            const VREAL own =
                simd_load(radii + pairs_kd_leaf_begin(targets, meeting->target_leaf) + p);
            const VREAL reach = (own + simd_all(largest)) + simd_all((REAL)meeting->cutoff);
            limit = reach * reach;
        } else {
            limit = simd_load(limits + p);
        }
        near |= (uint64_t)OF_REAL(lanes_below)(r2, limit) << p;
    }
    return near & (~(uint64_t)0 >> (64 - count));
}

/* A target, and the points of a leaf that it is compared with. */
struct front {
    VREAL scale, limit, radius, cutoff;
    OF_REAL(vindex) own; /* the target's row; −1 if it is not one of the points */
    REAL x[KITH_MAX_COORDINATES];
    const REAL *block, *radii; /* of the points; NULL without */
    const int32_t *index;
    int64_t dimensions, width, count;
    bool half;
};

/* Adds the squares along some coordinates to r² of the points from p on, two vectors. */
SIMD_INLINE void add_squares(const struct front *front, int64_t p, int64_t from, int64_t count,
                             VREAL r2[2])
{
    SIMD_UNROLL
    for (int64_t c = from; c < from + count; c++) {
        const REAL *x = front->block + c * front->width + p;
        const VREAL own = simd_all(front->x[c]);
        const VREAL a = (simd_load(x) - own) * front->scale;
        const VREAL b = (simd_load(x + REAL_LANES) - own) * front->scale;
        r2[0] = r2[0] + a * a;
        r2[1] = r2[1] + b * b;
    }
}

/* r² of the points from p on, if any may be below the limit. */
SIMD_INLINE bool are_near(const struct front *front, int64_t p, const VREAL limit[2], VREAL r2[2])
{
    int64_t c = 0;
    r2[0] = r2[1] = (VREAL){0};
    for (; c + coordinates_between_looks <= front->dimensions; c += coordinates_between_looks) {
        add_squares(front, p, c, coordinates_between_looks, r2);
        if ((OF_REAL(lanes_below)(r2[0], limit[0]) | OF_REAL(lanes_below)(r2[1], limit[1])) == 0)
            return false;
    }
    for (; c < front->dimensions; c++)
        add_squares(front, p, c, 1, r2);
    return true;
}

SIMD_INLINE VREAL limit_at(const struct front *front, int64_t p)
{
    if (!front->radii)
        return front->limit;
    const VREAL reach = (front->radius + simd_load(front->radii + p)) + front->cutoff;
    return reach * reach;
}

/* Partners among a vector's points. */
SIMD_INLINE int64_t keep(const struct front *front, int64_t p, VREAL r2, VREAL limit,
                         int32_t *found, REAL *squares)
{
    uint32_t mask = OF_REAL(lanes_below)(r2, limit);
    if (front->count - p < REAL_LANES)
        mask &= front->count > p ? (1U << (front->count - p)) - 1 : 0;
    if (mask == 0)
        return 0;
    OF_REAL(vindex) index;
    memcpy(&index, front->index + p, sizeof index);
    mask &= front->half ? OF_REAL(lanes_above)(index, front->own)
                        : OF_REAL(lanes_differ)(index, front->own);
    OF_REAL(lanes_store_chosen)(found, index, mask);
    if (squares)
        OF_REAL(lanes_store_reals)(squares, r2, mask);
    return __builtin_popcount(mask);
}

static int64_t partners(const struct front *front, int32_t *found, REAL *squares)
{
    int64_t count = 0;
    for (int64_t p = 0; p < front->count; p += 2 * REAL_LANES) {
        VREAL limit[2] = {limit_at(front, p), limit_at(front, p + REAL_LANES)}, r2[2];
        if (!are_near(front, p, limit, r2))
            continue;
        for (int k = 0; k < 2; k++)
            count += keep(front, p + k * REAL_LANES, r2[k], limit[k], found + count,
                          squares ? squares + count : NULL);
    }
    return count;
}

static void meet(const struct pairs_kd_meeting *meeting)
{
    const struct pairs_kd_tree *targets = meeting->targets, *points = meeting->points;
    const int64_t slots = pairs_kd_leaf_begin(points, meeting->leaf);
    const int64_t own_slots = pairs_kd_leaf_begin(targets, meeting->target_leaf);
    const REAL *x = block_of(targets, meeting->target_leaf);
    struct front front = {
        .scale = simd_all((REAL)meeting->scale),
        .cutoff = simd_all((REAL)meeting->cutoff),
        .block = block_of(points, meeting->leaf),
        .radii = points->radius ? (const REAL *)points->radius + slots : NULL,
        .index = points->index + slots,
        .dimensions = targets->dimensions,
        .width = points->width,
        .count = pairs_kd_leaf_size(points, meeting->leaf),
        .half = meeting->half,
    };
    const int64_t count = pairs_kd_leaf_size(targets, meeting->target_leaf);
    if (count == 0 || front.count == 0)
        return;
    uint64_t near = meeting->everything ? ~(uint64_t)0 >> (64 - count) : targets_near(meeting);
    for (; near; near &= near - 1) {
        const int64_t t = __builtin_ctzll(near), at = t * meeting->room + meeting->counts[t];
        for (int64_t c = 0; c < front.dimensions; c++)
            front.x[c] = x[c * targets->width + t];
        front.own = (meeting->two_sets ? -1 : targets->index[own_slots + t]) - (OF_REAL(vindex)){0};
        front.limit = simd_all(((const REAL *)meeting->limits)[t]);
        if (front.radii)
            front.radius = simd_all(((const REAL *)targets->radius)[own_slots + t]);
        meeting->counts[t] += partners(&front, meeting->found + at,
                                       meeting->squares ? (REAL *)meeting->squares + at : NULL);
    }
}
