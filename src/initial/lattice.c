#include "initial/random.h"
#include "initial/recipe.h"

/* The shortest edge of a cube (square) with room for count sites. */
static int64_t lattice_edge(int64_t count, int32_t dimensions)
{
    int64_t edge = 1;
    while ((dimensions == 2 ? 1 : edge) * edge * edge < count)
        edge++;
    return edge;
}

/* Sites (0, 0, 0), (1, 0, 0), … row by row, layer by layer; the last layer may be incomplete. */
kith_status initial_lattice(const kith_initial_options *options, struct poll_state *poll,
                            kith_bodies *bodies)
{
    (void)options;
    const int32_t d = bodies->dimensions;
    const int64_t edge = lattice_edge(bodies->count, d);
    for (int64_t i = 0; i < bodies->count; i++) {
        KITH_TRY(kith_check_poll_at(poll, i));
        int64_t rest = i;
        for (int32_t k = 0; k < d; k++, rest /= edge)
            bodies->position[i * d + k] = (double)(rest % edge);
    }
    return KITH_OK;
}

/* From the origin, each bead a unit step along a random axis from the one before. */
kith_status initial_lattice_walk(const kith_initial_options *options, struct poll_state *poll,
                                 kith_bodies *bodies)
{
    const int32_t d = bodies->dimensions;
    for (int64_t i = 1; i < bodies->count; i++) {
        KITH_TRY(kith_check_poll_at(poll, i));
        struct random_stream stream = random_begin(options->seed, RANDOM_WALK, i);
        const int32_t way = (int32_t)random_between(&stream, 0, 2 * d);
        double *bead = bodies->position + i * d;
        for (int32_t k = 0; k < d; k++)
            bead[k] = bead[k - d];
        bead[way / 2] += way % 2 == 0 ? 1 : -1;
    }
    return KITH_OK;
}
