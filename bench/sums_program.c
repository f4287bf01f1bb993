/* bench_sums [single|double] [open|periodic] N NEIGHBORS [FORMULA]: a sum of a formula (exp(-r2)
 * unless given) over the neighbors of N random points on a GPU, this number on average in the bulk;
 * arrays on the device. Prints a JSON object with the time of a call: the median of the rounds.
 * bench_sums N all [10d] [FORMULA]: over all pairs, of points of a unit cube in 10 dimensions. */

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_calls.h"

static const double pi = 3.14159265358979323846;

struct bench {
    kith_context *context;
    kith_sums_options options;
    kith_cell cell;
    kith_particles particles;
    int64_t dimensions;
    kith_named_formula output;
    kith_array results;
};

static int fail(const char *what)
{
    fprintf(stderr, "bench_sums: %s\n", what);
    return 1;
}

/* Random numbers of a unit cube, on the device; NULL without memory. */
static void *random_positions(int64_t count, kith_dtype dtype)
{
    double *numbers = calloc((size_t)count + 1, sizeof *numbers);
    uint64_t state = 1;
    for (int64_t k = 0; k < count && numbers; k++)
        numbers[k] = gpu_random(&state);
    void *device = numbers ? gpu_copy_of(count, dtype, numbers) : NULL;
    free(numbers);
    return device;
}

static kith_status sum(void *argument)
{
    struct bench *bench = argument;
    return kith_sums_compute(bench->context, &bench->options, NULL, &bench->particles, 1,
                             &bench->output, bench->results);
}

/* The first call counts the pairs. */
static kith_status measure(struct bench *bench, double *median, int64_t *pairs)
{
    bench->options.pair_count = pairs;
    const kith_status status = sum(bench);
    bench->options.pair_count = NULL;
    return status == KITH_OK ? gpu_time_calls(bench->context, sum, bench, median) : status;
}

/* Parses the arguments, in any order; false unless both numbers are given. */
static bool read_arguments(int count, char **words, struct bench *bench, kith_dtype *dtype,
                           double numbers[2])
{
    int number_count = 0;
    bench->output = (kith_named_formula){"f", "exp(-r2)"};
    bench->dimensions = 3;
    *dtype = KITH_F32;
    for (int k = 1; k < count; k++) {
        if (strcmp(words[k], "double") == 0)
            *dtype = KITH_F64;
        else if (strcmp(words[k], "periodic") == 0)
            bench->options.cell = &bench->cell;
        else if (number_count == 1 && strcmp(words[k], "all") == 0)
            numbers[number_count++] = 0;
        else if (words[k][0] != '\0' && words[k][strlen(words[k]) - 1] == 'd' && atoi(words[k]) > 0)
            bench->dimensions = atoi(words[k]);
        else if (number_count < 2 && atof(words[k]) > 0)
            numbers[number_count++] = atof(words[k]);
        else if (strcmp(words[k], "single") != 0 && strcmp(words[k], "open") != 0)
            bench->output.formula = words[k];
    }
    return number_count == 2 && bench->dimensions <= 16;
}

int main(int count, char **words)
{
    struct bench bench = {
        .cell = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {true, true, true}},
    };
    const kith_context_options options = {.device = {KITH_CUDA, 0}};
    double numbers[2], median = 0;
    int64_t pairs = 0;
    kith_dtype dtype = KITH_F32;
    if (!read_arguments(count, words, &bench, &dtype, numbers))
        return fail("give [single|double] [open|periodic] N NEIGHBORS|all [Dd] [FORMULA]");
    const int64_t n = (int64_t)numbers[0], d = bench.dimensions;
    bench.options.cutoff = cbrt(numbers[1] / (double)n * 3 / (4 * pi));
    if (kith_context_create(&options, &bench.context) != KITH_OK)
        return fail(kith_error_message());
    void *x = random_positions(d * n, dtype), *to = random_positions(n, dtype);
    bench.particles.positions = kith_array_matrix(x, dtype, n, d);
    bench.results = kith_array_matrix(to, dtype, n, 1);
    bench.particles.positions.device = bench.results.device = options.device;
    if (!x || !to)
        return fail("no memory for the points");
    if (measure(&bench, &median, &pairs) != KITH_OK)
        return fail(kith_error_message());
    printf("{\"points\": %lld, \"dimensions\": %d, \"pairs\": %lld, \"precision\": \"%s\", "
           "\"space\": \"%s\", "
           "\"formula\": \"%s\", \"seconds\": %.6g, \"pairs_per_second\": %.4g}\n",
           (long long)n, (int)d, (long long)pairs, dtype == KITH_F32 ? "single" : "double",
           bench.options.cell ? "periodic" : "open", bench.output.formula, median,
           (double)pairs / median);
    cudaFree(x);
    cudaFree(to);
    kith_context_free(bench.context);
    return 0;
}
