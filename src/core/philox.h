#ifndef CORE_PHILOX_H
#define CORE_PHILOX_H

/* Counter-based random numbers, Philox 4x64-10 (Salmon, Moraes, Dror & Shaw 2011), on both
 * devices. */

#include <Random123/philox.h>
#include <math.h>
#include <stdint.h>

#include "core/both_sides.h"

/* Block number `block` of four times 64 bits, of a body and a step. */
KITH_BOTH_SIDES static inline void philox_block(const uint64_t key[2], const uint64_t place[4],
                                                uint64_t bits[4])
{
    const philox4x64_ctr_t counter = {{place[0], place[1], place[2], place[3]}};
    const philox4x64_key_t keys = {{key[0], key[1]}};
    const philox4x64_ctr_t drawn = philox4x64(counter, keys);
    for (int k = 0; k < 4; k++)
        bits[k] = drawn.v[k];
}

/* A multiple of 2^-53 in [0, 1). */
KITH_BOTH_SIDES static inline double philox_uniform(uint64_t bits)
{
    return (double)(bits >> 11) * 0x1p-53;
}

/* Four independent normal numbers of a body and a step, of block 0, by Box & Muller (1958). */
KITH_BOTH_SIDES static inline void philox_normals(const uint64_t key[2], int64_t body, int64_t step,
                                                  double normal[4])
{
    const double turn = 6.28318530717958647693;
    const uint64_t place[4] = {0, (uint64_t)body, (uint64_t)step, 0};
    uint64_t bits[4];
    philox_block(key, place, bits);
    for (int k = 0; k < 4; k += 2) {
        const double angle = turn * philox_uniform(bits[k]);
        const double radius = sqrt(-2 * log(1 - philox_uniform(bits[k + 1])));
        normal[k] = radius * cos(angle);
        normal[k + 1] = radius * sin(angle);
    }
}

#endif
