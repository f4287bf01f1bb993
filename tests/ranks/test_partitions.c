/* Who has which part of the work, for random partitions: all ranks of a job in one process. */

#include "testing.h"

#include <stdlib.h>

#include "device/context.h"
#include "ranks/partition.h"
#include "ranks/ranks.h"
#include "tree/branches_ranks.h"
#include "tree_scene.h"

enum { partitions = 1000, most_things = 300, most_ranks_here = 40 };

static void test_parts_by_weight_cover_all_things_and_are_balanced(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("parts by weight");
    for (int k = 0; k < partitions; k++) {
        const int32_t ranks = (int32_t)random_uniform(&numbers, 1, most_ranks_here);
        const int64_t things = (int64_t)random_uniform(&numbers, 0, most_things);
        double weight[most_things] = {0}, total = 0, heaviest = 0;
        int64_t first[most_ranks_here + 1] = {0};
        for (int64_t thing = 0; thing < things; thing++) {
            const bool has_some = k % 5 > 0 && random_uniform(&numbers, 0, 1) < 0.8;
            weight[thing] = has_some ? pow(10, random_uniform(&numbers, 0, k % 4)) : 0;
            total += weight[thing];
            heaviest = fmax(heaviest, weight[thing]);
        }
        ranks_divide(things, weight, ranks, first);
        assert_int_equal(first[0], 0);
        assert_int_equal(first[ranks], things);
        for (int32_t rank = 0; rank < ranks; rank++) {
            double load = 0;
            assert_true(first[rank] <= first[rank + 1]);
            for (int64_t thing = first[rank]; thing < first[rank + 1]; thing++)
                load += weight[thing];
            assert_true(load <= (total / ranks + heaviest) * (1 + 1e-12));
            if (total == 0)
                assert_true(first[rank + 1] - first[rank] <= things / ranks + 1);
        }
    }
}

/* Every cell of the tree that is not above the branches is of one rank, its parent's if that is not
 * above them either, and so are its points. */
static void check_cells(const struct octree *tree, struct tree_branches *branches,
                        struct ranks *ranks, int32_t *owner)
{
    for (int32_t k = 0; k < tree->cell_count; k++)
        owner[k] = -1;
    for (ranks->rank = 0; ranks->rank < ranks->size; ranks->rank++)
        for (int32_t g = 0; g < tree->generations; g++) {
            int32_t first = 0, end = 0;
            tree_branches_cells(branches, g, &first, &end);
            for (int32_t k = first; k < end; k++) {
                assert_int_equal(owner[k], -1);
                owner[k] = ranks->rank;
            }
        }
    for (int32_t k = 0; k < tree->cell_count; k++) {
        const struct octree_cell *cell = &tree->cell[k];
        assert_true(owner[k] >= 0);
        if (cell->count > branches->most_points)
            continue;
        assert_true(branches->point[owner[k]] <= cell->first);
        assert_true(cell->first + cell->count <= branches->point[owner[k] + 1]);
        if (tree->cell[cell->parent].count <= branches->most_points)
            assert_int_equal(owner[k], owner[cell->parent]);
    }
}

static void check_branches(const struct octree *tree, const struct tree_branches *branches)
{
    int64_t end = 0;
    for (int64_t k = 0; k < branches->count; k++) {
        const struct octree_cell *cell = &tree->cell[branches->cell[k]];
        assert_true(cell->first >= end && cell->count <= branches->most_points);
        assert_true(cell->parent >= 0 && tree->cell[cell->parent].count > branches->most_points);
        end = (int64_t)cell->first + cell->count;
    }
}

static void test_branches_of_random_trees_have_one_rank_each(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("branches");
    static struct tree_scene scene;
    int64_t divided = 0;
    kith_context *context = NULL;
    assert_ok(kith_context_create(&(kith_context_options){.device = {KITH_CPU, 0}, .threads = 1},
                                  &context));
    for (int kind = 0; kind < 2 * scene_kinds; kind++) {
        struct octree tree = {0};
        const int32_t dimensions = 2 + kind / scene_kinds;
        scene_fill(&scene, &numbers, scene_names[kind % scene_kinds], dimensions,
                   (int64_t)random_uniform(&numbers, 2000, scene_most));
        const struct sort_points points = {
            KITH_F64, dimensions, scene.count, {scene.x[0], scene.x[1], scene.x[2]}};
        assert_ok(octree_build_cpu(context, &points, scene.weight, 20, &tree));
        int32_t *owner = calloc((size_t)tree.cell_count, sizeof *owner);
        for (int k = 0; k < 50; k++) {
            struct ranks ranks = {.size = (int32_t)random_uniform(&numbers, 1, most_ranks_here)};
            struct tree_branches *branches = NULL;
            context->ranks = &ranks;
            assert_ok(tree_branches_create(context, &tree, &branches));
            if (branches) {
                check_branches(&tree, branches);
                check_cells(&tree, branches, &ranks, owner);
                for (int64_t branch = 0; branch < branches->count; branch++)
                    branches->work[branch] = random_uniform(&numbers, -1, 3) < 0 ? 0 : 1;
                tree_branches_divide(branches);
                check_cells(&tree, branches, &ranks, owner);
                divided++;
            }
            tree_branches_free(branches);
            context->ranks = NULL;
        }
        free(owner);
        octree_free(&tree);
    }
    assert_true(divided >= partitions);
    kith_context_free(context);
}

/* Work that was measured is found again, and in other branches as much of it as they share. */
static void test_work_is_remembered_along_the_curve(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("work");
    static struct tree_scene scene;
    struct octree trees[2] = {{0}};
    struct tree_work work = {0};
    struct ranks ranks = {.size = 3};
    kith_context *context = NULL;
    assert_ok(kith_context_create(&(kith_context_options){.device = {KITH_CPU, 0}, .threads = 1},
                                  &context));
    context->ranks = &ranks;
    struct tree_branches *branches[2] = {NULL};
    for (int k = 0; k < 2; k++) {
        scene_fill(&scene, &numbers, k ? "sphere" : "plummer", 3, 7000);
        const struct sort_points points = {
            KITH_F64, 3, scene.count, {scene.x[0], scene.x[1], scene.x[2]}};
        assert_ok(octree_build_cpu(context, &points, scene.weight, 20, &trees[k]));
        assert_ok(tree_branches_create(context, &trees[k], &branches[k]));
        assert_non_null(branches[k]);
    }
    assert_false(tree_work_recall(&work, branches[0]));
    double total = 0, found = 0;
    for (int64_t k = 0; k < branches[0]->count; k++)
        total += branches[0]->work[k] = random_uniform(&numbers, 0, 5);
    double *known = malloc((size_t)branches[0]->count * sizeof *known);
    memcpy(known, branches[0]->work, (size_t)branches[0]->count * sizeof *known);
    assert_ok(tree_work_keep(branches[0], &work));
    memset(branches[0]->work, 0, (size_t)branches[0]->count * sizeof *known);
    assert_true(tree_work_recall(&work, branches[0]));
    for (int64_t k = 0; k < branches[0]->count; k++)
        assert_true(fabs(branches[0]->work[k] - known[k]) <= 1e-12 * total);
    assert_true(tree_work_recall(&work, branches[1]));
    for (int64_t k = 0; k < branches[1]->count; k++) {
        assert_true(branches[1]->work[k] >= 0);
        found += branches[1]->work[k];
    }
    assert_true(fabs(found - total) <= 1e-12 * total);
    work.points++;
    assert_false(tree_work_recall(&work, branches[1]));
    context->ranks = NULL;
    for (int k = 0; k < 2; k++) {
        tree_branches_free(branches[k]);
        octree_free(&trees[k]);
    }
    tree_work_free(&work);
    free(known);
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_by_weight_cover_all_things_and_are_balanced),
        cmocka_unit_test(test_branches_of_random_trees_have_one_rank_each),
        cmocka_unit_test(test_work_is_remembered_along_the_curve),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
