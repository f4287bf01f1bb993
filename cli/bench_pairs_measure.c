/* One system of kith bench pairs: points are in the device's memory before, and lists stay there.
 */

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench_pairs.h"
#include "core/status.h"
#include "device/context.h"

/* kith in one precision, as a contestant. */
struct listing {
    const char *command;
    kith_context *context;
    const struct pairs_case *kind;
    kith_pairs_options options;
    kith_cell cell;
    kith_array points;
    kith_pairs *pairs;
    double device_seconds; /* of the fastest call */
};

static double fail(const struct listing *listing)
{
    cli_fail(listing->command);
    return -1;
}

static kith_status list_once(struct listing *listing)
{
    const kith_cell *cell = listing->kind->periodic ? &listing->cell : NULL;
    if (listing->kind->nearest)
        return kith_pairs_nearest(listing->context, &listing->options, listing->points, cell,
                                  listing->kind->nearest, &listing->pairs);
    return kith_pairs_compute(listing->context, &listing->options, listing->points, cell,
                              &listing->pairs);
}

/* On a GPU each call is waited for, and timed by the device too. */
static kith_status list_on_device(struct listing *listing)
{
    kith_context *context = listing->context;
    double seconds = 0;
    kith_status status = context->services->mark_time(context, 0);
    if (status == KITH_OK)
        status = list_once(listing);
    if (status == KITH_OK)
        status = context->services->mark_time(context, 1);
    if (status == KITH_OK)
        status = kith_context_synchronize(context);
    if (status == KITH_OK)
        status = context->services->elapsed_seconds(context, &seconds);
    if (status == KITH_OK)
        listing->device_seconds = fmin(listing->device_seconds, seconds);
    return status;
}

static double run_listing(void *state, int64_t calls)
{
    struct listing *listing = state;
    const bool on_device = listing->context->device.kind != KITH_CPU;
    const double start = cli_clock();
    for (int64_t k = 0; k < calls; k++)
        if ((on_device ? list_on_device(listing) : list_once(listing)) != KITH_OK)
            return fail(listing);
    return cli_clock() - start;
}

struct peer {
    struct peers *peers;
    const char *name;
    int32_t threads;
};

static double run_peer(void *state, int64_t calls)
{
    const struct peer *peer = state;
    return peers_seconds(peer->peers, peer->name, peer->threads, calls);
}

/* The points in a precision, in the device's memory. */
static kith_status place_points(kith_context *context, const struct pairs_points_of *points,
                                kith_dtype dtype, kith_array *placed)
{
    const int64_t count = points->count * points->kind->dimensions;
    const int64_t each = kith_dtype_bytes(dtype);
    void *memory = NULL;
    kith_status status =
        context->services->allocate(context, count + 1, each, "the points", &memory);
    if (status != KITH_OK)
        return status;
    *placed = kith_array_matrix(memory, dtype, points->count, points->kind->dimensions);
    placed->device = context->device;
    if (dtype == KITH_F64)
        return context->services->copy_in(context, memory, points->x, count * each);
    float *narrow = malloc((size_t)(count + 1) * sizeof *narrow);
    if (!narrow)
        return kith_fail(KITH_OUT_OF_MEMORY, "no memory for %lld points", (long long)points->count);
    for (int64_t k = 0; k < count; k++)
        narrow[k] = (float)points->x[k];
    status = context->services->copy_in(context, memory, narrow, count * each);
    free(narrow);
    return status;
}

static bool begin_listing(const struct pairs_report *report, kith_context *context,
                          const struct pairs_points_of *points, kith_dtype dtype,
                          struct listing *listing)
{
    *listing = (struct listing){
        .command = report->options->common.command,
        .context = context,
        .kind = points->kind,
        .options = {.cutoff = points->cutoff,
                    .unsorted = report->options->unsorted && points->kind->nearest == 0,
                    .narrow = report->options->narrow},
        .device_seconds = INFINITY,
    };
    if (points->kind->lengths)
        listing->options.quantities = KITH_PAIRS_I | KITH_PAIRS_J | KITH_PAIRS_SHIFTS |
                                      KITH_PAIRS_VECTORS | KITH_PAIRS_DISTANCES;
    for (int k = 0; k < 3; k++) {
        listing->cell.vectors[k][k] = points->edge;
        listing->cell.periodic[k] = true;
    }
    return place_points(context, points, dtype, &listing->points) == KITH_OK || fail(listing) > 0;
}

static void end_listing(struct listing *listing)
{
    kith_pairs_free(listing->pairs);
    if (listing->context)
        listing->context->services->release(listing->context, listing->points.data);
}

static bool has_word(const char *words, const char *word)
{
    const char *at = strstr(words, word);
    return at && (at == words || at[-1] == ' ') && strchr(" ", at[strlen(word)]);
}

/* Those in all[2], …, with their number in the report at which[2], …; returns how many. */
static int32_t add_peers(const struct pairs_report *report, const struct pairs_case *kind,
                         struct peer *peers, struct contestant *contestants, int32_t *which)
{
    int32_t count = 2;
    for (int32_t k = 0; k < report->peer_count; k++) {
        if (!has_word(kind->peers, report->peer_name[k]))
            continue;
        peers[k] =
            (struct peer){report->peers, report->peer_name[k], report->options->common.threads[0]};
        contestants[count] = (struct contestant){.run = run_peer, .state = &peers[k]};
        which[count++] = k;
    }
    return count;
}

/* The best round counts on a GPU, whose calls are short, and the median else. */
static void take_results(const struct listing listings[2], int32_t count,
                         struct contestant *const *all, const int32_t *which, struct pairs_row *row)
{
    for (int dtype = 0; dtype < 2; dtype++) {
        const bool on_device = listings[dtype].context->device.kind != KITH_CPU;
        row->seconds[dtype] =
            on_device ? contestant_best(all[dtype]) : contestant_median(all[dtype]);
        row->device_seconds[dtype] = on_device ? listings[dtype].device_seconds : NAN;
        row->pairs[dtype] = listings[dtype].pairs->count;
    }
    for (int32_t k = 0; k < pairs_most_peers; k++)
        row->peer_seconds[k] = row->peer_ratio[k] = NAN;
    for (int32_t k = 2; k < count; k++) {
        row->peer_seconds[which[k]] = contestant_median(all[k]);
        row->peer_ratio[which[k]] = contestant_ratio(all[k], all[KITH_F64]);
    }
}

bool pairs_measure(const struct pairs_report *report, kith_context *context,
                   const struct pairs_points_of *points, struct pairs_row *row)
{
    DEVICE_SCOPE(scope);
    (void)device_enter(context, &scope);
    struct listing listings[2] = {{0}};
    struct peer peers[pairs_most_peers];
    struct contestant contestants[2 + pairs_most_peers];
    struct contestant *all[2 + pairs_most_peers];
    int32_t which[2 + pairs_most_peers] = {0};
    bool done =
        !report->peers || pairs_points_give(report->options->common.command, report->peers, points);
    for (int dtype = 0; dtype < 2; dtype++) {
        done = done && begin_listing(report, context, points, (kith_dtype)dtype, &listings[dtype]);
        contestants[dtype] =
            (struct contestant){.run = run_listing,
                                .state = &listings[dtype],
                                .many_threads = report->options->common.threads[0] > 1};
    }
    const int32_t count = add_peers(report, points->kind, peers, contestants, which);
    for (int32_t k = 0; k < count; k++)
        all[k] = &contestants[k];
    done = done && bench_measure(count, all, report->options->common.seconds);
    if (done) {
        row->kind = points->kind;
        row->points = points->count;
        take_results(listings, count, all, which, row);
    }
    end_listing(&listings[0]);
    end_listing(&listings[1]);
    return done;
}
