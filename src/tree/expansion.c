#include "tree/expansion.h"

#include "tree/expansion_kernel.h"

const struct expansion_operators *expansion_kernels_of(int32_t isa, kith_dtype dtype)
{
#define ADDRESS(isa) &expansion_##isa,
    static const struct expansion_kernels *const each_isa[] = {KITH_EACH_ISA(ADDRESS)};
#undef ADDRESS
    return dtype == KITH_F32 ? &each_isa[isa]->in_float : &each_isa[isa]->in_double;
}
