#ifndef TESTS_SUMS_CLOUD_H
#define TESTS_SUMS_CLOUD_H

/* Random points for sums over their pairs, at most most_points, which is defined before. Include
 * testing.h before. */

#include "random_numbers.h"

#define COUNT_OF(array) ((int64_t)(sizeof(array) / sizeof *(array)))

static struct random_numbers numbers;

static inline double uniform(void)
{
    return random_uniform(&numbers, 0, 1);
}

/* Points with masses and a column h, in double and in float. */
struct cloud {
    int64_t count;
    int32_t dimensions;
    double x[3 * most_points], m[most_points], h[most_points];
    float x_narrow[3 * most_points], m_narrow[most_points], h_narrow[most_points];
};

static inline void fill_cloud(struct cloud *cloud, int64_t count, int32_t dimensions, double size)
{
    cloud->count = count;
    cloud->dimensions = dimensions;
    for (int64_t k = 0; k < count * dimensions; k++)
        cloud->x[k] = (double)(cloud->x_narrow[k] = (float)(size * (1.5 * uniform() - 0.25)));
    for (int64_t k = 0; k < count; k++) {
        cloud->m[k] = (double)(cloud->m_narrow[k] = (float)(0.5 + uniform()));
        cloud->h[k] = (double)(cloud->h_narrow[k] = (float)(0.5 + uniform()));
    }
    if (count > 5) /* two at one place */
        for (int32_t c = 0; c < dimensions; c++)
            cloud->x[4 * dimensions + c] =
                (double)(cloud->x_narrow[4 * dimensions + c] = cloud->x_narrow[dimensions + c]);
}

static inline kith_particles particles_of(struct cloud *cloud, kith_dtype dtype)
{
    const bool is_narrow = dtype == KITH_F32;
    void *const x = is_narrow ? (void *)cloud->x_narrow : cloud->x;
    void *const m = is_narrow ? (void *)cloud->m_narrow : cloud->m;
    void *const h = is_narrow ? (void *)cloud->h_narrow : cloud->h;
    return (kith_particles){.positions =
                                kith_array_matrix(x, dtype, cloud->count, cloud->dimensions),
                            .columns = {{"h", kith_array_vector(h, dtype, cloud->count)},
                                        {"m", kith_array_vector(m, dtype, cloud->count)}}};
}

static inline kith_cell random_cell(int32_t dimensions, double size)
{
    kith_cell cell = {{{0}}, {false}};
    for (int k = 0; k < dimensions; k++) {
        for (int c = 0; c < dimensions; c++)
            cell.vectors[k][c] = size * (0.6 * (uniform() - 0.5) + (k == c ? 1 : 0));
        cell.periodic[k] = uniform() < 0.7;
    }
    return cell;
}

#endif
