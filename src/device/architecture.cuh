#ifndef DEVICE_ARCHITECTURE_CUH
#define DEVICE_ARCHITECTURE_CUH

/* Included by what compares __CUDA_ARCH__ with other numbers than 800 and 900. */

#ifdef KITH_SHARED_PTX
#error "configure again: this asks for the architecture, which is new to CMake"
#endif

#endif
