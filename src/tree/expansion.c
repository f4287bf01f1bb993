#include "tree/expansion.h"

#include "tree/expansion_kernel.h"

const struct expansion_operators *expansion_kernels_of(int32_t isa, kith_dtype dtype)
{
#define IN_FLOAT(isa)  &expansion_float_##isa,
#define IN_DOUBLE(isa) &expansion_double_##isa,
    static const struct expansion_operators *const in_float[] = {KITH_EACH_ISA(IN_FLOAT)};
    static const struct expansion_operators *const in_double[] = {KITH_EACH_ISA(IN_DOUBLE)};
#undef IN_FLOAT
#undef IN_DOUBLE
    return (dtype == KITH_F32 ? in_float : in_double)[isa];
}
