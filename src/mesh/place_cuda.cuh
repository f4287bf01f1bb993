#ifndef MESH_PLACE_CUDA_CUH
#define MESH_PLACE_CUDA_CUH

#include "mesh/pme_cuda.h"

/* Where a particle is, wrapped; at 0 without a weight, and false, where that is impossible. */
template <typename real>
__device__ inline bool load(const struct pme_cuda_problem &problem, int64_t row,
                            struct pme_cuda_place *place)
{
    int32_t turns[3];
    for (int c = 0; c < 3; c++)
        place->x[c] = (double)((const real *)problem.position[c])[row];
    place->w = problem.weight ? (double)((const real *)problem.weight)[row] : 1;
    const bool is_good = isfinite(place->x[0] + place->x[1] + place->x[2] + place->w) &&
                         pairs_wrap(&problem.lattice, place->x, turns);
    if (!is_good)
        place->x[0] = place->x[1] = place->x[2] = place->w = 0;
    return is_good;
}

/* Where a particle of a pair is, in units of the cutoff: in double, or as the sum of two floats, of
 * which the first are multiples of a step (pme_cuda.h) so that their differences are exact. */
template <typename real> struct pair_place;
template <> struct alignas(16) pair_place<double> {
    double x[3], w;
};
template <> struct alignas(16) pair_place<float> {
    float high[3], w, low[3], unused;
};

template <typename real>
__device__ inline struct pair_place<real> pair_place_of(const struct pme_cuda_problem &problem,
                                                        const double x[3], double w);
template <>
__device__ inline struct pair_place<double> pair_place_of<double>(const struct pme_cuda_problem &,
                                                                  const double x[3], double w) {
    return {{x[0], x[1], x[2]}, w};
} template <>
__device__ inline struct pair_place<float>
pair_place_of<float>(const struct pme_cuda_problem &problem, const double x[3], double w) {
    struct pair_place<float> place = {
    };
    for (int c = 0; c < 3; c++) {
        place.high[c] = (float)(rint(x[c] * problem.per_step) * problem.step);
        place.low[c] = (float)(x[c] - (double)place.high[c]);
    }
    place.w = (float)w;
    return place;
}

__device__ inline double
coordinate(const struct pair_place<double> &place, int c)
{
    return place.x[c];
}
__device__ inline double coordinate(const struct pair_place<float> &place, int c)
{
    return (double)place.high[c] + (double)place.low[c];
}

/* From one to the other. */
__device__ inline double separation(const struct pair_place<double> &from,
                                    const struct pair_place<double> &to, int c)
{
    return to.x[c] - from.x[c];
}
__device__ inline float separation(const struct pair_place<float> &from,
                                   const struct pair_place<float> &to, int c)
{
    return (to.high[c] - from.high[c]) + (to.low[c] - from.low[c]);
}

/* That of a thread of the warp. */
__device__ inline struct pair_place<double> place_of_lane(const struct pair_place<double> &place,
                                                          int lane) {
    struct pair_place<double> from = {
    };
    for (int c = 0; c < 3; c++)
        from.x[c] = __shfl_sync(0xffffffffu, place.x[c], lane);
    return from;
} __device__ inline struct pair_place<float> place_of_lane(const struct pair_place<float> &place,
                                                           int lane) {
    struct pair_place<float> from = {
    };
    for (int c = 0; c < 3; c++) {
        from.high[c] = __shfl_sync(0xffffffffu, place.high[c], lane);
        from.low[c] = __shfl_sync(0xffffffffu, place.low[c], lane);
    }
    return from;
}

#endif
