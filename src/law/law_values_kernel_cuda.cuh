/* The kernels of law_values_cuda_body.h, for nvcc and for NVRTC. */

#include "law/law_values_problem.h"

#define KERNEL_BODY "law/law_values_cuda_body.h"
#include "law/for_each_real_cuda.h"
