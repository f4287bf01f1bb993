#include "lattice/collisions_reference.h"

#include "device/context.h"

/* Of bead i with those after it. */
static int64_t collisions_of_bead(const struct collisions_problem *problem, int64_t i)
{
    int64_t collisions = 0;
    for (int64_t j = i + 1; j < problem->count; j++)
        collisions += collisions_same_site(problem, i, j);
    return collisions;
}

int64_t collisions_reference(const struct collisions_problem *problem)
{
    int64_t collisions = 0;
    for (int64_t i = 0; i < problem->count; i++)
        collisions += collisions_of_bead(problem, i);
    return collisions;
}

kith_status collisions_count_by_reference(const kith_context *context,
                                          const struct collisions_problem *problem, int64_t *count)
{
    int64_t collisions = 0;
    for (int64_t i = 0; i < problem->count; i++) {
        KITH_TRY(kith_context_check_cancelled(context));
        collisions += collisions_of_bead(problem, i);
    }
    *count = collisions;
    return KITH_OK;
}

/* |a − b|, which may be larger than an int64. */
static uint64_t distance(int64_t a, int64_t b)
{
    return a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
}

/* Differing by 1 along one axis, and by nothing along the others. */
static bool are_neighbors(const struct collisions_problem *problem, int64_t i, int64_t j)
{
    int64_t axes = 0;
    for (int64_t c = 0; c < problem->dimensions; c++) {
        const uint64_t d =
            distance(collisions_coordinate(problem, i, c), collisions_coordinate(problem, j, c));
        if (d > 1)
            return false;
        axes += d == 1;
    }
    return axes == 1;
}

int64_t contacts_reference(const struct collisions_problem *problem,
                           const unsigned char *hydrophobic)
{
    int64_t contacts = 0;
    for (int64_t i = 0; i < problem->count; i++)
        for (int64_t j = i + 2; j < problem->count; j++)
            if (!hydrophobic || (hydrophobic[i] && hydrophobic[j]))
                contacts += are_neighbors(problem, i, j);
    return contacts;
}
