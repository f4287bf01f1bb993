/* The kernels of one instruction set and one type of integers: coordinates and keys of 32 or 64
 * bits. Compiled once for each (kith_add_kernels with INTEGERS). */

#include "lattice/collisions_kernel.h"

#include <string.h>

#include "core/simd.h"
#include "lattice/conformation.h"

#if INTEGER_BITS == 32
#define INTEGER  int32_t
#define UNSIGNED uint32_t
#define VINTEGER vint32
#else
#define INTEGER  int64_t
#define UNSIGNED uint64_t
#define VINTEGER vint64
#endif

/* sum + (a == b) of each lane */
#if defined(__AVX512F__) && INTEGER_BITS == 32
#define COUNT_EQUAL(sum, a, b)                                                                     \
    ((vint32)_mm512_mask_sub_epi32((__m512i)(sum),                                                 \
                                   _mm512_cmpeq_epi32_mask((__m512i)(a), (__m512i)(b)),            \
                                   (__m512i)(sum), _mm512_set1_epi32(-1)))
#elif defined(__AVX512F__)
#define COUNT_EQUAL(sum, a, b)                                                                     \
    ((vint64)_mm512_mask_sub_epi64((__m512i)(sum),                                                 \
                                   _mm512_cmpeq_epi64_mask((__m512i)(a), (__m512i)(b)),            \
                                   (__m512i)(sum), _mm512_set1_epi64(-1)))
#else
#define COUNT_EQUAL(sum, a, b) ((sum) - (VINTEGER)((a) == (b)))
#endif

/* As many values as whole rows and whole vectors have: 16 rows. Lane k holds column
 * k mod columns. */
SIMD_INLINE void extent_of(const INTEGER *value, int64_t rows, const int64_t columns,
                           int64_t low[3], int64_t high[3])
{
    enum { rows_at_once = 16, most_lanes = 3 * rows_at_once };
    const int64_t lanes = columns * rows_at_once;
    INTEGER least[most_lanes], most[most_lanes];
    for (int64_t k = 0; k < lanes; k++)
        least[k] = most[k] = value[k % columns];
    int64_t row = 0;
    for (; row + rows_at_once <= rows; row += rows_at_once)
        for (int64_t k = 0; k < lanes; k++) {
            const INTEGER x = value[row * columns + k];
            least[k] = x < least[k] ? x : least[k];
            most[k] = x > most[k] ? x : most[k];
        }
    for (int64_t k = row * columns; k < rows * columns; k++) {
        const INTEGER x = value[k];
        const int64_t lane = k % columns;
        least[lane] = x < least[lane] ? x : least[lane];
        most[lane] = x > most[lane] ? x : most[lane];
    }
    for (int64_t c = 0; c < 3; c++)
        low[c] = high[c] = c < columns ? least[c] : 0;
    for (int64_t k = 0; k < lanes; k++) {
        const int64_t c = k % columns;
        low[c] = least[k] < low[c] ? least[k] : low[c];
        high[c] = most[k] > high[c] ? most[k] : high[c];
    }
}

static void extent(const void *beads, int64_t rows, int64_t columns, int64_t low[3],
                   int64_t high[3])
{
    if (columns == 3)
        extent_of(beads, rows, 3, low, high);
    else
        extent_of(beads, rows, 2, low, high);
}

static void make_keys(const void *beads, int64_t rows, int64_t columns, const uint64_t origin[3],
                      const uint64_t step[3], uint64_t *restrict keys)
{
    const INTEGER *restrict value = beads;
    const uint64_t ax = step[0], ay = step[1], az = step[2];
    const uint64_t all = ax * origin[0] + ay * origin[1] + (columns == 3 ? az * origin[2] : 0);
    if (columns == 3)
        for (int64_t k = 0; k < rows; k++)
            keys[k] = ax * (uint64_t)value[3 * k] + ay * (uint64_t)value[3 * k + 1] +
                      az * (uint64_t)value[3 * k + 2] - all;
    else
        for (int64_t k = 0; k < rows; k++)
            keys[k] = ax * (uint64_t)value[2 * k] + ay * (uint64_t)value[2 * k + 1] - all;
}

/* A conformation in an array of counters. Each bead finds the number of those before it at its
 * site, and adds itself: their sum is the number of collisions. A pair at distance 1 has one bead
 * that sees the other in a positive direction: the counters there, summed over beads, are all such
 * pairs, neighbors along the chain among them, which are counted apart.
 *
 * sites_of: of the box of sites with the margin; false if there are too many. */
SIMD_INLINE bool sites_of(int64_t rows, const int64_t low[3], const int64_t high[3],
                          uint64_t step[3], uint64_t *sites)
{
    *sites = 1;
    for (int64_t c = 0; c < 3; c++) {
        const uint64_t range = (uint64_t)high[c] - (uint64_t)low[c];
        step[c] = *sites;
        if (range > 0xffff)
            return false;
        *sites *= range + 2;
    }
    return *sites <= (uint64_t)conformation_most_sites(rows);
}

SIMD_INLINE int64_t count_bonds(const uint64_t *site, const unsigned char *hydrophobic,
                                int64_t rows, const uint64_t step[3])
{
    int64_t bonds = 0;
    for (int64_t k = 0; k + 1 < rows; k++) {
        const uint64_t forward = site[k + 1] - site[k], back = site[k] - site[k + 1];
        const bool is_bond = forward == step[0] || forward == step[1] || forward == step[2] ||
                             back == step[0] || back == step[1] || back == step[2];
        bonds += is_bond && (!hydrophobic || (hydrophobic[k] && hydrophobic[k + 1]));
    }
    return bonds;
}

SIMD_INLINE int64_t count_contacts(uint16_t *counters, const uint64_t *site,
                                   const unsigned char *hydrophobic, int64_t rows,
                                   const uint64_t step[3])
{
    int64_t pairs = 0;
    if (hydrophobic)
        for (int64_t k = 0; k < rows; k++)
            counters[site[k]] = (uint16_t)(counters[site[k]] - !hydrophobic[k]);
    for (int64_t k = 0; k < rows; k++) {
        const uint16_t *at = counters + site[k];
        const int64_t near = at[step[0]] + at[step[1]] + at[step[2]];
        pairs += !hydrophobic || hydrophobic[k] ? near : 0;
    }
    return pairs - count_bonds(site, hydrophobic, rows, step);
}

static bool conformation(const void *beads, int64_t rows, int64_t columns,
                         const unsigned char *hydrophobic, void *scratch, int64_t *collisions,
                         int64_t *contacts)
{
    int64_t low[3], high[3];
    uint64_t step[3], sites = 0, origin[3];
    extent(beads, rows, columns, low, high);
    if (!sites_of(rows, low, high, step, &sites))
        return false;
    for (int64_t c = 0; c < 3; c++)
        origin[c] = (uint64_t)low[c];

    uint64_t *site = scratch;
    uint16_t *counters = (uint16_t *)(site + rows);
    make_keys(beads, rows, columns, origin, step, site);
    memset(counters, 0, sites * sizeof *counters);
    int64_t equal = 0;
    for (int64_t k = 0; k < rows; k++)
        equal += counters[site[k]]++;
    *collisions = equal;
    if (contacts)
        *contacts = count_contacts(counters, site, hydrophobic, rows, step);
    return true;
}

/* Equal pairs of keys: a block of targets sits in registers; each source after it is broadcast and
 * compared with all of them. Lanes count in integers as long as a key, which are added up before
 * they can overflow. */
enum {
    lanes = SIMD_BYTES / sizeof(UNSIGNED),
    vectors = SIMD_BYTES == 64 ? 8 : 4,
    block = lanes * vectors,
    most_sources = 1 << 30
};

_Static_assert(collisions_targets % block == 0, "whole blocks");

SIMD_INLINE int64_t sum_of(const VINTEGER *sums)
{
    int64_t total = 0;
    for (int32_t v = 0; v < vectors; v++)
        for (int32_t lane = 0; lane < lanes; lane++)
            total += sums[v][lane];
    return total;
}

/* Equal pairs of a whole block of targets and this many sources. */
static int64_t equal_to_block(const UNSIGNED *targets, const UNSIGNED *sources, int64_t count)
{
    VINTEGER target[vectors], sums[vectors];
    SIMD_UNROLL
    for (int32_t v = 0; v < vectors; v++) {
        memcpy(&target[v], targets + v * lanes, sizeof target[v]);
        sums[v] = (VINTEGER){0};
    }
    for (int64_t j = 0; j < count; j++) {
        const VINTEGER source = (VINTEGER){0} + (__typeof__(target[0][0]))sources[j];
        SIMD_UNROLL
        for (int32_t v = 0; v < vectors; v++)
            sums[v] = COUNT_EQUAL(sums[v], target[v], source);
    }
    return sum_of(sums);
}

/* Equal pairs among few keys. */
static int64_t equal_among(const UNSIGNED *keys, int64_t count)
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

static int64_t equal_pairs(const void *sites, int64_t count, int64_t begin)
{
    const UNSIGNED *keys = sites;
    int64_t equal = 0;
    const int64_t end = begin + collisions_targets < count ? begin + collisions_targets : count;
    for (int64_t i = begin; i < end; i += block) {
        if (i + block > count)
            return equal + equal_among(keys + i, count - i);
        equal += equal_among(keys + i, block);
        for (int64_t j = i + block; j < count; j += most_sources) {
            const int64_t left = count - j;
            equal += equal_to_block(keys + i, keys + j, left < most_sources ? left : most_sources);
        }
    }
    return equal;
}

const struct collisions_kernels KITH_ISA_SYMBOL(KITH_ISA_PASTE(collisions, INTEGER_BITS)) = {
    .extent = extent,
    .keys = make_keys,
    .equal_pairs = equal_pairs,
    .conformation = conformation,
};
