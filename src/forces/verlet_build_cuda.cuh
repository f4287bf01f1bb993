#ifndef FORCES_VERLET_BUILD_CUDA_CUH
#define FORCES_VERLET_BUILD_CUDA_CUH

/* What the kernels share that divide and sort particles and make a Verlet list. */

#include "device/cuda.h"
#include "forces/verlet_build_cuda.h"
#include "forces/verlet_place_cuda.cuh"

enum { threads = 256, warp = 32 };

static const unsigned everyone = 0xffffffffU; /* in a warp */

static inline unsigned blocks_for(int64_t count)
{
    return (unsigned)((count + threads - 1) / threads);
}

static __device__ inline int64_t own_number()
{
    return (int64_t)blockIdx.x * threads + threadIdx.x;
}

static inline int64_t count_own(const struct verlet_cuda_building &building)
{
    return building.list.end - building.list.first;
}

template <typename place>
static __device__ inline int layer_of(const struct verlet_cuda_building &building, const place &at)
{
    return verlet_cell_of(at.x[building.cells.axis[building.layer_axis]], building.slab.layers);
}

template <typename real>
static __device__ inline typename verlet_types<real>::place
place_of(const struct verlet_cuda_building &building,
         const typename verlet_types<real>::vector &position)
{
    const double x[3] = {(double)position.x[0], (double)position.x[1], (double)position.x[2]};
    typename verlet_types<real>::place at;
    (void)verlet_find_place<real>(building.lattice, building.dimensions, building.open, x, &at);
    return at;
}

#endif
