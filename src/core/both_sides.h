#ifndef CORE_BOTH_SIDES_H
#define CORE_BOTH_SIDES_H

/* Before the inline functions of a C header that CUDA kernels call too. */
#ifdef __CUDACC__
#define KITH_BOTH_SIDES __host__ __device__
#else
#define KITH_BOTH_SIDES
#endif

#endif
