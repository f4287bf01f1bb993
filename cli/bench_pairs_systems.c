/* The systems that kith bench pairs measures. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench_pairs.h"

static const struct pairs_case cases[] = {
    {"cube", "uniform in a periodic cube, 50 neighbors each", 3, true, false, false, 50, 0,
     "vesin scipy matscipy freud-analysis"},
    {"square", "uniform in an open square, 20 neighbors each", 2, false, false, false, 20, 0,
     "vesin scipy matscipy"},
    {"vectors", "the cube, with shifts, vectors and distances too", 3, true, false, true, 50, 0,
     "vesin matscipy"},
    {"plummer", "a Plummer sphere, 50 neighbors each on average", 3, false, true, false, 50, 0,
     "scipy"},
    {"nearest", "the cube, the 16 nearest of each", 3, true, false, false, 50, 16, "scipy"},
};

const struct pairs_case *pairs_cases(int64_t *count)
{
    *count = sizeof cases / sizeof cases[0];
    return cases;
}

const struct pairs_case *pairs_case_named(const char *name)
{
    int64_t count = 0;
    const struct pairs_case *all = pairs_cases(&count);
    for (int64_t k = 0; k < count; k++)
        if (strcmp(name, all[k].name) == 0)
            return &all[k];
    return NULL;
}

/* In [0, 1): SplitMix64 (Steele, Lea and Flood 2014). */
static double random_share(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15U;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    return (double)((z ^ (z >> 31)) >> 11) * 0x1p-53;
}

/* Of scale 1 (Aarseth, Hénon and Wielen 1974). */
static void place_in_plummer(uint64_t *state, double x[3])
{
    const double share = 1e-10 + (1 - 2e-10) * random_share(state);
    const double radius = 1 / sqrt(pow(share, -2.0 / 3) - 1);
    const double z = 2 * random_share(state) - 1, angle = 2 * M_PI * random_share(state);
    x[0] = radius * sqrt(1 - z * z) * cos(angle);
    x[1] = radius * sqrt(1 - z * z) * sin(angle);
    x[2] = radius * z;
}

/* The cutoff that gives so many neighbors; in a Plummer sphere ∫ρ² is 45/1024. */
static double cutoff_of(const struct pairs_case *kind, int64_t count)
{
    const double points = count > 0 ? (double)count : 1;
    if (kind->dimensions == 2)
        return sqrt(kind->neighbors / (M_PI * points));
    const double density = points * (kind->plummer ? 45.0 / 1024 : 1);
    return cbrt(kind->neighbors * 3 / (4 * M_PI * density));
}

bool pairs_points_make(const struct pairs_case *kind, int64_t count, struct pairs_points_of *points)
{
    uint64_t state = 1;
    *points =
        (struct pairs_points_of){kind, count, kind->nearest ? 0 : cutoff_of(kind, count), 1, NULL};
    points->x = malloc((size_t)(count * kind->dimensions + 1) * sizeof *points->x);
    for (int64_t i = 0; points->x && i < count; i++)
        if (kind->plummer)
            place_in_plummer(&state, &points->x[3 * i]);
        else
            for (int32_t c = 0; c < kind->dimensions; c++)
                points->x[i * kind->dimensions + c] = random_share(&state);
    return points->x != NULL;
}

void pairs_points_free(struct pairs_points_of *points)
{
    free(points->x);
    points->x = NULL;
}

static bool write_points(const struct pairs_points_of *points, const char *path)
{
    const struct pairs_case *kind = points->kind;
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    const int64_t whole[] = {points->count, kind->dimensions, kind->periodic, kind->nearest,
                             kind->lengths};
    const double lengths[] = {points->cutoff, points->edge};
    fwrite(whole, sizeof whole[0], sizeof whole / sizeof whole[0], file);
    fwrite(lengths, sizeof lengths[0], 2, file);
    fwrite(points->x, sizeof *points->x, (size_t)(points->count * kind->dimensions), file);
    const bool written = !ferror(file);
    return fclose(file) == 0 && written;
}

bool pairs_points_give(const char *command, struct peers *peers,
                       const struct pairs_points_of *points)
{
    char path[] = "/tmp/kith-bench-XXXXXX";
    const int file = mkstemp(path);
    if (file >= 0)
        close(file);
    bool given = file >= 0 && write_points(points, path);
    if (!given)
        cli_fail_with(command, "%s cannot be written: the points for the other programs", path);
    given = given && peers_use_points(peers, path);
    if (file >= 0)
        unlink(path);
    return given;
}
