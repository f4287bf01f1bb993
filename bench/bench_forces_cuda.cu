/* Times the forces of the CUDA backend beside the GPU Gems kernel: kernel time by events, of calls
 * one after another, the best of several batches.
 *
 *     bench_forces_cuda [N…]
 *
 * An interaction is one pair (i, j) of the N² and counts as 20 flop. The limit is what the number
 * of instructions of a pair allows at the highest clock: in float 18 for the two interactions of a
 * pair of the symmetric kernel (ring_cuda.cuh) and one a cycle and lane; in double 20 of the unit
 * for doubles. */

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <vector>

#include "bench/gems_forces.cuh"
#include "core/memory.h"
#include "forces/direct.h"
#include "kith/kith.h"

enum { batches = 5, most_calls = 50 };

constexpr double flop = 20, batch_seconds = 0.02, guessed_flops = 2e13, softening = 0.01;

static void must(cudaError_t error, const char *what)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "bench_forces_cuda: %s: %s\n", what, cudaGetErrorString(error));
        exit(1);
    }
}

static void must(kith_status status)
{
    if (status != KITH_OK) {
        fprintf(stderr, "bench_forces_cuda: %s\n", kith_error_message());
        exit(1);
    }
}

/* The least time of one call of launch, which puts work on the stream. */
template <typename callable>
static double best_seconds(cudaStream_t stream, double interactions, callable launch)
{
    const double estimate = interactions * flop / guessed_flops;
    const int calls = (int)std::clamp(batch_seconds / estimate, 1.0, (double)most_calls);
    cudaEvent_t begin, end;
    must(cudaEventCreate(&begin), "making an event");
    must(cudaEventCreate(&end), "making an event");
    launch();
    double best = 1e30;
    for (int batch = 0; batch < batches; batch++) {
        must(cudaEventRecord(begin, stream), "recording an event");
        for (int call = 0; call < calls; call++)
            launch();
        must(cudaEventRecord(end, stream), "recording an event");
        must(cudaEventSynchronize(end), "waiting for the kernels");
        float milliseconds = 0;
        must(cudaEventElapsedTime(&milliseconds, begin, end), "reading the time");
        best = std::min(best, 1e-3 * milliseconds / calls);
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return best;
}

template <typename real> static real *on_device(const std::vector<real> &values)
{
    real *memory = nullptr;
    must(cudaMalloc(&memory, values.size() * sizeof(real)), "allocating");
    must(cudaMemcpy(memory, values.data(), values.size() * sizeof(real), cudaMemcpyHostToDevice),
         "copying");
    return memory;
}

/* Bodies in the unit cube with masses of 0.5 to 1.5, in columns and in rows. */
template <typename real> struct bodies {
    real *column[4], *acceleration[3];
    gems_body<real> *rows, *result;

    explicit bodies(int64_t n)
    {
        std::mt19937_64 random(1);
        std::uniform_real_distribution<real> uniform(0, 1);
        std::vector<real> values[4];
        std::vector<gems_body<real>> packed((size_t)n);
        for (int c = 0; c < 4; c++) {
            values[c].resize((size_t)kith_padded(n));
            for (real &value : values[c])
                value = uniform(random) + (c == 3 ? (real)0.5 : (real)0);
            column[c] = on_device(values[c]);
        }
        for (int64_t i = 0; i < n; i++)
            packed[(size_t)i] = {values[0][i], values[1][i], values[2][i], values[3][i]};
        for (int c = 0; c < 3; c++)
            acceleration[c] = on_device(values[c]);
        must(cudaMalloc(&rows, n * sizeof *rows), "allocating");
        must(cudaMalloc(&result, n * sizeof *result), "allocating");
        must(cudaMemcpy(rows, packed.data(), n * sizeof *rows, cudaMemcpyHostToDevice), "copying");
    }

    ~bodies()
    {
        for (real *memory : column)
            cudaFree(memory);
        for (real *memory : acceleration)
            cudaFree(memory);
        cudaFree(rows);
        cudaFree(result);
    }

    bodies(const bodies &) = delete;
    bodies &operator=(const bodies &) = delete;
};

template <typename real>
static double kith_seconds(kith_context *context, const bodies<real> &bodies, int64_t n)
{
    struct forces_problem problem = {};
    problem.dtype = sizeof(real) == sizeof(double) ? KITH_F64 : KITH_F32;
    problem.dimensions = 3;
    problem.self = true;
    problem.target_count = problem.source_count = n;
    problem.gravitational_constant = 1;
    problem.softening2 = softening * softening;
    for (int c = 0; c < 3; c++) {
        problem.target_position[c] = problem.source_position[c] = bodies.column[c];
        problem.acceleration[c] = bodies.acceleration[c];
    }
    problem.source_mass = bodies.column[3];
    cudaStream_t stream = (cudaStream_t)kith_context_stream(context);
    return best_seconds(stream, (double)n * (double)n,
                        [&] { must(forces_direct_cuda(context, &problem)); });
}

/* With the best block; 0 if no block divides n. */
template <typename real>
static double gems_seconds(cudaStream_t stream, const bodies<real> &bodies, int64_t n)
{
    double best = 0;
    for (int threads = 64; threads <= 512 && n % threads == 0; threads *= 2) {
        const size_t shared = threads * sizeof(gems_body<real>);
        const double seconds = best_seconds(stream, (double)n * (double)n, [&] {
            gems_forces<real><<<(unsigned)(n / threads), threads, shared, stream>>>(
                bodies.rows, (int)n, (real)(softening * softening), bodies.result);
            must(cudaGetLastError(), "starting the baseline");
        });
        best = best == 0 ? seconds : std::min(best, seconds);
    }
    return best;
}

/* Flop a second of the symmetric kernel if nothing but the arithmetic took time. */
template <typename real> static double limit_flops()
{
    int device = 0, clock_khz = 0;
    cudaDeviceProp properties;
    must(cudaGetDevice(&device), "looking for the device");
    must(cudaGetDeviceProperties(&properties, device), "looking at the device");
    must(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, device), "looking at the clock");
    const bool is_fast_in_double = properties.minor == 0 && properties.major >= 8;
    const bool is_float = sizeof(real) == sizeof(float);
    const double lanes =
        is_float ? (properties.major == 7 || properties.minor + properties.major == 8 ? 64 : 128)
                 : (is_fast_in_double ? 64 : 2);
    const double instructions = is_float ? 18 : 20;
    return properties.multiProcessorCount * lanes * clock_khz * 1e3 / instructions * 2 * flop;
}

template <typename real> static void print_row(kith_context *context, int64_t n)
{
    const bodies<real> bodies(n);
    const double interactions = (double)n * (double)n;
    const double seconds = kith_seconds(context, bodies, n);
    const double baseline = gems_seconds((cudaStream_t)kith_context_stream(context), bodies, n);
    const double flops = interactions * flop / seconds;
    printf("%8lld %-6s %12.2f %8.2f %8.1f", (long long)n,
           sizeof(real) == sizeof(float) ? "float" : "double", seconds * 1e6, flops / 1e12,
           100 * flops / limit_flops<real>());
    if (baseline > 0)
        printf(" %10.2f %8.2f\n", interactions * flop / baseline / 1e12, baseline / seconds);
    else
        printf(" %10s %8s\n", "-", "-");
    fflush(stdout);
}

int main(int argc, char **argv)
{
    kith_context_options options = {};
    options.device.kind = KITH_CUDA;
    kith_context *context = nullptr;
    must(kith_context_create(&options, &context));

    printf("%8s %-6s %12s %8s %8s %10s %8s\n", "N", "", "microseconds", "Tflop/s", "% limit",
           "GPU Gems", "ratio");
    std::vector<int64_t> counts = {64, 256, 1024, 4096, 8192, 16384, 65536, 131072, 262144};
    if (argc > 1) {
        counts.clear();
        for (int k = 1; k < argc; k++)
            counts.push_back(std::max(1LL, atoll(argv[k])));
    }
    for (const int64_t n : counts)
        print_row<float>(context, n);
    for (const int64_t n : counts)
        print_row<double>(context, n);
    kith_context_free(context);
    return 0;
}
