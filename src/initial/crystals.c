/* Crystals in a periodic cube, with the velocities of a temperature. */

#include <math.h>

#include "initial/portable_math.h"
#include "initial/random.h"
#include "initial/recipe.h"

enum { most_basis = 8 };

/* The sites of a cubic cell in halves of its edge, and their charges. */
struct crystal {
    int32_t count;
    int32_t site[most_basis][3];
    double charge[most_basis];
};

static const struct crystal fcc = {4, {{0, 0, 0}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}}, {1, 1, 1, 1}};
static const struct crystal bcc = {2, {{0, 0, 0}, {1, 1, 1}}, {1, 1}};
static const struct crystal nacl = {
    8,
    {{0, 0, 0}, {1, 1, 0}, {1, 0, 1}, {0, 1, 1}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}, {1, 1, 1}},
    {1, 1, 1, 1, -1, -1, -1, -1}};

static int64_t cells_along(const struct crystal *crystal, int64_t count)
{
    int64_t cells = 1;
    while (crystal->count * cells * cells * cells < count)
        cells++;
    return cells;
}

/* Normal velocities, less their mean, scaled to Σ m v² = 3 (N − 1) T. */
static kith_status warm(const kith_initial_options *options, struct poll_state *poll,
                        kith_bodies *bodies)
{
    const int64_t n = bodies->count;
    double mean[3] = {0}, sum = 0;
    for (int64_t i = 0; i < n; i++) {
        KITH_TRY(kith_check_poll_at(poll, i));
        struct random_stream stream = random_begin(options->seed, RANDOM_CRYSTAL, i);
        double normal[4];
        random_normal_pair(&stream, normal);
        random_normal_pair(&stream, normal + 2);
        for (int c = 0; c < 3; c++) {
            bodies->velocity[3 * i + c] = normal[c];
            mean[c] += normal[c] / (double)n;
        }
    }
    for (int64_t k = 0; k < 3 * n; k++) {
        bodies->velocity[k] -= mean[k % 3];
        sum += bodies->velocity[k] * bodies->velocity[k];
    }
    const double wanted = 3 * (double)(n - 1) * options->temperature;
    const double factor = sum > 0 ? sqrt(wanted / sum) : 0;
    for (int64_t k = 0; k < 3 * n; k++)
        bodies->velocity[k] *= factor;
    return KITH_OK;
}

static kith_status make(const struct crystal *crystal, const kith_initial_options *options,
                        struct poll_state *poll, kith_bodies *bodies)
{
    const int64_t n = bodies->count, cells = cells_along(crystal, n);
    const double density = options->density > 0 ? options->density : 1;
    const double edge = portable_cbrt((double)crystal->count / density);
    if (crystal->count * cells * cells * cells != n)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "count is %lld; the crystal has %d n^3 sites: give %lld or %lld",
                         (long long)n, (int)crystal->count,
                         (long long)(crystal->count * (cells - 1) * (cells - 1) * (cells - 1)),
                         (long long)(crystal->count * cells * cells * cells));
    for (int64_t i = 0; i < n; i++) {
        const int64_t cell = i / crystal->count, at = i % crystal->count;
        const int64_t corner[3] = {cell / (cells * cells), cell / cells % cells, cell % cells};
        KITH_TRY(kith_check_poll_at(poll, i));
        bodies->mass[i] = 1;
        if (bodies->charge)
            bodies->charge[i] = crystal->charge[at];
        for (int c = 0; c < 3; c++)
            bodies->position[3 * i + c] =
                edge * ((double)corner[c] + 0.5 * (double)crystal->site[at][c]);
    }
    bodies->has_cell = true;
    for (int c = 0; c < 3; c++) {
        bodies->cell[4 * c] = edge * (double)cells;
        bodies->periodic[c] = true;
    }
    return warm(options, poll, bodies);
}

kith_status initial_fcc(const kith_initial_options *options, struct poll_state *poll,
                        kith_bodies *bodies)
{
    return make(&fcc, options, poll, bodies);
}

kith_status initial_bcc(const kith_initial_options *options, struct poll_state *poll,
                        kith_bodies *bodies)
{
    return make(&bcc, options, poll, bodies);
}

kith_status initial_nacl(const kith_initial_options *options, struct poll_state *poll,
                         kith_bodies *bodies)
{
    return make(&nacl, options, poll, bodies);
}
