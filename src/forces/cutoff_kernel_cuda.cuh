/* The kernels of cutoff_cuda_body.h, for nvcc and for NVRTC. */

#include "forces/cutoff_cuda_problem.h"

#define KERNEL_BODY "forces/cutoff_cuda_body.h"
#include "law/for_each_real_cuda.h"
