#ifndef TREE_EXPANSION_KERNEL_H
#define TREE_EXPANSION_KERNEL_H

#include "core/isa.h"
#include "tree/expansion.h"

/* The operators of an instruction set (expansion.h). */
struct expansion_kernels {
    struct expansion_operators in_double, in_float;
};

#define EXPANSION_DECLARE(isa) extern const struct expansion_kernels expansion_##isa;
KITH_EACH_ISA(EXPANSION_DECLARE)
#undef EXPANSION_DECLARE

#endif
