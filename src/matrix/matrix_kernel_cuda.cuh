/* All kernels of the interaction matrix, for a formula and NVRTC. */

#include "matrix/bin.h"
#include "matrix/store_cuda.cuh"

#define KERNEL_BODY "matrix/all_cuda_bodies.h"
#include "law/for_each_real_cuda.h"
