/* The kernels of near_law_cuda_body.h, for nvcc and for NVRTC. */

#include "tree/near_law_cuda_problem.h"
#include "tree/near_tiles_cuda.cuh"
#include "tree/samples.h"

#define KERNEL_BODY "tree/near_law_cuda_body.h"
#include "law/for_each_real_cuda.h"
