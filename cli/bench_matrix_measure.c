/* What kith bench matrix measures: fills beside memset, products with a vector beside the limit of
 * their instructions. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench/gpu_matrix.h"
#include "bench_matrix.h"
#include "device/context.h"
#include "device/threads.h"
#include "matrix/limit.h"

/* A thing that is timed. */
struct contender {
    kith_context *context;
    struct gpu_matrix *gpu; /* NULL: arrays on the host */
    const kith_law *law;    /* NULL: memset */
    kith_particles particles;
    kith_array matrix, vector, product;
    kith_matrix_options options;
    bool is_product;
};

static kith_status time_on_gpu(const struct contender *c, int64_t calls, double *seconds)
{
    if (!c->law)
        return gpu_matrix_time_memset(c->gpu, calls, seconds);
    return c->is_product ? gpu_matrix_time_product(c->gpu, c->law, calls, seconds)
                         : gpu_matrix_time_fill(c->gpu, c->law, &c->options, calls, seconds);
}

static void set_part(void *argument, int64_t k)
{
    const struct contender *c = argument;
    const int64_t row = c->matrix.shape[1] * kith_dtype_bytes(c->matrix.dtype);
    memset((char *)c->matrix.data + k * row, 1, (size_t)row);
}

static kith_status call_on_host(const struct contender *c)
{
    if (!c->law) { /* a block for each thread, which memset writes past the caches */
        const int64_t threads = c->context->threads, n = c->matrix.shape[0];
        struct contender blocks = *c;
        blocks.matrix.shape[1] = n * n / threads;
        return kith_for_each(c->context, (int32_t)threads, threads, set_part, &blocks);
    }
    if (c->is_product)
        return kith_matrix_multiply(c->context, c->law, NULL, &c->particles, NULL, c->vector,
                                    c->product);
    return kith_matrix_compute(c->context, c->law, &c->options, &c->particles, NULL, c->matrix);
}

static double run(void *state, int64_t calls)
{
    const struct contender *c = state;
    kith_status status = KITH_OK;
    const double start = cli_clock();
    double seconds = 0;
    if (c->gpu)
        status = time_on_gpu(c, calls, &seconds);
    for (int64_t k = 0; !c->gpu && k < calls && status == KITH_OK; k++)
        status = call_on_host(c);
    if (status != KITH_OK)
        cli_fail("kith bench matrix");
    return status != KITH_OK ? -1 : c->gpu ? seconds : cli_clock() - start;
}

/* The instructions of a pair, counted in the machine code of the GPU's kernel (float): three
 * subtractions, three fused products, the law's, and one for the sum. */
static double gpu_limit(kith_context *context, const char *law, kith_dtype dtype)
{
    const int slots = strncmp(law, "gaussian", 8) == 0 ? 9 : 11;
    return dtype == KITH_F32 ? gpu_matrix_issue_rate(context) / slots : NAN;
}

static double limit_of(const struct matrix_bench *bench, kith_context *context, const char *law)
{
    if (kith_context_device(context).kind == KITH_CUDA)
        return gpu_limit(context, law, bench->precision);
    kith_law *made = NULL;
    double limit = NAN;
    if (kith_law_parse(law, 0, NULL, &made) == KITH_OK)
        limit = matrix_limit(context, made, bench->precision) * context->threads;
    kith_law_free(made);
    return limit;
}

/* Bytes a second: of memset, or on a CPU of the arithmetic of a row's sum if that is less. */
static double fill_limit(const struct matrix_bench *bench, kith_context *context, const char *law,
                         double memset_rate)
{
    if (kith_context_device(context).kind == KITH_CUDA)
        return memset_rate;
    const double bytes = (double)kith_dtype_bytes(bench->precision);
    return fmin(memset_rate, bytes * limit_of(bench, context, law));
}

static bool measure(const struct matrix_bench *bench, struct contender *c, const char *name,
                    const char *law, int64_t n, double limit, struct matrix_rows_measured *rows)
{
    struct contestant contestant = {.run = run, .state = c};
    struct contestant *const list[] = {&contestant};
    if (rows->count == matrix_most_rows || !bench_measure(1, list, bench->common.seconds))
        return rows->count == matrix_most_rows;
    struct matrix_row *row = &rows->row[rows->count++];
    const double seconds = contestant_best(&contestant), pairs = (double)n * (double)n / seconds;
    const double bytes = pairs * (double)kith_dtype_bytes(bench->precision);
    *row = (struct matrix_row){.law = law,
                               .n = n,
                               .seconds = seconds,
                               .pairs_per_second = pairs,
                               .bytes_per_second = c->is_product ? NAN : bytes,
                               .of_limit = (c->is_product ? pairs : bytes) / limit};
    strncpy(row->name, name, sizeof row->name - 1);
    return true;
}

static bool measure_law(const struct matrix_bench *bench, struct contender *c, const char *name,
                        const char *law, int64_t n, double limit, struct matrix_rows_measured *rows)
{
    kith_law *made = NULL;
    if (kith_law_parse(law, 0, NULL, &made) != KITH_OK) {
        cli_fail(bench->common.command);
        return false;
    }
    c->law = made;
    const bool done = measure(bench, c, name, law, n, limit, rows);
    c->law = NULL;
    kith_law_free(made);
    return done;
}

static bool measure_tiles(const struct matrix_bench *bench, struct contender *c, int64_t n,
                          double limit, struct matrix_rows_measured *rows)
{
    for (int32_t block = 1; block <= 1024; block *= 2)
        for (int method = KITH_MATRIX_TILE_P; method <= KITH_MATRIX_TILE_P2; method++) {
            char name[48];
            if (method == KITH_MATRIX_TILE_P2 && block > 32)
                continue;
            snprintf(name, sizeof name, "%s, p = %d",
                     method == KITH_MATRIX_TILE_P ? "tile-p" : "tile-p2", (int)block);
            c->options =
                (kith_matrix_options){.method = (kith_matrix_method)method, .block = block};
            if (!measure_law(bench, c, name, "power:1", n, limit, rows))
                return false;
        }
    c->options = (kith_matrix_options){.method = KITH_MATRIX_AUTO};
    return true;
}

static bool measure_all(const struct matrix_bench *bench, struct contender *c, bool stored,
                        int64_t n, struct matrix_rows_measured *rows)
{
    static const char *const filled[] = {"power:1", "gaussian:0.5", "sum"};
    static const char *const multiplied[] = {"gaussian:0.5", "power:1"};
    if (stored && !measure(bench, c, "memset", NULL, n, NAN, rows))
        return false;
    const double memset_rate = stored ? rows->row[rows->count - 1].bytes_per_second : NAN;
    for (int k = 0; stored && k < 3; k++)
        if (!measure_law(bench, c, "fill", filled[k], n,
                         fill_limit(bench, c->context, filled[k], memset_rate), rows))
            return false;
    if (stored && bench->blocks && c->gpu && !measure_tiles(bench, c, n, memset_rate, rows))
        return false;
    c->is_product = true;
    for (int k = 0; k < 2; k++)
        if (!measure_law(bench, c, "V b", multiplied[k], n,
                         limit_of(bench, c->context, multiplied[k]), rows))
            return false;
    return true;
}

static bool make_columns(const struct matrix_bench *bench, int64_t n, struct contender *c)
{
    const size_t each = (size_t)kith_dtype_bytes(bench->precision);
    void *x = malloc((size_t)(3 * n + 1) * each);
    void *y = malloc((size_t)(n + 1) * each);
    uint64_t state = 1;
    for (int64_t k = 0; x && k < 3 * n; k++) { /* Knuth's MMIX generator */
        state = state * 6364136223846793005u + 1442695040888963407u;
        const double number = (double)(state >> 11) * 0x1p-53;
        if (bench->precision == KITH_F64)
            ((double *)x)[k] = number;
        else
            ((float *)x)[k] = (float)number;
    }
    c->particles.positions = kith_array_matrix(x, bench->precision, n, 3);
    c->vector = kith_array_vector(x, bench->precision, n);
    c->product = kith_array_vector(y, bench->precision, n);
    return x && y;
}

bool bench_matrix_of(const struct matrix_bench *bench, kith_context *context, int64_t n,
                     struct matrix_rows_measured *rows)
{
    /* What is larger is not stored here. */
    const double most = kith_context_device(context).kind == KITH_CUDA
                            ? 64e9
                            : fmin(4e9, (double)kith_memory_available() / 2);
    const double bytes = (double)n * (double)n * (double)kith_dtype_bytes(bench->precision);
    const bool stored = bytes <= most, on_gpu = kith_context_device(context).kind == KITH_CUDA;
    struct contender c = {.context = context};
    bool done = make_columns(bench, n, &c);
    if (done && stored && !on_gpu) {
        c.matrix = kith_array_matrix(malloc((size_t)bytes), bench->precision, n, n);
        done = c.matrix.data;
    }
    if (!done)
        cli_fail_with(bench->common.command, "no memory for %lld particles", (long long)n);
    if (done && on_gpu &&
        gpu_matrix_create(context, c.particles.positions, stored, &c.gpu) != KITH_OK) {
        cli_fail(bench->common.command);
        done = false;
    }
    done = done && measure_all(bench, &c, stored, n, rows);
    gpu_matrix_free(c.gpu);
    free(c.particles.positions.data);
    free(c.product.data);
    free(c.matrix.data);
    return done;
}
