#ifndef FORCES_TENSOR_CUDA_CUH
#define FORCES_TENSOR_CUDA_CUH

/* Gravity of all pairs with tensor cores, in float: what its kernels share.
 *
 * Bodies are sorted along a Hilbert curve and cut into tiles. A pair of tiles is far if its boxes
 * are apart by more than 4/5 of the root mean square side of either; then
 *
 *     r²   one product of halves, |p − v|² = |p|² + |v|² − 2 p·v with each coordinate and norm in
 *          two halves: p from the source tile's center to a target, v to a source
 *     w    (r² + ε²)^{−3/2}, as a whole number W of 16 bits in units that the gap between the boxes
 *          determines; for potentials (r² + ε²)^{−1/2}, too
 *     sums Σ W m v and Σ W m of both tiles, by products of bytes with whole sums: m v and m are
 *          numbers of 16 bits in units of the tile's largest
 *
 * and Σ m w d = Σ w m v − p Σ w m. Rounding W and m v is by chance up or down: relative to a body's
 * whole sum it vanishes as one over the root of the number of sources. Bodies at one place would
 * have equal W: by its place in the tile, each multiplies r² by a number of its own, a little
 * larger than 1, and its m and sums by the power 3/2 of that (1/2 of potentials). So that no few
 * bodies carry a sum, a heavy tile, with a body of more than 1/256 of all mass, is near to all
 * others. If a mass is negative, all tiles are near: sums over masses of both signs are small
 * compared with their terms, and with what is rounded. Near pairs of tiles are summed by the
 * multiply pipes (tensor_near_cuda.cu).
 *
 * A tile's sums over one other tile are added as whole numbers of 64 bits, in which order does not
 * matter: all results have the same bits on every run. */

#include "device/cuda.h"
#include "forces/problem.h"
#include "sort/tiles_cuda.cuh"

constexpr int tensor_tile = 256;

/* The least gap between far boxes, in root mean square sides of either: W is 1 at the gap, and the
 * smaller elsewhere, the less exact, the smaller the gap is. */
constexpr float tensor_apart = 0.8f;

/* What r² is multiplied by for each of its bodies; k: the body's place in the tile. Halves have it
 * exactly. */
__device__ inline float tensor_widened(int k)
{
    return 1.0f + (float)(k % 32) * 0x1p-10f;
}

__device__ inline float tensor_widened_mass(int k)
{
    const float widened = tensor_widened(k);
    return widened * sqrtf(widened);
}

/* A box around bodies and what the far kernel has to know of it. */
struct tensor_box {
    float center[3], half[3];
    float gap2;        /* that boxes far from it have at least, squared; infinite: it is heavy */
    float scale;       /* a power of two: scale · (x − center) is at most 1 */
    float mass;        /* the largest, widened, over 32 512 */
    float total;       /* of the masses' absolute values */
    bool has_negative; /* mass */
};

/* Of whole sums: they are multiples of 1 / unit. */
struct tensor_unit {
    float field, potential;
};

/* How many tiles are near to a tile, itself included: of all, and of those that it meets in the
 * order of the ring (forces/ring.h), if it is one of first … end − 1. */
struct tensor_near_tiles {
    int all, met;
};

/* The last offset at which a tile meets another: each pair of tiles once. */
__device__ inline int64_t tensor_last_offset(int64_t tiles, int64_t tile)
{
    return tiles % 2 == 0 && tile >= tiles / 2 ? tiles / 2 - 1 : tiles / 2;
}

/* The operands of the products, in the order of a warp's registers: of 16 bodies for r², of 32 for
 * the sums. */
struct tensor_bodies {
    int64_t count, tiles;
    int64_t first, end; /* the tiles whose partners this device meets */
    uint32_t *order;    /* the number of each sorted body in the problem */
    float4 *body;       /* sorted: position and mass; those past the last have no mass */
    struct tensor_box *box;
    uint4 *distance;          /* [tile][tensor_tile / 16][lane] */
    uint2 *digits;            /* [tile][tensor_tile / 32][lane] */
    uint2 *mass_digits;       /* the same, of potentials; NULL: they are not summed */
    int values;               /* sums of a body: x, y, z, and the potential */
    struct tensor_unit *unit; /* of each tile */
    unsigned long long *sum;  /* [level][tile][value][tensor_tile] */
    struct tensor_near_tiles *near;
    int64_t *near_before; /* [tiles + 1]: near pairs that first tiles before it meet */
    int *is_left;         /* 1: to the symmetric kernel, and nothing more happens. NULL: 0 */
};

__device__ inline bool tensor_is_left(const struct tensor_bodies &bodies)
{
    return bodies.is_left && *bodies.is_left;
}

/* Sums are whole numbers: level l counts steps of 2^(22 l) / unit. A number goes to the lowest
 * level where it is less than 2^46, so that it keeps 24 bits, and 2^16 of them have room. */
constexpr int tensor_levels = 8, tensor_level_bits = 22, tensor_number_bits = 46;

/* The sum of the first value of a sorted body at level 0; the others follow a tile's length apart,
 * and the levels follow each other tensor_level_length apart. */
__host__ __device__ inline int64_t tensor_sum_at(const struct tensor_bodies &bodies, int64_t body)
{
    return body / tensor_tile * (bodies.values * tensor_tile) + body % tensor_tile;
}

__host__ __device__ inline int64_t tensor_level_length(const struct tensor_bodies &bodies)
{
    return bodies.tiles * (bodies.values * tensor_tile);
}

/* Gaps are at least this, of lengths up to 2^21, so that no power of them overflows. */
constexpr float tensor_least_gap2 = 0x1p-60f;

/* Whether tiles are far, and the square of the gap between their boxes; the same for (b, a). */
__device__ inline bool tensor_is_far(const struct tensor_box &a, const struct tensor_box &b,
                                     float &gap2)
{
    gap2 = 0;
    for (int c = 0; c < 3; c++) {
        const float gap = fabsf(a.center[c] - b.center[c]) - (a.half[c] + b.half[c]);
        gap2 = gap > 0 ? fmaf(gap, gap, gap2) : gap2;
    }
    return gap2 > fmaxf(fmaxf(a.gap2, b.gap2), tensor_least_gap2);
}

__device__ inline bool tensor_is_heavy(const struct tensor_box &box)
{
    return isinf(box.gap2);
}

/* ε² in the problem's units. */
__device__ inline float tensor_softening2(const struct forces_problem &problem)
{
    return (float)(problem.softening2_at ? *problem.softening2_at : problem.softening2);
}

kith_status tensor_pack(kith_context *context, const struct forces_problem *problem,
                        const struct tensor_bodies *bodies);
kith_status tensor_near(kith_context *context, const struct forces_problem *problem,
                        const struct tensor_bodies *bodies);
kith_status tensor_far(kith_context *context, const struct forces_problem *problem,
                       const struct tensor_bodies *bodies);

#endif
