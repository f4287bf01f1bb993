#include "initial/disk.h"

#include <math.h>

#include "initial/center.h"
#include "initial/recipe.h"

#include "initial/disk_table.inc"

/* What a row of a table is at a part from 0 to 1 of its length. */
static void interpolate(int32_t columns, const double *table, double part, double *values)
{
    const double place = part * steps;
    const int32_t step = place < steps ? (int32_t)place : steps - 1;
    const double *low = table + (int64_t)columns * step;
    for (int32_t k = 0; k < columns; k++)
        values[k] = low[k] + (place - step) * (low[columns + k] - low[k]);
}

static void draw_normal(struct random_stream *stream, double normal[3])
{
    double pair[2];
    random_normal_pair(stream, normal);
    random_normal_pair(stream, pair);
    normal[2] = pair[0];
}

/* The mass inside s = r / (r + a) is proportional to s². Speeds beyond 0.95 of the escape speed are
 * drawn again. */
static void place_in_bulge(struct random_stream *stream, double position[3], double velocity[3])
{
    const double outermost = edge / (edge + bulge_size);
    const double s = outermost * sqrt(random_uniform(stream));
    double motion[2];
    interpolate(2, bulge_motion, s, motion);
    random_direction(stream, 3, position);
    double speed2 = 0;
    do {
        draw_normal(stream, velocity);
        speed2 = 0;
        for (int32_t k = 0; k < 3; k++) {
            velocity[k] *= motion[0];
            speed2 += velocity[k] * velocity[k];
        }
    } while (speed2 > 0.9 * motion[1] * motion[1]);
    for (int32_t k = 0; k < 3; k++)
        position[k] *= bulge_size * s / (1 - s);
}

/* Density R e^-R up to the edge: the sum of two exponential numbers. */
static double draw_radius(struct random_stream *stream)
{
    for (;;) {
        const double radius = random_exponential(stream) + random_exponential(stream);
        if (radius < edge)
            return radius;
    }
}

static void place_in_disk(struct random_stream *stream, double position[3], double velocity[3])
{
    enum { mean, sigma_radial, sigma_around, sigma_up, columns };
    const double radius = draw_radius(stream);
    double outward[2];
    double plane[2];
    double vertical[2];
    double motion[columns];
    random_direction(stream, 2, outward);
    random_normal_pair(stream, plane);
    random_normal_pair(stream, vertical);
    interpolate(columns, disk_motion, radius / edge, motion);

    const double radial = motion[sigma_radial] * plane[0];
    const double around = motion[mean] + motion[sigma_around] * plane[1];
    for (int32_t k = 0; k < 2; k++)
        position[k] = radius * outward[k];
    velocity[0] = radial * outward[0] - around * outward[1];
    velocity[1] = radial * outward[1] + around * outward[0];
    position[2] = thickness * vertical[0];
    velocity[2] = motion[sigma_up] * vertical[1];
}

int64_t disk_bulge_count(int64_t count)
{
    const int64_t bulge = (int64_t)(bulge_mass * (double)count + 0.5);
    return bulge < 1 ? 1 : bulge;
}

void disk_place(struct random_stream *stream, bool in_bulge, double position[3], double velocity[3])
{
    if (in_bulge)
        place_in_bulge(stream, position, velocity);
    else
        place_in_disk(stream, position, velocity);
}

/* The bulge's cusp stays at the origin, as in initial_hernquist. */
kith_status initial_disk(const kith_initial_options *options, struct poll_state *poll,
                         kith_bodies *bodies)
{
    const int32_t d = bodies->dimensions == 2 ? 2 : 3;
    const int64_t bulge = disk_bulge_count(bodies->count);
    for (int64_t i = 0; i < bodies->count; i++) {
        KITH_TRY(kith_check_poll_at(poll, i));
        struct random_stream stream = random_begin(options->seed, RANDOM_DISK, i);
        double position[3];
        double velocity[3];
        disk_place(&stream, i < bulge, position, velocity);
        bodies->mass[i] = 1 / (double)bodies->count;
        for (int32_t k = 0; k < d; k++) {
            bodies->position[i * d + k] = position[k];
            bodies->velocity[i * d + k] = velocity[k];
        }
    }
    initial_stop(bodies);
    return KITH_OK;
}
