/* The schedule of the symmetric kernels: who meets whom, and who does it. */

#include "testing.h"

#include <stdlib.h>

#include "forces/ring_groups.h"

enum { most_tiles = 70 };

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Counts the meetings of each pair of tiles when the ring is walked in so many chunks. */
static void count_meetings(int64_t tiles, int64_t chunks, int *met)
{
    const int64_t offsets = ring_offsets(tiles);
    memset(met, 0, most_tiles * most_tiles * sizeof *met);
    for (int64_t k = 0; k < chunks; k++) {
        const struct ring_chunk chunk = {tiles, share_begin(offsets, chunks, k),
                                         share_begin(offsets, chunks, k + 1)};
        for (int64_t number = 0; number < ring_meetings(chunk); number++) {
            const struct ring_meeting meeting = ring_meeting_at(chunk, number);
            assert_in_range(meeting.tile, 0, tiles - 1);
            assert_in_range(meeting.offset, chunk.first_offset, chunk.end_offset - 1);
            const int64_t partner = ring_partner(tiles, meeting.tile, meeting.offset);
            const int64_t low = least(meeting.tile, partner);
            met[low * most_tiles + (meeting.tile + partner - low)]++;
        }
    }
}

static void test_ring_brings_every_pair_of_tiles_together_once(void **state)
{
    (void)state;
    int *met = malloc(most_tiles * most_tiles * sizeof *met);
    assert_non_null(met);
    for (int64_t tiles = 0; tiles <= most_tiles; tiles++)
        for (int64_t chunks = 1; chunks <= ring_offsets(tiles) + 1; chunks++) {
            count_meetings(tiles, chunks, met);
            for (int64_t a = 0; a < tiles; a++)
                for (int64_t b = 0; b < tiles; b++)
                    if (met[a * most_tiles + b] != (a <= b))
                        fail_msg("%d tiles in %d chunks: %d and %d meet %d times", (int)tiles,
                                 (int)chunks, (int)a, (int)b, met[a * most_tiles + b]);
        }
    free(met);
}

static void test_ring_gives_no_tile_more_than_one_meeting_more(void **state)
{
    (void)state;
    for (int64_t tiles = 1; tiles <= most_tiles; tiles++) {
        const struct ring_chunk all = {tiles, 0, ring_offsets(tiles)};
        assert_int_equal(ring_meetings(all), tiles * (tiles + 1) / 2);
        for (int64_t tile = 0; tile < tiles; tile++) {
            const int64_t own = ring_first_meeting(all, tile + 1) - ring_first_meeting(all, tile);
            assert_in_range(own, (tiles + 1) / 2, tiles / 2 + 1);
        }
    }
}

/* What is added to a tile's sums is what was stored for it. */
static void test_ring_knows_when_a_tile_is_visited(void **state)
{
    (void)state;
    for (int64_t tiles = 1; tiles <= most_tiles; tiles++)
        for (int64_t end = 1; end <= ring_offsets(tiles); end++) {
            const struct ring_chunk chunk = {tiles, end / 2, end};
            int64_t visits[most_tiles] = {0};
            for (int64_t number = 0; number < ring_meetings(chunk); number++) {
                const struct ring_meeting meeting = ring_meeting_at(chunk, number);
                const int64_t partner = ring_partner(tiles, meeting.tile, meeting.offset);
                visits[partner] += meeting.offset > 0;
                if (meeting.offset > 0)
                    assert_true(meeting.offset < ring_end_visited(chunk, partner));
            }
            const int64_t first = chunk.first_offset > 0 ? chunk.first_offset : 1;
            for (int64_t tile = 0; tile < tiles; tile++) {
                const int64_t visited_end = ring_end_visited(chunk, tile);
                assert_int_equal(visits[tile], visited_end > first ? visited_end - first : 0);
            }
        }
}

static void check_shares(int64_t total, int64_t shares)
{
    assert_int_equal(share_begin(total, shares, 0), 0);
    assert_int_equal(share_begin(total, shares, shares), total);
    for (int64_t k = 0; k < shares; k++) {
        const int64_t begin = share_begin(total, shares, k);
        const int64_t end = share_begin(total, shares, k + 1);
        assert_in_range(end - begin, total / shares, total / shares + 1);
        if (begin < end) {
            assert_int_equal(share_of(total, shares, begin), k);
            assert_int_equal(share_of(total, shares, end - 1), k);
        }
    }
}

static void test_shares_are_even_and_know_their_owner(void **state)
{
    (void)state;
    for (int64_t total = 1; total < 200; total++)
        for (int64_t shares = 1; shares < 90; shares++)
            check_shares(total, shares);
    check_shares(1057, 1056);
    check_shares(1056, 1056);
}

static void check_dealing(struct ring_chunk chunk, int64_t steps, int64_t shares)
{
    const int64_t count = steps * ring_meetings(chunk);
    const int64_t even = ring_cost(chunk, steps) / shares;
    assert_int_equal(ring_share_begin(chunk, steps, shares, 0), 0);
    assert_int_equal(ring_share_begin(chunk, steps, shares, shares), count);
    for (int64_t k = 0; k < shares; k++) {
        const int64_t begin = ring_share_begin(chunk, steps, shares, k);
        const int64_t end = ring_share_begin(chunk, steps, shares, k + 1);
        int64_t cost = 0;
        assert_true(begin < end);
        for (int64_t step = begin; step < end; step++) {
            const bool is_self = ring_meeting_at(chunk, step / steps).offset == 0;
            cost += is_self ? ring_self_step_cost : ring_step_cost;
            assert_int_equal(ring_share_of(chunk, steps, shares, step), k);
        }
        assert_in_range(cost, even - ring_step_cost + 1, even + ring_step_cost);
    }
}

static void test_ring_deals_steps_by_their_cost(void **state)
{
    (void)state;
    for (int64_t tiles = 1; tiles <= 12; tiles++)
        for (int64_t end = 1; end <= ring_offsets(tiles); end++)
            for (int64_t first = 0; first < end; first++)
                for (int64_t steps = 1; steps <= 8; steps += 7) {
                    const struct ring_chunk chunk = {tiles, first, end};
                    const int64_t most = ring_most_shares(chunk, steps);
                    for (int64_t shares = 1; shares <= most; shares++)
                        check_dealing(chunk, steps, shares);
                }
}

/* 2^30 bodies in tiles of 2^10, in steps of 2^5. */
static void test_ring_of_a_billion_bodies_does_not_overflow(void **state)
{
    (void)state;
    const int64_t tiles = 1 << 20, steps_of_meeting = 32, blocks = 1056;
    const struct ring_chunk all = {tiles, 0, ring_offsets(tiles)};
    const int64_t meetings = ring_meetings(all), steps = meetings * steps_of_meeting;
    assert_int_equal(meetings, tiles * (tiles + 1) / 2);
    check_shares(steps, blocks);
    for (int64_t k = 0; k < blocks; k++) {
        const int64_t step = ring_share_begin(all, steps_of_meeting, blocks, k);
        const int64_t number = step / steps_of_meeting;
        assert_in_range(step, k * (steps / blocks) * 99 / 100, (k + 1) * (steps / blocks));
        assert_int_equal(ring_share_of(all, steps_of_meeting, blocks, step), k);
        const struct ring_meeting meeting = ring_meeting_at(all, number);
        assert_int_equal(ring_first_meeting(all, meeting.tile) + meeting.offset, number);
        assert_true(number < ring_first_meeting(all, meeting.tile + 1));
    }
}

/* Groups cover the offsets once, and their costs differ by at most one and a half offsets. */
static void test_ring_groups_are_of_equal_cost(void **state)
{
    (void)state;
    assert_int_equal(ring_groups(0), 1);
    assert_int_equal(ring_groups(31), 1);
    assert_int_equal(ring_groups(32), 2);
    assert_int_equal(ring_groups(64), 4);
    assert_int_equal(ring_groups(1000), ring_most_groups);
    for (int64_t tiles = 0; tiles < 500; tiles++) {
        const int64_t groups = ring_groups(tiles);
        int64_t costs[ring_most_groups], largest = 0, smallest = INT64_MAX;
        assert_int_equal(ring_group_begin(tiles, groups, 0), 0);
        assert_int_equal(ring_group_begin(tiles, groups, groups), ring_offsets(tiles));
        for (int64_t group = 0; group < groups; group++) {
            const struct ring_chunk chunk = {tiles, ring_group_begin(tiles, groups, group),
                                             ring_group_begin(tiles, groups, group + 1)};
            assert_true(tiles == 0 || chunk.first_offset < chunk.end_offset);
            costs[group] = ring_cost(chunk, 1);
            largest = costs[group] > largest ? costs[group] : largest;
            smallest = costs[group] < smallest ? costs[group] : smallest;
        }
        assert_true(largest - smallest <= 3 * ring_step_cost / 2 * tiles);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ring_brings_every_pair_of_tiles_together_once),
        cmocka_unit_test(test_ring_gives_no_tile_more_than_one_meeting_more),
        cmocka_unit_test(test_ring_knows_when_a_tile_is_visited),
        cmocka_unit_test(test_shares_are_even_and_know_their_owner),
        cmocka_unit_test(test_ring_deals_steps_by_their_cost),
        cmocka_unit_test(test_ring_of_a_billion_bodies_does_not_overflow),
        cmocka_unit_test(test_ring_groups_are_of_equal_cost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
