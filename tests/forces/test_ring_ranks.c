/* Who sends what to whom, for random partitions: all ranks of a job in one process. */

#include "testing.h"

#include <stdlib.h>

#include "forces/ring_ranks.h"
#include "random_numbers.h"

enum { partitions = 1000 };

static void test_parts_are_contiguous_and_differ_by_one_at_most(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("parts");
    for (int k = 0; k < partitions; k++) {
        const int32_t ranks = (int32_t)random_uniform(&numbers, 1, 40);
        const int64_t things = (int64_t)random_uniform(&numbers, 0, 200);
        assert_int_equal(ranks_first(things, ranks, 0), 0);
        assert_int_equal(ranks_first(things, ranks, ranks), things);
        for (int32_t rank = 0; rank < ranks; rank++) {
            const int64_t first = ranks_first(things, ranks, rank);
            const int64_t end = ranks_first(things, ranks, rank + 1);
            assert_true(end - first == things / ranks || end - first == things / ranks + 1);
            for (int64_t thing = first; thing < end; thing++)
                assert_int_equal(ranks_owner(things, ranks, thing), rank);
        }
    }
}

static void test_elements_of_parts_cover_the_array(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("elements");
    for (int k = 0; k < partitions; k++) {
        const int32_t ranks = (int32_t)random_uniform(&numbers, 1, 40);
        const int64_t count = (int64_t)random_uniform(&numbers, 0, 5000);
        const int64_t part = 64 * (int64_t)random_uniform(&numbers, 1, 17);
        assert_int_equal(ranks_first_element(count, part, ranks, 0), 0);
        assert_int_equal(ranks_first_element(count, part, ranks, ranks), count);
        for (int32_t rank = 0; rank < ranks; rank++) {
            const int64_t first = ranks_first_element(count, part, ranks, rank);
            assert_true(first <= ranks_first_element(count, part, ranks, rank + 1));
            assert_true(first % part == 0 || first == count);
        }
    }
}

/* What a rank sends and receives at an offset: to or from each other rank one run at most. */
struct runs {
    struct ring_run with[40];
};

static struct runs runs_of(struct ring_ranks ring, int64_t offset, bool sends)
{
    struct runs runs = {0};
    struct ring_run run;
    int64_t tile = ranks_first(ring.tiles, ring.ranks, ring.rank);
    while (sends ? ring_next_sent(ring, offset, &tile, &run)
                 : ring_next_received(ring, offset, &tile, &run)) {
        assert_true(run.other != ring.rank && run.count > 0);
        assert_int_equal(runs.with[run.other].count, 0);
        runs.with[run.other] = run;
    }
    return runs;
}

/* What a rank sends is what the other expects, and is of exactly the meetings between them. */
static void check_offset(int64_t tiles, int32_t ranks, int64_t offset)
{
    static struct runs sent[40], received[40];
    for (int32_t rank = 0; rank < ranks; rank++) {
        const struct ring_ranks ring = {tiles, ranks, rank};
        sent[rank] = runs_of(ring, offset, true);
        received[rank] = runs_of(ring, offset, false);
    }
    for (int32_t from = 0; from < ranks; from++)
        for (int32_t to = 0; to < ranks; to++) {
            assert_int_equal(sent[from].with[to].count, received[to].with[from].count);
            if (sent[from].with[to].count > 0)
                assert_int_equal(sent[from].with[to].first, received[to].with[from].first);
        }
    for (int64_t tile = 0; tile < tiles; tile++) {
        const int64_t partner = ring_partner(tiles, tile, offset);
        const int32_t from = ranks_owner(tiles, ranks, tile);
        const int32_t to = ranks_owner(tiles, ranks, partner);
        const bool meets = offset != ring_half_offset(tiles) || tile < tiles / 2;
        const struct ring_run run = sent[from].with[to];
        const bool is_sent = partner >= run.first && partner < run.first + run.count;
        if (from != to && meets)
            assert_true(is_sent);
        if (from != to && !meets)
            assert_false(is_sent);
    }
}

static void test_both_ranks_find_the_same_runs_of_tiles(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("runs");
    for (int k = 0; k < partitions; k++) {
        const int64_t tiles = (int64_t)random_uniform(&numbers, 1, 100);
        const int32_t ranks = (int32_t)random_uniform(&numbers, 1, 40);
        for (int64_t offset = 1; offset < ring_offsets(tiles); offset++)
            check_offset(tiles, ranks, offset);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts_are_contiguous_and_differ_by_one_at_most),
        cmocka_unit_test(test_elements_of_parts_cover_the_array),
        cmocka_unit_test(test_both_ranks_find_the_same_runs_of_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
