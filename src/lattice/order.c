#include "lattice/order.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "sort/sort.h"

kith_status collisions_check_sortable(int64_t beads)
{
    return beads <= UINT32_MAX
               ? KITH_OK
               : kith_fail(KITH_UNSUPPORTED, "%lld beads cannot be sorted; at most %lld can",
                           (long long)beads, (long long)UINT32_MAX);
}

/* By the last coordinate first: each sort leaves the order of the one before where its own
 * coordinates are equal. */
static kith_status order_by_columns(kith_context *context, const struct collisions_problem *problem,
                                    const struct collisions_box *box, uint32_t *order,
                                    uint64_t *keys, void *scratch)
{
    const int64_t n = problem->count;
    uint32_t *moved = NULL;
    KITH_TRY(kith_allocate(n, 2 * (int64_t)sizeof *moved, "sorting the beads", &moved));
    uint32_t *before = moved + n;
    kith_status status = KITH_OK;
    for (int64_t i = 0; i < n; i++)
        order[i] = (uint32_t)i;
    for (int64_t c = problem->dimensions - 1; c >= 0 && status == KITH_OK; c--) {
        const int32_t bits = box->bits[c] < 64 ? box->bits[c] : 64;
        for (int64_t k = 0; k < n; k++)
            keys[k] = (uint64_t)collisions_coordinate(problem, order[k], c) - (uint64_t)box->low[c];
        status = sort_keys_cpu(context, n, bits, keys, moved, scratch);
        memcpy(before, order, (size_t)n * sizeof *order);
        for (int64_t k = 0; k < n && status == KITH_OK; k++)
            order[k] = before[moved[k]];
    }
    free(moved);
    return status;
}

kith_status collisions_order(kith_context *context, const struct collisions_problem *problem,
                             const struct collisions_box *box, uint32_t *order)
{
    const int64_t n = problem->count;
    uint64_t *keys = NULL;
    KITH_TRY(collisions_check_sortable(n));
    KITH_TRY(kith_allocate(n * (int64_t)sizeof *keys + sort_scratch_bytes(n), 1,
                           "sorting the beads", &keys));
    kith_status status = KITH_OK;
    if (collisions_box_has_keys(box)) {
        collisions_keys(context, problem, box, 0, n, keys);
        status = sort_keys_cpu(context, n, box->total_bits, keys, order, keys + n);
    } else {
        status = order_by_columns(context, problem, box, order, keys, keys + n);
    }
    free(keys);
    return status;
}
