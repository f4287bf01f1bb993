#include "tree/essential_ranks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "ranks/ranks.h"
#include "tree/expansion.h"
#include "tree/octree_split.h"

static const char what[] = "cells of a tree";

/* What ranks learn of each other's branches. */
struct branch_seen {
    struct octree_sphere sphere;
    double weight, net;
    int32_t children, unused;
};

static kith_status grow(int64_t count, int64_t room, int64_t bytes, void *memory)
{
    void *old = NULL, *grown = NULL;
    if (bytes == 0)
        return KITH_OK;
    memcpy(&old, memory, sizeof old);
    KITH_TRY(kith_allocate_unset(room, bytes, what, &grown));
    if (count > 0)
        memcpy(grown, old, (size_t)(count * bytes));
    free(old);
    memcpy(memory, &grown, sizeof grown);
    return KITH_OK;
}

kith_status tree_essential_reserve(struct tree_essential *e, int64_t cells)
{
    const int64_t count = e->tree.cell_count, room = cells + cells / 4 + 64;
    if (cells <= e->room)
        return KITH_OK;
    if (room > INT32_MAX)
        return kith_fail(KITH_UNSUPPORTED, "a tree has more than 2147483647 cells");
    KITH_TRY(grow(count, room, sizeof *e->tree.cell, &e->tree.cell));
    KITH_TRY(grow(count, room, sizeof *e->tree.net_weight, &e->tree.net_weight));
    KITH_TRY(grow(count, room, sizeof *e->kind, &e->kind));
    KITH_TRY(grow(count, room, sizeof *e->number, &e->number));
    KITH_TRY(grow(count, room, sizeof *e->owner, &e->owner));
    KITH_TRY(grow(count, room, sizeof *e->there, &e->there));
    KITH_TRY(grow(count, room, sizeof *e->side, &e->side));
    KITH_TRY(grow(count, room, e->terms * (int64_t)sizeof *e->power, &e->power));
    if (e->softenings.of_cell)
        KITH_TRY(grow(count, room, sizeof *e->softenings.of_cell, &e->softenings.of_cell));
    KITH_TRY(grow(count, room, sizeof *e->wanted, &e->wanted));
    KITH_TRY(grow(count, room, sizeof *e->far, &e->far));
    KITH_TRY(grow(count, room, sizeof *e->near, &e->near));
    e->room = (int32_t)room;
    return KITH_OK;
}

static int64_t first_branch(const struct tree_essential *e)
{
    return e->division->first[e->division->context->ranks->rank];
}

static int64_t end_branch(const struct tree_essential *e)
{
    return e->division->first[e->division->context->ranks->rank + 1];
}

/* The top, and the cells below this rank's branches. */
static kith_status split(struct tree_essential *e, int32_t leaf)
{
    const struct tree_division *division = e->division;
    const int32_t rank = division->context->ranks->rank;
    struct octree *own = &e->own;
    KITH_TRY(octree_reserve_cpu(own, division->count));
    memcpy(own->cell, division->cell, (size_t)division->count * sizeof *own->cell);
    own->cell_count = division->count;
    own->generations = 1;
    own->generation[0] = 0;
    own->generation[1] = division->count;
    for (int64_t k = first_branch(e); k < end_branch(e); k++) {
        struct octree_cell *cell = &own->cell[division->branch[k]];
        cell->first -= (int32_t)division->point[rank];
        cell->level = morton_common_level(own->dimensions, own->keys[cell->first],
                                          own->keys[cell->first + cell->count - 1]);
    }
    KITH_TRY(octree_split_cpu(division->context, leaf, division->branch + first_branch(e),
                              (int32_t)(end_branch(e) - first_branch(e)), own));
    return octree_measure_cpu(division->context, 1, own);
}

/* Collective: the spheres of all branches. */
static kith_status measure_branches(struct tree_essential *e)
{
    const struct tree_division *division = e->division;
    struct octree *own = &e->own;
    struct branch_seen *seen = NULL;
    KITH_TRY(ranks_agree(division->context,
                         kith_allocate(division->branch_count, sizeof *seen, what, &seen)));
    for (int64_t k = first_branch(e); k < end_branch(e); k++) {
        const int32_t cell = division->branch[k];
        octree_measure_cell(own, cell);
        seen[k] = (struct branch_seen){own->sphere[cell], own->weight_sum[cell],
                                       own->net_weight[cell], own->cell[cell].children, 0};
    }
    tree_division_gather(division, seen, sizeof *seen);
    for (int64_t k = 0; k < division->branch_count; k++) {
        const int32_t cell = division->branch[k];
        own->sphere[cell] = seen[k].sphere;
        own->weight_sum[cell] = seen[k].weight;
        own->net_weight[cell] = seen[k].net;
        own->cell[cell].children = seen[k].children;
        if (k < first_branch(e) || k >= end_branch(e))
            own->cell[cell].child = seen[k].children > 0 ? octree_absent : 0;
    }
    free(seen);
    return KITH_OK;
}

static bool is_branch(const struct tree_division *division, int32_t cell)
{
    return division->cell[cell].children == 0;
}

/* Of the points of this rank in a cell of the top the largest distance from its center, squared. */
static double own_radius2(const struct tree_essential *e, int32_t cell)
{
    const struct tree_division *division = e->division;
    const int32_t rank = division->context->ranks->rank;
    const int64_t from = division->point[rank], to = division->point[rank + 1];
    const int64_t begin = division->cell[cell].first, end = begin + division->cell[cell].count;
    const int64_t first = begin > from ? begin : from, last = end < to ? end : to;
    return octree_radius2_of(&e->own, first - from, last - from, e->own.sphere[cell].center);
}

/* Cells of the top whose radius is that of their points, which several ranks may have. */
struct few_points {
    int32_t *cell;
    int64_t count;
    double *radius2; /* of the points of each rank */
};

/* The centers of the cells above branches, and which of them have few points. */
static void find_few(struct tree_essential *e, struct few_points *few)
{
    const struct tree_division *division = e->division;
    double unknown = 0;
    for (int32_t k = division->count - 1; k >= 0; k--)
        if (!is_branch(division, k) && !octree_measure_from_children(&e->own, k, &unknown))
            few->cell[few->count++] = k;
}

static void take_radii(struct tree_essential *e, const struct few_points *few)
{
    const struct tree_division *division = e->division;
    int64_t next = 0;
    for (int32_t k = division->count - 1; k >= 0; k--) {
        double *const radius = &e->own.sphere[k].radius;
        if (is_branch(division, k) || octree_measure_from_children(&e->own, k, radius))
            continue;
        double largest = 0;
        for (int32_t rank = 0; rank < division->context->ranks->size; rank++)
            largest = fmax(largest, few->radius2[rank * few->count + next]);
        *radius = sqrt(largest);
        next++;
    }
}

/* Collective: the spheres of the cells above branches. */
static kith_status measure_above(struct tree_essential *e)
{
    const struct tree_division *division = e->division;
    const struct ranks *ranks = division->context->ranks;
    struct few_points few = {0};
    kith_status status = kith_allocate(division->count, sizeof *few.cell, what, &few.cell);
    if (status == KITH_OK) {
        find_few(e, &few);
        status = kith_allocate(few.count * ranks->size, sizeof *few.radius2, what, &few.radius2);
    }
    status = ranks_agree(division->context, status);
    for (int64_t k = 0; k < few.count && status == KITH_OK; k++)
        few.radius2[ranks->rank * few.count + k] = own_radius2(e, few.cell[k]);
    for (int32_t k = 0; k <= ranks->size; k++)
        ranks->first[k] = k;
    if (status == KITH_OK && few.count > 0)
        ranks_gather_parts(division->context, few.radius2, few.count * (int64_t)sizeof *few.radius2,
                           ranks->first);
    if (status == KITH_OK)
        take_radii(e, &few);
    free(few.cell);
    free(few.radius2);
    return status;
}

static void make_side(struct tree_essential *e, int32_t k)
{
    const struct octree_sphere *sphere = &e->own.sphere[k];
    const int32_t parent = e->own.cell[k].parent;
    e->side[k] = (struct tree_side){
        .center = {sphere->center[0], sphere->center[1], sphere->center[2]},
        .radius = sphere->radius,
        .weight = e->own.weight_sum[k],
        .size = expansion_size(sphere->radius, parent < 0 ? 0 : e->side[parent].size),
    };
}

/* Which cells of the top are this rank's, or above them. */
static void find_kinds(struct tree_essential *e)
{
    const struct tree_division *division = e->division;
    memset(e->kind, tree_own, (size_t)e->base);
    memset(e->kind, tree_above_others, (size_t)division->count);
    for (int32_t rank = 0; rank < division->context->ranks->size; rank++)
        for (int64_t k = division->first[rank]; k < division->first[rank + 1]; k++) {
            const int32_t cell = division->branch[k];
            e->kind[cell] = rank == division->context->ranks->rank ? tree_own : tree_other;
            e->owner[cell] = rank;
            e->there[cell] = cell;
        }
    for (int32_t k = division->count - 1; k > 0; k--)
        if (e->kind[k] == tree_own || e->kind[k] == tree_above_own)
            e->kind[division->cell[k].parent] = tree_above_own;
    /* What is above the branches is counted by the rank of the first of them. */
    const int64_t from = division->point[division->context->ranks->rank];
    const int64_t to = division->point[division->context->ranks->rank + 1];
    for (int32_t k = 0; k < division->count; k++)
        e->counts_here[k] = division->cell[k].first >= from && division->cell[k].first < to;
}

static void number_cells(struct tree_essential *e)
{
    const struct tree_division *division = e->division;
    const int64_t offset = division->point[division->context->ranks->rank];
    const int64_t generation = INT64_C(1) << 32;
    for (int32_t k = 0; k < division->count; k++)
        e->number[k] = generation * division->generation[k] + division->cell[k].first;
    for (int32_t k = division->count; k < e->base; k++)
        e->number[k] = (e->number[e->own.cell[k].parent] / generation + 1) * generation + offset +
                       e->own.cell[k].first;
}

static kith_status make_base(struct tree_essential *e)
{
    const struct octree *own = &e->own;
    e->base = own->cell_count;
    e->tree = (struct octree){.dtype = own->dtype,
                              .dimensions = own->dimensions,
                              .count = own->count,
                              .position = {own->position[0], own->position[1], own->position[2]},
                              .weight = own->weight};
    KITH_TRY(tree_essential_reserve(e, e->base));
    KITH_TRY(kith_allocate(e->division->count, sizeof *e->counts_here, what, &e->counts_here));
    e->tree.cell_count = e->base;
    e->roots = 1;
    memcpy(e->tree.cell, own->cell, (size_t)e->base * sizeof *own->cell);
    memcpy(e->tree.net_weight, own->net_weight, (size_t)e->base * sizeof *own->net_weight);
    for (int32_t k = 0; k < e->base; k++)
        make_side(e, k);
    find_kinds(e);
    number_cells(e);
    return KITH_OK;
}

kith_status tree_essential_create(struct tree_division *division, int32_t leaf,
                                  struct tree_essential *e)
{
    e->division = division;
    KITH_TRY(tree_division_send(division, &e->own));
    KITH_TRY(ranks_agree(division->context, split(e, leaf)));
    octree_free_keys(&e->own);
    KITH_TRY(measure_branches(e));
    KITH_TRY(measure_above(e));
    return ranks_agree(division->context, make_base(e));
}

void tree_essential_free(struct tree_essential *e)
{
    octree_free(&e->own);
    free(e->tree.cell);
    free(e->tree.net_weight);
    free(e->kind);
    free(e->counts_here);
    free(e->number);
    free(e->owner);
    free(e->there);
    free(e->side);
    free(e->power);
    tree_softenings_free(&e->softenings);
    free(e->wanted);
    free(e->far);
    free(e->near);
    free(e->columns);
    *e = (struct tree_essential){0};
}

void tree_essential_count(const struct tree_essential *e, const struct tree_counts *of_branches,
                          struct tree_counts *sums)
{
    struct tree_division *division = e->division;
    unsigned long long values[2] = {(unsigned long long)sums->far,
                                    (unsigned long long)sums->near_pairs};
    for (int64_t k = first_branch(e); k < end_branch(e); k++)
        division->counts[k] = of_branches[k - first_branch(e)];
    tree_division_gather(division, division->counts, sizeof *division->counts);
    ranks_add(division->context, values, 2);
    *sums = (struct tree_counts){(int64_t)values[0], (int64_t)values[1]};
}

int64_t tree_essential_cells(const struct tree_essential *e)
{
    unsigned long long below = (unsigned long long)(e->base - e->division->count);
    ranks_add(e->division->context, &below, 1);
    return (int64_t)below + e->division->count;
}
