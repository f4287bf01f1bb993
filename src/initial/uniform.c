#include "initial/random.h"
#include "initial/recipe.h"

kith_status initial_uniform_cube(const kith_initial_options *options, struct poll_state *poll,
                                 kith_bodies *bodies)
{
    const int32_t d = bodies->dimensions;
    for (int64_t i = 0; i < bodies->count; i++) {
        KITH_TRY(kith_check_poll_at(poll, i));
        struct random_stream stream = random_begin(options->seed, RANDOM_CUBE, i);
        bodies->mass[i] = 1 / (double)bodies->count;
        for (int32_t k = 0; k < d; k++)
            bodies->position[i * d + k] = random_uniform(&stream);
    }
    return KITH_OK;
}

kith_status initial_uniform_sphere(const kith_initial_options *options, struct poll_state *poll,
                                   kith_bodies *bodies)
{
    const int32_t d = bodies->dimensions;
    for (int64_t i = 0; i < bodies->count; i++) {
        KITH_TRY(kith_check_poll_at(poll, i));
        struct random_stream stream = random_begin(options->seed, RANDOM_SPHERE, i);
        bodies->mass[i] = 1 / (double)bodies->count;
        random_in_ball(&stream, d, bodies->position + i * d);
    }
    return KITH_OK;
}
