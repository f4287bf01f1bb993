/* A dam breaks: the shallow-water equations on particles, and Stoker's solution beside them.
 *
 *     shallow_water [cpu|cuda] [PARTICLES] [wet|dry] [OUTPUT.csv]
 *
 * A particle is a column of water of volume V that moves with the flow (smoothed-particle
 * hydrodynamics). Its depth is a sum over its neighbours, and from the energy
 * E = ½ Σ v² V + ½ g Σ h V follows its acceleration (Rodriguez-Paz & Bonet 2005, Comput. Struct.
 * 83, 1396):
 *
 *     h_i = Σ_j V W(r_ij),      a_i = −Σ_j V (g + Π_ij) ∇W(r_ij)
 *
 * with the cubic spline W and a viscosity Π that spreads shocks over some particles (Ata &
 * Soulaïmani 2005, Int. J. Numer. Methods Fluids 47, 139). Every term acts on i and j with opposite
 * signs: momentum stays zero, and volume is what the particles carry.
 *
 * Deep water stands in the middle of a channel, shallow water (or none) outside; both walls break
 * at t = 0. The channel is periodic, so nothing needs a boundary, and the right wave is compared
 * with Stoker (1957, Water Waves, §10.8), for a dry bed with Ritter (1892). Steps are half a kick,
 * a drift, half a kick of a length that no wave outruns. Writes x, depth and the exact depth at the
 * end to OUTPUT.csv, which shallow_water.gp draws. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kith/kith.h"

static const double pi = 3.14159265358979323846;
static const double gravity = 9.81;                    /* m/s² */
static const double deep = 1.0, shallow = 0.4;         /* m */
static const double channel = 40, dam = 10, width = 1; /* m: −20 … 20, walls at ±10 */
static const double end = 1.6;                         /* s: no wave has met another */
static const double courant = 0.3;

enum { rows_of_samples = 8, columns_of_samples = 400 };

struct water {
    kith_context *context;
    kith_cell cell;
    int64_t count;
    double volume; /* of a particle */
    double length; /* the spline's ℓ: it ends at 2ℓ */
    double *position, *velocity, *acceleration, *depth;
    kith_pairs *pairs;
};

static void water_free(struct water *water)
{
    kith_pairs_free(water->pairs);
    kith_context_free(water->context);
    free(water->position);
    free(water->velocity);
    free(water->acceleration);
    free(water->depth);
}

static int fail(struct water *water, const char *what)
{
    fprintf(stderr, "shallow_water: %s\n", what);
    water_free(water);
    return 1;
}

/* The cubic spline in two dimensions and its derivative (Monaghan & Lattanzio 1985). */
static double spline(double q, double length)
{
    const double normal = 10 / (7 * pi * length * length);
    if (q < 1)
        return normal * (1 - 1.5 * q * q + 0.75 * q * q * q);
    return q < 2 ? normal * 0.25 * (2 - q) * (2 - q) * (2 - q) : 0;
}

static double spline_slope(double q, double length)
{
    const double normal = 10 / (7 * pi * length * length * length);
    if (q < 1)
        return normal * (-3 * q + 2.25 * q * q);
    return q < 2 ? -normal * 0.75 * (2 - q) * (2 - q) : 0;
}

static const double stagger[4] = {0.125, 0.625, 0.375, 0.875};

/* Fills left ≤ x < right with columns of particles, each of the water's volume. */
static void fill(struct water *water, double left, double right, double depth, double spacing)
{
    const int64_t across = (int64_t)round(width / spacing);
    const int64_t along =
        (int64_t)round((right - left) * width * depth / water->volume / (double)across);
    for (int64_t column = 0; column < along; column++)
        for (int64_t row = 0; row < across; row++) {
            double *at = water->position + 2 * water->count++;
            const double place = (double)column + stagger[row % 4]; /* evens out what stretches */
            at[0] = left + place * (right - left) / (double)along;
            at[1] = ((double)row + 0.5) * width / (double)across;
        }
}

/* Room for the particles, and all of them at their places and at rest. */
static bool prepare(struct water *water, int64_t wanted, double outside)
{
    const double water_there = width * (2 * dam * deep + (channel - 2 * dam) * outside);
    water->volume = water_there / (double)wanted;
    water->length = 1.6 * sqrt(water->volume / (outside > 0 ? outside : 0.25 * deep));
    water->cell = (kith_cell){{{channel, 0, 0}, {0, width, 0}, {0, 0, 0}}, {true, true, false}};

    const size_t room = (size_t)(2 * wanted + 1000);
    water->position = calloc(room, 2 * sizeof(double));
    water->velocity = calloc(room, 2 * sizeof(double));
    water->acceleration = calloc(room, 2 * sizeof(double));
    water->depth = calloc(room, sizeof(double));
    if (!water->position || !water->velocity || !water->acceleration || !water->depth)
        return false;
    if (outside > 0)
        fill(water, -channel / 2, -dam, outside, sqrt(water->volume / outside));
    fill(water, -dam, dam, deep, sqrt(water->volume / deep));
    if (outside > 0)
        fill(water, dam, channel / 2, outside, sqrt(water->volume / outside));
    return true;
}

/* The neighbours of every particle; kept as long as nobody has moved by half the skin. */
static kith_status find_neighbors(struct water *water)
{
    const kith_pairs_options options = {
        .cutoff = 2 * water->length,
        .skin = 0.3 * water->length,
        .quantities = KITH_PAIRS_J | KITH_PAIRS_VECTORS | KITH_PAIRS_DISTANCES,
        .unsorted = true,
    };
    return kith_pairs_update(water->context, &options,
                             kith_array_matrix(water->position, KITH_F64, water->count, 2),
                             &water->cell, &water->pairs, NULL);
}

static void sum_depths(struct water *water)
{
    const int64_t *start = water->pairs->offsets.data;
    const double *distance = water->pairs->distances.data;
    for (int64_t i = 0; i < water->count; i++) {
        double sum = spline(0, water->length);
        for (int64_t k = start[i]; k < start[i + 1]; k++)
            sum += spline(distance[k] / water->length, water->length);
        water->depth[i] = water->volume * sum;
    }
}

static void sum_accelerations(struct water *water)
{
    const int64_t *start = water->pairs->offsets.data, *other = water->pairs->j.data;
    const double *distance = water->pairs->distances.data, *vector = water->pairs->vectors.data;
    memset(water->acceleration, 0, (size_t)water->count * 2 * sizeof(double));
    for (int64_t i = 0; i < water->count; i++) {
        for (int64_t k = start[i]; k < start[i + 1]; k++) {
            const double r = distance[k], *d = vector + 2 * k; /* x_j − x_i */
            if (r >= 2 * water->length || r == 0)
                continue;
            const int64_t j = other[k];
            const double *v = water->velocity;
            const double approach =
                (v[2 * i] - v[2 * j]) * d[0] + (v[2 * i + 1] - v[2 * j + 1]) * d[1];
            const double depth = 0.5 * (water->depth[i] + water->depth[j]);
            const double viscosity =
                approach > 0 ? sqrt(gravity * depth) * approach / (depth * r) : 0;
            const double slope = spline_slope(r / water->length, water->length);
            const double pull = water->volume * (gravity + viscosity) * slope / r;
            water->acceleration[2 * i] += pull * d[0]; /* ∇_i W = −slope d/r */
            water->acceleration[2 * i + 1] += pull * d[1];
        }
    }
}

/* A step that no wave uses to cross a fraction of ℓ. */
static double step_length(const struct water *water)
{
    double fastest = 0;
    for (int64_t i = 0; i < water->count; i++) {
        const double *v = water->velocity + 2 * i;
        fastest = fmax(fastest, hypot(v[0], v[1]) + sqrt(gravity * water->depth[i]));
    }
    return courant * water->length / fastest;
}

static void kick(struct water *water, double dt)
{
    for (int64_t k = 0; k < 2 * water->count; k++)
        water->velocity[k] += dt * water->acceleration[k];
}

static void drift(struct water *water, double dt)
{
    for (int64_t k = 0; k < 2 * water->count; k++)
        water->position[k] += dt * water->velocity[k];
}

static kith_status flow(struct water *water, int64_t *steps)
{
    kith_status status = find_neighbors(water);
    if (status)
        return status;
    sum_depths(water);
    sum_accelerations(water);
    for (double t = 0; t < end; (*steps)++) {
        const double dt = fmin(step_length(water), end - t);
        t = dt < end - t ? t + dt : end;
        kick(water, dt / 2);
        drift(water, dt);
        if ((status = find_neighbors(water)))
            return status;
        sum_depths(water);
        sum_accelerations(water);
        kick(water, dt / 2);
    }
    return KITH_OK;
}

/* The depth between the rarefaction and the shock: where both give the water the same speed. */
static double middle_depth(double outside)
{
    double low = outside, high = deep;
    for (int k = 0; k < 200; k++) {
        const double h = 0.5 * (low + high);
        const double behind = 2 * (sqrt(gravity * deep) - sqrt(gravity * h));
        const double ahead = (h - outside) * sqrt(0.5 * gravity * (1 / h + 1 / outside));
        *(behind > ahead ? &low : &high) = h;
    }
    return 0.5 * (low + high);
}

/* The exact depth at the distance x from a dam that broke t ago. */
static double exact_depth(double x, double t, double outside)
{
    const double c = sqrt(gravity * deep), middle = outside > 0 ? middle_depth(outside) : 0;
    const double c_middle = sqrt(gravity * middle), speed = 2 * (c - c_middle);
    if (x < -c * t)
        return deep;
    if (x < (speed - c_middle) * t)
        return (2 * c - x / t) * (2 * c - x / t) / (9 * gravity);
    if (outside <= 0)
        return 0;
    return x < middle * speed / (middle - outside) * t ? middle : outside;
}

/* Depths on a grid right of the middle, averaged across the channel; the mean error, or −1. */
static double compare(struct water *water, double outside, FILE *file)
{
    enum { samples = rows_of_samples * columns_of_samples };
    static double point[samples][2];
    for (int c = 0; c < columns_of_samples; c++)
        for (int row = 0; row < rows_of_samples; row++) {
            point[c * rows_of_samples + row][0] = channel / 2 * (c + 0.5) / columns_of_samples;
            point[c * rows_of_samples + row][1] = width * (row + 0.5) / rows_of_samples;
        }
    const kith_pairs_options options = {
        .cutoff = 2 * water->length,
        .quantities = KITH_PAIRS_DISTANCES,
        .queries = kith_array_matrix(point, KITH_F64, samples, 2),
    };
    kith_pairs *near = NULL;
    if (kith_pairs_compute(water->context, &options,
                           kith_array_matrix(water->position, KITH_F64, water->count, 2),
                           &water->cell, &near))
        return -1;
    const int64_t *start = near->offsets.data;
    const double *distance = near->distances.data;
    double error = 0;
    fprintf(file, "x,depth,exact\n");
    for (int c = 0; c < columns_of_samples; c++) {
        double depth = 0;
        for (int64_t k = start[c * rows_of_samples]; k < start[(c + 1) * rows_of_samples]; k++)
            depth += water->volume * spline(distance[k] / water->length, water->length);
        depth /= rows_of_samples;
        const double x = point[c * rows_of_samples][0];
        const double exact = exact_depth(x - dam, end, outside);
        error += fabs(depth - exact) / columns_of_samples;
        fprintf(file, "%.6f,%.6f,%.6f\n", x, depth, exact);
    }
    kith_pairs_free(near);
    return error;
}

int main(int argc, char **argv)
{
    const bool on_gpu = argc > 1 && strcmp(argv[1], "cuda") == 0;
    const int64_t wanted = argc > 2 ? atoll(argv[2]) : 20000;
    const double outside = argc > 3 && strcmp(argv[3], "dry") == 0 ? 0 : shallow;
    const char *path = argc > 4 ? argv[4] : "shallow_water.csv";
    if (wanted < 1000) {
        fprintf(stderr, "shallow_water: give at least 1000 particles\n");
        return 2;
    }

    struct water water = {0};
    const kith_context_options place = {.device = {on_gpu ? KITH_CUDA : KITH_CPU, 0}};
    int64_t steps = 0;
    if (!prepare(&water, wanted, outside))
        return fail(&water, "no memory for so many particles");
    if (kith_context_create(&place, &water.context) || flow(&water, &steps))
        return fail(&water, kith_error_message());

    double momentum[2] = {0, 0}, largest = 0;
    for (int64_t k = 0; k < 2 * water.count; k++) {
        momentum[k % 2] += water.volume * water.velocity[k];
        largest += water.volume * fabs(water.velocity[k]);
    }
    FILE *file = fopen(path, "w");
    if (!file)
        return fail(&water, "the output cannot be written");
    const double error = compare(&water, outside, file);
    if (fclose(file))
        return fail(&water, "the output cannot be written");
    if (error < 0)
        return fail(&water, kith_error_message());
    printf("%lld particles, %lld steps, %.1f neighbours each\n", (long long)water.count,
           (long long)steps, (double)water.pairs->count / (double)water.count);
    printf("volume %.12g m^3, net momentum %.1e of what moves\n",
           water.volume * (double)water.count, hypot(momentum[0], momentum[1]) / largest);
    printf("mean error of the depth: %.4f m\n", error);
    water_free(&water);
    return 0;
}
