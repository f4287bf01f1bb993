/* The sphere of a cell. */

#include <math.h>

#include "tree/octree.h"

/* A cell of more points takes its sphere from those of its children: the points of all cells of a
 * tree are then read about as often as there are small generations. */
enum { points_measured = 1 << 12 };

static double at(const struct octree *tree, const void *column, int64_t k)
{
    return tree->dtype == KITH_F64 ? ((const double *)column)[k]
                                   : (double)((const float *)column)[k];
}

/* GCC 12 has no conversion of two numbers. */
static double rounded(const struct octree *tree, double x)
{
    const volatile float narrow = (float)x;
    return tree->dtype == KITH_F64 ? x : (double)narrow;
}

/* Weighted places, and places for cells without weight. */
struct moments {
    double weight, net, weighted[3], count, plain[3];
};

static void add_place(struct moments *moments, double weight, double count, const double place[3])
{
    moments->weight += weight;
    moments->count += count;
    for (int32_t c = 0; c < 3; c++) {
        moments->weighted[c] += weight * place[c];
        moments->plain[c] += count * place[c];
    }
}

static struct moments sum_places(const struct octree *tree, const struct octree_cell *cell)
{
    struct moments moments = {0};
    for (int32_t k = 0; k < cell->children; k++) {
        const int32_t child = cell->child + k;
        moments.net += tree->net_weight[child];
        add_place(&moments, tree->weight_sum[child], tree->cell[child].count,
                  tree->sphere[child].center);
    }
    for (int64_t k = cell->first; k < cell->first + cell->count && cell->children == 0; k++) {
        const double place[3] = {at(tree, tree->position[0], k), at(tree, tree->position[1], k),
                                 at(tree, tree->position[2], k)};
        moments.net += at(tree, tree->weight, k);
        add_place(&moments, fabs(at(tree, tree->weight, k)), 1, place);
    }
    return moments;
}

static double distance2(const double a[3], const double b[3])
{
    const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
    return x * x + y * y + z * z;
}

double octree_radius2_of(const struct octree *tree, int64_t first, int64_t end,
                         const double center[3])
{
    double greatest = 0;
    for (int64_t k = first; k < end; k++) {
        const double place[3] = {at(tree, tree->position[0], k), at(tree, tree->position[1], k),
                                 at(tree, tree->position[2], k)};
        const double distance = distance2(place, center);
        greatest = distance > greatest ? distance : greatest;
    }
    return greatest;
}

bool octree_measure_from_children(struct octree *tree, int32_t index, double *radius)
{
    const struct octree_cell *cell = &tree->cell[index];
    struct octree_sphere *sphere = &tree->sphere[index];
    const struct moments moments = sum_places(tree, cell);
    tree->weight_sum[index] = moments.weight;
    tree->net_weight[index] = moments.net;
    for (int32_t c = 0; c < 3; c++)
        sphere->center[c] = rounded(tree, moments.weight > 0 ? moments.weighted[c] / moments.weight
                                                             : moments.plain[c] / moments.count);
    if (cell->children == 0 || cell->count <= points_measured)
        return false;
    *radius = 0;
    for (int32_t k = 0; k < cell->children; k++) {
        const struct octree_sphere *child = &tree->sphere[cell->child + k];
        *radius = fmax(*radius, sqrt(distance2(child->center, sphere->center)) + child->radius);
    }
    return true;
}

void octree_measure_cell(struct octree *tree, int32_t index)
{
    const struct octree_cell *cell = &tree->cell[index];
    struct octree_sphere *sphere = &tree->sphere[index];
    const int64_t end = (int64_t)cell->first + cell->count;
    const bool is_known = octree_measure_from_children(tree, index, &sphere->radius);
    if (cell->count == 1) { /* exactly there: a point is at no distance from itself */
        for (int32_t c = 0; c < 3; c++)
            sphere->center[c] = at(tree, tree->position[c], cell->first);
        sphere->radius = 0;
    } else if (!is_known) {
        sphere->radius = sqrt(octree_radius2_of(tree, cell->first, end, sphere->center));
    }
}
