/* The kernels of law_systems_cuda_body.h, for nvcc and for NVRTC. */

#include "forces/law_motion_cuda.h"

#define KERNEL_BODY "forces/law_systems_cuda_body.h"
#include "law/for_each_real_cuda.h"
