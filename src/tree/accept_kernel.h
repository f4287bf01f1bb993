#ifndef TREE_ACCEPT_KERNEL_H
#define TREE_ACCEPT_KERNEL_H

#include "core/isa.h"
#include "tree/acceptance.h"

/* More than a vector: operations of one are computed while those of another wait for results. */
enum { accept_lanes = 32 };

/* tree_judge of a target and each of at most accept_lanes sources, to the bit, into verdicts, which
 * have accept_lanes elements whatever the count. Of targets that are no leaves, pairs with smaller
 * sources are open where they would be uneven. */
typedef void tree_accept_kernel(const struct tree_rule *rule, const struct tree_side *target,
                                const double *target_power, bool target_is_leaf,
                                const struct tree_side *sides, const double *powers,
                                const int32_t *sources, int32_t count, uint8_t *verdicts);

/* tree_find_order of a target and each of `count` sources, to the bit. */
typedef void tree_order_kernel(const struct tree_rule *rule, const struct tree_orders *orders,
                               const struct tree_side *target, const double *target_power,
                               const struct tree_side *sides, const double *powers,
                               const int32_t *sources, int32_t count, uint8_t *found);

#define TREE_DECLARE_ACCEPT(isa)                                                                   \
    extern tree_accept_kernel tree_accept_##isa;                                                   \
    extern tree_order_kernel tree_order_##isa;
KITH_EACH_ISA(TREE_DECLARE_ACCEPT)
#undef TREE_DECLARE_ACCEPT

/* Those of a row of KITH_EACH_ISA. */
static inline tree_order_kernel *tree_order_kernel_of(int32_t isa)
{
#define TREE_ORDER_ADDRESS(isa) tree_order_##isa,
    static tree_order_kernel *const each_isa[] = {KITH_EACH_ISA(TREE_ORDER_ADDRESS)};
#undef TREE_ORDER_ADDRESS
    return each_isa[isa];
}

static inline tree_accept_kernel *tree_accept_kernel_of(int32_t isa)
{
#define TREE_ACCEPT_ADDRESS(isa) tree_accept_##isa,
    static tree_accept_kernel *const each_isa[] = {KITH_EACH_ISA(TREE_ACCEPT_ADDRESS)};
#undef TREE_ACCEPT_ADDRESS
    return each_isa[isa];
}

#endif
