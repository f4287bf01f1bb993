/* The cells in which a GPU looks for partners: every pair that is near, and each once. */

#include "testing.h"

#include "cells/lattice.h"
#include "forces/verlet_rows.h"
#include "random_numbers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { most = 600 };

static struct random_numbers numbers;

static double uniform(double low, double high)
{
    return random_uniform(&numbers, low, high);
}

/* Points by their coordinates of 32 bits, sorted by cells. */
static struct scene {
    int n, dimensions;
    struct pairs_lattice lattice;
    struct verlet_cuda_cells cells;
    uint32_t at[most][3];
    int order[most];
} scene;

static int cell_of(const uint32_t at[3], int axis)
{
    return (int)(((uint64_t)at[axis] * (uint64_t)scene.cells.count[axis]) >> 32);
}

static void sort_points(void)
{
    int64_t cell[most];
    const struct verlet_cuda_cells *cells = &scene.cells;
    for (int i = 0; i < scene.n; i++) {
        cell[i] = 0;
        for (int k = 0; k < 3; k++) {
            const int axis = cells->axis[k];
            cell[i] = cell[i] * cells->count[axis] + cell_of(scene.at[i], axis);
        }
    }
    for (int64_t c = 0, slot = 0; c <= cells->total; c++) {
        cells->begin[c] = (int32_t)slot;
        for (int i = 0; i < scene.n && c < cells->total; i++)
            if (cell[i] == c)
                scene.order[slot++] = i;
    }
}

static void random_scene(double search)
{
    kith_cell cell = {{{0}}, {true, true, true}};
    const bool is_skew = uniform(0, 1) < 0.5;
    const int d = scene.dimensions = uniform(0, 1) < 0.3 ? 2 : 3;
    scene.n = (int)uniform(0, most + 1);
    for (int k = 0; k < d; k++)
        for (int c = 0; c < d; c++)
            cell.vectors[k][c] = k == c ? uniform(2.1, 5) : is_skew ? uniform(-0.3, 0.3) : 0;
    cell.periodic[2] = d == 3;
    assert_ok(pairs_lattice_make(&cell, d, 1, &scene.lattice));
    for (int i = 0; i < scene.n; i++)
        for (int k = 0; k < 3; k++) {
            const double edge = uniform(0, 1); /* some are at the cell's faces */
            scene.at[i][k] = k >= d        ? 0
                             : edge < 0.05 ? 0
                             : edge < 0.1  ? UINT32_MAX
                                           : (uint32_t)uniform(0, 0x1p32);
        }
    verlet_choose_cells(&scene.lattice, d, scene.n, search, &scene.cells);
    scene.cells.begin = calloc((size_t)scene.cells.total + 1, sizeof *scene.cells.begin);
    assert_non_null(scene.cells.begin);
    sort_points();
}

/* Of the nearest image, by integers that wrap around; and at an image. */
static double distance_of(int i, int j, const int32_t *image)
{
    double r2 = 0;
    for (int c = 0; c < 3; c++) {
        double d = image ? pairs_translation(&scene.lattice, image, c) : 0;
        for (int k = 0; k < scene.dimensions; k++) {
            const double along = image ? (double)scene.at[j][k] - (double)scene.at[i][k]
                                       : (double)(int32_t)(scene.at[j][k] - scene.at[i][k]);
            d += along * 0x1p-32 * scene.lattice.basis[k][c];
        }
        r2 += d * d;
    }
    return sqrt(r2);
}

static void look_at(int i, int32_t begin, int32_t end, const int32_t *image, double search,
                    int times[most])
{
    for (int32_t slot = begin; slot < end; slot++) {
        const int j = scene.order[slot];
        times[j] += j != i && distance_of(i, j, image) < search;
    }
}

static void check_point(int i, const int low[3], double search)
{
    int times[most] = {0};
    const struct verlet_cuda_cells *cells = &scene.cells;
    const bool is_wide = verlet_cells_are_wide(cells, scene.dimensions);
    for (int number = 0; number < verlet_count_rows(cells); number++) {
        const struct verlet_cuda_row row = verlet_row_of(cells, low, number);
        const int32_t *begin = cells->begin + row.first;
        int32_t image[3] = {row.image[0], row.image[1], row.image[2]};
        look_at(i, begin[row.from], begin[row.from + row.here], is_wide ? image : NULL, search,
                times);
        image[cells->axis[2]]++;
        look_at(i, begin[0], begin[row.again], is_wide ? image : NULL, search, times);
    }
    for (int j = 0; j < scene.n; j++)
        assert_int_equal(times[j], j != i && distance_of(i, j, NULL) < search);
}

static void test_verlet_rows_of_groups_have_every_near_pair_once(void **state)
{
    (void)state;
    for (int turn = 0; turn < 60; turn++) {
        const double search = uniform(0.3, 0.95); /* less than half of the heights */
        random_scene(search);
        int32_t slot = 0;
        for (int64_t group = 0; group < verlet_count_groups(&scene.cells); group++) {
            int low[3];
            const int64_t first = verlet_first_of_group(&scene.cells, group, low);
            assert_int_equal(scene.cells.begin[first], slot);
            while (slot < scene.cells.begin[verlet_end_of_group(&scene.cells, first)])
                check_point(scene.order[slot++], low, search);
        }
        assert_int_equal(slot, scene.n);
        free(scene.cells.begin);
    }
}

int main(void)
{
    numbers = random_numbers_begin("test_verlet_rows");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verlet_rows_of_groups_have_every_near_pair_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
