/* The kernels of law_systems_cuda_body.h, for nvcc and for NVRTC. */

#include "forces/systems_loop_cuda.cuh"

#define KERNEL_BODY "forces/law_systems_cuda_body.h"
#include "law/for_each_real_cuda.h"
