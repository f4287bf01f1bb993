/* The loop of small systems on a GPU, of any pair function: a thread per body, neighboring threads
 * in neighboring systems, so that all their reading is side by side. The sources of a system stay
 * in the first-level cache from one of its bodies to the next. Each pair is met from both sides.
 *
 * A pair function is a type with
 *
 *   problem           what a kernel is given, with target_count, system_count and system_stride
 *   constants, load   what is the same for all pairs
 *   body, load_body   what is read of element `at`
 *   sums, add, put    of a body: all zero at first; adds what a source does; its sums are results
 *
 * (systems_cuda.cu, law_systems_cuda_body.h). nvcc and NVRTC read this. */
#ifndef FORCES_SYSTEMS_LOOP_CUDA_CUH
#define FORCES_SYSTEMS_LOOP_CUDA_CUH

#include "forces/law_motion_cuda.h"

template <typename pair> __device__ inline void in_systems(const typename pair::problem &problem)
{
    const long long s = (long long)blockIdx.x * systems_block + threadIdx.x;
    if (s >= problem.system_count)
        return;
    const typename pair::constants constants = pair::load(problem);
    for (long long i = threadIdx.y; i < problem.target_count; i += systems_bodies) {
        const long long at = i * problem.system_stride + s;
        const typename pair::body target = pair::load_body(problem, at);
        typename pair::sums sums = {};
        for (long long j = 0; j < problem.target_count; j++)
            if (j != i)
                pair::add(constants, target,
                          pair::load_body(problem, j * problem.system_stride + s), sums);
        pair::put(problem, at, sums);
    }
}

#endif
