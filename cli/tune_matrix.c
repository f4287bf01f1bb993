/* What kith tune measures of the matrix: the default kernel and the tile kernels, by block.
 * The law is the sum of the masses: what counts is how fast it is written. */

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "tune.h"

struct matrix_run {
    kith_context *context;
    kith_law *law;
    kith_matrix_options options;
    kith_particles particles;
    kith_array matrix;
    char *memory; /* positions, masses, the matrix */
};

static kith_status make_run(kith_context *context, int64_t n, struct matrix_run *run)
{
    const kith_device device = kith_context_device(context);
    const int64_t padded = kith_padded(n);
    float *host = NULL;
    *run = (struct matrix_run){.context = context};
    KITH_TRY(kith_law_parse("sum", 0, NULL, &run->law));
    KITH_TRY(context->services->allocate(context, 4 * padded + n * n, sizeof(float), "matrix",
                                         &run->memory));
    KITH_TRY(kith_allocate(4 * padded, sizeof(float), "particles", &host));
    for (int64_t k = 0; k < 4 * padded; k++)
        host[k] = (float)fmod((double)(k + 1) * 0.6180339887498949, 1);
    kith_status status =
        context->services->copy_in(context, run->memory, host, 4 * padded * (int64_t)sizeof(float));
    if (status == KITH_OK)
        status = context->services->synchronize(context);
    free(host);
    float *begin = (float *)(void *)run->memory;
    run->particles.positions = kith_array_matrix(begin, KITH_F32, n, 3);
    kith_array masses = kith_array_vector(begin + 3 * padded, KITH_F32, n);
    run->matrix = kith_array_matrix(begin + 4 * padded, KITH_F32, n, n);
    run->particles.positions.device = masses.device = run->matrix.device = device;
    run->particles.columns[0] = (kith_particle_column){"m", masses};
    return status;
}

static void free_run(struct matrix_run *run)
{
    run->context->services->release(run->context, run->memory);
    kith_law_free(run->law);
}

static kith_status start_matrix(void *state)
{
    const struct matrix_run *run = state;
    return kith_matrix_compute(run->context, run->law, &run->options, &run->particles, NULL,
                               run->matrix);
}

static bool measure(const struct tune_options *options, struct matrix_run *run,
                    kith_matrix_method method, int32_t block, struct tune_rows *rows)
{
    struct tune_row row = {.capability = "matrix",
                           .method = method == KITH_MATRIX_TILE_P    ? "tile-p"
                                     : method == KITH_MATRIX_TILE_P2 ? "tile-p2"
                                                                     : "direct",
                           .device = kith_context_device(run->context),
                           .precision = KITH_F32,
                           .count = run->matrix.shape[0],
                           .block = block};
    row.threads = row.device.kind == KITH_CPU ? kith_context_threads(run->context) : 0;
    run->options.method = method;
    run->options.block = block;
    row.seconds = tune_time(run->context, start_matrix, run, options->common.quick ? 0.004 : 0.02);
    if (row.seconds < 0) {
        cli_fail(options->common.command);
        return false;
    }
    return tune_add(options, rows, row);
}

bool tune_matrix(const struct tune_options *options, kith_context *context, struct tune_rows *rows,
                 kith_tuning *tuning)
{
    const bool is_gpu = kith_context_device(context).kind == KITH_CUDA;
    const int64_t n = is_gpu ? 16384 : 4096; /* more than the caches hold */
    struct matrix_run run;
    bool done = make_run(context, n, &run) == KITH_OK;
    if (!done)
        cli_fail(options->common.command);
    done = done && measure(options, &run, KITH_MATRIX_DIRECT, 0, rows);
    for (int32_t block = 1; is_gpu && block <= 1024 && done; block *= 2)
        done = measure(options, &run, KITH_MATRIX_TILE_P, block, rows);
    for (int32_t side = 1; is_gpu && side <= 32 && done; side *= 2)
        done = measure(options, &run, KITH_MATRIX_TILE_P2, side, rows);
    free_run(&run);
    const struct tune_row like = {.capability = "matrix",
                                  .method = "tile-p",
                                  .device = kith_context_device(context),
                                  .precision = KITH_F32,
                                  .count = n};
    const struct tune_row *best = tune_best(rows, &like);
    tuning->matrix_block = best ? best->block : 0;
    return done;
}
