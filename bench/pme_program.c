/* bench_pme [single|double] N ERROR [CUTOFF]: forces and potentials of N ions on a jittered
 * rock-salt lattice by the solver pme on a GPU, at 100 ions per unit volume; arrays on the device.
 * The first call chooses the setting for the error; the others are given it, as the steps of a run
 * are. Prints a JSON object with the time of such a call: the median of the rounds. */

#include <cuda_runtime_api.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu_calls.h"

static const double per_volume = 100;

struct bench {
    kith_context *context;
    kith_forces_options options;
    kith_solver_report report;
    kith_cell cell;
    kith_particles particles;
    kith_array acceleration, potential;
};

static int fail(const char *what)
{
    fprintf(stderr, "bench_pme: %s\n", what);
    return 1;
}

/* Ions a tenth of their distance away from their sites, every second one along the rows of another
 * charge. */
static bool make_ions(struct bench *bench, int64_t n, kith_dtype dtype)
{
    const int64_t side = (int64_t)ceil(cbrt((double)n) / 2) * 2;
    const double spacing = cbrt(1 / per_volume);
    double *x = calloc((size_t)n * 3 + 1, sizeof *x), *q = calloc((size_t)n + 1, sizeof *q);
    uint64_t state = 1;
    for (int64_t i = 0; i < n && x && q; i++) {
        const int64_t at[3] = {i % side, i / side % side, i / side / side};
        for (int c = 0; c < 3; c++)
            x[3 * i + c] = spacing * ((double)at[c] + 0.2 * gpu_random(&state));
        q[i] = (at[0] + at[1] + at[2]) % 2 ? 1 : -1;
    }
    bench->cell = (kith_cell){{{0}}, {true, true, true}};
    for (int k = 0; k < 3; k++)
        bench->cell.vectors[k][k] = (double)side * spacing;
    bench->particles.positions =
        kith_array_matrix(x && q ? gpu_copy_of(3 * n, dtype, x) : NULL, dtype, n, 3);
    bench->particles.columns[0] = (kith_particle_column){
        "q", kith_array_vector(x && q ? gpu_copy_of(n, dtype, q) : NULL, dtype, n)};
    bench->acceleration = kith_array_matrix(x ? gpu_copy_of(3 * n, dtype, x) : NULL, dtype, n, 3);
    bench->potential = kith_array_vector(q ? gpu_copy_of(n, dtype, q) : NULL, dtype, n);
    const kith_device device = {KITH_CUDA, 0};
    bench->particles.positions.device = bench->particles.columns[0].values.device = device;
    bench->acceleration.device = bench->potential.device = device;
    free(x);
    free(q);
    return bench->particles.positions.data && bench->particles.columns[0].values.data &&
           bench->acceleration.data && bench->potential.data;
}

static kith_status evaluate(void *argument)
{
    struct bench *bench = argument;
    return kith_forces_compute(bench->context, &bench->options, NULL, &bench->particles,
                               bench->acceleration, bench->potential);
}

static kith_status measure(struct bench *bench, double *median)
{
    bench->options.report = &bench->report;
    const kith_status status = evaluate(bench);
    bench->options.report = NULL;
    bench->options.cutoff = bench->report.cutoff;
    bench->options.ewald.alpha = bench->report.alpha;
    bench->options.accuracy.order = bench->report.order;
    memcpy(bench->options.ewald.grid, bench->report.grid, sizeof bench->report.grid);
    return status == KITH_OK ? gpu_time_calls(bench->context, evaluate, bench, median) : status;
}

int main(int count, char **words)
{
    struct bench bench = {0};
    const kith_context_options options = {.device = {KITH_CUDA, 0}};
    double numbers[3] = {0}, median = 0;
    size_t before = 0, after = 0, all = 0;
    int number_count = 0;
    kith_dtype dtype = KITH_F32;
    kith_law *law = NULL;
    for (int k = 1; k < count; k++)
        if (strcmp(words[k], "double") == 0)
            dtype = KITH_F64;
        else if (number_count < 3 && atof(words[k]) > 0)
            numbers[number_count++] = atof(words[k]);
    if (number_count < 2)
        return fail("give [single|double] N ERROR [CUTOFF]");
    if (kith_context_create(&options, &bench.context) != KITH_OK ||
        kith_law_parse("coulomb", 0, NULL, &law) != KITH_OK ||
        kith_solver_find("pme", &bench.options.solver) != KITH_OK)
        return fail(kith_error_message());
    bench.options.law = law;
    bench.options.cell = &bench.cell;
    bench.options.accuracy.error = numbers[1];
    bench.options.cutoff = numbers[2];
    if (!make_ions(&bench, (int64_t)numbers[0], dtype))
        return fail("no memory for the ions");
    cudaMemGetInfo(&before, &all);
    if (measure(&bench, &median) != KITH_OK)
        return fail(kith_error_message());
    cudaMemGetInfo(&after, &all);
    printf("{\"ions\": %lld, \"precision\": \"%s\", \"error\": %g, \"error_estimated\": %.3g, "
           "\"cutoff\": %.4g, \"pairs\": %.3g, \"alpha\": %.4g, \"grid\": [%d, %d, %d], "
           "\"order\": %d, \"prepare_seconds\": %.3g, \"seconds\": %.4g, \"bytes\": %lld}\n",
           (long long)numbers[0], dtype == KITH_F32 ? "single" : "double", numbers[1],
           bench.report.error_estimated, bench.report.cutoff,
           per_volume * 4.18879 * pow(bench.report.cutoff, 3), bench.report.alpha,
           (int)bench.report.grid[0], (int)bench.report.grid[1], (int)bench.report.grid[2],
           (int)bench.report.order, bench.report.prepare_seconds, median,
           (long long)before - (long long)after);
    cudaFree(bench.particles.positions.data);
    cudaFree(bench.particles.columns[0].values.data);
    cudaFree(bench.acceleration.data);
    cudaFree(bench.potential.data);
    kith_law_free(law);
    kith_context_free(bench.context);
    return 0;
}
