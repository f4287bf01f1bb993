/* The kernels of law_jerk_cuda_body.h, for nvcc and for NVRTC. */

#include "forces/law_motion_cuda.h"
#include "forces/tile_loop_cuda.cuh"

#define KERNEL_BODY "forces/law_jerk_cuda_body.h"
#include "law/for_each_real_cuda.h"
