/* The kernels of verlet_cuda_body.h, for nvcc and for NVRTC. */

#include "forces/verlet_place_cuda.cuh"

#define KERNEL_BODY "forces/verlet_cuda_body.h"
#include "law/for_each_real_cuda.h"
