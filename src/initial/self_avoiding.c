#include "initial/self_avoiding.h"

#include <stdlib.h>

#include "core/memory.h"
#include "initial/random.h"

struct site {
    int32_t x[3];
};

/* A symmetry of the lattice about a site: axis c goes to axis to[c], mirrored if sign[c] is −1. */
struct symmetry {
    int32_t to[3], sign[3];
};

/* Sites of one trial; slots of earlier ones are free again, as their trial is another. */
struct visited {
    struct site *site;
    int64_t *trial;
    uint64_t mask;
};

struct chain {
    int64_t count;
    int32_t dimensions;
    struct site *site, *turned; /* rotated: of the part after the pivot */
    struct visited visited;
};

static int32_t random_below(struct random_stream *stream, int32_t count)
{
    return (int32_t)random_between(stream, 0, count);
}

static struct symmetry random_symmetry(struct random_stream *stream, int32_t dimensions)
{
    struct symmetry symmetry = {{0, 1, 2}, {1, 1, 1}};
    for (int32_t c = dimensions - 1; c > 0; c--) {
        const int32_t other = random_below(stream, c + 1), kept = symmetry.to[c];
        symmetry.to[c] = symmetry.to[other];
        symmetry.to[other] = kept;
    }
    for (int32_t c = 0; c < dimensions; c++)
        symmetry.sign[c] = random_below(stream, 2) ? 1 : -1;
    return symmetry;
}

static struct site turn(const struct symmetry *symmetry, const struct site *about,
                        const struct site *site)
{
    struct site turned;
    for (int32_t c = 0; c < 3; c++) {
        const int32_t to = symmetry->to[c];
        turned.x[to] = about->x[to] + symmetry->sign[c] * (site->x[c] - about->x[c]);
    }
    return turned;
}

/* False if the site was visited in this trial. */
static bool visit(struct visited *visited, int64_t trial, const struct site *site)
{
    uint64_t hash =
        ((uint64_t)(uint32_t)site->x[0] << 32 | (uint32_t)site->x[1]) * 0x9e3779b97f4a7c15 +
        (uint64_t)(uint32_t)site->x[2] * 0xc2b2ae3d27d4eb4f;
    for (uint64_t at = (hash ^ hash >> 29) & visited->mask;; at = (at + 1) & visited->mask) {
        const struct site *there = &visited->site[at];
        if (visited->trial[at] != trial) {
            visited->trial[at] = trial;
            visited->site[at] = *site;
            return true;
        }
        if (there->x[0] == site->x[0] && there->x[1] == site->x[1] && there->x[2] == site->x[2])
            return false;
    }
}

/* Outwards from the pivot on both sides: parts that meet do so near it most often. */
static bool fits(struct chain *chain, int64_t trial, int64_t pivot, const struct symmetry *symmetry)
{
    struct visited *visited = &chain->visited;
    visit(visited, trial, &chain->site[pivot]);
    for (int64_t k = 1; k <= pivot || pivot + k < chain->count; k++) {
        if (k <= pivot && !visit(visited, trial, &chain->site[pivot - k]))
            return false;
        if (pivot + k >= chain->count)
            continue;
        chain->turned[k] = turn(symmetry, &chain->site[pivot], &chain->site[pivot + k]);
        if (!visit(visited, trial, &chain->turned[k]))
            return false;
    }
    return true;
}

static kith_status pivot_chain(const kith_initial_options *options, struct poll_state *poll,
                               struct chain *chain)
{
    const int64_t n = chain->count;
    const int64_t trials = n <= 15000 ? 10 * n : 2000000000 / n;
    for (int64_t i = 0; i < n; i++)
        chain->site[i] = (struct site){{(int32_t)i, 0, 0}};
    for (int64_t trial = 1; trial <= trials; trial++) {
        KITH_TRY(kith_check_poll_at(poll, n < 4096 ? trial : 0));
        struct random_stream stream = random_begin(options->seed, RANDOM_SELF_AVOIDING, trial);
        const int64_t pivot = (int64_t)random_between(&stream, 0, (double)n);
        const struct symmetry symmetry = random_symmetry(&stream, chain->dimensions);
        if (fits(chain, trial, pivot, &symmetry))
            for (int64_t k = 1; pivot + k < n; k++)
                chain->site[pivot + k] = chain->turned[k];
    }
    return KITH_OK;
}

static kith_status allocate(struct chain *chain)
{
    int64_t slots = 16;
    while (slots < 2 * chain->count)
        slots *= 2;
    chain->visited.mask = (uint64_t)slots - 1;
    KITH_TRY(kith_allocate(chain->count, sizeof *chain->site, "the walk", &chain->site));
    KITH_TRY(kith_allocate(chain->count, sizeof *chain->site, "the walk", &chain->turned));
    KITH_TRY(kith_allocate(slots, sizeof *chain->site, "the walk's sites", &chain->visited.site));
    return kith_allocate(slots, sizeof(int64_t), "the walk's sites", &chain->visited.trial);
}

kith_status initial_self_avoiding_walk(const kith_initial_options *options, struct poll_state *poll,
                                       kith_bodies *bodies)
{
    struct chain chain = {.count = bodies->count, .dimensions = bodies->dimensions};
    if (chain.count > INT32_MAX)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "count is %lld; give a self-avoiding walk at most %lld beads",
                         (long long)chain.count, (long long)INT32_MAX);
    kith_status status = allocate(&chain);
    if (status == KITH_OK)
        status = pivot_chain(options, poll, &chain);
    if (status == KITH_OK)
        for (int64_t i = 0; i < chain.count; i++)
            for (int32_t c = 0; c < chain.dimensions; c++)
                bodies->position[i * chain.dimensions + c] = chain.site[i].x[c];
    free(chain.site);
    free(chain.turned);
    free(chain.visited.site);
    free(chain.visited.trial);
    return status;
}
