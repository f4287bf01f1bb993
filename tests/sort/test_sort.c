#include "testing.h"

#include "core/memory.h"
#include "random_numbers.h"
#include "sort/hilbert.h"
#include "sort/search.h"
#include "sort/sort.h"

#include <math.h>
#include <stdlib.h>

static kith_context *context_with(int32_t threads)
{
    kith_context *context = NULL;
    assert_ok(kith_context_create(
        &(kith_context_options){.device = {KITH_CPU, 0}, .threads = threads}, &context));
    return context;
}

static void test_a_key_interleaves_the_bits_of_the_coordinates(void **state)
{
    (void)state;
    const struct morton_grid grid = {{0, 0, 0}, 1};
    assert_int_equal(morton_key_3d(&grid, 1, 0, 0), 4);
    assert_int_equal(morton_key_3d(&grid, 0, 1, 0), 2);
    assert_int_equal(morton_key_3d(&grid, 0, 0, 1), 1);
    assert_int_equal(morton_key_2d(&grid, 2, 1), 9);
    for (uint64_t x = 1; x < 1 << 21; x = 3 * x + 1) {
        uint64_t by_3 = 0, by_2 = 0;
        for (int bit = 0; bit < 31; bit++) {
            by_2 |= (x >> bit & 1) << 2 * bit;
            by_3 |= bit < 21 ? (x >> bit & 1) << 3 * bit : 0;
        }
        assert_true(morton_spread_by_3(x) == by_3 && morton_spread_by_2(x) == by_2);
    }
    assert_true(morton_spread_by_2(0x7fffffff) == 0x1555555555555555);
}

static void test_two_keys_share_the_cells_down_to_their_common_level(void **state)
{
    (void)state;
    assert_int_equal(morton_common_level(3, 5, 5), 21);
    assert_int_equal(morton_common_level(3, 0, 7), 20);
    assert_int_equal(morton_common_level(3, 0, UINT64_C(1) << 62), 0);
    assert_int_equal(morton_common_level(2, 0, UINT64_C(3) << 58), 1);
    assert_int_equal(morton_child(3, 0, UINT64_C(6) << 60), 6);
    assert_int_equal(morton_child(2, 30, 2), 2);
}

/* Of every level: the first 3·l bits of a key name a cell of level l. */
static void test_cells_that_follow_along_a_hilbert_curve_share_a_face(void **state)
{
    (void)state;
    enum { levels = 4, side = 1 << levels, cells = side * side * side };
    const int shift = morton_levels_3d - levels;
    int place[cells][3];
    bool is_taken[cells] = {false};
    for (uint64_t x = 0; x < side; x++)
        for (uint64_t y = 0; y < side; y++)
            for (uint64_t z = 0; z < side; z++) {
                const uint64_t morton = morton_spread_by_3(x << shift) << 2 |
                                        morton_spread_by_3(y << shift) << 1 |
                                        morton_spread_by_3(z << shift);
                const uint64_t k = hilbert_key_3d(morton) >> (3 * shift);
                assert_true(k < cells);
                assert_false(is_taken[k]);
                is_taken[k] = true;
                place[k][0] = (int)x;
                place[k][1] = (int)y;
                place[k][2] = (int)z;
            }
    for (int k = 1; k < cells; k++)
        assert_int_equal(abs(place[k][0] - place[k - 1][0]) + abs(place[k][1] - place[k - 1][1]) +
                             abs(place[k][2] - place[k - 1][2]),
                         1);
}

/* The grid fits the largest and the smallest numbers, and points all at the same position. */
static void test_the_grid_has_every_point(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("test_the_grid_has_every_point");
    kith_context *context = context_with(1);
    for (int exponent = -1074; exponent <= 1000; exponent += 61)
        for (int32_t dimensions = 2; dimensions <= 3; dimensions++) {
            enum { n = 100 };
            double x[3][n];
            uint64_t keys[n];
            for (int32_t c = 0; c < 3; c++)
                for (int32_t i = 0; i < n; i++)
                    x[c][i] = ldexp(random_uniform(&numbers, -1, 1), exponent);
            const struct sort_points points = {KITH_F64, dimensions, n, {x[0], x[1], x[2]}};
            const struct morton_grid grid = sort_grid_around_cpu(&points);
            assert_ok(sort_keys_in_grid_cpu(context, &points, &grid, keys));
            const double cells = ldexp(1, morton_levels(dimensions));
            for (int32_t c = 0; c < dimensions; c++)
                for (int32_t i = 0; i < n; i++) {
                    const double slot = (x[c][i] - grid.low[c]) * grid.scale;
                    assert_true(slot >= 0 && slot < cells);
                }
        }
    const double one[3] = {3, -4, 5};
    uint64_t key = 1;
    const struct sort_points point = {KITH_F64, 3, 1, {&one[0], &one[1], &one[2]}};
    const struct morton_grid grid = sort_grid_around_cpu(&point);
    assert_ok(sort_keys_in_grid_cpu(context, &point, &grid, &key));
    assert_true(key == 0);
    kith_context_free(context);
}

static uint64_t random_key(struct random_numbers *numbers, int32_t bits)
{
    const double half = ldexp(1, bits / 2);
    return (uint64_t)random_uniform(numbers, 0, half) << (bits - bits / 2) |
           (uint64_t)random_uniform(numbers, 0, half);
}

static void check_sorted(int64_t n, int32_t bits, struct random_numbers *numbers)
{
    uint64_t *given = NULL, *keys[2] = {NULL, NULL};
    uint32_t *order[2] = {NULL, NULL};
    void *scratch = NULL;
    assert_ok(kith_allocate(n + 1, 8, "keys", &given));
    assert_ok(kith_allocate(sort_scratch_bytes(n), 1, "scratch", &scratch));
    for (int64_t k = 0; k < n; k++)
        given[k] = random_key(numbers, bits);
    for (int32_t turn = 0; turn < 2; turn++) {
        kith_context *context = context_with(turn == 0 ? 1 : 3);
        assert_ok(kith_allocate(n + 1, 8, "keys", &keys[turn]));
        assert_ok(kith_allocate(n + 1, 4, "order", &order[turn]));
        memcpy(keys[turn], given, (size_t)n * 8);
        assert_ok(sort_keys_cpu(context, n, bits, keys[turn], order[turn], scratch));
        kith_context_free(context);
    }
    for (int64_t k = 0; k < n; k++) {
        assert_true(keys[0][k] == given[order[0][k]]);
        assert_true(k == 0 || keys[0][k - 1] < keys[0][k] ||
                    (keys[0][k - 1] == keys[0][k] && order[0][k - 1] < order[0][k]));
    }
    assert_memory_equal(order[0], order[1], (size_t)n * 4);
    assert_memory_equal(keys[0], keys[1], (size_t)n * 8);
    kith_context *context = context_with(2);
    assert_ok(sort_keys_cpu(context, n, bits, given, NULL, scratch)); /* without an order */
    kith_context_free(context);
    assert_memory_equal(given, keys[0], (size_t)n * 8);
    for (int32_t turn = 0; turn < 2; turn++) {
        free(keys[turn]);
        free(order[turn]);
    }
    free(given);
    free(scratch);
}

static void test_keys_are_sorted_and_equal_ones_stay_in_order(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("test_keys_are_sorted");
    static const int64_t sizes[] = {0, 1, 2, 255, 1000, 65536, 65537, 200001, 600000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        check_sorted(sizes[s], 63, &numbers);
        check_sorted(sizes[s], 9, &numbers);
    }
}

static void test_a_scan_sums_what_is_before(void **state)
{
    (void)state;
    int32_t sums[5] = {3, 0, 4, 1};
    sort_scan_cpu(4, sums, sums);
    assert_memory_equal(sums, ((int32_t[]){0, 3, 3, 7, 8}), sizeof sums);
    sort_scan_cpu(0, NULL, sums);
    assert_int_equal(sums[0], 0);
}

/* The reference counts the lesser numbers from the start of the range. */
static void test_a_search_finds_the_first_that_is_not_less(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("test_a_search");
    enum { most = 40 };
    for (int round = 0; round < 1000; round++) {
        int32_t narrow[most], number = -5;
        int64_t wide[most];
        for (int k = 0; k < most; k++)
            wide[k] = narrow[k] = number += (int32_t)random_uniform(&numbers, 0, 2.5);
        const int64_t first = (int64_t)random_uniform(&numbers, 0, most),
                      end =
                          first + (int64_t)random_uniform(&numbers, 0, (double)(most - first) + 1);
        const int64_t least = (int64_t)random_uniform(&numbers, -8, number + 3);
        int64_t expected = first;
        while (expected < end && narrow[expected] < least)
            expected++;
        assert_int_equal(search_32(narrow, first, end, least), expected);
        assert_int_equal(search_64(wide, first, end, least), expected);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_key_interleaves_the_bits_of_the_coordinates),
        cmocka_unit_test(test_two_keys_share_the_cells_down_to_their_common_level),
        cmocka_unit_test(test_cells_that_follow_along_a_hilbert_curve_share_a_face),
        cmocka_unit_test(test_the_grid_has_every_point),
        cmocka_unit_test(test_keys_are_sorted_and_equal_ones_stay_in_order),
        cmocka_unit_test(test_a_scan_sums_what_is_before),
        cmocka_unit_test(test_a_search_finds_the_first_that_is_not_less),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
