#ifndef SORT_HILBERT_H
#define SORT_HILBERT_H

/* Hilbert keys in three dimensions: as Morton keys (sort/morton.h), but cells that follow each
 * other share a face, so that the boxes around pieces of the order are smaller (Hilbert 1891;
 * the transformation of the coordinates is Skilling's, AIP Conf. Proc. 707 (2004) 381). */

#include "sort/morton.h"

/* Every third of the lowest 63 bits. */
KITH_BOTH_SIDES static inline uint32_t hilbert_gather_by_3(uint64_t x)
{
    x &= 0x1249249249249249;
    x = (x | x >> 2) & 0x10c30c30c30c30c3;
    x = (x | x >> 4) & 0x100f00f00f00f00f;
    x = (x | x >> 8) & 0x001f0000ff0000ff;
    x = (x | x >> 16) & 0x001f00000000ffff;
    return (uint32_t)((x | x >> 32) & 0x00000000001fffff);
}

/* The Hilbert key of the cell of the finest level that a Morton key names. */
KITH_BOTH_SIDES static inline uint64_t hilbert_key_3d(uint64_t morton)
{
    uint32_t x[3] = {hilbert_gather_by_3(morton >> 2), hilbert_gather_by_3(morton >> 1),
                     hilbert_gather_by_3(morton)};
    for (uint32_t bit = UINT32_C(1) << (morton_levels_3d - 1); bit > 1; bit >>= 1)
        for (int32_t c = 0; c < 3; c++) {
            const uint32_t below = bit - 1, exchanged = (x[0] ^ x[c]) & below;
            if (x[c] & bit) {
                x[0] ^= below;
            } else {
                x[0] ^= exchanged;
                x[c] ^= exchanged;
            }
        }
    x[1] ^= x[0];
    x[2] ^= x[1];
    uint32_t turned = 0;
    for (uint32_t bit = UINT32_C(1) << (morton_levels_3d - 1); bit > 1; bit >>= 1)
        turned ^= x[2] & bit ? bit - 1 : 0;
    return morton_spread_by_3(x[0] ^ turned) << 2 | morton_spread_by_3(x[1] ^ turned) << 1 |
           morton_spread_by_3(x[2] ^ turned);
}

#endif
