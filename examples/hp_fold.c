/* Folds chains of the HP model (Lau & Dill 1989): beads H and P on the square or cubic lattice, no
 * two at a site, energy -1 for each contact of two H. Many replicas of a chain, at a ladder of
 * temperatures, try pull moves (Lesh, Mitzenmacher & Whitesides 2003); all energies of a step come
 * from one call of kith_collisions_batch, and neighbours on the ladder swap places.
 *
 *   hp_fold                              the table below, to the best known energies
 *   hp_fold quick                        its first three chains
 *   hp_fold SEQUENCE 2|3 STEPS OUTPUT    a chain of your own; the best fold goes to a file
 *
 * Try: hp_fold HPHPPHHPHPPHPHHPPHPH 2 4000 fold.csv && kith plot fold.csv --what chain -o fold.png
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kith/kith.h"

enum { most_beads = 128, temperatures = 16, ladders = 24, replicas = temperatures * ladders };

static const double coldest = 0.18, hottest = 0.9;

/* The best known energies. Chains of 20 to 36 beads and their energies in 2D: Unger & Moult 1993,
 * J. Mol. Biol. 231, 75-81. The same chains in 3D: Johnson & Katikireddy 2006, GECCO, 299-300. The
 * chain of 48 beads: Yue et al. 1995, PNAS 92, 325-329, whose search proves its energy the least.
 */
static const struct benchmark {
    const char *sequence;
    int dimensions, energy, steps;
} benchmarks[] = {
    {"HPHPPHHPHPPHPHHPPHPH", 2, -9, 20000},
    {"HHPPHPPHPPHPPHPPHPPHPPHH", 2, -9, 20000},
    {"PPHPPHHPPPPHHPPPPHHPPPPHH", 2, -8, 20000},
    {"PPPHHPPHHPPPPPHHHHHHHPPHHPPPPHHPPHPP", 2, -14, 60000},
    {"HPHPPHHPHPPHPHHPPHPH", 3, -11, 20000},
    {"HHPPHPPHPPHPPHPPHPPHPPHH", 3, -13, 20000},
    {"HPHHPPHHHHPHHHPPHHPPHPHHHPHPHHPPHHPPPHPPPPPPPPHH", 3, -32, 400000},
};

typedef struct site {
    int32_t x[3];
} site;

/* All replicas: those that are, and what the moves would make of them. */
struct search {
    const char *sequence;
    int length, dimensions;
    uint64_t random;
    site now[replicas][most_beads];
    int32_t tried[replicas * most_beads * 3]; /* dense, as the batch wants them */
    int64_t energy[replicas], contacts[replicas], collisions[replicas];
    int64_t best_energy;
    site best[most_beads];
};

static uint64_t random_below(struct search *search, uint64_t count)
{
    search->random ^= search->random << 13;
    search->random ^= search->random >> 7;
    search->random ^= search->random << 17;
    return (search->random >> 11) % count;
}

static double random_unit(struct search *search)
{
    return (double)random_below(search, 1u << 30) / (1u << 30);
}

static int is_free(const site *chain, int length, site at)
{
    for (int k = 0; k < length; k++)
        if (memcmp(&chain[k], &at, sizeof at) == 0)
            return 0;
    return 1;
}

static int are_adjacent(site a, site b)
{
    return abs(a.x[0] - b.x[0]) + abs(a.x[1] - b.x[1]) + abs(a.x[2] - b.x[2]) == 1;
}

static site random_neighbor(struct search *search, site at)
{
    const uint64_t way = random_below(search, 2 * (uint64_t)search->dimensions);
    at.x[way / 2] += way % 2 ? 1 : -1;
    return at;
}

/* Beads i, i - 1, … follow to two new places, as far as the chain needs it. */
static void pull(site *chain, int i, site first, site second)
{
    site older = chain[i], old = i > 0 ? chain[i - 1] : older;
    chain[i] = first;
    if (i == 0 || are_adjacent(chain[i - 1], first))
        return;
    chain[i - 1] = second;
    for (int j = i - 2; j >= 0 && !are_adjacent(chain[j], chain[j + 1]); j--) {
        const site here = chain[j];
        chain[j] = older;
        older = old;
        old = here;
    }
}

/* A pull move somewhere; the chain stays free of collisions. Nothing if the place is taken. */
static void try_move(struct search *search, site *chain)
{
    const int n = search->length;
    const int i = (int)random_below(search, (uint64_t)n);
    if (i == n - 1) { /* the end goes two steps on, and draws all after it */
        const site near = random_neighbor(search, chain[i]);
        const site far = random_neighbor(search, near);
        if (is_free(chain, n, near) && is_free(chain, n, far))
            pull(chain, i, far, near);
        return;
    }
    const site corner = random_neighbor(search, chain[i + 1]);
    site fourth = chain[i];
    for (int c = 0; c < 3; c++)
        fourth.x[c] += corner.x[c] - chain[i + 1].x[c];
    const int is_square = !are_adjacent(corner, chain[i]) && are_adjacent(corner, fourth) &&
                          memcmp(&corner, &chain[i], sizeof corner) != 0 &&
                          memcmp(&fourth, &chain[i + 1], sizeof fourth) != 0;
    if (!is_square || !is_free(chain, n, corner))
        return;
    if (i == 0 || memcmp(&fourth, &chain[i - 1], sizeof fourth) == 0 || is_free(chain, n, fourth))
        pull(chain, i, corner, fourth);
}

static void reverse(site *chain, int length)
{
    for (int k = 0; k < length / 2; k++) {
        const site kept = chain[k];
        chain[k] = chain[length - 1 - k];
        chain[length - 1 - k] = kept;
    }
}

/* A move of each replica, from one of its ends or the other, into the batch. */
static void propose(struct search *search)
{
    const size_t bytes = (size_t)search->length * sizeof(site);
    for (int r = 0; r < replicas; r++) {
        site *tried = (site *)search->tried + r * search->length;
        memcpy(tried, search->now[r], bytes);
        const int turned = (int)random_below(search, 2);
        if (turned)
            reverse(tried, search->length);
        try_move(search, tried);
        if (turned)
            reverse(tried, search->length);
    }
}

static kith_status count(kith_context *context, struct search *search)
{
    const int64_t l = search->length;
    const kith_array beads = {search->tried, {KITH_CPU, 0},    3,
                              KITH_I32,      {replicas, l, 3}, {3 * l, 3, 1}};
    return kith_collisions_batch(context, beads, kith_array_none(), search->sequence,
                                 kith_array_vector(search->collisions, KITH_I64, replicas),
                                 kith_array_vector(search->contacts, KITH_I64, replicas));
}

static double inverse_temperature(int replica)
{
    const double place = (double)(replica % temperatures) / (temperatures - 1);
    return 1 / (coldest * pow(hottest / coldest, place));
}

/* By Metropolis' rule. */
static void accept(struct search *search)
{
    const size_t bytes = (size_t)search->length * sizeof(site);
    for (int r = 0; r < replicas; r++) {
        const int64_t energy = -search->contacts[r];
        const double rise = (double)(energy - search->energy[r]);
        if (search->collisions[r] > 0 ||
            (rise > 0 && random_unit(search) >= exp(-rise * inverse_temperature(r))))
            continue;
        memcpy(search->now[r], (const site *)search->tried + r * search->length, bytes);
        search->energy[r] = energy;
        if (energy < search->best_energy) {
            search->best_energy = energy;
            memcpy(search->best, search->now[r], bytes);
        }
    }
}

static void swap_neighbors(struct search *search, int step)
{
    for (int r = 0; r + 1 < replicas; r++) {
        if (r % temperatures == temperatures - 1 || r % 2 != step % 2)
            continue;
        const double gain = (inverse_temperature(r) - inverse_temperature(r + 1)) *
                            (double)(search->energy[r] - search->energy[r + 1]);
        if (gain < 0 && random_unit(search) >= exp(gain))
            continue;
        site kept[most_beads];
        memcpy(kept, search->now[r], sizeof kept);
        memcpy(search->now[r], search->now[r + 1], sizeof kept);
        memcpy(search->now[r + 1], kept, sizeof kept);
        const int64_t energy = search->energy[r];
        search->energy[r] = search->energy[r + 1];
        search->energy[r + 1] = energy;
    }
}

/* Until the energy is reached, or for so many steps; *steps is then what it took. */
static kith_status fold(kith_context *context, struct search *search, int energy, int *steps)
{
    const int most = *steps;
    for (int r = 0; r < replicas; r++) {
        search->energy[r] = 0;
        for (int k = 0; k < search->length; k++)
            search->now[r][k] = (site){{k, 0, 0}};
    }
    memcpy(search->best, search->now[0], sizeof search->best);
    search->best_energy = 0;
    for (*steps = 0; *steps < most && search->best_energy > energy; ++*steps) {
        propose(search);
        const kith_status status = count(context, search);
        if (status != KITH_OK)
            return status;
        accept(search);
        if (*steps % 10 == 0)
            swap_neighbors(search, *steps / 10);
    }
    return KITH_OK;
}

/* The best fold as bodies with the names H and P. */
static kith_status write_fold(const struct search *search, const char *path)
{
    kith_bodies *bodies = NULL;
    kith_status status = kith_bodies_create(search->length, search->dimensions, KITH_NAME, &bodies);
    for (int k = 0; k < search->length && status == KITH_OK; k++) {
        bodies->name[k][0] = search->sequence[k];
        for (int c = 0; c < search->dimensions; c++)
            bodies->position[k * search->dimensions + c] = search->best[k].x[c];
    }
    if (status == KITH_OK)
        status = kith_bodies_write(bodies, path, NULL);
    kith_bodies_free(bodies);
    return status;
}

/* Folds and tells; *reached is whether the energy was. */
static kith_status run(kith_context *context, struct search *search, struct benchmark benchmark,
                       int *reached)
{
    search->sequence = benchmark.sequence;
    search->length = (int)strlen(benchmark.sequence);
    search->dimensions = benchmark.dimensions;
    search->random = 88172645463325252u;
    int steps = benchmark.steps;
    const kith_status status = fold(context, search, benchmark.energy, &steps);
    *reached = search->best_energy <= benchmark.energy;
    printf("%dD %2d beads: energy %3lld after %6d steps of %d replicas  %s\n", search->dimensions,
           search->length, (long long)search->best_energy, steps, (int)replicas,
           benchmark.sequence);
    fflush(stdout);
    return status;
}

int main(int argument_count, char **arguments)
{
    struct search *search = calloc(1, sizeof *search);
    kith_context *context = NULL;
    kith_status status =
        kith_context_create(&(kith_context_options){.device = {KITH_CPU, 0}}, &context);
    int all_reached = 1, reached = 0;
    if (argument_count == 5 && strlen(arguments[1]) <= most_beads && search) {
        const struct benchmark own = {arguments[1], atoi(arguments[2]) == 2 ? 2 : 3, -1000000,
                                      atoi(arguments[3])};
        if (status == KITH_OK)
            status = run(context, search, own, &reached);
        if (status == KITH_OK)
            status = write_fold(search, arguments[4]);
    } else {
        const int count = argument_count > 1 ? 3 : (int)(sizeof benchmarks / sizeof benchmarks[0]);
        for (int k = 0; k < count && status == KITH_OK && search; k++) {
            status = run(context, search, benchmarks[k], &reached);
            all_reached &= reached;
        }
    }
    if (status != KITH_OK)
        fprintf(stderr, "hp_fold: %s\n", kith_error_message());
    kith_context_free(context);
    free(search);
    return status == KITH_OK && all_reached ? 0 : 1;
}
