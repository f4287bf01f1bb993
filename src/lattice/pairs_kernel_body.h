/* Equal pairs of keys, for one size of keys: included by collisions_kernel.c.
 *
 * A block of targets sits in registers; each source after it is broadcast and compared with all of
 * them. Lanes count in integers as long as a key, which are added up before they can overflow. */

enum {
    NAME(lanes) = SIMD_BYTES / sizeof(KEY),
    NAME(vectors) = SIMD_BYTES == 64 ? 8 : 4,
    NAME(block) = NAME(lanes) * NAME(vectors),
    NAME(most_sources) = 1 << 30
};

_Static_assert(collisions_targets % NAME(block) == 0, "whole blocks");

SIMD_INLINE int64_t NAME(sum_of)(const VKEY *sums)
{
    int64_t total = 0;
    for (int32_t v = 0; v < NAME(vectors); v++)
        for (int32_t lane = 0; lane < NAME(lanes); lane++)
            total += sums[v][lane];
    return total;
}

/* Equal pairs of a whole block of targets and this many sources. */
static int64_t NAME(equal_to_block)(const KEY *targets, const KEY *sources, int64_t count)
{
    VKEY target[NAME(vectors)], sums[NAME(vectors)];
    SIMD_UNROLL
    for (int32_t v = 0; v < NAME(vectors); v++) {
        memcpy(&target[v], targets + v * NAME(lanes), sizeof target[v]);
        sums[v] = (VKEY){0};
    }
    for (int64_t j = 0; j < count; j++) {
        const VKEY source = (VKEY){0} + (__typeof__(target[0][0]))sources[j];
        SIMD_UNROLL
        for (int32_t v = 0; v < NAME(vectors); v++)
            sums[v] = COUNT_EQUAL(sums[v], target[v], source);
    }
    return NAME(sum_of)(sums);
}

/* Equal pairs among few keys. */
static int64_t NAME(equal_among)(const KEY *keys, int64_t count)
{
    int64_t equal = 0;
    for (int64_t j = 1; j < count; j++) {
        int32_t of_source = 0;
        for (int64_t i = 0; i < j; i++)
            of_source += keys[i] == keys[j];
        equal += of_source;
    }
    return equal;
}

static int64_t NAME(equal_pairs)(const KEY *keys, int64_t count, int64_t begin)
{
    int64_t equal = 0;
    const int64_t end = begin + collisions_targets < count ? begin + collisions_targets : count;
    for (int64_t i = begin; i < end; i += NAME(block)) {
        if (i + NAME(block) > count)
            return equal + NAME(equal_among)(keys + i, count - i);
        equal += NAME(equal_among)(keys + i, NAME(block));
        for (int64_t j = i + NAME(block); j < count; j += NAME(most_sources)) {
            const int64_t left = count - j;
            equal += NAME(equal_to_block)(keys + i, keys + j,
                                          left < NAME(most_sources) ? left : NAME(most_sources));
        }
    }
    return equal;
}
