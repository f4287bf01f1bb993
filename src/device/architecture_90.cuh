#ifndef DEVICE_ARCHITECTURE_90_CUH
#define DEVICE_ARCHITECTURE_90_CUH

/* Included by what asks whether __CUDA_ARCH__ is at least 900. */

#if defined(KITH_SHARED_PTX) && !defined(KITH_PTX_SINCE_90)
#error "configure again: this asks for architecture 90, which is new to CMake"
#endif

#endif
