/* Scenarios for a GPU: arrays that are there already, and as many bodies as its methods have. */

#include <cuda_runtime_api.h>
#include <stdlib.h>

#include "../testing/particles.h"
#include "scenarios.h"

enum { dimensions = 3, most_made = 16 };

/* Arrays that a scenario has made on the device. */
struct made {
    void *memory[most_made];
    int count;
    bool failed;
};

static void *make_memory(struct made *made, int64_t bytes)
{
    void *memory = NULL;
    if (made->count == most_made || cudaMalloc(&memory, (size_t)bytes + 1) != cudaSuccess) {
        made->failed = true;
        return NULL;
    }
    return made->memory[made->count++] = memory;
}

static int64_t bytes_of(kith_array array)
{
    const int64_t columns = array.ndim == 2 ? array.shape[1] : 1;
    return array.shape[0] * columns * kith_dtype_bytes(array.dtype);
}

/* A copy of a contiguous array. */
static kith_array there(struct made *made, kith_array host)
{
    kith_array array = host;
    array.device = (kith_device){KITH_CUDA, 0};
    array.data = make_memory(made, bytes_of(host));
    if (array.data && cudaMemcpy(array.data, host.data, (size_t)bytes_of(host),
                                 cudaMemcpyHostToDevice) != cudaSuccess)
        made->failed = true;
    return array;
}

/* Takes an array on the device into the digest, when all that was called is done. */
static kith_status fold_there(struct call *call, kith_array array)
{
    const int64_t bytes = bytes_of(array);
    const kith_status status = kith_context_synchronize(call->context);
    void *host = malloc((size_t)bytes + 1);
    if (host && status == KITH_OK &&
        cudaMemcpy(host, array.data, (size_t)bytes, cudaMemcpyDeviceToHost) == cudaSuccess)
        fold(call, host, bytes);
    free(host);
    return status;
}

/* For return: the scenario's memory goes, and what was not to be had of it is an error. */
static kith_status done(struct made *made, kith_status status)
{
    while (made->count > 0)
        cudaFree(made->memory[--made->count]);
    return made->failed ? KITH_INTERNAL_ERROR : status;
}

/* count numbers between 0 and 1, always the same. */
static double *numbers(int64_t count)
{
    double *values = malloc((size_t)count * sizeof *values);
    uint64_t state = 7;
    for (int64_t k = 0; values && k < count; k++) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        values[k] = (double)(state >> 11) * 0x1p-53;
    }
    return values;
}

static kith_array matrix_of(double *values, int64_t n)
{
    return kith_array_matrix(values, KITH_F64, n, dimensions);
}

static kith_status forces_there(struct call *call)
{
    enum { n = 600 };
    static const kith_forces_method methods[] = {KITH_FORCES_AUTO, KITH_FORCES_SPLIT,
                                                 KITH_FORCES_SYMMETRIC, KITH_FORCES_TILE_P,
                                                 KITH_FORCES_TILE_P2};
    struct made made = {0};
    double *values = numbers(4 * n);
    const kith_array x = there(&made, matrix_of(values, n)), a = there(&made, x);
    const kith_array m = there(&made, kith_array_vector(values + 3 * n, KITH_F64, n));
    const kith_array phi = there(&made, m);
    kith_status status = made.failed ? KITH_INTERNAL_ERROR : KITH_OK;
    for (int k = 0; k < 5 && status == KITH_OK; k++) {
        const kith_forces_options options = {.method = methods[k], .softening = 0.1};
        status = kith_forces_compute(call->context, &options, NULL, PARTICLES(x, {"m", m}), a, phi);
        if (status == KITH_OK)
            status = fold_there(call, a);
        if (status == KITH_OK)
            status = fold_there(call, phi);
    }
    free(values);
    return done(&made, status);
}

/* Some of the bodies as targets, each with a softening of its own, and a formula. */
static kith_status forces_of_formulas_there(struct call *call)
{
    enum { n = 500, few = 70 };
    struct made made = {0};
    double *values = numbers(4 * n);
    const kith_array x = there(&made, matrix_of(values, n));
    const kith_array m = there(&made, kith_array_vector(values + 3 * n, KITH_F64, n));
    const kith_array targets = there(&made, matrix_of(values, few)), a = there(&made, targets);
    kith_array of_targets = m;
    of_targets.shape[0] = few;
    kith_forces_options options = {0};
    kith_status status = made.failed ? KITH_INTERNAL_ERROR : KITH_OK;
    for (int k = 0; k < 2 && status == KITH_OK; k++) {
        kith_law *law = NULL;
        status = k == 0 ? kith_law_parse("yukawa:2.5", 0, NULL, &law)
                        : kith_law_compile(call->context, "m_i*m_j*exp(-r)/r", 0, NULL, &law);
        options.law = law;
        if (status == KITH_OK)
            status = kith_forces_compute(
                call->context, &options,
                PARTICLES(targets, {"m", of_targets}, {"softening", of_targets}),
                PARTICLES(x, {"m", m}, {"softening", m}), a, kith_array_none());
        if (status == KITH_OK)
            status = fold_there(call, a);
        kith_law_free(law);
    }
    free(values);
    return done(&made, status);
}

/* As many as take the symmetric kernels, by way of the host. */
static kith_status forces_of_many(struct call *call)
{
    enum { n = 12000 };
    double *values = numbers(2 * dimensions * n);
    const kith_array x = matrix_of(values, n), a = matrix_of(values + dimensions * n, n);
    const kith_forces_options options = {.softening = 0.01};
    const kith_array none = kith_array_none();
    const kith_status status =
        kith_forces_compute(call->context, &options, NULL, POINTS(x), a, none);
    if (status == KITH_OK)
        fold(call, a.data, bytes_of(a));
    free(values);
    return status;
}

static kith_status matrix_there(struct call *call)
{
    enum { n = 300, bins = 16 };
    static const kith_matrix_method methods[] = {KITH_MATRIX_DIRECT, KITH_MATRIX_TILE_P,
                                                 KITH_MATRIX_TILE_P2};
    struct made made = {0};
    double *values = numbers((int64_t)n * n);
    int64_t zeros[n] = {0};
    const kith_array matrix = there(&made, kith_array_matrix(values, KITH_F64, n, n));
    const kith_array sums = there(&made, kith_array_vector(values, KITH_F64, n));
    const kith_array places = there(&made, kith_array_vector(zeros, KITH_I64, n));
    const kith_array counts = there(&made, kith_array_vector(zeros, KITH_I64, bins));
    const kith_array b = there(&made, kith_array_vector(values, KITH_F64, n));
    const kith_particles rows = {.positions = there(&made, matrix_of(values, n))};
    kith_context *context = call->context;
    kith_status status = made.failed ? KITH_INTERNAL_ERROR : KITH_OK;
    for (int k = 0; k < 3 && status == KITH_OK; k++) {
        const kith_matrix_options options = {.method = methods[k], .softening = 0.1};
        status = kith_matrix_compute(context, NULL, &options, &rows, NULL, matrix);
        if (status == KITH_OK)
            status = fold_there(call, matrix);
    }
    if (status == KITH_OK)
        status = kith_matrix_reduce(context, NULL, NULL, &rows, NULL, KITH_REDUCE_SUM, sums);
    if (status == KITH_OK)
        status = fold_there(call, sums);
    if (status == KITH_OK)
        status = kith_matrix_reduce(context, NULL, NULL, &rows, NULL, KITH_REDUCE_ARGMIN, places);
    if (status == KITH_OK)
        status = fold_there(call, places);
    if (status == KITH_OK)
        status = kith_matrix_histogram(context, NULL, NULL, &rows, NULL, -9, 0, counts);
    if (status == KITH_OK)
        status = fold_there(call, counts);
    if (status == KITH_OK)
        status = kith_matrix_multiply(context, NULL, NULL, &rows, NULL, b, sums);
    if (status == KITH_OK)
        status = fold_there(call, sums);
    free(values);
    return done(&made, status);
}

static kith_status fold_pairs(struct call *call, const kith_pairs *pairs)
{
    const kith_array *const columns[] = {&pairs->offsets, &pairs->j, &pairs->distances};
    kith_status status = KITH_OK;
    for (int k = 0; k < 3 && status == KITH_OK; k++) {
        if (columns[k]->device.kind == KITH_CUDA)
            status = fold_there(call, *columns[k]);
        else
            fold(call, columns[k]->data, bytes_of(*columns[k]));
    }
    return status;
}

/* Of arrays there and of the host's: cells and rows of all kinds, sorted or not. */
static kith_status pairs_of_many(struct call *call)
{
    enum { n = 3000 };
    const kith_cell cell = {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {true, true, true}};
    struct made made = {0};
    double *values = numbers(dimensions * n);
    const kith_array here = matrix_of(values, n), on_device = there(&made, here);
    kith_status status = made.failed ? KITH_INTERNAL_ERROR : KITH_OK;
    kith_pairs *pairs = NULL;
    for (int k = 0; k < 8 && status == KITH_OK; k++) {
        const kith_pairs_options options = {.cutoff = k & 1 ? 0.3 : 0.1,
                                            .skin = k == 0 ? 0.01 : 0,
                                            .unsorted = k & 2,
                                            .quantities = KITH_PAIRS_J | KITH_PAIRS_DISTANCES};
        const kith_array positions = k & 4 ? on_device : here;
        status = k == 5 ? kith_pairs_nearest(call->context, &options, positions, &cell, 9, &pairs)
                 : k == 0
                     ? kith_pairs_update(call->context, &options, positions, &cell, &pairs, NULL)
                     : kith_pairs_compute(call->context, &options, positions, &cell, &pairs);
        if (status == KITH_OK)
            status = fold_pairs(call, pairs);
    }
    kith_pairs_free(pairs);
    free(values);
    return done(&made, status);
}

/* By every method of the GPU's, as a promise, and as a batch of walks. */
static kith_status collisions_there(struct call *call)
{
    enum { n = 20000, walks = 50 };
    struct made made = {0};
    double *values = numbers((int64_t)dimensions * n);
    int32_t *beads = malloc((size_t)(dimensions * n) * sizeof *beads);
    int64_t counts[walks] = {0}, starts[walks + 1], count = 0;
    for (int64_t k = 0; beads && values && k < (int64_t)dimensions * n; k++)
        beads[k] = (int32_t)(30 * values[k]);
    for (int64_t k = 0; k <= walks; k++)
        starts[k] = k * (n / walks);
    const kith_array here = kith_array_matrix(beads, KITH_I32, n, dimensions);
    const kith_array on_device = there(&made, here);
    const kith_array offsets = there(&made, kith_array_vector(starts, KITH_I64, walks + 1));
    const kith_array of_walks = there(&made, kith_array_vector(counts, KITH_I64, walks));
    kith_collisions_promise *promise = NULL;
    kith_status status = made.failed ? KITH_INTERNAL_ERROR : KITH_OK;
    for (int k = 0; k < KITH_COLLISIONS_REFERENCE && status == KITH_OK; k++) {
        const kith_collisions_options options = {.method = (kith_collisions_method)k};
        status = kith_collisions_count(call->context, &options, k % 2 ? on_device : here, &count);
        fold(call, &count, sizeof count);
    }
    if (status == KITH_OK)
        status = kith_collisions_launch(call->context, NULL, on_device, &promise);
    if (status == KITH_OK)
        status = kith_collisions_fetch(promise, &count);
    kith_collisions_promise_free(promise);
    fold(call, &count, sizeof count);
    if (status == KITH_OK)
        status = kith_collisions_batch(call->context, on_device, offsets, NULL, of_walks,
                                       kith_array_none());
    if (status == KITH_OK)
        status = fold_there(call, of_walks);
    free(beads);
    free(values);
    return done(&made, status);
}

/* A matrix of entries there in one format, times one vector and three, and its transpose. */
static kith_status multiply_there(struct call *call, const kith_sparse_options *options,
                                  const kith_array entries[3], kith_array x, kith_array y)
{
    const int64_t n = x.shape[0];
    kith_sparse *sparse = NULL;
    kith_status status = kith_sparse_create_coo(call->context, options, n, n, entries[0],
                                                entries[1], entries[2], &sparse);
    for (int k = 0; k < 3 && status == KITH_OK; k++) {
        const kith_sparse_operation operation = k == 1 ? KITH_SPARSE_TRANSPOSED : KITH_SPARSE_AS_IS;
        kith_array in = x, out = y;
        in.shape[1] = out.shape[1] = k == 2 ? 3 : 1;
        in.strides[0] = out.strides[0] = in.shape[1];
        status = kith_sparse_multiply(sparse, operation, 1.5, in, 0, out);
        if (status == KITH_OK)
            status = fold_there(call, out);
    }
    kith_sparse_free(sparse);
    return status;
}

static kith_status products_there(struct call *call)
{
    enum { n = 400, count = 6000 };
    struct made made = {0};
    double *values = numbers(3 * count);
    int32_t row[count], column[count];
    for (int k = 0; values && k < count; k++) {
        row[k] = k < n ? k : (int32_t)(values[k] * n);
        column[k] = k < n ? k : (int32_t)(values[count + k] * n);
    }
    const kith_array entries[] = {
        there(&made, kith_array_vector(row, KITH_I32, count)),
        there(&made, kith_array_vector(column, KITH_I32, count)),
        there(&made, kith_array_vector(values, KITH_F64, count)),
    };
    const kith_array x = there(&made, kith_array_matrix(values, KITH_F64, n, 3));
    const kith_array y = there(&made, kith_array_matrix(values, KITH_F64, n, 3));
    kith_status status = made.failed ? KITH_INTERNAL_ERROR : KITH_OK;
    /* Not as diagonals, which would be mostly padding here. */
    for (int k = KITH_SPARSE_AUTO; k < KITH_SPARSE_DIA && status == KITH_OK; k++)
        status = multiply_there(call, &(kith_sparse_options){.format = (kith_sparse_format)k},
                                entries, x, y);
    if (status == KITH_OK)
        status = multiply_there(
            call, &(kith_sparse_options){.format = KITH_SPARSE_CSR, .kernel = KITH_SPARSE_MERGE},
            entries, x, y);
    free(values);
    return done(&made, status);
}

/* Steps of one system or many, in each kind of kernel. */
static kith_status simulations_of_many(struct call *call)
{
    static const struct {
        int64_t bodies, systems;
        const char *integrator;
        kith_dtype precision;
    } cases[] = {{40, 0, "leapfrog", KITH_F64},    {300, 0, "hermite4", KITH_F32},
                 {300, 0, "leapfrog", KITH_F64},   {9000, 0, "leapfrog", KITH_F32},
                 {9000, 0, "rk4", KITH_F64},       {6, 3000, "leapfrog", KITH_F32},
                 {20, 3000, "leapfrog", KITH_F64}, {50, 20, "hermite4", KITH_F64}};
    kith_status status = KITH_OK;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0] && status == KITH_OK; k++) {
        const int64_t systems = cases[k].systems > 0 ? cases[k].systems : 1;
        const int64_t rows = cases[k].bodies * systems;
        const kith_simulation_options options = {.dt = 1e-4,
                                                 .forces.softening = 0.1,
                                                 .integrator = cases[k].integrator,
                                                 .precision = cases[k].precision};
        kith_bodies *bodies = NULL;
        kith_simulation *simulation = NULL;
        double *values = numbers(rows * dimensions);
        status = kith_bodies_create(rows, dimensions, KITH_VELOCITY, &bodies);
        for (int64_t c = 0; status == KITH_OK && values && c < rows * dimensions; c++)
            bodies->position[c] = values[c];
        if (status == KITH_OK)
            status = cases[k].systems > 0
                         ? kith_simulation_create_ensemble(call->context, &options, systems, bodies,
                                                           &simulation)
                         : kith_simulation_create(call->context, &options, bodies, &simulation);
        if (status == KITH_OK)
            status = kith_simulation_step(simulation, 3);
        if (status == KITH_OK)
            status = cases[k].systems > 0
                         ? kith_simulation_get_systems(simulation, 0, systems, bodies)
                         : kith_simulation_get_bodies(simulation, bodies);
        if (status == KITH_OK)
            fold(call, bodies->position, rows * dimensions * 8);
        free(values);
        kith_simulation_free(simulation);
        kith_bodies_free(bodies);
    }
    return status;
}

const struct scenario scenarios_on_device[] = {
    {"forces there", forces_there},
    {"forces of formulas there", forces_of_formulas_there},
    {"forces of many", forces_of_many},
    {"matrix there", matrix_there},
    {"pairs of many", pairs_of_many},
    {"collisions there", collisions_there},
    {"products there", products_there},
    {"simulations of many", simulations_of_many},
    {NULL, NULL},
};
