/* Folds chains of the HP model (Lau & Dill 1989): beads H and P on the square or cubic lattice, no
 * two at a site, energy -1 for each contact of two H. Many replicas of a chain, at a ladder of
 * temperatures, try the moves of hp_moves.h; all energies of a step come from one call of
 * kith_collisions_batch, and neighbors on the ladder swap places.
 *
 *   hp_fold                              the table of hp_chains.h, to the best known energies
 *   hp_fold quick                        its first three chains
 *   hp_fold SEQUENCE 2|3 STEPS OUTPUT    a chain of your own; the best fold goes to a file
 *
 * Try: hp_fold HPHPPHHPHPPHPHHPPHPH 2 4000 fold.csv && kith plot fold.csv --what chain -o fold.png
 */

#include <math.h>

#include "example.h"
#include "hp_chains.h"
#include "hp_moves.h"

enum { most_beads = 128, temperatures = 16, ladders = 24, replicas = temperatures * ladders };

static const double coldest = 0.18, hottest = 0.9;

/* All replicas: those that are, and what the moves would make of them. */
static struct replica {
    site chain[most_beads];
    int64_t energy;
} now[replicas], best;
static site tried[replicas * most_beads]; /* dense, as the batch needs them */
static int64_t contacts[replicas], collisions[replicas];
static uint64_t random_state;

/* A move of each replica, from one of its ends or the other, into the batch. */
static void propose(int length, int dimensions)
{
    for (int r = 0; r < replicas; r++) {
        site *chain = tried + r * length;
        memcpy(chain, now[r].chain, (size_t)length * sizeof(site));
        const int turned = (int)random_below(&random_state, 2);
        if (turned)
            reverse(chain, length);
        try_move(chain, length, dimensions, &random_state);
        if (turned)
            reverse(chain, length);
    }
}

static void count(kith_context *context, const char *sequence, int64_t length)
{
    const kith_array beads = {tried,    {KITH_CPU, 0},         3,
                              KITH_I32, {replicas, length, 3}, {3 * length, 3, 1}};
    must(kith_collisions_batch(context, beads, kith_array_none(), sequence,
                               kith_array_vector(collisions, KITH_I64, replicas),
                               kith_array_vector(contacts, KITH_I64, replicas)));
}

static double inverse_temperature(int replica)
{
    const double place = (double)(replica % temperatures) / (temperatures - 1);
    return 1 / (coldest * pow(hottest / coldest, place));
}

/* By Metropolis' rule. */
static void accept(int length)
{
    for (int r = 0; r < replicas; r++) {
        const double rise = (double)(-contacts[r] - now[r].energy);
        if (collisions[r] > 0 ||
            (rise > 0 && random_unit(&random_state) >= exp(-rise * inverse_temperature(r))))
            continue;
        memcpy(now[r].chain, tried + r * length, (size_t)length * sizeof(site));
        now[r].energy = -contacts[r];
        if (now[r].energy < best.energy)
            best = now[r];
    }
}

static void swap_neighbors(int step)
{
    for (int r = 0; r + 1 < replicas; r++) {
        if (r % temperatures == temperatures - 1 || r % 2 != step % 2)
            continue;
        const double gain = (inverse_temperature(r) - inverse_temperature(r + 1)) *
                            (double)(now[r].energy - now[r + 1].energy);
        if (gain < 0 && random_unit(&random_state) >= exp(gain))
            continue;
        const struct replica kept = now[r];
        now[r] = now[r + 1];
        now[r + 1] = kept;
    }
}

/* From straight chains until the energy is reached, or for a number of steps. True if it is
 * reached. */
static bool fold(kith_context *context, struct hp_chain of)
{
    const int length = (int)strlen(of.sequence);
    best = (struct replica){.energy = 0};
    for (int k = 0; k < length; k++)
        best.chain[k] = (site){{k, 0, 0}};
    for (int r = 0; r < replicas; r++)
        now[r] = best;
    random_state = 88172645463325252u;
    int step = 0;
    for (; step < of.steps && best.energy > of.energy; step++) {
        propose(length, of.dimensions);
        count(context, of.sequence, length);
        accept(length);
        if (step % 10 == 0)
            swap_neighbors(step / 10);
    }
    printf("%dD %2d beads: energy %3lld after %6d steps of %d replicas  %s\n", of.dimensions,
           length, (long long)best.energy, step, (int)replicas, of.sequence);
    fflush(stdout);
    return best.energy <= of.energy;
}

/* The best fold as bodies with the names H and P. */
static void write_best(const char *sequence, int dimensions, const char *path)
{
    const int64_t length = (int64_t)strlen(sequence);
    kith_bodies *bodies = NULL;
    must(kith_bodies_create(length, dimensions, KITH_NAME, &bodies));
    for (int64_t k = 0; k < length; k++) {
        bodies->name[k][0] = sequence[k];
        for (int c = 0; c < dimensions; c++)
            bodies->position[k * dimensions + c] = best.chain[k].x[c];
    }
    must(kith_bodies_write(bodies, path, NULL));
    kith_bodies_free(bodies);
}

int main(int argc, char **argv)
{
    kith_context *context = context_on("cpu");
    bool all_reached = true;
    if (argc == 5 && strlen(argv[1]) <= most_beads) {
        const int dimensions = atoi(argv[2]) == 2 ? 2 : 3;
        fold(context, (struct hp_chain){argv[1], dimensions, INT32_MIN, atoi(argv[3])});
        write_best(argv[1], dimensions, argv[4]);
    } else if (argc > 2 || (argc == 2 && strcmp(argv[1], "quick") != 0)) {
        fprintf(stderr, "usage: hp_fold [quick | SEQUENCE 2|3 STEPS OUTPUT], up to %d beads\n",
                (int)most_beads);
        return 2;
    } else {
        const int count_of_chains = argc > 1 ? 3 : (int)(sizeof chains / sizeof chains[0]);
        for (int k = 0; k < count_of_chains; k++)
            all_reached = fold(context, chains[k]) && all_reached;
    }
    kith_context_free(context);
    return all_reached ? 0 : 1;
}
