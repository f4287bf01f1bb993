/* A dam breaks: the shallow-water equations on particles, and the exact solution beside them.
 *
 *     shallow_water [cpu|cuda] [PARTICLES] [wet|dry] [OUTPUT.csv]
 *
 * water.h has what the particles do to each other, dam.h where they begin and where the right wave
 * should be. Steps are half a kick, a drift, half a kick of a length that no wave outruns. Writes
 * x, depth and the exact depth at the end to OUTPUT.csv, which shallow_water.gp draws. */

#include "dam.h"

static const double end = 1.6; /* s: no wave has met another */
static const double courant = 0.3;

enum { rows_of_samples = 8, columns_of_samples = 400, samples = 8 * 400 };

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

static void accelerate(struct water *water)
{
    find_neighbors(water);
    sum_depths(water);
    sum_accelerations(water);
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

/* Lets the water go until the end; in how many steps. */
static int64_t flow(struct water *water)
{
    int64_t steps = 0;
    accelerate(water);
    for (double t = 0; t < end; steps++) {
        const double dt = fmin(step_length(water), end - t);
        t = dt < end - t ? t + dt : end;
        kick(water, dt / 2);
        drift(water, dt);
        accelerate(water);
        kick(water, dt / 2);
    }
    return steps;
}

/* Depths on a grid right of the middle, averaged across the channel; the mean error. */
static double compare(struct water *water, double outside, FILE *file)
{
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
    must(kith_pairs_compute(water->context, &options,
                            kith_array_matrix(water->position, KITH_F64, water->count, 2),
                            &water->cell, &near));
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
    const int64_t wanted = argc > 2 ? atoll(argv[2]) : 20000;
    const double outside = argc > 3 && strcmp(argv[3], "dry") == 0 ? 0 : shallow;
    FILE *file = wanted < 1000 ? NULL : fopen(argc > 4 ? argv[4] : "shallow_water.csv", "w");
    if (!file) {
        fprintf(stderr, "shallow_water: give at least 1000 particles, and an output to write to\n");
        return 2;
    }
    struct water water = water_before(context_on(argc > 1 ? argv[1] : "cpu"), wanted, outside);
    const int64_t steps = flow(&water);

    double momentum[2] = {0, 0}, largest = 0;
    for (int64_t k = 0; k < 2 * water.count; k++) {
        momentum[k % 2] += water.volume * water.velocity[k];
        largest += water.volume * fabs(water.velocity[k]);
    }
    const double error = compare(&water, outside, file);
    printf("%lld particles, %lld steps, %.1f neighbours each\n", (long long)water.count,
           (long long)steps, (double)water.pairs->count / (double)water.count);
    printf("volume %.12g m^3, net momentum %.1e of what moves\n",
           water.volume * (double)water.count, hypot(momentum[0], momentum[1]) / largest);
    printf("mean error of the depth: %.4f m\n", error);
    kith_pairs_free(water.pairs);
    kith_context_free(water.context);
    free(water.position);
    free(water.velocity);
    free(water.acceleration);
    free(water.depth);
    return fclose(file) ? 1 : 0;
}
