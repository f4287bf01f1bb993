/* How fast all-pairs forces are: a row for each number of bodies, precision, instruction set and
 * number of threads.
 *
 *     bench_forces [N …]
 *
 * An interaction counts 20 floating-point operations, as is usual (Nyland, Harris & Prins 2007, GPU
 * Gems 3, ch. 31). */

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/clock.h"
#include "kith/kith.h"

/* The best of several runs is the least disturbed one. */
enum { runs = 5 };
static const double least_seconds = 0.05; /* of a run */
static const double flop_per_interaction = 20;

static void fill(kith_dtype dtype, void *numbers, int64_t count)
{
    uint64_t state = 1;
    for (int64_t k = 0; k < count; k++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        const double uniform = (double)(state >> 11) * 0x1p-53;
        if (dtype == KITH_F64)
            ((double *)numbers)[k] = uniform;
        else
            ((float *)numbers)[k] = (float)uniform;
    }
}

/* Seconds of one computation, or a negative number after an error. */
static double time_forces(kith_context *context, kith_dtype dtype, int64_t n, void *positions,
                          void *masses, void *accelerations)
{
    const kith_forces_options options = {.softening = 0.01};
    const kith_array x = kith_array_matrix(positions, dtype, n, 3);
    const kith_array m = kith_array_vector(masses, dtype, n);
    const kith_array a = kith_array_matrix(accelerations, dtype, n, 3);
    double best = -1;
    for (int run = 0; run < runs; run++) {
        const double start = kith_clock();
        double seconds = 0;
        int64_t calls = 0;
        do {
            if (kith_forces_compute(context, &options, kith_array_none(), x, m, a,
                                    kith_array_none()) != KITH_OK)
                return -1;
            calls++;
            seconds = kith_clock() - start;
        } while (seconds < least_seconds);
        if (best < 0 || seconds / (double)calls < best)
            best = seconds / (double)calls;
    }
    return best;
}

/* Prints a row; false after an error. */
static bool bench(int64_t n, kith_dtype dtype, const char *isa, int32_t threads)
{
    const kith_context_options options = {.device = {KITH_CPU, 0}, .threads = threads};
    kith_context *context = NULL;
    setenv("KITH_ISA", isa, 1);
    if (kith_context_create(&options, &context) != KITH_OK)
        return false;

    const size_t bytes = (size_t)(n * 3 * kith_dtype_bytes(dtype));
    void *positions = malloc(bytes), *masses = malloc(bytes), *accelerations = malloc(bytes);
    double seconds = -1;
    if (positions && masses && accelerations) {
        fill(dtype, positions, 3 * n);
        fill(dtype, masses, n);
        seconds = time_forces(context, dtype, n, positions, masses, accelerations);
    }
    free(positions);
    free(masses);
    free(accelerations);
    kith_context_free(context);
    if (seconds < 0)
        return false;

    const double rate = (double)n * (double)n / seconds / 1e9;
    printf("%8lld  %-9s  %-4s  %7d  %10.3f  %8.1f\n", (long long)n,
           dtype == KITH_F64 ? "double" : "single", isa, (int)threads, rate,
           rate * flop_per_interaction);
    return true;
}

static bool bench_count(int64_t n)
{
    int64_t isa_count = 0;
    const kith_isa *isas = kith_isa_list(&isa_count);
    const int32_t cores = omp_get_num_procs();
    for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++)
        for (int64_t k = 0; k < isa_count; k++)
            for (int32_t threads = 1; threads <= cores; threads += cores > 1 ? cores - 1 : 1)
                if (isas[k].supported && !bench(n, dtype, isas[k].name, threads))
                    return false;
    return true;
}

int main(int argc, char **argv)
{
    static const int64_t default_counts[] = {64, 1024, 16384};
    const int count = argc > 1 ? argc - 1 : (int)(sizeof default_counts / sizeof default_counts[0]);

    printf("       N  precision  isa   threads  Ginter./s   GFLOP/s\n");
    for (int k = 0; k < count; k++) {
        const int64_t n = argc > 1 ? strtoll(argv[k + 1], NULL, 10) : default_counts[k];
        if (n <= 0 || !bench_count(n)) {
            fprintf(stderr, "bench_forces: %s\n",
                    n <= 0 ? "give numbers of bodies" : kith_error_message());
            return 1;
        }
    }
    return 0;
}
