/* The k nearest points: rounds of a search within a radius, which is doubled for the targets that
 * have found too few. A round looks at the targets that are left, among all points. */

#include "pairs/nearest_cpu.h"

#include <stdlib.h>
#include <string.h>

#include "core/context.h"
#include "core/memory.h"
#include "core/team.h"
#include "pairs/arguments.h"
#include "pairs/list.h"
#include "pairs/stage.h"

enum { rows_of_task = 256 };
static const double seconds_of_row = 1e-6;

/* A neighbour found. */
struct neighbour {
    double r2;
    int32_t j;
    int32_t shift[3];
    double vector[3];
};

static bool is_nearer(const struct neighbour *a, const struct neighbour *b)
{
    if (a->r2 != b->r2)
        return a->r2 < b->r2;
    if (a->j != b->j)
        return a->j < b->j;
    for (int k = 0; k < 3; k++)
        if (a->shift[k] != b->shift[k])
            return a->shift[k] < b->shift[k];
    return false;
}
