/* Blocks of points of a periodic grid: from each point that splines begin at they reach the points
 * after it, in the blocks that find these, once each. */

#include "testing.h"

#include "mesh/blocks.h"

enum { most_grid = 70, most_order = 8 };

static struct {
    int times[most_grid][most_grid][most_order]; /* first point, point that is reached, which */
} seen;

/* Adds what a block finds. */
static void visit(int32_t grid, int32_t order, int32_t block)
{
    for (int back = 0; back <= blocks_most_back; back++) {
        int32_t from = 0, before = 0;
        if (!blocks_find_back(grid, order, block, back, &from, &before))
            continue;
        for (int32_t in_block = 0; in_block < blocks_edge; in_block++)
            for (int32_t k = 0; k < blocks_edge; k++) {
                const int32_t first = blocks_edge * from + in_block,
                              point = blocks_edge * block + k;
                const int32_t number = before - in_block + k;
                assert_true(before - in_block > -blocks_edge);
                if (first < grid && point < grid && number >= 0 && number < order)
                    seen.times[first][point][number]++;
            }
    }
}

static void test_each_block_finds_the_splines_that_reach_it(void **state)
{
    (void)state;
    for (int32_t order = 4; order <= most_order; order++)
        for (int32_t grid = order; grid < most_grid; grid++) {
            memset(&seen, 0, sizeof seen);
            for (int32_t block = 0; block < blocks_along(grid); block++)
                visit(grid, order, block);
            for (int32_t first = 0; first < grid; first++)
                for (int32_t point = 0; point < grid; point++)
                    for (int32_t number = 0; number < order; number++)
                        if (seen.times[first][point][number] != ((first + number) % grid == point))
                            fail_msg("grid %d, order %d: spline %d of point %d at point %d: %d",
                                     (int)grid, (int)order, (int)number, (int)first, (int)point,
                                     seen.times[first][point][number]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_each_block_finds_the_splines_that_reach_it)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
