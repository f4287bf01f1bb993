/* Who has which part of the work, for random partitions: all ranks of a job in one process. */

#include "testing.h"

#include <stdlib.h>

#include "random_numbers.h"
#include "ranks/partition.h"
#include "ranks/ranks.h"
#include "tree/work_ranks.h"

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

enum { most_branches = 40 };

/* Branches of some points of a curve. */
struct branches {
    struct octree_cell cells[most_branches];
    int32_t branch[most_branches];
    double work[most_branches];
    struct tree_division division;
};

static void make_branches(struct random_numbers *numbers, int64_t points, struct branches *made)
{
    int32_t count = 0;
    for (int64_t first = 0; first < points && count < most_branches; count++) {
        const int64_t left = points - first, some = 1 + (int64_t)random_uniform(numbers, 0, 400);
        const int64_t here = some < left && count < most_branches - 1 ? some : left;
        made->cells[count] = (struct octree_cell){.first = (int32_t)first, .count = (int32_t)here};
        made->branch[count] = count;
        first += here;
    }
    made->division = (struct tree_division){.points = points,
                                            .count = count,
                                            .cell = made->cells,
                                            .branch_count = count,
                                            .branch = made->branch,
                                            .work = made->work};
}

/* Work that was measured is found again, and in other branches as much of it as they share. */
static void test_work_is_remembered_along_the_curve(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("work");
    static struct branches before, after;
    for (int k = 0; k < partitions; k++) {
        const int64_t points = (int64_t)random_uniform(&numbers, 1, 7000);
        struct tree_work work = {0};
        double known[most_branches] = {0}, total = 0, found = 0;
        make_branches(&numbers, points, &before);
        make_branches(&numbers, points, &after);
        assert_false(tree_work_recall(&work, &before.division));
        for (int32_t i = 0; i < before.division.count; i++)
            total += known[i] = before.work[i] = random_uniform(&numbers, 0, 5);
        assert_ok(tree_work_keep(&before.division, &work));
        memset(before.work, 0, sizeof before.work);
        assert_true(tree_work_recall(&work, &before.division));
        for (int32_t i = 0; i < before.division.count; i++)
            assert_true(fabs(before.work[i] - known[i]) <= 1e-12 * total);
        assert_true(tree_work_recall(&work, &after.division));
        for (int32_t i = 0; i < after.division.count; i++) {
            assert_true(after.work[i] >= -1e-12 * total);
            found += after.work[i];
        }
        assert_true(fabs(found - total) <= 1e-12 * total);
        work.points++;
        assert_false(tree_work_recall(&work, &after.division));
        tree_work_free(&work);
    }
}

/* A job in which this rank stands for many with the same points: each sum is `alike` of its own. */
static void add_alike(void *alike, unsigned long long *values, int64_t count)
{
    for (int64_t k = 0; k < count; k++)
        values[k] *= *(const unsigned long long *)alike;
}

static void pass_maximum(void *alike, int32_t batch, int64_t *values, int32_t count)
{
    (void)alike, (void)batch, (void)values, (void)count;
}

static void pass_sent(void *alike, int32_t batch, int32_t to, int32_t tag, const void *data,
                      int64_t bytes)
{
    (void)alike, (void)batch, (void)to, (void)tag, (void)data, (void)bytes;
}

static void pass_received(void *alike, int32_t batch, int32_t from, int32_t tag, void *data,
                          int64_t bytes)
{
    (void)alike, (void)batch, (void)from, (void)tag, (void)data, (void)bytes;
}

static void pass_wait(void *alike, int32_t batch)
{
    (void)alike, (void)batch;
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

enum { points_here = 3000, points_of_branch = 40 };

/* Divides the points of this rank and of all that are like it. */
static void divide_alike(kith_context *context, const uint64_t *keys, struct ranks *ranks,
                         struct tree_division *division)
{
    const unsigned long long alike = *(const unsigned long long *)ranks->state;
    *division =
        (struct tree_division){.slice = {.dtype = KITH_F64, .dimensions = 3, .count = points_here}};
    division->slice.keys = malloc(points_here * sizeof *keys);
    memcpy(division->slice.keys, keys, points_here * sizeof *keys);
    context->ranks = ranks;
    assert_ok(tree_division_find_branches(context, points_here * (int64_t)alike,
                                          (int32_t)(points_of_branch * alike), division));
    tree_division_divide(division);
    context->ranks = NULL;
}

/* Of 2^31 points and more, of which each rank has fewer. */
static void test_more_points_than_an_index_counts_are_divided_like_few(void **state)
{
    (void)state;
    static const kith_messages library = {.post_send = pass_sent,
                                          .post_receive = pass_received,
                                          .post_maximum = pass_maximum,
                                          .wait = pass_wait,
                                          .add = add_alike};
    struct random_numbers numbers = random_numbers_begin("many points");
    uint64_t keys[points_here];
    for (int64_t k = 0; k < points_here; k++) /* 21 levels, clustered */
        keys[k] = (uint64_t)ldexp(pow(random_uniform(&numbers, 0, 1), 3), 63);
    qsort(keys, points_here, sizeof *keys, compare_keys);
    kith_context *context = NULL;
    assert_ok(kith_context_create(NULL, &context));
    unsigned long long one = 1, many = 1 << 24;
    struct ranks of_one = {.library = &library, .state = &one, .size = 3},
                 of_many = {.library = &library, .state = &many, .size = 3};
    struct tree_division few, all;
    divide_alike(context, keys, &of_one, &few);
    divide_alike(context, keys, &of_many, &all);
    assert_int_equal(few.count, all.count);
    assert_true(few.count > points_here / points_of_branch);
    for (int32_t k = 0; k < few.count; k++) {
        assert_int_equal(few.cell[k].child, all.cell[k].child);
        assert_int_equal(few.cell[k].level, all.cell[k].level);
        assert_int_equal(few.before[k] * (int64_t)many, all.before[k]);
    }
    for (int k = 0; k <= 3; k++)
        assert_int_equal(few.point[k] * (int64_t)many, all.point[k]);
    assert_true(all.point[2] > INT32_MAX);
    tree_division_free(&few);
    tree_division_free(&all);
    kith_context_free(context);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_by_weight_cover_all_things_and_are_balanced),
        cmocka_unit_test(test_work_is_remembered_along_the_curve),
        cmocka_unit_test(test_more_points_than_an_index_counts_are_divided_like_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
