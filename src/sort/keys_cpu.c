/* Morton keys on the CPU. */

#include "core/reals.h"
#include "device/threads.h"
#include "sort/sort.h"

enum { points_of_task = 1 << 14 };

/* Of one thread, a point: both passes. */
static const double seconds_of_point = 4e-9;

struct keys_run {
    const struct sort_points *points;
    const struct morton_grid *grid;
    uint64_t *keys;
};

static double at(const struct sort_points *points, int32_t c, int64_t i)
{
    return real_get(points->dtype, points->position[c], i);
}

void sort_find_range_cpu(const struct sort_points *points, int32_t c, double *low, double *high)
{
    double least = at(points, c, 0), greatest = least;
    if (points->dtype == KITH_F64) {
        const double *x = points->position[c];
        for (int64_t i = 0; i < points->count; i++) {
            least = x[i] < least ? x[i] : least;
            greatest = x[i] > greatest ? x[i] : greatest;
        }
    } else {
        const float *x = points->position[c];
        float low_x = x[0], high_x = x[0];
        for (int64_t i = 0; i < points->count; i++) {
            low_x = x[i] < low_x ? x[i] : low_x;
            high_x = x[i] > high_x ? x[i] : high_x;
        }
        least = (double)low_x;
        greatest = (double)high_x;
    }
    *low = least;
    *high = greatest;
}

static void compute_keys(void *argument, int64_t task)
{
    const struct keys_run *run = argument;
    const struct sort_points *points = run->points;
    const int64_t begin = task * points_of_task, left = points->count - begin;
    const int64_t end = begin + (left < points_of_task ? left : points_of_task);
    for (int64_t i = begin; i < end; i++)
        run->keys[i] =
            points->dimensions == 3
                ? morton_key_3d(run->grid, at(points, 0, i), at(points, 1, i), at(points, 2, i))
                : morton_key_2d(run->grid, at(points, 0, i), at(points, 1, i));
}

kith_status sort_keys_in_grid_cpu(kith_context *context, const struct sort_points *points,
                                  const struct morton_grid *grid, uint64_t *keys)
{
    struct keys_run run = {points, grid, keys};
    const int64_t tasks = (points->count + points_of_task - 1) / points_of_task;
    return kith_for_each(context,
                         kith_threads_for(context, seconds_of_point * (double)points->count), tasks,
                         compute_keys, &run);
}

struct morton_grid sort_grid_around_cpu(const struct sort_points *points)
{
    double low[3] = {0}, high[3] = {0};
    for (int32_t c = 0; c < points->dimensions && points->count > 0; c++)
        sort_find_range_cpu(points, c, &low[c], &high[c]);
    return morton_grid_around(points->dimensions, low, high);
}
