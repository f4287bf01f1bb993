#include "tree/softening.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/reals.h"

static void add(struct tree_softening_sums *to, const struct tree_softening_sums *sums)
{
    to->weight += sums->weight;
    to->first += sums->first;
    to->second += sums->second;
    to->most = fmax(to->most, sums->most);
}

struct tree_softening_sums tree_softening_sum(const struct octree *tree, const void *of_point,
                                              const struct tree_softening_sums *sums, int32_t k)
{
    const struct octree_cell *cell = &tree->cell[k];
    struct tree_softening_sums sum = {0, 0, 0, 0};
    for (int32_t child = cell->child; child < cell->child + cell->children; child++)
        add(&sum, &sums[child]);
    for (int64_t i = cell->first; i < cell->first + cell->count && cell->children == 0; i++) {
        const double e = real_get(tree->dtype, of_point, i);
        const double weight = fabs(real_get(tree->dtype, tree->weight, i));
        add(&sum, &(struct tree_softening_sums){weight, weight * e, weight * e * e, e});
    }
    return sum;
}

struct tree_softening tree_softening_of(const struct tree_softening_sums *sums)
{
    const double mean = sums->weight > 0 ? sums->first / sums->weight : 0;
    const double square = sums->weight > 0 ? sums->second / sums->weight : 0;
    return (struct tree_softening){mean, sqrt(fmax(0, square - mean * mean)), sums->most};
}

static void measure_cells(const struct octree *tree, struct tree_softening_sums *sums,
                          struct tree_softenings *softenings)
{
    for (int32_t k = tree->cell_count - 1; k >= 0; k--) {
        sums[k] = tree_softening_sum(tree, softenings->of_point, sums, k);
        softenings->of_cell[k] = tree_softening_of(&sums[k]);
    }
}

kith_status tree_softenings_create(const struct octree *tree, const void *half_softening2,
                                   struct tree_softenings *softenings)
{
    const int64_t room = kith_padded(tree->count + kith_padding);
    struct tree_softening_sums *sums = NULL;
    KITH_TRY(kith_allocate(room, kith_dtype_bytes(tree->dtype), "softenings of a tree",
                           &softenings->of_point));
    KITH_TRY(kith_allocate(tree->cell_count, sizeof *softenings->of_cell, "softenings of a tree",
                           &softenings->of_cell));
    KITH_TRY(kith_allocate(tree->cell_count, sizeof *sums, "softenings of a tree", &sums));
    for (int64_t k = 0; k < room; k++)
        real_set(tree->dtype, softenings->of_point, k,
                 k < tree->count ? real_get(tree->dtype, half_softening2, tree->order[k]) : 0);
    measure_cells(tree, sums, softenings);
    free(sums);
    return KITH_OK;
}

void tree_softenings_free(struct tree_softenings *softenings)
{
    free(softenings->of_point);
    free(softenings->of_cell);
    *softenings = (struct tree_softenings){0};
}

double tree_softening_error(const struct tree_softening *softening, double weight, double radius,
                            double theta)
{
    const double deviation = softening->deviation;
    const double of_squares = deviation > 0 ? deviation * deviation / softening->mean : 0;
    return weight * (2.5 * radius * radius + 6 * theta * deviation + 1.875 * of_squares);
}
