#ifndef PAIRS_ACCEPT_CUDA_CUH
#define PAIRS_ACCEPT_CUDA_CUH

/* Which candidates are a target's partners. */

#include "pairs/search_cuda.cuh"

/* geometry.h's operations by the type of their arguments. */
static __device__ __forceinline__ float add(float a, float b)
{
    return pairs_add_float(a, b);
}

static __device__ __forceinline__ double add(double a, double b)
{
    return pairs_add_double(a, b);
}

static __device__ __forceinline__ float multiply(float a, float b)
{
    return pairs_multiply_float(a, b);
}

static __device__ __forceinline__ double multiply(double a, double b)
{
    return pairs_multiply_double(a, b);
}

/* r² of geometry.h. d is w_j, and becomes the vector. */
template <bool translated, typename real>
static __device__ __forceinline__ real pairs_r2(const pairs_point<real> &target,
                                                const real translation[3], real d[3])
{
    d[0] = add(d[0], -target.x);
    d[1] = add(d[1], -target.y);
    d[2] = add(d[2], -target.z);
    if (translated)
        for (int c = 0; c < 3; c++)
            d[c] = add(d[c], translation[c]);
    return add(add(multiply(d[0], d[0]), multiply(d[1], d[1])), multiply(d[2], d[2]));
}

/* T · cell of an image. */
template <typename real>
static __device__ __forceinline__ void translation_of(const struct pairs_folded_grid &grid,
                                                      const int32_t image[3], real translation[3])
{
    for (int c = 0; c < 3; c++)
        translation[c] = (real)pairs_translation(&grid.lattice, image, c);
}

static __device__ __forceinline__ bool is_excluded(const int64_t *offsets,
                                                   const int64_t *exclusions, int64_t i, int64_t j)
{
    for (int64_t k = offsets[i]; k < offsets[i + 1]; k++)
        if (exclusions[k] == j)
            return true;
    return false;
}

/* Of a half list: i < j, or the first component of T that is not 0 positive. */
static __device__ __forceinline__ bool is_first_half(const struct pairs_folded_grid &grid,
                                                     int64_t i, int64_t j, uint32_t code)
{
    if (i != j)
        return i < j;
    int32_t image[3];
    pairs_image_of(&grid, code, image);
    for (int k = 0; k < 3; k++)
        if (image[k] != 0)
            return image[k] > 0;
    return false;
}

/* For lists with radii, exclusions or halves. i with itself at T = 0 is the caller's business. */
template <typename real>
static __device__ __forceinline__ bool
accepts(const struct pairs_cuda_search<real> &search, const struct pairs_folded_grid &grid,
        const pairs_point<real> &target, const pairs_point<real> &candidate, uint32_t image,
        real r2)
{
    const int64_t i = target.row, j = candidate.row;
    real limit = search.limit;
    if (search.radii) {
        const real sum = add(
            multiply(search.target_radii[i * search.target_radius_stride], search.per_unit_real),
            multiply(search.radii[j * search.radius_stride], search.per_unit_real));
        const real reach = add(sum, search.cutoff);
        limit = multiply(reach, reach);
    }
    return r2 < limit && (!search.half || is_first_half(grid, i, j, image)) &&
           !(search.exclusions && is_excluded(search.exclusion_offsets, search.exclusions, i, j));
}

#endif
