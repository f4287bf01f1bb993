#ifndef TESTS_RANKS_JOBS_H
#define TESTS_RANKS_JOBS_H

/* Forces and steps by the ranks of a job, compared with those of one process. */

#include "ranks_of_threads.h"

#include "forces_system.h"
#include "io/bodies.h"
#include "simulating.h"
#include "simulation/slice.h"

/* Forces on the bodies of a system, by one rank. */
struct forces_rank {
    const struct system *system, *targets; /* NULL: the system's */
    kith_forces_totals totals;             /* if options.cutoff is given */
    kith_solver_report report;             /* of trees */
    kith_forces_options options;
    double *result; /* n × (D + 1), D accelerations and a potential */
    kith_status status;
    bool cancels; /* this rank is asked to stop before it begins */
    bool without_potential;
    char message[200];
};

static inline kith_status compute_forces(void *argument, kith_context *context)
{
    struct forces_rank *rank = argument;
    const struct system *s = rank->targets ? rank->targets : rank->system;
    kith_forces_options options = rank->options;
    options.totals = options.cutoff > 0 && !rank->targets ? &rank->totals : NULL;
    options.report = &rank->report;
    kith_array a = kith_array_matrix(rank->result, s->dtype, s->n, s->dimensions);
    kith_array phi = kith_array_vector(
        (char *)rank->result + s->dimensions * kith_dtype_bytes(s->dtype), s->dtype, s->n);
    a.strides[0] = phi.strides[0] = s->dimensions + 1;
    if (rank->cancels)
        kith_context_cancel(context);
    rank->status = kith_forces_compute(context, &options, rank->targets ? PARTICLES_OF(s) : NULL,
                                       PARTICLES_OF(rank->system), a,
                                       rank->without_potential ? kith_array_none() : phi);
    if (rank->status != KITH_OK)
        snprintf(rank->message, sizeof rank->message, "%s", kith_error_message());
    return rank->status;
}

static inline size_t bytes_of(const struct forces_rank *rank)
{
    const struct system *s = rank->targets ? rank->targets : rank->system;
    return (size_t)(s->n * (s->dimensions + 1) * kith_dtype_bytes(s->dtype));
}

/* Each rank has its own results, which begin as NaN. */
static inline void compute_on_ranks(int32_t size, const struct forces_rank *like,
                                    struct forces_rank ranks[most_ranks])
{
    for (int32_t k = 0; k < size; k++) {
        ranks[k] = *like;
        ranks[k].result = malloc(bytes_of(like) + 1);
        memset(ranks[k].result, 0xff, bytes_of(like));
    }
    do_ranks(size, compute_forces, ranks, sizeof ranks[0]);
}

static inline void free_results(int32_t size, struct forces_rank *ranks)
{
    for (int32_t k = 0; k < size; k++)
        free(ranks[k].result);
}

/* The context of one process, for comparison. */
static inline kith_context *context_of_one(void)
{
    const kith_context_options options = {.device = device_of_rank(0), .threads = 1};
    kith_context *context = NULL;
    assert_ok(kith_context_create(&options, &context));
    return context;
}

/* The forces by one process, whose result is to be freed. */
static inline struct forces_rank compute_alone(const struct forces_rank *like)
{
    struct forces_rank alone = *like;
    kith_context *context = context_of_one();
    alone.result = malloc(bytes_of(like) + 1);
    memset(alone.result, 0xff, bytes_of(like));
    compute_forces(&alone, context);
    if (alone.status != KITH_OK)
        fail_msg("%s", alone.message);
    kith_context_free(context);
    return alone;
}

static inline void check_same_bits(const struct forces_rank *like, int32_t size)
{
    const struct forces_rank alone = compute_alone(like);
    struct forces_rank ranks[most_ranks];
    compute_on_ranks(size, like, ranks);
    for (int32_t k = 0; k < size; k++) {
        if (ranks[k].status != KITH_OK)
            fail_msg("rank %d of %d: %s", (int)k, (int)size, ranks[k].message);
        if (memcmp(alone.result, ranks[k].result, bytes_of(like)) != 0 ||
            memcmp(&alone.totals, &ranks[k].totals, sizeof alone.totals) != 0 ||
            alone.report.p2p_per_body != ranks[k].report.p2p_per_body ||
            alone.report.m2l_per_body != ranks[k].report.m2l_per_body)
            fail_msg("rank %d of %d: %lld bodies have other bits", (int)k, (int)size,
                     (long long)like->system->n);
    }
    free_results(size, ranks);
    free(alone.result);
}

/* Steps of a simulation, by one rank. */
struct simulation_rank {
    const kith_bodies *start;
    kith_simulation_options options;
    int64_t steps;
    kith_bodies *end;
    kith_diagnostics diagnostics;
    kith_status status;
    char message[200];
};

static inline kith_status take_steps(void *argument, kith_context *context)
{
    struct simulation_rank *rank = argument;
    kith_simulation *simulation = NULL;
    rank->status = kith_simulation_create(context, &rank->options, rank->start, &simulation);
    if (rank->status == KITH_OK)
        rank->status = kith_simulation_step(simulation, rank->steps);
    if (rank->status == KITH_OK)
        rank->status = kith_simulation_diagnose(simulation, &rank->diagnostics);
    if (rank->status == KITH_OK)
        rank->status = kith_simulation_get_bodies(simulation, rank->end);
    if (rank->status != KITH_OK)
        snprintf(rank->message, sizeof rank->message, "%s", kith_error_message());
    kith_simulation_free(simulation);
    return rank->status;
}

/* The same by a rank that has a slice: half of the steps, and the others by a new simulation, from
 * a checkpoint of the first. `kept` and `restored` are of that moment, before and after. */
struct slice_rank {
    const kith_bodies *start;
    kith_simulation_options options;
    int64_t steps;
    kith_bodies *end; /* of this rank */
    kith_diagnostics first, kept, restored, last;
    bool is_sliced;
    kith_status status;
    char message[200];
};

static inline kith_status begin_slice(kith_context *context, struct slice_rank *rank,
                                      const kith_bodies *own, kith_simulation **simulation)
{
    KITH_TRY(simulation_create_slice(context, &rank->options, own, rank->start->count, simulation));
    (*simulation)->stays_divided = true;
    return KITH_OK;
}

static inline kith_status step_slice(struct slice_rank *rank, kith_context *context,
                                     const kith_bodies *own)
{
    kith_simulation *simulation = NULL;
    kith_checkpoint checkpoint = {0};
    kith_status status = begin_slice(context, rank, own, &simulation);
    if (status == KITH_OK)
        status = kith_simulation_diagnose(simulation, &rank->first);
    if (status == KITH_OK)
        status = kith_simulation_step(simulation, rank->steps / 2);
    if (status == KITH_OK)
        status = kith_simulation_diagnose(simulation, &rank->kept);
    if (status == KITH_OK)
        status = kith_simulation_save(simulation, &checkpoint);
    kith_simulation_free(simulation);
    simulation = NULL;
    if (status == KITH_OK)
        status = begin_slice(context, rank, own, &simulation);
    if (status == KITH_OK)
        status = kith_simulation_restore(simulation, &checkpoint);
    if (status == KITH_OK)
        status = kith_simulation_diagnose(simulation, &rank->restored);
    if (status == KITH_OK)
        status = kith_simulation_step(simulation, rank->steps - rank->steps / 2);
    if (status == KITH_OK)
        status = kith_simulation_diagnose(simulation, &rank->last);
    if (status == KITH_OK)
        status = kith_simulation_get_bodies(simulation, rank->end);
    kith_simulation_free(simulation);
    kith_checkpoint_free(&checkpoint);
    return status;
}

static inline kith_status take_sliced_steps(void *argument, kith_context *context)
{
    struct slice_rank *rank = argument;
    const struct ranks *ranks = context->ranks;
    const int64_t first = ranks_first(rank->start->count, ranks->size, ranks->rank);
    const int64_t end = ranks_first(rank->start->count, ranks->size, ranks->rank + 1);
    const kith_bodies rows = bodies_rows(rank->start, first, end - first);
    kith_bodies *own = NULL; /* alone, so that a sanitizer notices what reads past them */
    assert_ok(bodies_copy(&rows, &own));
    assert_ok(kith_bodies_create(own->count, own->dimensions, KITH_VELOCITY, &rank->end));
    rank->is_sliced = simulation_can_be_sliced(context, &rank->options, own, rank->start->count);
    if (rank->is_sliced)
        rank->status = step_slice(rank, context, own);
    if (rank->status != KITH_OK)
        snprintf(rank->message, sizeof rank->message, "%s", kith_error_message());
    kith_bodies_free(own);
    return rank->status;
}

/* What one rank comes to, alone: from a start, with diagnostics there and at the end. Returns
 * whether the simulation is one of slices. */
static inline bool check_slices(const struct simulation_rank *alone, const kith_diagnostics *first,
                                int32_t size)
{
    const struct slice_rank like = {
        .start = alone->start, .options = alone->options, .steps = alone->steps};
    struct slice_rank ranks[most_ranks] = {0};
    for (int32_t k = 0; k < size; k++)
        ranks[k] = like;
    do_ranks(size, take_sliced_steps, ranks, sizeof ranks[0]);
    for (int32_t k = 0; k < size; k++) {
        if (ranks[k].status != KITH_OK)
            fail_msg("rank %d of %d: %s", (int)k, (int)size, ranks[k].message);
        if (ranks[k].is_sliced) {
            const int64_t from = ranks_first(alone->start->count, size, k);
            const kith_bodies own = bodies_rows(alone->end, from, ranks[k].end->count);
            assert_same_state(ranks[k].end, &own);
            assert_memory_equal(&ranks[k].first, first, sizeof *first);
            assert_memory_equal(&ranks[k].kept, &ranks[k].restored, sizeof *first);
            assert_memory_equal(&ranks[k].last, &alone->diagnostics, sizeof *first);
        }
        kith_bodies_free(ranks[k].end);
    }
    return ranks[0].is_sliced;
}

/* Of bodies with velocities, whose states are compared. Returns whether ranks have slices, too. */
static inline bool check_steps(const kith_bodies *start, const kith_simulation_options *options,
                               int64_t steps, int32_t size)
{
    const struct simulation_rank like = {.start = start, .options = *options, .steps = steps};
    struct simulation_rank alone = like, ranks[most_ranks];
    const int64_t n = start->count;
    kith_diagnostics first;
    kith_simulation *simulation = NULL;
    assert_ok(kith_bodies_create(n, start->dimensions, KITH_VELOCITY, &alone.end));
    kith_context *context = context_of_one();
    if (take_steps(&alone, context) != KITH_OK)
        fail_msg("%s", kith_error_message());
    assert_ok(kith_simulation_create(context, options, start, &simulation));
    assert_ok(kith_simulation_diagnose(simulation, &first));
    kith_simulation_free(simulation);
    kith_context_free(context);
    for (int32_t k = 0; k < size; k++) {
        ranks[k] = like;
        assert_ok(kith_bodies_create(n, start->dimensions, KITH_VELOCITY, &ranks[k].end));
    }
    do_ranks(size, take_steps, ranks, sizeof ranks[0]);
    for (int32_t k = 0; k < size; k++) {
        if (ranks[k].status != KITH_OK)
            fail_msg("rank %d of %d, %lld bodies: %s", (int)k, (int)size, (long long)n,
                     ranks[k].message);
        assert_same_state(ranks[k].end, alone.end);
        assert_memory_equal(&ranks[k].diagnostics, &alone.diagnostics, sizeof alone.diagnostics);
        kith_bodies_free(ranks[k].end);
    }
    const bool is_sliced = check_slices(&alone, &first, size);
    kith_bodies_free(alone.end);
    return is_sliced;
}

#endif
