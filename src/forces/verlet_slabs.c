#include "forces/verlet_slabs.h"

bool verlet_slabs_suit(const struct verlet_slabs *slabs)
{
    return slabs->devices <= verlet_most_devices &&
           (int64_t)slabs->devices * slabs->reach <= slabs->layers;
}

int64_t verlet_count_in_layers(const struct verlet_slabs *slabs, const int64_t *in_layer, int begin,
                               int end)
{
    int64_t count = 0;
    for (int layer = begin; layer < end; layer++)
        count += in_layer[(layer + slabs->layers) % slabs->layers];
    return count;
}

/* Particles of the fullest slab. */
static int64_t largest(const struct verlet_slabs *slabs, const int64_t *in_layer)
{
    int64_t most = 0;
    for (int d = 0; d < slabs->devices; d++) {
        const int64_t count =
            verlet_count_in_layers(slabs, in_layer, slabs->begin[d], slabs->begin[d + 1]);
        most = count > most ? count : most;
    }
    return most;
}

/* Each slab ends where the particles up to there are nearest to its part of all, but leaves enough
 * layers to the others. */
static void balance(const int64_t *in_layer, int64_t all, struct verlet_slabs *slabs)
{
    int layer = 0;
    int64_t before = 0;
    slabs->begin[0] = 0;
    for (int d = 1; d < slabs->devices; d++) {
        const int least = slabs->begin[d - 1] + slabs->reach;
        const int most = slabs->layers - (slabs->devices - d) * slabs->reach;
        const double wanted = (double)all * d / slabs->devices;
        while (layer < least ||
               (layer < most && (double)before + (double)in_layer[layer] / 2 <= wanted))
            before += in_layer[layer++];
        slabs->begin[d] = layer;
    }
    slabs->begin[slabs->devices] = slabs->layers;
}

void verlet_choose_slabs(const int64_t *in_layer, struct verlet_slabs *slabs)
{
    const int64_t all = verlet_count_in_layers(slabs, in_layer, 0, slabs->layers);
    struct verlet_slabs balanced = *slabs;
    balance(in_layer, all, &balanced);
    const int64_t gain = slabs->begin[slabs->devices] > 0
                             ? largest(slabs, in_layer) - largest(&balanced, in_layer)
                             : INT64_MAX;
    if (gain > all / slabs->devices / 64)
        *slabs = balanced;
}
