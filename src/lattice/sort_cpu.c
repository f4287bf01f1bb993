#include <stdlib.h>

#include "core/memory.h"
#include "device/cpu.h"
#include "lattice/cpu_methods.h"
#include "lattice/order.h"
#include "sort/sort.h"

static int64_t count_runs(int64_t n, const uint64_t *sorted)
{
    int64_t collisions = 0, run = 0;
    for (int64_t k = 1; k < n; k++) {
        run = sorted[k] == sorted[k - 1] ? run + 1 : 0;
        collisions += run;
    }
    return collisions;
}

kith_status collisions_sort_cpu(kith_context *context, const struct collisions_problem *problem,
                                const struct collisions_box *box, int64_t *count)
{
    const int64_t n = problem->count;
    uint64_t *site = NULL;
    const int32_t bits = collisions_box_has_keys(box) ? box->total_bits : 64;
    KITH_TRY(collisions_check_sortable(n));
    KITH_TRY(
        cpu_scratch(context, n * (int64_t)sizeof *site + sort_scratch_bytes(n), (void **)&site));
    KITH_TRY(collisions_identify(context, problem, box, site));
    KITH_TRY(sort_keys_cpu(context, n, bits, site, NULL, site + n));
    *count = count_runs(n, site);
    return KITH_OK;
}

bool collisions_sites_are_short(const struct collisions_problem *problem,
                                const struct collisions_box *box)
{
    return collisions_box_has_keys(box) ? box->total_bits <= 32 : problem->count <= UINT32_MAX;
}

kith_status collisions_identify(kith_context *context, const struct collisions_problem *problem,
                                const struct collisions_box *box, uint64_t *site)
{
    const int64_t n = problem->count;
    if (collisions_box_has_keys(box)) {
        collisions_keys(context, problem, box, 0, n, site);
        return KITH_OK;
    }
    uint32_t *order = NULL;
    KITH_TRY(kith_allocate(n, sizeof *order, "sorting the beads", &order));
    const kith_status status = collisions_order(context, problem, box, order);
    uint64_t number = 0;
    for (int64_t k = 0; k < n && status == KITH_OK; k++) {
        number += k > 0 && !collisions_same_site(problem, order[k - 1], order[k]);
        site[order[k]] = number;
    }
    free(order);
    return status;
}
