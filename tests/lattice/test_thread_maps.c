/* The distributions of work of all-pairs methods: each pair has one thread, for any number of
 * beads. */

#include "testing.h"

#include <stdlib.h>

#include "lattice/thread_maps.h"

enum { most = 70 };

struct cover {
    int64_t n;
    int32_t times[most][most];
    int64_t thread[most][most];
};

static void visit(struct cover *cover, int64_t thread, int64_t i, int64_t j)
{
    assert_true(i >= 0 && i < cover->n && j >= 0 && j < cover->n && i != j);
    const int64_t row = i < j ? i : j, column = i < j ? j : i;
    cover->times[row][column]++;
    cover->thread[row][column] = thread;
}

static void by_n_steps(struct cover *cover)
{
    for (int64_t i = 0; i < cover->n; i++)
        for (int64_t step = 1; step <= collisions_n_steps(cover->n, i); step++)
            visit(cover, i, i, i + step);
}

static void by_half_steps(struct cover *cover)
{
    for (int64_t i = 0; i < cover->n; i++)
        for (int64_t step = 1; step <= collisions_half_steps(cover->n, i); step++)
            visit(cover, i, i, collisions_on_ring(cover->n, i, step));
}

static void by_all_threads(struct cover *cover)
{
    for (int64_t thread = 0; thread < cover->n * cover->n; thread++) {
        const struct collisions_pair pair = collisions_all_threads(cover->n, thread);
        if (pair.i < pair.j)
            visit(cover, thread, pair.i, pair.j);
    }
}

static void by_half_threads(struct cover *cover)
{
    for (int64_t thread = 0; thread < cover->n * (cover->n - 1) / 2; thread++) {
        const struct collisions_pair pair = collisions_half_threads(cover->n, thread);
        assert_true(pair.i < pair.j);
        visit(cover, thread, pair.i, pair.j);
    }
}

static void (*const maps[])(struct cover *) = {by_n_steps, by_half_steps, by_all_threads,
                                               by_half_threads};

static void test_every_map_has_every_pair_once(void **state)
{
    (void)state;
    for (size_t map = 0; map < sizeof maps / sizeof maps[0]; map++)
        for (int64_t n = 0; n <= most; n++) {
            struct cover cover = {.n = n};
            maps[map](&cover);
            for (int64_t i = 0; i < n; i++)
                for (int64_t j = i + 1; j < n; j++)
                    assert_int_equal(cover.times[i][j], 1);
        }
}

static void test_threads_are_where_the_drawings_have_them(void **state)
{
    (void)state;
    static const int64_t drawn[][2][10] = {
        {{0, 0, 0, 1, 1, 2}, {0, 0, 0, 0, 1, 1, 1, 2, 2, 3}},
        {{0, 0, 3, 1, 1, 2}, {0, 0, 3, 4, 1, 1, 4, 2, 2, 3}},
        {{1, 2, 3, 6, 7, 11}, {1, 2, 3, 4, 7, 8, 9, 13, 14, 19}},
        {{0, 4, 3, 1, 5, 2}, {0, 5, 8, 4, 1, 6, 9, 2, 7, 3}},
    };
    for (size_t map = 0; map < sizeof maps / sizeof maps[0]; map++)
        for (int64_t n = 4; n <= 5; n++) {
            struct cover cover = {.n = n};
            maps[map](&cover);
            for (int64_t i = 0, k = 0; i < n; i++)
                for (int64_t j = i + 1; j < n; j++)
                    assert_int_equal(cover.thread[i][j], drawn[map][n - 4][k++]);
        }
}

static void test_half_steps_share_the_work_evenly(void **state)
{
    (void)state;
    for (int64_t n = 1; n < 200; n++)
        for (int64_t i = 1; i < n; i++) {
            const int64_t difference = collisions_half_steps(n, 0) - collisions_half_steps(n, i);
            assert_true(difference == 0 || difference == 1);
        }
    const int64_t large = (int64_t)1 << 40; /* nothing of it leaves 64 bits */
    const struct collisions_pair last =
        collisions_half_threads(100001, (int64_t)100001 * 100000 / 2 - 1);
    assert_int_equal(last.i, 49999);
    assert_int_equal(last.j, 100000);
    assert_int_equal(collisions_half_steps(large, large - 1), large / 2 - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_map_has_every_pair_once),
        cmocka_unit_test(test_threads_are_where_the_drawings_have_them),
        cmocka_unit_test(test_half_steps_share_the_work_evenly),
    };
    return cmocka_run_group_tests_name("thread_maps", tests, NULL, NULL);
}
