/* What kith bench collisions measures: the methods, qsort, the plain loop, batches. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../bench/gpu_collisions.h"
#include "bench_collisions.h"
#include "device/context.h"
#include "lattice/collisions_kernel.h"

/* A way to count that is measured. */
struct contender {
    const char *name;
    kith_context *context;
    kith_collisions_method method;
    kith_array beads;      /* where they are counted */
    kith_array host, copy; /* for qsort */
    kith_array results[2]; /* of a batch: collisions, contacts */
    kith_array none;
    struct peers *peers; /* who counts the beads that bench_collisions_of gave */
};

static bool on_device(const struct contender *contender)
{
    return contender->beads.device.kind == KITH_CUDA;
}

/* One after another, without waiting in between if they are on a device. */
static double run_method(void *state, int64_t calls)
{
    enum { most_under_way = 64 };
    const struct contender *contender = state;
    const kith_collisions_options options = {contender->method};
    kith_collisions_promise *promises[most_under_way] = {NULL};
    int64_t count = 0;
    kith_status status = KITH_OK;
    const double start = cli_clock();
    for (int64_t k = 0; k < calls && status == KITH_OK; k++) {
        if (!on_device(contender)) {
            status = kith_collisions_count(contender->context, &options, contender->beads, &count);
            continue;
        }
        kith_collisions_promise **promise = &promises[k % most_under_way];
        kith_collisions_promise_free(*promise);
        *promise = NULL;
        status = kith_collisions_launch(contender->context, &options, contender->beads, promise);
    }
    if (on_device(contender) && status == KITH_OK)
        status = kith_context_synchronize(contender->context);
    const double seconds = cli_clock() - start;
    for (int64_t k = 0; k < most_under_way; k++)
        kith_collisions_promise_free(promises[k]);
    if (status != KITH_OK)
        cli_fail("kith bench collisions");
    return status == KITH_OK ? seconds : -1;
}

static int compare_beads(const void *a, const void *b)
{
    return memcmp(a, b, 3 * sizeof(int32_t));
}

static double run_qsort(void *state, int64_t calls)
{
    const struct contender *contender = state;
    const size_t n = (size_t)contender->host.shape[0], each = 3 * sizeof(int32_t);
    volatile int64_t kept = 0;
    const double start = cli_clock();
    for (int64_t call = 0; call < calls; call++) {
        const char *sorted = contender->copy.data;
        int64_t collisions = 0, run = 0;
        memcpy(contender->copy.data, contender->host.data, n * each);
        qsort(contender->copy.data, n, each, compare_beads);
        for (size_t k = 1; k < n; k++) {
            run = memcmp(sorted + (k - 1) * each, sorted + k * each, each) == 0 ? run + 1 : 0;
            collisions += run;
        }
        kept = collisions;
    }
    (void)kept;
    return cli_clock() - start;
}

/* The double loop, without vectors or threads. */
static double run_plain(void *state, int64_t calls)
{
    const struct contender *contender = state;
    const int64_t n = contender->host.shape[0];
    const int32_t(*vector)[3] = contender->host.data;
    volatile int64_t kept = 0;
    const double start = cli_clock();
    for (int64_t call = 0; call < calls; call++) {
        int64_t collisions = 0;
        for (int64_t i = 0; i < n - 1; i++)
            for (int64_t j = i + 1; j < n; j++)
                if (vector[i][0] == vector[j][0] && vector[i][1] == vector[j][1] &&
                    vector[i][2] == vector[j][2])
                    collisions++;
        kept = collisions;
    }
    (void)kept;
    return cli_clock() - start;
}

static double run_numpy(void *state, int64_t calls)
{
    const struct contender *contender = state;
    return peers_seconds(contender->peers, "numpy", 1, calls);
}

/* The beads in a file for numpy; false after telling why not. */
static bool give_beads(const struct collisions_bench *bench, kith_array beads)
{
    char path[] = "/tmp/kith-bench-XXXXXX";
    const int descriptor = mkstemp(path);
    FILE *file = descriptor >= 0 ? fdopen(descriptor, "wb") : NULL;
    const size_t n = (size_t)beads.shape[0];
    bool given = file && fwrite(beads.data, 12, n, file) == n;
    if (file)
        given = fclose(file) == 0 && given;
    if (!given)
        cli_fail_with(bench->common.command, "%s cannot be written: the beads for numpy", path);
    given = given && peers_use_points(bench->peers, path);
    if (descriptor >= 0)
        unlink(path);
    return given;
}

/* The comparisons of the CPU's all-pairs kernel alone. */
static double run_limit(void *state, int64_t calls)
{
    const struct contender *contender = state;
    const double start = cli_clock();
    for (int64_t call = 0; call < calls; call++)
        collisions_kernels_of(contender->context)->limit_32(1 << 14);
    return cli_clock() - start;
}

static double run_batch(void *state, int64_t calls)
{
    const struct contender *contender = state;
    kith_status status = KITH_OK;
    const double start = cli_clock();
    for (int64_t call = 0; call < calls && status == KITH_OK; call++)
        status = kith_collisions_batch(contender->context, contender->beads, contender->none, NULL,
                                       contender->results[0], contender->results[1]);
    if (status == KITH_OK)
        status = kith_context_synchronize(contender->context);
    if (status != KITH_OK)
        cli_fail("kith bench collisions");
    return status == KITH_OK ? cli_clock() - start : -1;
}

/* Most beads that a method is measured with. */
static int64_t most_beads(const struct collisions_bench *bench, kith_collisions_method method)
{
    const bool is_gpu = bench->common.device.kind == KITH_CUDA;
    switch (method) {
    case KITH_COLLISIONS_AUTO:
    case KITH_COLLISIONS_LINEAR:
    case KITH_COLLISIONS_HASH:
    case KITH_COLLISIONS_SORT:
        return INT64_MAX;
    case KITH_COLLISIONS_REFERENCE:
        return 0;
    case KITH_COLLISIONS_ALL_PAIRS:
        return is_gpu ? 1000000 : 262144;
    default:
        return is_gpu ? 262144 : 10000;
    }
}

static uint64_t random_below(uint64_t *state, uint64_t count)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (*state >> 11) % count;
}

static void fill(const char *kind, int64_t chain, int64_t count, int32_t *beads)
{
    uint64_t random = 88172645463325252u, side = 1;
    int32_t at[3] = {0, 0, 0};
    while (side * side * side < 4 * (uint64_t)count)
        side++;
    for (int64_t i = 0; i < count; i++) {
        for (int64_t c = 0; c < 3; c++) {
            if (strcmp(kind, "walk") != 0 || i % chain == 0)
                at[c] = (int32_t)random_below(&random, side);
            beads[3 * i + c] = at[c];
        }
        const uint64_t way = random_below(&random, 6);
        at[way / 2] += way % 2 ? 1 : -1;
    }
}

static void add_row(struct collisions_rows *rows, const char *name, const char *kind, int64_t count,
                    double seconds)
{
    if (rows->count < bench_most_collisions_rows)
        rows->row[rows->count++] = (struct collisions_row){name, kind, count, seconds, NAN};
}

/* Measures, and adds rows but for the limit, to which all pairs are compared. */
static bool measure(const struct collisions_bench *bench, int64_t count,
                    struct contestant *contestants, const char *kind, int64_t beads,
                    struct collisions_rows *rows)
{
    struct contestant *each[32];
    double limit = NAN;
    for (int64_t k = 0; k < count; k++)
        each[k] = &contestants[k];
    if (!bench_measure(count, each, bench->common.seconds))
        return false;
    for (int64_t k = 0; k < count; k++) {
        const struct contender *contender = contestants[k].state;
        const double seconds = contestant_best(&contestants[k]);
        if (contestants[k].run == run_limit) {
            limit = (double)collisions_kernels_of(contender->context)->limit_32(1 << 14) / seconds;
            continue;
        }
        add_row(rows, contender->name, kind, beads, seconds);
        if (isfinite(limit) && contender->method == KITH_COLLISIONS_ALL_PAIRS)
            rows->row[rows->count - 1].of_limit = 0.5 * (double)beads * ((double)beads - 1) /
                                                  seconds / limit / bench->common.threads[0];
    }
    return true;
}

enum { most_of_numpy = 10000000 };

static int64_t line_up(const struct collisions_bench *bench, kith_context *context, int64_t count,
                       kith_array host, kith_array beads, kith_array copy,
                       struct contender *contenders, struct contestant *contestants)
{
    int64_t methods = 0, all = 0;
    const kith_collisions_method_info *list = kith_collisions_method_list(&methods);
    const bool is_cpu = bench->common.device.kind == KITH_CPU;
    const struct contender common = {"", context, 0, beads, host, copy, {{0}}, {0}, bench->peers};
    if (is_cpu && count >= 1000 && count <= most_beads(bench, KITH_COLLISIONS_ALL_PAIRS)) {
        contenders[all] = common;
        contestants[all++].run = run_limit;
    }
    for (int64_t method = 0; method < methods; method++) {
        if (count > most_beads(bench, (kith_collisions_method)method))
            continue;
        contenders[all] = common;
        contenders[all].name = list[method].name;
        contenders[all].method = (kith_collisions_method)method;
        contestants[all++].run = run_method;
    }
    if (bench->common.with_peers && count <= 10000000) {
        contenders[all] = common;
        contenders[all].name = "qsort";
        contestants[all++].run = run_qsort;
    }
    if (bench->peers && count <= most_of_numpy) {
        contenders[all] = common;
        contenders[all].name = "numpy unique";
        contestants[all++].run = run_numpy;
    }
    if (bench->common.with_peers && count <= 20000) {
        contenders[all] = common;
        contenders[all].name = "plain double loop";
        contestants[all++].run = run_plain;
    }
    for (int64_t k = 0; k < all; k++) {
        contestants[k].state = &contenders[k];
        contestants[k].many_threads = bench->common.threads[0] > 1;
    }
    return all;
}

bool bench_collisions_of(const struct collisions_bench *bench, kith_context *context,
                         const char *kind, int64_t count, struct collisions_rows *rows)
{
    struct contender contenders[32];
    struct contestant *contestants = calloc(32, sizeof *contestants);
    kith_array host = kith_array_matrix(calloc((size_t)count, 12), KITH_I32, count, 3);
    kith_array copy = kith_array_matrix(bench->common.with_peers ? calloc((size_t)count, 12) : NULL,
                                        KITH_I32, count, 3);
    kith_array beads = host;
    const bool is_gpu = bench->common.device.kind == KITH_CUDA;
    bool done = false;
    if (!contestants || !host.data || (bench->common.with_peers && !copy.data)) {
        cli_fail_with(bench->common.command, "no memory for %lld beads", (long long)count);
    } else {
        fill(kind, INT64_MAX, count, host.data);
        if (is_gpu && gpu_array_copy(context, host, &beads) != KITH_OK)
            cli_fail(bench->common.command);
        else if (!bench->peers || count > most_of_numpy || give_beads(bench, host))
            done = measure(
                bench, line_up(bench, context, count, host, beads, copy, contenders, contestants),
                contestants, kind, count, rows);
    }
    if (is_gpu)
        gpu_array_free(&beads);
    free(contestants);
    free(host.data);
    free(copy.data);
    return done;
}

bool bench_collisions_batch(const struct collisions_bench *bench, kith_context *context,
                            struct collisions_rows *rows)
{
    enum { length = 64 };
    const bool is_gpu = bench->common.device.kind == KITH_CUDA;
    const int64_t all = is_gpu ? 1000000 : bench->common.quick ? 1000 : 20000;
    const int64_t count = all * length;
    struct contestant contestants[2] = {{.run = run_batch}, {.run = run_batch}};
    struct contender contenders[2];
    kith_array host = {calloc((size_t)count, 12), {KITH_CPU, 0},     3, KITH_I32,
                       {all, length, 3},          {3 * length, 3, 1}};
    kith_array zeros = kith_array_vector(calloc((size_t)all, 8), KITH_I64, all);
    kith_array beads = host, results[2] = {zeros, zeros};
    bool done = host.data && zeros.data;
    if (done)
        fill("walk", length, count, host.data);
    if (done && is_gpu)
        done = gpu_array_copy(context, host, &beads) == KITH_OK &&
               gpu_array_copy(context, zeros, &results[0]) == KITH_OK &&
               gpu_array_copy(context, zeros, &results[1]) == KITH_OK;
    for (int64_t k = 0; k < 2; k++) {
        contenders[k] = (struct contender){k ? "batch with contacts" : "batch",
                                           context,
                                           KITH_COLLISIONS_AUTO,
                                           beads,
                                           host,
                                           host,
                                           {results[0], k ? results[1] : kith_array_none()},
                                           kith_array_none(),
                                           NULL};
        contestants[k].state = &contenders[k];
        contestants[k].many_threads = bench->common.threads[0] > 1;
    }
    done = done && measure(bench, 2, contestants, "64 beads", count, rows);
    for (int64_t k = 0; k < 2 && is_gpu; k++)
        gpu_array_free(&results[k]);
    if (is_gpu)
        gpu_array_free(&beads);
    free(host.data);
    free(zeros.data);
    return done;
}
