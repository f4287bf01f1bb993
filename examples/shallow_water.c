/* The shallow-water equations on particles, compared with exact solutions (water.h). */

#define _POSIX_C_SOURCE 200809L /* open_memstream, also for -std=c11 */

#include <argp.h>
#include <time.h>

#include "bowl.h"
#include "dam.h"
#include "lake.h"
#include "radial.h"

enum { rows_of_samples = 8, columns_of_samples = 400, samples = 8 * 400 };

/* What a scene is compared with is written to file, as x, depth, exact depth. */
struct run {
    struct water water;
    const struct scene *scene;
    int64_t wanted;
    double slope, until;
    FILE *file;
    bool is_json;
    double error, seconds;
    double period, speed; /* of the water in the bowl, and the maximum in the lake; 0: not asked */
};

struct scene {
    const char *name, *summary;
    double until; /* s */
    void (*begin)(struct run *run);
    void (*flow)(struct run *run);
    void (*compare)(struct run *run);
};

static void write_depth(struct run *run, double at, double depth, double exact)
{
    run->error += fabs(depth - exact) / columns_of_samples;
    fprintf(run->file, "%.6f,%.6f,%.6f\n", at, depth, exact);
}

static void flow_until(struct run *run)
{
    flow(&run->water, run->until);
}

/* Depths right of the middle of the channel, averaged across it; moved along with a slope's fall.
 */
static void compare_channel(struct run *run, double outside, double from, double wall)
{
    static double points[2 * samples], found[samples];
    const double t = run->water.time, fall = gravity / 2 * run->slope * t * t;
    for (int k = 0; k < samples; k++) {
        const int column = k / rows_of_samples, row = k % rows_of_samples;
        points[k] = from + (channel / 2 - from) * (column + 0.5) / columns_of_samples + fall;
        points[samples + k] = width * (row + 0.5) / rows_of_samples;
    }
    sum_depths_at(&run->water, samples, points, found);
    for (int c = 0; c < columns_of_samples; c++) {
        const double at = points[c * rows_of_samples];
        double depth = 0;
        for (int row = 0; row < rows_of_samples; row++)
            depth += found[c * rows_of_samples + row] / rows_of_samples;
        write_depth(run, at, depth, exact_depth(at - fall - dam, t, outside, wall));
    }
}

static void begin_dam(struct run *run, double outside, bool has_walls)
{
    static char fall[64];
    dam_before(&run->water, run->wanted, outside, has_walls);
    snprintf(fall, sizeof fall, "g * %.17g", run->slope);
    if (run->slope != 0)
        run->water.fall[0] = fall;
}

static void begin_wet(struct run *run)
{
    begin_dam(run, shallow, false);
}

static void begin_dry(struct run *run)
{
    begin_dam(run, 0, false);
}

static void begin_tank(struct run *run)
{
    begin_dam(run, shallow, true);
}

static void compare_wet(struct run *run)
{
    compare_channel(run, shallow, 0, channel);
}

static void compare_dry(struct run *run)
{
    compare_channel(run, 0, 0, channel);
}

static void compare_tank(struct run *run)
{
    compare_channel(run, shallow, dam, channel / 2 - dam); /* left of it water comes back too */
}

static void begin_bowl(struct run *run)
{
    bowl_before(&run->water, run->wanted);
}

/* The time at which a parabola through three values, dt apart, is least or greatest; t is that of
 * the second. */
static double turning_time(const double value[3], double t, double dt)
{
    return t + dt / 2 * (value[0] - value[2]) / (value[0] - 2 * value[1] + value[2]);
}

/* The water spreads and comes back: the mean of r² then is least again. */
static void flow_in_bowl(struct run *run)
{
    struct water *water = &run->water;
    const double dt = step_length(water) / 2; /* it becomes faster, and deeper, than at first */
    const int64_t steps = (int64_t)ceil(2 * pi / bowl_frequency() / dt / 8) * 8;
    double value[3] = {0};
    for (int64_t k = 0; k < steps - 24; k++)
        step(water, dt);
    do {
        for (int k = 0; k < 8; k++)
            step(water, dt);
        value[0] = value[1];
        value[1] = value[2];
        value[2] = survey(water, KITH_SUMS_SUM, "x_j * x_j + y_j * y_j");
    } while (value[0] == 0 || value[2] < value[1]);
    run->until = turning_time(value, water->time - 8 * dt, 8 * dt);
}

/* Depths along a diameter. */
static void compare_bowl(struct run *run)
{
    static double points[2 * columns_of_samples], found[columns_of_samples];
    for (int k = 0; k < columns_of_samples; k++)
        points[k] = 1.5 * bowl_radius * (2 * (k + 0.5) / columns_of_samples - 1);
    sum_depths_at(&run->water, columns_of_samples, points, found);
    for (int k = 0; k < columns_of_samples; k++)
        write_depth(run, points[k], found[k], bowl_exact_depth(fabs(points[k]), run->water.time));
    run->period = run->until;
}

static void begin_lake(struct run *run)
{
    lake_before(&run->water, run->wanted);
}

/* The level along the lake: the depth, and the bed. */
static void compare_lake(struct run *run)
{
    static double points[2 * columns_of_samples], found[columns_of_samples];
    for (int k = 0; k < columns_of_samples; k++) {
        points[k] = lake_length * (k + 0.5) / columns_of_samples;
        points[columns_of_samples + k] = lake_width / 2;
    }
    sum_depths_at(&run->water, columns_of_samples, points, found);
    for (int k = 0; k < columns_of_samples; k++)
        write_depth(run, points[k], found[k], lake_level - lake_bed_at(points[k], lake_width / 2));
    run->speed = survey(&run->water, KITH_SUMS_MAX, "sqrt(vx_j * vx_j + vy_j * vy_j)");
}

static void begin_radial(struct run *run)
{
    radial_before(&run->water, run->wanted);
}

/* Depths along the radius, averaged over its directions. */
static void compare_radial(struct run *run)
{
    static double points[2 * samples], found[samples];
    static struct radius exact;
    const double most = 0.95 * radial_side / 2;
    for (int k = 0; k < samples; k++) {
        const double angle = 2 * pi * (k % rows_of_samples + 0.25) / rows_of_samples;
        const int column = k / rows_of_samples;
        const double r = most * (column + 0.5) / columns_of_samples;
        points[k] = r * cos(angle);
        points[samples + k] = r * sin(angle);
    }
    sum_depths_at(&run->water, samples, points, found);
    radial_reference(run->water.time, &exact);
    for (int c = 0; c < columns_of_samples; c++) {
        const double r = most * (c + 0.5) / columns_of_samples;
        double depth = 0;
        for (int row = 0; row < rows_of_samples; row++)
            depth += found[c * rows_of_samples + row] / rows_of_samples;
        write_depth(run, r, depth, exact.h[(int)(r / (radial_side / 2) * radial_cells)]);
    }
}

static const struct scene scenes[] = {
    {"wet", "a dam breaks over water 0.4 m deep (Stoker's solution)", 1.6, begin_wet, flow_until,
     compare_wet},
    {"dry", "a dam breaks over a dry bed (Ritter's solution)", 1.6, begin_dry, flow_until,
     compare_dry},
    {"tank", "wet, between two walls: the shock comes back from one", 4.4, begin_tank, flow_until,
     compare_tank},
    {"lake", "a lake at rest over a bump, between two walls", 2, begin_lake, flow_until,
     compare_lake},
    {"bowl", "water swings in a paraboloid for a period (Thacker's solution)", 0, begin_bowl,
     flow_in_bowl, compare_bowl},
    {"radial", "a round dam breaks (finite volumes along the radius)", 0.6, begin_radial,
     flow_until, compare_radial},
};
enum { scene_count = sizeof scenes / sizeof *scenes };

/* The volume, and the net momentum as a fraction of what moves. */
static void conserved(const struct water *water, double *volume, double *net)
{
    void *host = water_on_host(water);
    double momentum[2] = {0, 0}, moving = 0;
    *volume = 0;
    for (int64_t row = 0; row < water->count; row++) {
        const double of_row = get(water, host, of_V, row);
        for (int k = 0; k < 2; k++) {
            const double speed = get(water, host, k == 0 ? of_vx : of_vy, row);
            momentum[k] += of_row * speed;
            moving += of_row * fabs(speed);
        }
        *volume += of_row;
    }
    *net = moving > 0 ? hypot(momentum[0], momentum[1]) / moving : 0;
    free(host);
}

/* The speed of the computation, what is conserved, and the error. */
static void report(const struct run *run)
{
    const struct water *water = &run->water;
    const double neighbors = (double)water->pair_count / (double)water->rows - 1;
    const double rate = (double)water->steps * (double)water->rows / run->seconds;
    double volume = 0, net = 0;
    conserved(water, &volume, &net);
    if (run->is_json) {
        printf("{\"scene\": \"%s\", \"particles\": %lld, \"steps\": %lld, \"neighbors\": %.17g, "
               "\"seconds\": %.17g, \"particle_steps_per_second\": %.17g, \"volume\": %.17g, "
               "\"net_momentum\": %.17g, \"mean_depth_error\": %.17g",
               run->scene->name, (long long)water->rows, (long long)water->steps, neighbors,
               run->seconds, rate, volume, net, run->error);
        if (run->period > 0)
            printf(", \"period\": %.17g", run->period);
        if (run->speed > 0)
            printf(", \"greatest_speed\": %.17g", run->speed);
        printf("}\n");
        return;
    }
    printf("%lld particles, %lld steps, %.1f neighbors each, %.3f s, %.2f million particles a "
           "second\n",
           (long long)water->rows, (long long)water->steps, neighbors, run->seconds, 1e-6 * rate);
    printf("volume %.12g m^3, net momentum %.1e of what moves\n", volume, net);
    printf("mean error of the depth: %.5f m\n", run->error);
    if (run->period > 0)
        printf("period %.5f s, off Thacker's by %.2f %%\n", run->period,
               100 * fabs(run->period * bowl_frequency() / (2 * pi) - 1));
    if (run->speed > 0)
        printf("greatest speed %.1e m/s\n", run->speed);
}

/* Of the processor, by all threads; with a GPU of the clock. */
static double seconds_now(kith_context *context)
{
    struct timespec now;
    if (kith_context_device(context).kind == KITH_CPU)
        return (double)clock() / CLOCKS_PER_SEC;
    must(kith_context_synchronize(context));
    timespec_get(&now, TIME_UTC);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct options {
    struct run *run;
    const char *output, *device;
    long threads;
};

static double number(const char *text, const char *option, double least, double most,
                     struct argp_state *state)
{
    char *end = NULL;
    const double value = strtod(text, &end);
    if (end == text || *end || !(value >= least && value <= most))
        argp_error(state, "%s is '%s'; give a number from %g to %g", option, text, least, most);
    return value;
}

static error_t parse(int key, char *text, struct argp_state *state)
{
    struct options *options = state->input;
    struct run *run = options->run;
    switch (key) {
    case 'n':
        run->wanted = (int64_t)number(text, "--number", 1000, 1e9, state);
        break;
    case 's':
        run->slope = number(text, "--slope", 0, 10, state);
        break;
    case 'u':
        run->until = number(text, "--until", 0, 1e6, state);
        break;
    case 't':
        options->threads = (long)number(text, "--threads", 1, 1024, state);
        break;
    case 'd':
        if (strcmp(text, "cpu") != 0 && strcmp(text, "cuda") != 0)
            argp_error(state, "--device is '%s'; give cpu or cuda", text);
        options->device = text;
        break;
    case 'p':
        if (strcmp(text, "single") != 0 && strcmp(text, "double") != 0)
            argp_error(state, "--precision is '%s'; give single or double", text);
        run->water.dtype = strcmp(text, "single") == 0 ? KITH_F32 : KITH_F64;
        break;
    case 'j':
        run->is_json = true;
        break;
    case 'o':
        options->output = text;
        break;
    case ARGP_KEY_ARG:
        for (int k = 0; k < scene_count; k++)
            if (state->arg_num == 0 && strcmp(scenes[k].name, text) == 0)
                run->scene = &scenes[k];
        if (!run->scene || state->arg_num > 0)
            argp_error(state, "'%s' is not a scene; --help lists them", text);
        break;
    case ARGP_KEY_END:
        if (!run->scene)
            argp_error(state, "no scene is given; --help lists them");
        else if (run->slope > 0 && run->scene->begin != begin_wet && run->scene->begin != begin_dry)
            argp_error(state, "--slope is for the scenes wet and dry, not for %s",
                       run->scene->name);
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static const struct argp_option argp_options[] = {
    {"number", 'n', "N", 0, "about this number of particles (default: 20000)", 0},
    {"device", 'd', "DEVICE", 0, "cpu or cuda (default: cpu)", 0},
    {"precision", 'p', "P", 0, "single or double (default: double)", 0},
    {"threads", 't', "N", 0, "CPU threads (default: 1)", 0},
    {"until", 'u', "T", 0, "time to stop at, in s (default: the scene's; bowl: a period)", 0},
    {"slope", 's', "S", 0, "slope of the bed, of wet and dry (default: 0)", 0},
    {"json", 'j', NULL, 0, "print one JSON object", 0},
    {"output", 'o', "FILE", 0, "x, depth and exact depth (default: shallow_water.csv)", 0},
    {0}};

static char *list_scenes(int key, const char *text, void *input)
{
    char *list = NULL;
    size_t length = 0;
    (void)input;
    if (key != ARGP_KEY_HELP_POST_DOC)
        return (char *)text;
    FILE *to = open_memstream(&list, &length);
    if (!to)
        return NULL;
    fputs("Scenes:\n", to);
    for (int k = 0; k < scene_count; k++)
        fprintf(to, "  %-8s%s\n", scenes[k].name, scenes[k].summary);
    fclose(to);
    return list;
}

int main(int argc, char **argv)
{
    static struct run run = {.wanted = 20000, .until = -1};
    struct options options = {&run, "shallow_water.csv", "cpu", 1};
    const struct argp argp = {
        argp_options, parse,
        "SCENE",      "Shallow water as particles, compared with an exact solution.\v ",
        NULL,         list_scenes,
        NULL};
    argp_err_exit_status = 2;
    argp_parse(&argp, argc, argv, 0, NULL, &options);
    if (!run.scene)
        return 2;
    if (run.until < 0)
        run.until = run.scene->until;
    run.file = fopen(options.output, "w");
    if (!run.file) {
        fprintf(stderr, "shallow_water: cannot open '%s'\n", options.output);
        return 1;
    }
    const bool on_gpu = strcmp(options.device, "cuda") == 0;
    must(kith_context_create(&(kith_context_options){.device = {on_gpu ? KITH_CUDA : KITH_CPU, 0},
                                                     .threads = (int32_t)options.threads},
                             &run.water.context));
    run.scene->begin(&run);
    water_begin(&run.water);
    const double start = seconds_now(run.water.context);
    run.scene->flow(&run);
    run.seconds = seconds_now(run.water.context) - start;
    fprintf(run.file, "x,depth,exact\n");
    run.scene->compare(&run);
    report(&run);
    water_free(&run.water);
    kith_context_free(run.water.context);
    return fclose(run.file) ? 1 : 0;
}
