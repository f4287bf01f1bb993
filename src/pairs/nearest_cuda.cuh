#ifndef PAIRS_NEAREST_CUDA_CUH
#define PAIRS_NEAREST_CUDA_CUH

/* The nearest points on the GPU: in rounds, each for the targets that found too few within the
 * radius of the last. */

#include "pairs/list_cuda.cuh"

/* A warp keeps up to twice as many candidates in shared memory. */
enum { most_nearest = 256 };

/* What a round works with. */
struct pairs_nearest {
    uint32_t k;
    uint32_t room;  /* keys that a warp keeps: a power of two, at least k + 32 */
    uint8_t *done;  /* by rows of targets */
    uint64_t *keys; /* k for each target: who they are, in order */
};

/* Extents of a system's points along the axes of its lattice, as doubles whose bits are made to
 * order like them. */
struct pairs_extent {
    unsigned long long lowest[3], highest[3]; /* lowest: of what is missing to the largest number */
};

/* Bits of a double in the order of the doubles, and back. */
KITH_BOTH_SIDES static inline unsigned long long pairs_ordered_bits(unsigned long long bits)
{
    return bits >> 63 ? ~bits : bits | 1ull << 63;
}

KITH_BOTH_SIDES static inline unsigned long long pairs_bits_of_ordered(unsigned long long ordered)
{
    return ordered >> 63 ? ordered & ~(1ull << 63) : ~ordered;
}

/* The extents of a side in all systems; extents are zero before the first side. */
template <typename real>
kith_status
pairs_measure_extents(kith_context *context, const struct pairs_cuda_search<real> &search,
                      const struct pairs_side<real> &side, struct pairs_extent *extents);

/* Adds up for all points how many share their place, into counters->neighbors. */
template <typename real>
kith_status pairs_measure_crowding(kith_context *context,
                                   const struct pairs_cuda_search<real> &search);

/* Searches for the nearest of all targets that are not done; counters->left is how many are not
 * yet.
 */
template <typename real>
kith_status pairs_find_nearest(kith_context *context, const struct pairs_cuda_search<real> &search,
                               const struct pairs_nearest &nearest);

/* Writes the list from the keys. */
template <typename real>
kith_status pairs_store_nearest(kith_context *context, const struct pairs_cuda_search<real> &search,
                                const struct pairs_cuda_columns<real> &columns,
                                const struct pairs_nearest &nearest);

#endif
