#ifndef DEVICE_ARCHITECTURE_CUH
#define DEVICE_ARCHITECTURE_CUH

/* Included by what compares __CUDA_ARCH__. */

#ifdef KITH_SHARED_PTX
#error "this asks for the architecture: take the source out of KITH_SHARED_PTX"
#endif

#endif
