#include <math.h>

#include "initial/random.h"
#include "initial/recipe.h"

/* Relative orbit of semi-major axis 1 and μ = G (m_1 + m_2) = 1 at its pericenter: the distance is
 * 1 − e, the speed √((1 + e) / (1 − e)). Each body has its share of both. */
void initial_two_body(const kith_initial_options *options, kith_bodies *bodies)
{
    const int32_t d = bodies->dimensions;
    const double e = options->eccentricity;
    const double m2 = options->mass_ratio / (1 + options->mass_ratio);
    const double m1 = 1 / (1 + options->mass_ratio);
    const double distance = 1 - e;
    const double speed = sqrt((1 + e) / (1 - e));

    bodies->mass[0] = m1;
    bodies->mass[1] = m2;
    bodies->position[0] = -m2 * distance;
    bodies->position[d] = m1 * distance;
    bodies->velocity[1] = -m2 * speed;
    bodies->velocity[d + 1] = m1 * speed;
}

/* An equilateral triangle of side 1 turns about its center of mass with ω² = G Σ m = 1. */
void initial_lagrange(const kith_initial_options *options, kith_bodies *bodies)
{
    const int32_t d = bodies->dimensions;
    const double ratio = options->mass_ratio;
    const double total = 1 + 2 * ratio;
    const double corner[3][2] = {{0, 0}, {sqrt(0.75), 0.5}, {sqrt(0.75), -0.5}};
    const double center = 2 * ratio * corner[1][0] / total;

    for (int32_t i = 0; i < 3; i++) {
        const double x = corner[i][0] - center;
        const double y = corner[i][1];
        bodies->mass[i] = (i == 0 ? 1 : ratio) / total;
        bodies->position[i * d] = x;
        bodies->position[i * d + 1] = y;
        bodies->velocity[i * d] = -y;
        bodies->velocity[i * d + 1] = x;
    }
}

/* Chenciner & Montgomery (2000), with Simó's position of the first body; the velocity is solved for
 * to all digits by tools/make_figure_eight.py, which also gives the period 6.325913982926228. */
void initial_figure_eight(const kith_initial_options *options, kith_bodies *bodies)
{
    (void)options;
    const double position[3][2] = {
        {0.97000435669734, -0.24308753153583}, {-0.97000435669734, 0.24308753153583}, {0, 0}};
    const double vx = 0.4662036857205171;
    const double vy = 0.43236573046051185;
    const double velocity[3][2] = {{vx, vy}, {vx, vy}, {-2 * vx, -2 * vy}};

    for (int32_t i = 0; i < 3; i++) {
        bodies->mass[i] = 1;
        for (int32_t k = 0; k < 2; k++) {
            bodies->position[i * bodies->dimensions + k] = position[i][k];
            bodies->velocity[i * bodies->dimensions + k] = velocity[i][k];
        }
    }
}

void initial_six(const kith_initial_options *options, kith_bodies *bodies)
{
    for (int64_t i = 0; i < bodies->count; i++) {
        struct random_stream stream = random_begin(options->seed, RANDOM_SIX, i);
        bodies->mass[i] = random_between(&stream, 1, 10);
        for (int64_t k = 3 * i; k < 3 * i + 3; k++)
            bodies->velocity[k] = random_between(&stream, -1, 1);
        for (int64_t k = 3 * i; k < 3 * i + 3; k++)
            bodies->position[k] = random_between(&stream, -5, 5);
    }
}
