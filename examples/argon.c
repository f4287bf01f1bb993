/* Liquid argon: molecular dynamics on a neighbor list (Rahman 1964, Phys. Rev. 136, A405).
 *
 *     argon [STEPS] [OUTPUT.xyz]
 *
 * 864 atoms with the Lennard-Jones potential, at Rahman's density and temperature, in units of ε, σ
 * and an atom's mass. The list has a skin: kith_pairs_update rebuilds it only when an atom has
 * moved by half of that, and brings its vectors up to date otherwise. The first half of the steps
 * holds the temperature, the second shows that energy is kept; at the end the atoms are written:
 *
 *     kith plot argon.xyz --what distances --cutoff 5 -o argon.png */

#include <math.h>

#include "example.h"

enum { edge = 6, count = 4 * edge * edge * edge, all = 3 * count };

static const double side = 10.229, temperature = 0.787, cutoff = 2.5, skin = 0.4, dt = 0.004;

static double *x, v[all], a[all];

/* A face-centered cubic crystal, and velocities that look random. */
static kith_bodies *prepare(void)
{
    kith_bodies *atoms = NULL;
    must(kith_bodies_create(count, 3, KITH_NAME, &atoms));
    x = atoms->position;
    static const double site[4][3] = {{0, 0, 0}, {0, 0.5, 0.5}, {0.5, 0, 0.5}, {0.5, 0.5, 0}};
    for (int i = 0; i < count; i++) {
        const int cell[3] = {i / 4 % edge, i / 4 / edge % edge, i / 4 / edge / edge};
        for (int k = 0; k < 3; k++) {
            x[3 * i + k] = (cell[k] + site[i % 4][k]) * side / edge;
            v[3 * i + k] = 1.5 * sin(i * (7.1 + 2.3 * k) + k);
        }
        snprintf(atoms->name[i], KITH_NAME_BYTES, "Ar");
    }
    atoms->has_cell = true;
    for (int k = 0; k < 3; k++) {
        atoms->cell[4 * k] = side;
        atoms->periodic[k] = true;
    }
    return atoms;
}

/* Fills in accelerations from a half list; the potential energy, 0 at the cutoff. */
static double forces(const kith_pairs *pairs)
{
    const int64_t *i = pairs->i.data, *j = pairs->j.data;
    const double *d = pairs->vectors.data, *r = pairs->distances.data;
    const double at_cutoff = pow(cutoff, -12) - pow(cutoff, -6);
    double energy = 0;
    memset(a, 0, sizeof a);
    for (int64_t p = 0; p < pairs->count; p++) {
        if (r[p] >= cutoff) /* within the skin */
            continue;
        const double y = 1 / (r[p] * r[p]), y3 = y * y * y;
        const double pull = 24 * y * y3 * (1 - 2 * y3);
        energy += 4 * (y3 * y3 - y3 - at_cutoff);
        for (int k = 0; k < 3; k++) {
            a[3 * i[p] + k] += pull * d[3 * p + k];
            a[3 * j[p] + k] -= pull * d[3 * p + k];
        }
    }
    return energy;
}

static double kinetic_energy(void)
{
    double sum = 0;
    for (int k = 0; k < all; k++)
        sum += 0.5 * v[k] * v[k];
    return sum;
}

static void kick(double h)
{
    for (int k = 0; k < all; k++)
        v[k] += h * a[k];
}

int main(int argc, char **argv)
{
    const int64_t steps = argc > 1 ? atoll(argv[1]) : 2000;
    const kith_cell cell = {{{side, 0, 0}, {0, side, 0}, {0, 0, side}}, {true, true, true}};
    const kith_pairs_options options = {
        .cutoff = cutoff,
        .skin = skin,
        .half = true,
        .quantities = KITH_PAIRS_I | KITH_PAIRS_J | KITH_PAIRS_VECTORS | KITH_PAIRS_DISTANCES,
    };
    kith_bodies *atoms = prepare();
    const kith_array positions = kith_array_matrix(x, KITH_F64, count, 3);
    kith_context *context = context_on("cpu");
    kith_pairs *pairs = NULL;
    must(kith_pairs_update(context, &options, positions, &cell, &pairs, NULL));
    double potential = forces(pairs), start = potential + kinetic_energy();
    int64_t lists = 1;
    for (int64_t step = 0; step < steps; step++) {
        bool rebuilt = false;
        kick(dt / 2);
        for (int k = 0; k < all; k++)
            x[k] += dt * v[k];
        must(kith_pairs_update(context, &options, positions, &cell, &pairs, &rebuilt));
        lists += rebuilt;
        potential = forces(pairs);
        kick(dt / 2);
        if (step < steps / 2 && step % 10 == 0) {
            const double factor = sqrt(1.5 * count * temperature / kinetic_energy());
            for (int k = 0; k < all; k++)
                v[k] *= factor;
        }
        if (step == steps / 2)
            start = potential + kinetic_energy();
    }
    const double now = potential + kinetic_energy();
    printf("%lld steps, %lld lists of %lld pairs\n", (long long)steps, (long long)lists,
           (long long)pairs->count);
    printf("temperature %.3f, potential energy of an atom %.3f, energy kept to %.1e\n",
           kinetic_energy() / (1.5 * count), potential / count, fabs(now / start - 1));
    if (argc > 2)
        must(kith_bodies_write(atoms, argv[2], NULL));
    kith_pairs_free(pairs);
    kith_bodies_free(atoms);
    kith_context_free(context);
    return 0;
}
