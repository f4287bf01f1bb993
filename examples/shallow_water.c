/* The shallow-water equations on particles, compared with exact solutions.
 *
 *     shallow_water [cpu] [PARTICLES] [wet|dry|bowl] [OUTPUT.csv]
 *
 * wet, dry: a dam breaks over shallow water or none (dam.h; Stoker's and Ritter's solutions).
 * bowl: water swings in a paraboloid for one period (bowl.h; Thacker's solution).
 *
 * water.h has what the particles do to each other. Steps are half a kick, a drift, half a kick of a
 * length that no wave outruns. Writes x, depth and the exact depth at the end to OUTPUT.csv, which
 * shallow_water.gp draws. */

#include <time.h>

#include "bowl.h"
#include "dam.h"

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

static void step(struct water *water, double dt)
{
    kick(water, dt / 2);
    drift(water, dt);
    accelerate(water);
    kick(water, dt / 2);
}

/* Lets the water go until the end; in how many steps. */
static int64_t flow(struct water *water, double end)
{
    int64_t steps = 0;
    accelerate(water);
    for (double t = 0; t < end; steps++) {
        const double dt = fmin(step_length(water), end - t);
        t = dt < end - t ? t + dt : end;
        step(water, dt);
    }
    return steps;
}

/* Half the rate of the sum of r². */
static double spreading(const struct water *water)
{
    double sum = 0;
    for (int64_t k = 0; k < 2 * water->count; k++)
        sum += water->position[k] * water->velocity[k];
    return sum;
}

/* Lets the water in a bowl spread and come back; the time at which it turns, a period. */
static double swing_once(struct water *water, int64_t *steps)
{
    double t = 0, rate = 0, before = 0, dt = 0;
    bool returns = false;
    accelerate(water);
    for (*steps = 0; !returns || rate < 0; ++*steps) {
        dt = step_length(water);
        step(water, dt);
        t += dt;
        before = rate;
        rate = spreading(water);
        returns = returns || rate < 0;
    }
    return t - dt * rate / (rate - before);
}

/* Depths on a grid right of the middle of the channel, averaged across; the mean error. */
static double compare_channel(struct water *water, double outside, double t, FILE *file)
{
    static double point[2 * samples], found[samples];
    double error = 0;
    for (int k = 0; k < samples; k++) {
        const int column = k / rows_of_samples, row = k % rows_of_samples;
        point[2 * k] = channel / 2 * (column + 0.5) / columns_of_samples;
        point[2 * k + 1] = width * (row + 0.5) / rows_of_samples;
    }
    sum_depths_at(water, point, samples, found);
    for (int c = 0; c < columns_of_samples; c++) {
        double depth = 0;
        for (int row = 0; row < rows_of_samples; row++)
            depth += found[c * rows_of_samples + row] / rows_of_samples;
        const double x = point[2 * c * rows_of_samples];
        const double exact = exact_depth(x - dam, t, outside);
        error += fabs(depth - exact) / columns_of_samples;
        fprintf(file, "%.6f,%.6f,%.6f\n", x, depth, exact);
    }
    return error;
}

/* Depths along a diameter of the bowl; the mean error. */
static double compare_bowl(struct water *water, double t, FILE *file)
{
    static double point[2 * columns_of_samples], found[columns_of_samples];
    double error = 0;
    for (int k = 0; k < columns_of_samples; k++)
        point[2 * k] = 1.5 * bowl_radius * (2 * (k + 0.5) / columns_of_samples - 1);
    sum_depths_at(water, point, columns_of_samples, found);
    for (int k = 0; k < columns_of_samples; k++) {
        const double exact = bowl_exact_depth(fabs(point[2 * k]), t);
        error += fabs(found[k] - exact) / columns_of_samples;
        fprintf(file, "%.6f,%.6f,%.6f\n", point[2 * k], found[k], exact);
    }
    return error;
}

/* The speed of the computation, what is conserved, and the error. */
static void report(const struct water *water, int64_t steps, double seconds, double error)
{
    double momentum[2] = {0, 0}, largest = 0;
    for (int64_t k = 0; k < 2 * water->count; k++) {
        momentum[k % 2] += water->volume * water->velocity[k];
        largest += water->volume * fabs(water->velocity[k]);
    }
    printf("%lld particles, %lld steps, %.1f neighbors each, %.2f million a second and core\n",
           (long long)water->count, (long long)steps,
           (double)water->pair_count / (double)water->count,
           1e-6 * (double)steps * (double)water->count / seconds);
    printf("volume %.12g m^3, net momentum %.1e of what moves\n",
           water->volume * (double)water->count, hypot(momentum[0], momentum[1]) / largest);
    printf("mean error of the depth: %.5f m\n", error);
}

/* Of the processor, by all threads. */
static double seconds_now(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void break_dam(kith_context *context, int64_t wanted, double outside, FILE *file)
{
    const double end = 1.6; /* s: no wave has met another */
    struct water water = water_before(context, wanted, outside);
    const double start = seconds_now();
    const int64_t steps = flow(&water, end);
    const double seconds = seconds_now() - start;
    const int64_t pairs = water.pair_count;
    const double error = compare_channel(&water, outside, end, file);
    water.pair_count = pairs;
    report(&water, steps, seconds, error);
    water_free(&water);
}

static void swing_in_bowl(kith_context *context, int64_t wanted, FILE *file)
{
    struct water water = bowl_before(context, wanted);
    int64_t steps = 0;
    const double start = seconds_now();
    const double period = swing_once(&water, &steps);
    const double seconds = seconds_now() - start, exact = 2 * pi / bowl_frequency();
    const int64_t pairs = water.pair_count;
    const double error = compare_bowl(&water, period, file);
    water.pair_count = pairs;
    report(&water, steps, seconds, error);
    printf("period %.5f s, off Thacker's by %.2f %%\n", period, 100 * fabs(period / exact - 1));
    water_free(&water);
}

int main(int argc, char **argv)
{
    const int64_t wanted = argc > 2 ? atoll(argv[2]) : 20000;
    const char *scene = argc > 3 ? argv[3] : "wet";
    FILE *file = wanted < 1000 ? NULL : fopen(argc > 4 ? argv[4] : "shallow_water.csv", "w");
    if (!file) {
        fprintf(stderr, "shallow_water: give at least 1000 particles, and an output to write to\n");
        return 2;
    }
    kith_context *context = context_on(argc > 1 ? argv[1] : "cpu");
    fprintf(file, "x,depth,exact\n");
    if (strcmp(scene, "bowl") == 0)
        swing_in_bowl(context, wanted, file);
    else
        break_dam(context, wanted, strcmp(scene, "dry") == 0 ? 0 : shallow, file);
    return fclose(file) ? 1 : 0;
}
