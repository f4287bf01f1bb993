#include "initial/random.h"

#include <math.h>

#include "core/philox.h"

struct random_stream random_begin(uint64_t seed, enum random_purpose purpose, int64_t body)
{
    return random_begin_step(seed, purpose, body, 0);
}

struct random_stream random_begin_step(uint64_t seed, enum random_purpose purpose, int64_t body,
                                       int64_t step)
{
    return (struct random_stream){.key = {seed, (uint64_t)purpose},
                                  .counter = {0, (uint64_t)body, (uint64_t)step, 0},
                                  .used = 4};
}

static void draw_block(struct random_stream *stream)
{
    philox_block(stream->key, stream->counter, stream->block);
    stream->counter[0]++;
    stream->used = 0;
}

uint64_t random_bits(struct random_stream *stream)
{
    if (stream->used == 4)
        draw_block(stream);
    return stream->block[stream->used++];
}

double random_uniform(struct random_stream *stream)
{
    return philox_uniform(random_bits(stream));
}

double random_between(struct random_stream *stream, double low, double high)
{
    return low + (high - low) * random_uniform(stream);
}

/* How many numbers a run has that starts with first and goes on as long as each is smaller than the
 * one before. */
static int64_t descending_run(struct random_stream *stream, double first)
{
    double last = first;
    for (int64_t length = 1;; length++) {
        const double next = random_uniform(stream);
        if (next >= last)
            return length;
        last = next;
    }
}

/* Von Neumann's comparisons (1951): a run that starts with u is of odd length with probability
 * e^-u. An even run adds 1 to the result and starts again. */
double random_exponential(struct random_stream *stream)
{
    for (int64_t whole = 0;; whole++) {
        const double first = random_uniform(stream);
        if (descending_run(stream, first) % 2 == 1)
            return (double)whole + first;
    }
}

void random_in_ball(struct random_stream *stream, int32_t dimensions, double *point)
{
    double r2 = 0;
    do {
        r2 = 0;
        for (int32_t k = 0; k < dimensions; k++) {
            point[k] = random_between(stream, -1, 1);
            r2 += point[k] * point[k];
        }
    } while (r2 >= 1);
}

/* A point of the unit disk without its center, and its squared radius. */
static double in_disc(struct random_stream *stream, double point[2])
{
    double r2 = 0;
    do {
        random_in_ball(stream, 2, point);
        r2 = point[0] * point[0] + point[1] * point[1];
    } while (r2 == 0);
    return r2;
}

/* The squared length of two normal numbers is twice an exponential one; their direction is free. */
void random_normal_pair(struct random_stream *stream, double normal[2])
{
    double point[2];
    const double r2 = in_disc(stream, point);
    const double scale = sqrt(2 * random_exponential(stream) / r2);
    normal[0] = scale * point[0];
    normal[1] = scale * point[1];
}

/* On the sphere by Marsaglia (1972). */
void random_direction(struct random_stream *stream, int32_t dimensions, double *unit)
{
    double point[2];
    const double r2 = in_disc(stream, point);
    const double scale = dimensions == 2 ? 1 / sqrt(r2) : 2 * sqrt(1 - r2);
    unit[0] = scale * point[0];
    unit[1] = scale * point[1];
    if (dimensions == 3)
        unit[2] = 1 - 2 * r2;
}
