#ifndef DEVICE_RESIDENT_CUH
#define DEVICE_RESIDENT_CUH

/* The second argument of __launch_bounds__: as many resident blocks as are wanted, or as fit into a
 * multiprocessor, beyond which ptxas warns and lets a kernel have all registers (CUDA C++
 * Programming Guide, technical specifications per compute capability). */

#include "device/architecture.cuh"

#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ == 800 || __CUDA_ARCH__ == 900 ||                     \
    (__CUDA_ARCH__ >= 1000 && __CUDA_ARCH__ < 1100)
static constexpr int resident_threads = 2048, resident_blocks = 32;
#elif __CUDA_ARCH__ < 800
static constexpr int resident_threads = 1024, resident_blocks = 16;
#elif __CUDA_ARCH__ < 890
static constexpr int resident_threads = 1536, resident_blocks = 16;
#else
static constexpr int resident_threads = 1536, resident_blocks = 24;
#endif

static constexpr int resident(int threads, int wanted)
{
    const int room = resident_threads / threads,
              most = room < resident_blocks ? room : resident_blocks;
    return wanted < most ? wanted : most;
}

#endif
