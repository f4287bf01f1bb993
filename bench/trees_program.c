/* bench_trees cpu|cuda single|double N SOLVER [rounds=K] [samples=K] [devices=K] [softening=E]
 * [ERROR...]: accelerations and potentials of a Plummer model of N equal bodies by the solver tree,
 * fmm or direct, and their errors by the definition of docs/tree.md, of samples bodies. Prints a
 * row of JSON per requested error: the median of the rounds, of the processor time of one thread
 * or, on a GPU with arrays in its memory, of the time; and in turns the same of calls that also
 * estimate their error.
 *
 * rounds   at most; default 9, or as many as take 3 s
 * samples  default 1000; each is a direct sum over all bodies, by one thread
 * devices  GPUs that share a call, the first ones; default 1
 * softening  of Plummer's; default 0 */

#ifdef KITH_HAS_CUDA
#include <cuda_runtime_api.h>
#endif
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kith/kith.h"

enum { most_samples = 1000, most_rounds = 9, most_devices = 8 };
static const double enough = 3; /* seconds of all rounds */

struct bench {
    kith_context *context;
    kith_forces_options options;
    kith_dtype dtype;
    bool on_gpu;
    int64_t n, samples, devices;
    int rounds;
    kith_bodies *bodies; /* of positions and masses that are numbers of the precision */
    kith_particles particles;
    kith_array acceleration, potential;
    double field[most_samples][3], scale[most_samples];
};

static int fail(const char *what)
{
    fprintf(stderr, "bench_trees: %s\n", what);
    return 1;
}

static double now(const struct bench *bench)
{
    struct timespec time;
    clock_gettime(bench->on_gpu ? CLOCK_MONOTONIC : CLOCK_PROCESS_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int compare(const void *first, const void *second)
{
    const double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

static void *copy(const struct bench *bench, const void *numbers, size_t bytes, bool to_device)
{
    void *memory = NULL;
#ifdef KITH_HAS_CUDA
    if (bench->on_gpu && to_device)
        return cudaMalloc(&memory, bytes) == cudaSuccess &&
                       cudaMemcpy(memory, numbers, bytes, cudaMemcpyHostToDevice) == cudaSuccess
                   ? memory
                   : NULL;
#else
    (void)bench;
    (void)to_device;
#endif
    memory = malloc(bytes);
    if (!memory)
        return NULL;
#ifdef KITH_HAS_CUDA
    if (bench->on_gpu) {
        cudaMemcpy(memory, numbers, bytes, cudaMemcpyDeviceToHost);
        return memory;
    }
#endif
    memcpy(memory, numbers, bytes);
    return memory;
}

/* A column of the precision on the device; what it holds is written back to numbers. */
static kith_array column(const struct bench *bench, double *numbers, int64_t width)
{
    const int64_t count = bench->n * width;
    float *narrow = malloc((size_t)count * sizeof *narrow + 1);
    void *memory = NULL;
    for (int64_t k = 0; k < count && narrow; k++) {
        narrow[k] = (float)numbers[k];
        numbers[k] = bench->dtype == KITH_F32 ? (double)narrow[k] : numbers[k];
    }
    if (narrow)
        memory =
            copy(bench, bench->dtype == KITH_F32 ? (const void *)narrow : (const void *)numbers,
                 (size_t)(count * kith_dtype_bytes(bench->dtype)), true);
    free(narrow);
    kith_array array = width > 1 ? kith_array_matrix(memory, bench->dtype, bench->n, width)
                                 : kith_array_vector(memory, bench->dtype, bench->n);
    if (bench->on_gpu)
        array.device = (kith_device){KITH_CUDA, 0};
    return array;
}

static int64_t row_of(const struct bench *bench, int64_t sample)
{
    return (int64_t)((double)bench->n * (double)sample / (double)bench->samples);
}

/* The fields of the samples, and what their errors are relative to. */
static void sum_directly(struct bench *bench)
{
    const double *x = bench->bodies->position, *m = bench->bodies->mass;
    const double softening2 = bench->options.softening * bench->options.softening;
    for (int64_t k = 0; k < bench->samples; k++) {
        const int64_t i = row_of(bench, k);
        const double at[3] = {x[3 * i], x[3 * i + 1], x[3 * i + 2]};
        double sum_x = 0, sum_y = 0, sum_z = 0, magnitude = 0, *field = bench->field[k];
#pragma omp simd reduction(+ : sum_x, sum_y, sum_z, magnitude)
        for (int64_t j = 0; j < bench->n; j++) {
            const double dx = x[3 * j] - at[0], dy = x[3 * j + 1] - at[1],
                         dz = x[3 * j + 2] - at[2];
            const double r2 = dx * dx + dy * dy + dz * dz, s2 = r2 + softening2;
            const double of_field = r2 > 0 ? m[j] / (s2 * sqrt(s2)) : 0;
            sum_x += of_field * dx;
            sum_y += of_field * dy;
            sum_z += of_field * dz;
            magnitude += of_field * sqrt(r2);
        }
        field[0] = sum_x;
        field[1] = sum_y;
        field[2] = sum_z;
        const double strength =
            sqrt(field[0] * field[0] + field[1] * field[1] + field[2] * field[2]);
        bench->scale[k] = fmax(strength, 0.1 * magnitude);
    }
}

static void find_errors(const struct bench *bench, double errors[most_samples], double *rms)
{
    const size_t bytes = (size_t)(3 * bench->n * kith_dtype_bytes(bench->dtype));
    void *found = copy(bench, bench->acceleration.data, bytes, false);
    *rms = 0;
    for (int64_t k = 0; k < bench->samples && found; k++) {
        double wrong = 0;
        for (int64_t c = 0; c < 3; c++) {
            const int64_t at = 3 * row_of(bench, k) + c;
            const double value = bench->dtype == KITH_F64 ? ((const double *)found)[at]
                                                          : (double)((const float *)found)[at];
            wrong += pow(value - bench->field[k][c], 2);
        }
        errors[k] = sqrt(wrong) / bench->scale[k];
        *rms += errors[k] * errors[k] / (double)bench->samples;
    }
    *rms = sqrt(*rms);
    qsort(errors, (size_t)bench->samples, sizeof *errors, compare);
    free(found);
}

/* The error is estimated if a report is wanted. */
static kith_status call(struct bench *bench, kith_solver_report *report, double *seconds)
{
    const double begin = now(bench);
    bench->options.report = report;
    kith_status status =
        kith_forces_compute(bench->context, &bench->options, NULL, &bench->particles,
                            bench->acceleration, bench->potential);
    if (status == KITH_OK)
        status = kith_context_synchronize(bench->context);
    bench->options.report = NULL;
    *seconds = now(bench) - begin;
    return status;
}

static kith_status measure(struct bench *bench, const char *solver, double error)
{
    double seconds[most_rounds] = {0}, estimated[most_rounds] = {0}, first = 0, all = 0;
    double errors[most_samples], rms = 0;
    kith_solver_report report = {0};
    int rounds = 0;
    bench->options.accuracy.error = error;
    kith_status status = call(bench, &report, &first);
    for (; rounds < bench->rounds && status == KITH_OK && all < enough; rounds++) {
        status = call(bench, NULL, &seconds[rounds]);
        all += seconds[rounds];
        if (status == KITH_OK && error > 0)
            status = call(bench, &report, &estimated[rounds]);
    }
    if (status != KITH_OK)
        return status;
    qsort(seconds, (size_t)rounds, sizeof *seconds, compare);
    qsort(estimated, (size_t)rounds, sizeof *estimated, compare);
    find_errors(bench, errors, &rms);
    printf(
        "{\"device\": \"%s\", \"devices\": %d, \"precision\": \"%s\", \"bodies\": %lld, \"solver\": \"%s\", "
        "\"requested\": %g, \"order\": %d, \"seconds\": %.4g, \"fastest\": %.4g, "
        "\"slowest\": %.4g, \"with_estimate\": %.4g, \"rms\": %.3g, \"p99\": %.3g, "
        "\"max\": %.3g}\n",
        bench->on_gpu ? "cuda" : "cpu", (int)bench->devices,
        bench->dtype == KITH_F32 ? "single" : "double", (long long)bench->n, solver, error,
        (int)report.order, seconds[rounds / 2], seconds[0], seconds[rounds - 1],
        estimated[rounds / 2], rms, errors[bench->samples * 99 / 100], errors[bench->samples - 1]);
    fflush(stdout);
    return KITH_OK;
}

/* NAME=K between 1 and most; a word that is neither is an error to request. */
static bool is_setting(const char *word, const char *name, int64_t most, int64_t *value)
{
    const size_t length = strlen(name);
    if (strncmp(word, name, length) != 0 || word[length] != '=')
        return false;
    const int64_t wanted = strtoll(word + length + 1, NULL, 10);
    *value = wanted < 1 ? 1 : wanted < most ? wanted : most;
    return true;
}

/* softening=E */
static bool is_softening(const char *word, double *softening)
{
    const char name[] = "softening=";
    const size_t length = sizeof name - 1;
    if (strncmp(word, name, length) != 0)
        return false;
    *softening = atof(word + length);
    return true;
}

/* The settings; how many of the words they are. */
static int read_settings(int count, char **words, struct bench *bench)
{
    int64_t rounds = most_rounds;
    int read = 0;
    bench->samples = most_samples;
    bench->devices = 1;
    while (read < count && (is_setting(words[read], "rounds", most_rounds, &rounds) ||
                            is_setting(words[read], "devices", most_devices, &bench->devices) ||
                            is_setting(words[read], "samples", most_samples, &bench->samples) ||
                            is_softening(words[read], &bench->options.softening)))
        read++;
    bench->rounds = (int)rounds;
    return read;
}

int main(int count, char **words)
{
    static struct bench bench;
    kith_status status = KITH_OK;
    if (count < 5)
        return fail("give cpu|cuda single|double N SOLVER [rounds=K] [samples=K] [devices=K] "
                    "[softening=E] [ERROR...]");
    bench.on_gpu = strcmp(words[1], "cuda") == 0;
    bench.dtype = strcmp(words[2], "double") == 0 ? KITH_F64 : KITH_F32;
    bench.n = (int64_t)atof(words[3]);
    const int first = 5 + read_settings(count - 5, words + 5, &bench);
    const kith_context_options options = {.device = {bench.on_gpu ? KITH_CUDA : KITH_CPU, 0},
                                          .threads = 1};
    const kith_initial_options model = {.count = bench.n, .seed = 1};
    const int32_t peers[] = {1, 2, 3, 4, 5, 6, 7};
    if (kith_context_create(&options, &bench.context) != KITH_OK ||
        kith_context_add_peers(bench.context, peers, (int32_t)bench.devices - 1) != KITH_OK ||
        kith_solver_find(words[4], &bench.options.solver) != KITH_OK ||
        kith_initial_make("plummer", &model, &bench.bodies) != KITH_OK)
        return fail(kith_error_message());
    bench.particles.positions = column(&bench, bench.bodies->position, 3);
    bench.particles.columns[0] = (kith_particle_column){"m", column(&bench, bench.bodies->mass, 1)};
    bench.acceleration = column(&bench, bench.bodies->velocity, 3);
    bench.potential = column(&bench, bench.bodies->velocity, 1);
    if (!bench.particles.positions.data || !bench.particles.columns[0].values.data ||
        !bench.acceleration.data || !bench.potential.data)
        return fail("no memory for the bodies");
    sum_directly(&bench);
    for (int k = first; k < count && status == KITH_OK; k++)
        status = measure(&bench, words[4], atof(words[k]));
    if (count == first)
        status = measure(&bench, words[4], 0);
    return status == KITH_OK ? 0 : fail(kith_error_message());
}
