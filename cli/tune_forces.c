/* What kith tune measures of forces: the tiles of the seeds by block and unrolling, and the methods
 * that kith chooses between. The kernels alone, on data that stay where they are. */

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/processor.h"
#include "device/context.h"
#include "forces/backend.h"
#include "forces/problem.h"
#include "tune.h"

/* Bodies in a cube, in the backend's memory: positions, masses, accelerations. */
struct bodies {
    kith_context *context;
    struct forces_problem problem;
    char *memory;
};

enum { columns = 7, inputs = 4 };

static void put(void *to, kith_dtype dtype, int64_t k, double value)
{
    if (dtype == KITH_F64)
        ((double *)to)[k] = value;
    else
        ((float *)to)[k] = (float)value;
}

/* The fractional parts of multiples of irrational numbers: even, without a pattern that matters. */
static void scatter(char *host, kith_dtype dtype, int64_t n, int64_t padded)
{
    static const double steps[inputs] = {0.8191725133961645, 0.6710436067037893, 0.5497004779019703,
                                         0.3819660112501051};
    for (int64_t i = 0; i < n; i++)
        for (int c = 0; c < inputs; c++)
            put(host, dtype, c * padded + i, fmod((double)(i + 1) * steps[c], 1) + (c == 3));
}

static kith_status make_bodies(kith_context *context, kith_dtype dtype, int64_t n,
                               struct bodies *bodies)
{
    const int64_t padded = kith_padded(n), each = kith_dtype_bytes(dtype);
    const struct device_services *services = context->services;
    char *host = NULL;
    *bodies = (struct bodies){.context = context};
    KITH_TRY(kith_allocate(inputs * padded, each, "bodies", &host));
    scatter(host, dtype, n, padded);
    kith_status status =
        services->allocate(context, columns * padded, each, "bodies", &bodies->memory);
    if (status == KITH_OK)
        status = services->copy_in(context, bodies->memory, host, inputs * padded * each);
    if (status == KITH_OK)
        status = services->synchronize(context);
    free(host);
    struct forces_problem *problem = &bodies->problem;
    *problem = (struct forces_problem){.dtype = dtype,
                                       .dimensions = 3,
                                       .self = true,
                                       .target_count = n,
                                       .source_count = n,
                                       .gravitational_constant = 1,
                                       .softening2 = 1e-4};
    if (status != KITH_OK)
        return status;
    for (int64_t c = 0; c < 3; c++) {
        problem->source_position[c] = problem->target_position[c] =
            bodies->memory + c * padded * each;
        problem->acceleration[c] = bodies->memory + (inputs + c) * padded * each;
    }
    problem->source_mass = bodies->memory + 3 * padded * each;
    return KITH_OK;
}

static void free_bodies(struct bodies *bodies)
{
    bodies->context->services->release(bodies->context, bodies->memory);
}

static kith_status start_forces(void *state)
{
    const struct bodies *bodies = state;
    return forces_backend_of(bodies->context)->evaluate(bodies->context, &bodies->problem);
}

static bool is_same_way(const struct tune_row *a, const struct tune_row *b)
{
    return a->block == b->block && a->unroll == b->unroll && a->count == b->count &&
           a->bodies_per_thread == b->bodies_per_thread &&
           a->threads_per_body == b->threads_per_body;
}

/* An existing row is not measured again. */
static bool measure(const struct tune_options *options, struct bodies *bodies,
                    struct forces_way way, struct tune_rows *rows)
{
    struct forces_problem *problem = &bodies->problem;
    kith_context *context = bodies->context;
    struct tune_row row = {.capability = "forces",
                           .method = cli_method_name(way.method),
                           .device = kith_context_device(context),
                           .precision = problem->dtype,
                           .count = problem->target_count,
                           .block = way.block,
                           .unroll = way.unroll,
                           .bodies_per_thread = way.bodies,
                           .threads_per_body = way.threads};
    row.threads = row.device.kind == KITH_CPU ? kith_context_threads(context) : 0;
    for (int64_t k = 0; k < rows->count; k++)
        if (is_same_way(&rows->row[k], &row) && tune_best(rows, &row) == &rows->row[k])
            return true;
    problem->way = way;
    row.seconds = tune_time(context, start_forces, bodies, options->common.quick ? 0.004 : 0.02);
    if (row.seconds < 0) {
        cli_fail(options->common.command);
        return false;
    }
    return tune_add(options, rows, row);
}

/* Every block with the usual unrolling, every unrolling with the usual block. */
static bool measure_tiles(const struct tune_options *options, struct bodies *bodies,
                          struct tune_rows *rows)
{
    enum { usual_block = 256, usual_unroll = 16, most_block = 1024, most_side = 32 };
    /* Of many bodies, those that would take seconds are left out. */
    const bool are_many = bodies->problem.target_count > 65536;
    bool done = true;
    for (int32_t block = are_many ? 32 : 1; block <= most_block && done; block *= 2)
        done = measure(options, bodies,
                       (struct forces_way){
                           .method = KITH_FORCES_TILE_P, .block = block, .unroll = usual_unroll},
                       rows);
    for (int32_t unroll = 1; unroll <= 32 && done; unroll *= 2)
        if (unroll != usual_unroll)
            done =
                measure(options, bodies,
                        (struct forces_way){
                            .method = KITH_FORCES_TILE_P, .block = usual_block, .unroll = unroll},
                        rows);
    for (int32_t side = are_many ? 16 : 1; side <= most_side && done; side *= 2)
        done = measure(options, bodies,
                       (struct forces_way){.method = KITH_FORCES_TILE_P2, .block = side}, rows);
    return done;
}

/* The sources of a body shared by more and more threads, each thread with more and more bodies. */
static bool measure_splits(const struct tune_options *options, struct bodies *bodies,
                           struct tune_rows *rows)
{
    bool done = true;
    for (int32_t each = 1; each <= 8 && done; each *= 2)
        for (int32_t threads = 32; threads <= 256 && done; threads *= 2)
            done = measure(options, bodies,
                           (struct forces_way){
                               .method = KITH_FORCES_SPLIT, .bodies = each, .threads = threads},
                           rows);
    return done;
}

static bool measure_ways(const struct tune_options *options, struct bodies *bodies,
                         struct tune_rows *rows)
{
    return measure_tiles(options, bodies, rows) && measure_splits(options, bodies, rows);
}

static bool measure_methods(const struct tune_options *options, struct bodies *bodies,
                            struct tune_rows *rows)
{
    return measure(options, bodies, (struct forces_way){.method = KITH_FORCES_SPLIT}, rows) &&
           measure(options, bodies, (struct forces_way){.method = KITH_FORCES_SYMMETRIC}, rows);
}

typedef bool measuring(const struct tune_options *options, struct bodies *bodies,
                       struct tune_rows *rows);

static bool for_bodies(const struct tune_options *options, kith_context *context, kith_dtype dtype,
                       int64_t n, measuring *measure_them, struct tune_rows *rows)
{
    struct bodies bodies;
    bool done = make_bodies(context, dtype, n, &bodies) == KITH_OK;
    if (!done)
        cli_fail(options->common.command);
    done = done && measure_them(options, &bodies, rows);
    free_bodies(&bodies);
    return done;
}

/* How much longer than the faster method the one takes that is chosen for this many bodies, as a
 * logarithm. */
static double loss(const struct tune_rows *rows, struct tune_row like, bool is_symmetric)
{
    like.method = "split";
    const struct tune_row *split = tune_best(rows, &like);
    like.method = "symmetric";
    const struct tune_row *symmetric = tune_best(rows, &like);
    const double difference = log(symmetric->seconds / split->seconds);
    return fmax(0, is_symmetric ? difference : -difference);
}

/* From how many bodies on to evaluate each pair once: the number with the minimum total loss, so
 * that one disturbed measurement does not decide. INT64_MAX if it never pays. */
static int64_t least_symmetric(const struct tune_rows *rows, struct tune_row like,
                               const int64_t *counts, int32_t count)
{
    int64_t least = INT64_MAX;
    double least_loss = INFINITY;
    for (int32_t from = 0; from <= count; from++) {
        double all = 0;
        for (int32_t k = 0; k < count; k++) {
            like.count = counts[k];
            all += loss(rows, like, k >= from);
        }
        if (all < least_loss) {
            least_loss = all;
            least = from < count ? counts[from] : INT64_MAX;
        }
    }
    return least;
}

/* Fewer threads than cores if that is clearly faster; 0: one per core. */
static bool choose_threads(const struct tune_options *options, struct tune_rows *rows,
                           int64_t *chosen)
{
    const int64_t bodies_of_trial = options->common.quick ? 4096 : 16384;
    kith_context *context = NULL;
    kith_context_options wanted = {.device = {KITH_CPU, 0}, .threads = 1};
    int32_t all = 1;
    double best = INFINITY;
    *chosen = 0;
    for (int32_t threads = 1; threads <= all;
         threads = threads < all && 2 * threads > all ? all : 2 * threads) {
        wanted.threads = threads;
        if (kith_context_create(&wanted, &context) != KITH_OK) {
            cli_fail(options->common.command);
            return false;
        }
        all = processor_cores();
        const bool done =
            for_bodies(options, context, KITH_F64, bodies_of_trial, measure_methods, rows);
        struct tune_row like = {.capability = "forces",
                                .method = "symmetric",
                                .device = {KITH_CPU, 0},
                                .precision = KITH_F64,
                                .count = bodies_of_trial,
                                .threads = threads};
        const struct tune_row *row = tune_best(rows, &like);
        kith_context_free(context);
        if (!done || !row)
            return false;
        const bool is_all = threads == all;
        if (row->seconds < (is_all ? 1.1 : 1) * best) {
            best = row->seconds;
            *chosen = is_all ? 0 : threads;
        }
    }
    return true;
}

bool tune_forces(const struct tune_options *options, kith_context *context, struct tune_rows *rows,
                 kith_tuning *tuning)
{
    static const int64_t of_cpu[] = {64, 96, 128, 160, 192, 256, 384, 512, 1024, 2048, 4096};
    static const int64_t of_gpu[] = {2048, 4096, 5120,  6144,  7168,  8192,
                                     8704, 9216, 12288, 16384, 65536, 262144};
    static const int64_t of_tiles[] = {1024, 2048, 4096, 16384, 65536, 262144};
    const bool is_gpu = kith_context_device(context).kind == KITH_CUDA;
    const int64_t *counts = is_gpu ? of_gpu : of_cpu;
    const int32_t count =
        is_gpu ? sizeof of_gpu / sizeof of_gpu[0] : sizeof of_cpu / sizeof of_cpu[0];
    for (int d = 0; d < 2; d++) {
        const kith_dtype dtype = d ? KITH_F64 : KITH_F32;
        struct tune_row like = {.capability = "forces",
                                .device = kith_context_device(context),
                                .precision = dtype,
                                .threads = is_gpu ? 0 : kith_context_threads(context)};
        for (int32_t k = 0; k < count; k++)
            if (!for_bodies(options, context, dtype, counts[k], measure_methods, rows))
                return false;
        const int64_t least = least_symmetric(rows, like, counts, count);
        if (dtype == KITH_F64)
            tuning->forces_least_symmetric_double = least;
        else
            tuning->forces_least_symmetric_single = least;
    }
    for (size_t k = 0; is_gpu && k < sizeof of_tiles / sizeof of_tiles[0]; k++)
        if (!for_bodies(options, context, KITH_F32, of_tiles[k], measure_ways, rows))
            return false;
    return is_gpu || choose_threads(options, rows, &tuning->threads);
}

bool tune_forces_beside(const struct tune_options *options, struct tune_rows *rows)
{
    static const int64_t counts[] = {256, 1024, 2048, 4096, 8192, 16384};
    for (int all = 0; all < 2; all++) {
        const kith_context_options wanted = {.device = {KITH_CPU, 0}, .threads = all ? 0 : 1};
        kith_context *context = NULL;
        if (kith_context_create(&wanted, &context) != KITH_OK) {
            cli_fail(options->common.command);
            return false;
        }
        bool done = true;
        for (size_t k = 0; k < sizeof counts / sizeof counts[0] && done; k++)
            done = for_bodies(options, context, KITH_F32, counts[k], measure_methods, rows);
        kith_context_free(context);
        if (!done)
            return false;
    }
    return true;
}
