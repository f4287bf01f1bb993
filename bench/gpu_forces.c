/* Forces on a GPU for the benchmark: arrays on the device through the public API, the backend's
 * kernels alone, and the GPU Gems kernel. */

#include "gpu_forces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/clock.h"
#include "core/memory.h"
#include "device/context.h"
#include "device/cuda.h"
#include "forces/backend.h"
#include "forces/law_choice.h"
#include "gems_forces.h"
#include "kith/forces.h"

enum {
    least_block = 64,
    most_block = gems_most_threads,
    trial_rounds = 5,
    most_bodies_of_trial = 1 << 17 /* enough to fill a device: the best block stays the best */
};

struct gpu_forces {
    kith_context *context;
    kith_dtype dtype;
    int64_t count, padded; /* a multiple of kith_padding and of any block */
    double softening;
    const kith_law *law;
    kith_forces_method method;
    int32_t block; /* threads of a block of the GPU Gems kernel: the fastest */
    cudaEvent_t begin, end;
    char *position, *mass, *acceleration; /* as kith_forces_compute takes them */
    char *columns;                        /* x, y, z, mass; accelerations: `padded` elements each */
    char *bodies, *result;                /* rows of four */
    char *host; /* positions, masses and accelerations on the host, one after another */
};

static size_t bytes_each(const struct gpu_forces *forces)
{
    return (size_t)kith_dtype_bytes(forces->dtype);
}

static double element(const struct gpu_forces *forces, const void *values, int64_t k)
{
    return forces->dtype == KITH_F64 ? ((const double *)values)[k] : ((const float *)values)[k];
}

/* Zeroed elements of the device's memory. */
static kith_status allocate(const struct gpu_forces *forces, int64_t elements, char **memory)
{
    const size_t bytes = (size_t)elements * bytes_each(forces);
    KITH_TRY(cuda_check(cudaMalloc((void **)memory, bytes), "memory for the bodies"));
    return cuda_check(cudaMemset(*memory, 0, bytes), "clearing memory for the bodies");
}

static kith_status allocate_all(struct gpu_forces *forces)
{
    const int64_t padded = forces->padded;
    KITH_TRY(cuda_check(cudaEventCreate(&forces->begin), "making an event"));
    KITH_TRY(cuda_check(cudaEventCreate(&forces->end), "making an event"));
    KITH_TRY(allocate(forces, 3 * padded, &forces->position));
    KITH_TRY(allocate(forces, padded, &forces->mass));
    KITH_TRY(allocate(forces, 3 * padded, &forces->acceleration));
    KITH_TRY(allocate(forces, 7 * padded, &forces->columns));
    KITH_TRY(allocate(forces, 4 * padded, &forces->bodies));
    return allocate(forces, 4 * padded, &forces->result);
}

static kith_status copy(void *to, const void *from, size_t bytes)
{
    return cuda_check(cudaMemcpy(to, from, bytes, cudaMemcpyDefault), "copying the bodies");
}

/* Every element of from, stride elements apart, after one another. */
static void gather(size_t each, int64_t count, const char *from, int64_t from_stride, char *to,
                   int64_t to_stride)
{
    for (int64_t i = 0; i < count; i++)
        memcpy(to + (size_t)(i * to_stride) * each, from + (size_t)(i * from_stride) * each, each);
}

/* The bodies in columns and in rows of four. */
static kith_status lay_out(struct gpu_forces *forces, const char *position, const char *mass)
{
    const size_t each = bytes_each(forces), bytes = 4 * (size_t)forces->padded * each;
    char *arranged = NULL;
    KITH_TRY(kith_allocate(forces->padded, 4 * (int64_t)each, "bodies", &arranged));
    kith_status status = KITH_OK;
    for (int by_rows = 0; by_rows < 2 && status == KITH_OK; by_rows++) {
        const int64_t stride = by_rows ? 4 : 1;
        const size_t apart = by_rows ? each : (size_t)forces->padded * each;
        memset(arranged, 0, bytes);
        for (size_t c = 0; c < 3; c++)
            gather(each, forces->count, position + c * each, 3, arranged + c * apart, stride);
        gather(each, forces->count, mass, 1, arranged + 3 * apart, stride);
        status = copy(by_rows ? forces->bodies : forces->columns, arranged, bytes);
    }
    free(arranged);
    return status;
}

static kith_status compute_arrays(const struct gpu_forces *forces, bool on_host)
{
    const int64_t n = forces->count;
    const size_t row = (size_t)n * bytes_each(forces);
    const kith_device cpu = {KITH_CPU, 0};
    const kith_device device = on_host ? cpu : kith_context_device(forces->context);
    const kith_forces_options options = {
        .softening = forces->softening, .law = forces->law, .method = forces->method};
    kith_array position =
        kith_array_matrix(on_host ? forces->host : forces->position, forces->dtype, n, 3);
    kith_array mass =
        kith_array_vector(on_host ? forces->host + 3 * row : forces->mass, forces->dtype, n);
    kith_array acceleration = kith_array_matrix(
        on_host ? forces->host + 4 * row : forces->acceleration, forces->dtype, n, 3);
    position.device = mass.device = acceleration.device = device;
    const kith_particles particles = {.positions = position, .columns = {{"m", mass}}};
    return kith_forces_compute(forces->context, &options, NULL, &particles, acceleration,
                               kith_array_none());
}

static kith_status run_kernels(const struct gpu_forces *forces)
{
    const size_t column = (size_t)forces->padded * bytes_each(forces);
    struct forces_problem problem = {
        .dtype = forces->dtype,
        .dimensions = 3,
        .self = true,
        .target_count = forces->count,
        .source_count = forces->count,
        .gravitational_constant = 1,
        .softening2 = forces->softening * forces->softening,
        .source_mass = forces->columns + 3 * column,
        .target_mass = forces->columns + 3 * column,
        .way = {.method = forces->method},
    };
    struct law_choice choice;
    KITH_TRY(forces_choose_law(forces->law, 0, 0, &choice));
    problem.law = choice.law;
    for (size_t c = 0; c < 3; c++) {
        problem.target_position[c] = problem.source_position[c] = forces->columns + c * column;
        problem.acceleration[c] = forces->columns + (4 + c) * column;
    }
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(forces->context, &scope));
    return forces_backend_of(forces->context)->evaluate(forces->context, &problem);
}

static kith_status run_gems(const struct gpu_forces *forces, int64_t bodies, int32_t block)
{
    const int64_t filled = (bodies + block - 1) / block * block;
    return gems_forces(forces->context, forces->dtype, filled, block, forces->softening,
                       forces->bodies, forces->result);
}

static kith_status run_once(const struct gpu_forces *forces, enum gpu_forces_way way)
{
    switch (way) {
    case gpu_forces_kernels:
        return run_kernels(forces);
    case gpu_forces_gems:
        return run_gems(forces, forces->count, forces->block);
    default:
        return compute_arrays(forces, way == gpu_forces_of_host);
    }
}

static kith_status begin_timing(const struct gpu_forces *forces)
{
    return cuda_check(cudaEventRecord(forces->begin, cuda_stream(forces->context)),
                      "recording an event");
}

/* Waits for what was started since begin_timing. */
static kith_status end_timing(const struct gpu_forces *forces, double *seconds)
{
    float milliseconds = 0;
    KITH_TRY(cuda_check(cudaEventRecord(forces->end, cuda_stream(forces->context)),
                        "recording an event"));
    KITH_TRY(kith_context_synchronize(forces->context));
    KITH_TRY(cuda_check(cudaEventElapsedTime(&milliseconds, forces->begin, forces->end),
                        "reading the time between two events"));
    *seconds = 1e-3 * (double)milliseconds;
    return KITH_OK;
}

kith_status gpu_forces_time(struct gpu_forces *forces, enum gpu_forces_way way, int64_t calls,
                            double *seconds)
{
    const double start = kith_clock();
    KITH_TRY(begin_timing(forces));
    for (int64_t k = 0; k < calls; k++)
        KITH_TRY(run_once(forces, way));
    KITH_TRY(end_timing(forces, seconds));
    if (way == gpu_forces_of_arrays || way == gpu_forces_of_host)
        *seconds = kith_clock() - start;
    return KITH_OK;
}

/* By the best of several rounds: in the first, code is loaded and the clock goes up. */
static kith_status choose_block(struct gpu_forces *forces)
{
    const int64_t bodies =
        forces->count < most_bodies_of_trial ? forces->count : most_bodies_of_trial;
    double best = INFINITY;
    for (int round = 0; round < trial_rounds; round++)
        for (int32_t block = least_block; block <= most_block; block *= 2) {
            double seconds = 0;
            KITH_TRY(begin_timing(forces));
            KITH_TRY(run_gems(forces, bodies, block));
            KITH_TRY(end_timing(forces, &seconds));
            forces->block = seconds < best ? block : forces->block;
            best = fmin(best, seconds);
        }
    return KITH_OK;
}

static kith_status fill(struct gpu_forces *forces, kith_array position, kith_array mass)
{
    const size_t each = bytes_each(forces), count = (size_t)forces->count;
    KITH_TRY(allocate_all(forces));
    KITH_TRY(copy(forces->position, position.data, 3 * count * each));
    KITH_TRY(copy(forces->mass, mass.data, count * each));
    KITH_TRY(kith_allocate(forces->padded, 7 * (int64_t)each, "bodies", &forces->host));
    memcpy(forces->host, position.data, 3 * count * each);
    memcpy(forces->host + 3 * count * each, mass.data, count * each);
    KITH_TRY(lay_out(forces, position.data, mass.data));
    return choose_block(forces);
}

kith_status gpu_forces_create(kith_context *context, kith_array position, kith_array mass,
                              const kith_law *law, kith_forces_method method, double softening,
                              struct gpu_forces **forces)
{
    struct gpu_forces *created = NULL;
    *forces = NULL;
    KITH_TRY(cuda_check(cudaSetDevice(kith_context_device(context).index), "choosing the device"));
    KITH_TRY(kith_allocate(1, sizeof *created, "forces", &created));
    created->context = context;
    created->dtype = position.dtype;
    created->count = position.shape[0];
    created->padded = (created->count + most_block - 1) / most_block * most_block;
    created->softening = softening;
    created->law = law;
    created->method = method;
    const kith_status status = fill(created, position, mass);
    if (status == KITH_OK)
        *forces = created;
    else
        gpu_forces_free(created);
    return status;
}

void gpu_forces_free(struct gpu_forces *forces)
{
    if (!forces)
        return;
    cudaFree(forces->position);
    cudaFree(forces->mass);
    cudaFree(forces->acceleration);
    cudaFree(forces->columns);
    cudaFree(forces->bodies);
    cudaFree(forces->result);
    free(forces->host);
    if (forces->begin)
        cudaEventDestroy(forces->begin);
    if (forces->end)
        cudaEventDestroy(forces->end);
    free(forces);
}

/* The results of one method on the host (free them with free()), and how many elements apart bodies
 * and coordinates are. */
static kith_status fetch(const struct gpu_forces *forces, enum gpu_forces_way way, char **results,
                         int64_t *body_stride, int64_t *coordinate_stride)
{
    const size_t each = bytes_each(forces);
    const int64_t padded = forces->padded;
    const char *from = way == gpu_forces_of_arrays ? forces->acceleration
                       : way == gpu_forces_gems    ? forces->result
                                                   : forces->columns + 4 * (size_t)padded * each;
    const int64_t elements = (way == gpu_forces_gems ? 4 : 3) * padded;
    *body_stride = way == gpu_forces_kernels ? 1 : elements / padded;
    *coordinate_stride = way == gpu_forces_kernels ? padded : 1;
    KITH_TRY(kith_allocate(elements, (int64_t)each, "results", results));
    return copy(*results, from, (size_t)elements * each);
}

kith_status gpu_forces_difference(struct gpu_forces *forces, enum gpu_forces_way a,
                                  enum gpu_forces_way b, double *difference)
{
    char *of_a = NULL, *of_b = NULL;
    int64_t row_a = 0, row_b = 0, column_a = 0, column_b = 0;
    double square = 0, square_of_difference = 0;
    kith_status status = fetch(forces, a, &of_a, &row_a, &column_a);
    if (status == KITH_OK)
        status = fetch(forces, b, &of_b, &row_b, &column_b);
    for (int64_t i = 0; i < forces->count && status == KITH_OK; i++)
        for (int64_t c = 0; c < 3; c++) {
            const double x = element(forces, of_a, i * row_a + c * column_a);
            const double y = element(forces, of_b, i * row_b + c * column_b);
            square += x * x;
            square_of_difference += (x - y) * (x - y);
        }
    *difference = square > 0 ? sqrt(square_of_difference / square) : 0;
    free(of_a);
    free(of_b);
    return status;
}

/* Lanes of a multiprocessor that start an operation each cycle. */
static double lanes_of(int device, kith_dtype dtype)
{
    int major = 0, minor = 0, ratio = 1;
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    cudaDeviceGetAttribute(&ratio, cudaDevAttrSingleToDoublePrecisionPerfRatio, device);
    const double in_float = major == 7 || (major == 8 && minor == 0) ? 64 : 128;
    return dtype == KITH_F32 ? in_float : in_float / ratio;
}

double gpu_forces_limit(kith_context *context, kith_dtype dtype)
{
    /* For the two interactions of a pair; in double those of its unit (forces/ring_cuda.cuh). */
    const double instructions = dtype == KITH_F32 ? 18 : 20;
    const int device = kith_context_device(context).index;
    int clock_khz = 0;
    if (cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, device) != cudaSuccess)
        return NAN;
    return cuda_multiprocessors(context) * lanes_of(device, dtype) * clock_khz * 1e3 * 2 /
           instructions;
}
