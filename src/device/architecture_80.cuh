#ifndef DEVICE_ARCHITECTURE_80_CUH
#define DEVICE_ARCHITECTURE_80_CUH

/* Included by what asks whether __CUDA_ARCH__ is at least 800. */

#if defined(KITH_SHARED_PTX) && !defined(KITH_PTX_SINCE_80)
#error "configure again: this asks for architecture 80, which is new to CMake"
#endif

#endif
