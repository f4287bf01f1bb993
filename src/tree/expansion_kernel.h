#ifndef TREE_EXPANSION_KERNEL_H
#define TREE_EXPANSION_KERNEL_H

#include "core/isa.h"
#include "tree/expansion.h"

/* The operators of an instruction set and a real type (expansion.h). */
#define EXPANSION_DECLARE(isa)                                                                     \
    extern const struct expansion_operators expansion_float_##isa, expansion_double_##isa;
KITH_EACH_ISA(EXPANSION_DECLARE)
#undef EXPANSION_DECLARE

#endif
