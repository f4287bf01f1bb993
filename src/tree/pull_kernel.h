#ifndef TREE_PULL_KERNEL_H
#define TREE_PULL_KERNEL_H

#include "core/isa.h"
#include "tree/pull.h"

/* tree_add_pull of a target and each of several sources in their order, to the bit. */
typedef void tree_pull_kernel(const struct tree_side *target, const struct tree_side *sides,
                              const double *net, const int32_t *sources, int64_t count,
                              double softening2, enum expansion_law law, bool is_near,
                              struct tree_pull *pull);

#define TREE_DECLARE_PULL(isa) extern tree_pull_kernel tree_pull_##isa;
KITH_EACH_ISA(TREE_DECLARE_PULL)
#undef TREE_DECLARE_PULL

/* That of a row of KITH_EACH_ISA. */
static inline tree_pull_kernel *tree_pull_kernel_of(int32_t isa)
{
#define TREE_PULL_ADDRESS(isa) tree_pull_##isa,
    static tree_pull_kernel *const each_isa[] = {KITH_EACH_ISA(TREE_PULL_ADDRESS)};
#undef TREE_PULL_ADDRESS
    return each_isa[isa];
}

#endif
