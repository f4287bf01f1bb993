/* The kernels of advance_laws_cuda_body.h, for nvcc and for NVRTC. */

#include "simulation/advance_laws_problem.h"

#define KERNEL_BODY "simulation/advance_laws_cuda_body.h"
#include "law/for_each_real_cuda.h"
