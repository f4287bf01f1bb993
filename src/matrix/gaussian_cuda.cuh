#ifndef MATRIX_GAUSSIAN_CUDA_CUH
#define MATRIX_GAUSSIAN_CUDA_CUH

/* Sums of a Gaussian with tensor cores, in float: what the kernels share.
 *
 * Points are cut into tiles; up to three dimensions they are sorted along a Hilbert curve before.
 * With p and v the scaled vectors from the centers of the tiles of i and j to them, and d from the
 * second center to the first,
 *
 *     2^{−|p − v + d|²} = 2^{−(|p|² + 2 p·d + |d|²/2)} 2^{2 p·v} 2^{−(|v|² − 2 v·d + |d|²/2)},
 *
 * of which the first factor is the row's and the last the column's in a pair of tiles. 2 p·v is a
 * product of halves, each coordinate in two of them: h h' + l h' + h l'. A pair costs one
 * exponential and a multiply-add for each of its points.
 *
 * The product is exact to about 2^−23 of 2 |p| |v|. Where |p|² or |v|² can be more than
 * gaussian_most_radius2, and within a tile, the multiply pipes take differences of coordinates.
 *
 * The sums over a tile are added as whole numbers of 64 bits, in which order does not matter: all
 * results have the same bits on every run. */

#include "device/cuda.h"
#include "matrix/gaussian_cuda.h"

constexpr int gaussian_tile = 256;

/* Factors are then at most 2^6, for any d. */
constexpr float gaussian_most_radius2 = 6;

/* From this r² on 2^{−r²} is 0 in float. */
constexpr float gaussian_zero_from = 151;

struct gaussian_box {
    float center[KITH_MAX_COORDINATES], half[KITH_MAX_COORDINATES]; /* not scaled */
    float radius2; /* the largest |p|² of its points */
    float largest; /* |b|; NaN: a number of the tile is not finite */
};

/* Points as the kernels read them. Places past the last point have its coordinates and b = 0. */
struct gaussian_side {
    int64_t count, tiles;
    uint32_t *order; /* the number of the point at each place; NULL: its own */
    float *x;        /* [tile][axis][gaussian_tile] */
    float *norm2;    /* [tile][gaussian_tile]: |p|² */
    float *b;
    uint4 *row, *column; /* operands, [tile][gaussian_tile / 16][16 halves of 3 axes][lane] */
    struct gaussian_box *box;
};

struct gaussian_problem {
    struct gaussian_side rows, columns;
    int axes;
    bool leaves_out_self;
    float root;
    float *scale;            /* of b: a power of two, with which it is at most 1 */
    unsigned long long *sum; /* [level][place of a row] */
};

/* Sums are whole numbers: level l counts steps of 2^(20 l − 132), and a number goes to the lowest
 * level where it is less than 2^44, so that it keeps 24 bits, and 2^19 of them have room. The
 * highest takes numbers of up to 2^12, the sum of 16 tiles. */
constexpr int gaussian_levels = 6, gaussian_level_bits = 20, gaussian_unit_bits = 132;

/* Operands of 16 halves: three of each axis. */
constexpr int gaussian_most_parts = 3;

inline int gaussian_parts(int axes)
{
    return (3 * axes + 15) / 16;
}

kith_status gaussian_pack(kith_context *context, const struct gaussian_sums *sums,
                          const struct gaussian_problem *problem);
kith_status gaussian_meet(kith_context *context, const struct gaussian_problem *problem, bool same);

#endif
