#include "forces/cutoff_slices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "forces/cutoff_partition.h"
#include "forces/excluded.h"
#include "forces/excluded_slices.h"
#include "forces/tasks_ranks.h"
#include "ranks/parcels.h"
#include "ranks/ranks.h"

static const char what[] = "bodies of a rank";

enum { field_count = 7 };

/* Sources or targets: what this rank sends of its own, and what it has got. */
struct traffic {
    struct ranks_parcels parcels;
    int32_t *sent, *origin; /* rows of its own, and of those that it has got, at their ranks */
    void *position;
};

struct slices {
    kith_context *context;
    const struct forces_problem *own;
    struct cutoff_partition partition;
    struct traffic traffic[cutoff_most_sides];
    struct ranks_parcels home;
    struct forces_problem held;
    void *outputs, *field[field_count];
    int same[field_count]; /* the first of the columns that are the same memory */
    kith_array excluded;   /* pairs of the bodies held */
};

bool cutoff_takes_slices(const struct forces_problem *own)
{
    return !own->space.repeats && !own->accumulate;
}

/* The columns of a problem besides positions. */
static const void **field_of(struct forces_problem *problem, int k)
{
    const void **const fields[field_count] = {
        &problem->source_mass,           &problem->target_mass,   &problem->target_weight,
        &problem->target_charge,         &problem->source_charge, &problem->target_half_softening2,
        &problem->source_half_softening2};
    return fields[k];
}

/* The side that such a column is of. */
static int32_t side_of(const struct slices *slices, int k)
{
    return slices->partition.side_count == 1 || k == 0 || k == 4 || k == 6 ? cutoff_of_sources
                                                                           : cutoff_of_targets;
}

/* The bodies of a side that a rank gets: their number, and their rows if `rows`. */
static int64_t list_sent(const struct slices *slices, int32_t side, int32_t rank, int32_t *rows)
{
    int64_t count = 0;
    for (int64_t i = 0; i < slices->partition.side[side].count; i++)
        if (cutoff_partition_gives(&slices->partition, side, i, rank)) {
            if (rows)
                rows[count] = (int32_t)i;
            count++;
        }
    return count;
}

static kith_status find_sent(struct slices *slices, int32_t side)
{
    const struct ranks *ranks = slices->context->ranks;
    struct traffic *traffic = &slices->traffic[side];
    KITH_TRY(ranks_parcels_create(ranks, &traffic->parcels));
    int64_t *first = traffic->parcels.first_sent;
    for (int32_t k = 0; k < ranks->size; k++)
        first[k + 1] = first[k] + list_sent(slices, side, k, NULL);
    KITH_TRY(kith_allocate(first[ranks->size], sizeof *traffic->sent, what, &traffic->sent));
    for (int32_t k = 0; k < ranks->size; k++)
        list_sent(slices, side, k, traffic->sent + first[k]);
    return KITH_OK;
}

static void pick(int64_t real, const void *from, const int32_t *rows, int64_t count, void *to)
{
    for (int64_t k = 0; k < count; k++)
        memcpy((char *)to + k * real, (const char *)from + rows[k] * real, (size_t)real);
}

/* Collective: a column of the bodies that this rank gets. */
static void send_column(const struct slices *slices, int32_t side, const void *own, void *scratch,
                        void *held)
{
    const struct traffic *traffic = &slices->traffic[side];
    const int64_t real = kith_dtype_bytes(slices->own->dtype);
    pick(real, own, traffic->sent, ranks_parcels_sent(&traffic->parcels), scratch);
    ranks_parcels_exchange(&traffic->parcels, real, scratch, held);
}

/* Collective: which columns of a side are the same memory, as the ranks that have rows of it say in
 * a number of these digits: columns without rows may all have one address. */
static void find_same(struct slices *slices)
{
    enum { base = field_count };
    struct forces_problem own = *slices->own;
    double digits[cutoff_most_sides] = {0};
    for (int k = field_count - 1; k >= 0; k--) {
        double *const of_side = &digits[side_of(slices, k)];
        int same = 0;
        while (*field_of(&own, same) != *field_of(&own, k) ||
               side_of(slices, same) != side_of(slices, k))
            same++;
        *of_side = *of_side * base + same;
    }
    for (int32_t side = 0; side < slices->partition.side_count; side++)
        if (slices->partition.side[side].count == 0)
            digits[side] = 0;
    ranks_maximum(slices->context, digits, cutoff_most_sides);
    for (int k = 0; k < field_count; k++) {
        double *const of_side = &digits[side_of(slices, k)];
        slices->same[k] = (int)fmod(*of_side, base);
        *of_side = floor(*of_side / base);
    }
}

static int64_t held_count(const struct slices *slices, int32_t side)
{
    return ranks_parcels_received(&slices->traffic[side].parcels);
}

static int32_t side_of_targets(const struct slices *slices)
{
    return slices->partition.side_count - 1;
}

static kith_status allocate_held(struct slices *slices, void **scratch)
{
    struct forces_problem own = *slices->own;
    const int64_t real = kith_dtype_bytes(own.dtype);
    int64_t most = 0;
    for (int32_t side = 0; side < slices->partition.side_count; side++) {
        struct traffic *traffic = &slices->traffic[side];
        const int64_t sent = ranks_parcels_sent(&traffic->parcels);
        const int64_t held = kith_padded(held_count(slices, side));
        most = sent > most ? sent : most;
        KITH_TRY(kith_allocate(held, sizeof *traffic->origin, what, &traffic->origin));
        KITH_TRY(kith_allocate(held, own.dimensions * real, what, &traffic->position));
    }
    for (int k = 0; k < field_count; k++)
        if (*field_of(&own, k) && slices->same[k] == k)
            KITH_TRY(kith_allocate(kith_padded(held_count(slices, side_of(slices, k))), real, what,
                                   &slices->field[k]));
    KITH_TRY(kith_allocate(most, sizeof(double), what, scratch));
    return kith_allocate(kith_padded(held_count(slices, side_of_targets(slices))),
                         (own.dimensions + 1) * real, what, &slices->outputs);
}

/* Collective: rows and positions of a side. */
static void exchange_side(struct slices *slices, int32_t side, void *scratch)
{
    const struct forces_problem *own = slices->own;
    const struct traffic *traffic = &slices->traffic[side];
    const int64_t bytes = kith_padded(held_count(slices, side)) * kith_dtype_bytes(own->dtype);
    ranks_parcels_exchange(&traffic->parcels, sizeof *traffic->sent, traffic->sent,
                           traffic->origin);
    for (int c = 0; c < own->dimensions; c++) {
        char *column = (char *)traffic->position + c * bytes;
        send_column(slices, side,
                    side == cutoff_of_sources ? own->source_position[c] : own->target_position[c],
                    scratch, column);
        if (side == cutoff_of_sources)
            slices->held.source_position[c] = column;
        if (side == side_of_targets(slices))
            slices->held.target_position[c] = column;
    }
}

static void exchange(struct slices *slices, void *scratch)
{
    struct forces_problem own = *slices->own, *problem = &slices->held;
    const int64_t targets = held_count(slices, side_of_targets(slices));
    const int64_t bytes = kith_padded(targets) * kith_dtype_bytes(own.dtype);
    *problem = own;
    problem->is_slice = false;
    problem->source_count = held_count(slices, cutoff_of_sources);
    problem->target_count = targets;
    for (int32_t side = 0; side < slices->partition.side_count; side++)
        exchange_side(slices, side, scratch);
    for (int c = 0; c < own.dimensions && own.acceleration[0]; c++)
        problem->acceleration[c] = (char *)slices->outputs + c * bytes;
    if (own.potential)
        problem->potential = (char *)slices->outputs + own.dimensions * bytes;
    for (int k = 0; k < field_count; k++) {
        if (!*field_of(&own, k))
            continue;
        *field_of(problem, k) = slices->field[slices->same[k]];
        if (slices->same[k] == k)
            send_column(slices, side_of(slices, k), *field_of(&own, k), scratch, slices->field[k]);
    }
}

/* Collective: the bodies that this rank needs, in the order of their rows. */
static kith_status send_bodies(struct slices *slices)
{
    kith_context *context = slices->context;
    const int32_t sides = slices->partition.side_count;
    void *scratch = NULL;
    kith_status status = KITH_OK;
    for (int32_t side = 0; side < sides && status == KITH_OK; side++)
        status = find_sent(slices, side);
    KITH_TRY(ranks_agree(context, status));
    find_same(slices);
    for (int32_t side = 0; side < sides; side++)
        ranks_parcels_announce(&slices->traffic[side].parcels);
    status = allocate_held(slices, &scratch);
    const kith_status of_all = ranks_agree(context, status);
    if (status == KITH_OK && of_all == KITH_OK)
        exchange(slices, scratch);
    free(scratch);
    return of_all;
}

/* Collective: the excluded pairs of these. */
static kith_status send_excluded(struct slices *slices)
{
    struct forces_space *space = &slices->held.space;
    const struct traffic *sources = &slices->traffic[cutoff_of_sources];
    if (!excluded_any(slices->own))
        return KITH_OK;
    KITH_TRY(
        excluded_send(&slices->partition, &sources->parcels, sources->origin, &slices->excluded));
    space->exclusions = slices->excluded;
    space->has_exclusions = false;
    return KITH_OK;
}

/* This rank's targets, in the order in which they came: by their ranks, which are to get them. */
static kith_status find_home(struct slices *slices, int32_t **targets)
{
    const struct cutoff_part *part = &slices->partition.part;
    const int64_t *received = slices->traffic[side_of_targets(slices)].parcels.first_received;
    const int32_t size = slices->context->ranks->size;
    int64_t *first = slices->home.first_sent, at = 0;
    bool *is_target = NULL;
    KITH_TRY(kith_allocate(part->end - part->begin, sizeof **targets, what, targets));
    KITH_TRY(kith_allocate(received[size], sizeof *is_target, what, &is_target));
    for (int64_t k = part->begin; k < part->end; k++)
        is_target[part->order[k]] = true;
    for (int32_t k = 0; k < size; k++) {
        for (int64_t i = received[k]; i < received[k + 1]; i++)
            if (is_target[i])
                (*targets)[at++] = (int32_t)i;
        first[k + 1] = at;
    }
    free(is_target);
    return KITH_OK;
}

struct homing {
    int32_t *targets, *sent,
        *rows; /* of the planes; at their ranks, as they go there, and as they come */
    char *out, *in;
};

static kith_status allocate_home(const struct slices *slices, struct homing *homing)
{
    const int64_t real = kith_dtype_bytes(slices->own->dtype);
    const int64_t sent = ranks_parcels_sent(&slices->home);
    const int64_t came = ranks_parcels_received(&slices->home);
    KITH_TRY(kith_allocate(sent, sizeof *homing->sent, what, &homing->sent));
    KITH_TRY(kith_allocate(came, sizeof *homing->rows, what, &homing->rows));
    KITH_TRY(kith_allocate(sent, real, what, &homing->out));
    return kith_allocate(came, real, what, &homing->in);
}

/* Collective: a column of results of this rank's bodies. */
static void bring_column(const struct slices *slices, const struct homing *homing, const void *held,
                         void *own)
{
    const int64_t real = kith_dtype_bytes(slices->own->dtype);
    if (!own)
        return;
    pick(real, held, homing->targets, ranks_parcels_sent(&slices->home), homing->out);
    ranks_parcels_exchange(&slices->home, real, homing->out, homing->in);
    for (int64_t k = 0; k < ranks_parcels_received(&slices->home); k++)
        memcpy((char *)own + homing->rows[k] * real, homing->in + k * real, (size_t)real);
}

static kith_status bring_home(struct slices *slices, struct homing *homing)
{
    const struct forces_problem *held = &slices->held, *own = slices->own;
    kith_status status = ranks_parcels_create(slices->context->ranks, &slices->home);
    if (status == KITH_OK)
        status = find_home(slices, &homing->targets);
    KITH_TRY(ranks_agree(slices->context, status));
    ranks_parcels_announce(&slices->home);
    KITH_TRY(ranks_agree(slices->context, allocate_home(slices, homing)));
    pick(sizeof *homing->sent, slices->traffic[side_of_targets(slices)].origin, homing->targets,
         ranks_parcels_sent(&slices->home), homing->sent);
    ranks_parcels_exchange(&slices->home, sizeof *homing->sent, homing->sent, homing->rows);
    for (int c = 0; c < own->dimensions; c++)
        bring_column(slices, homing, held->acceleration[c], own->acceleration[c]);
    bring_column(slices, homing, held->potential, own->potential);
    return KITH_OK;
}

/* Collective: the forces on this rank's targets, and those on its bodies from all ranks. */
static kith_status sum(struct slices *slices, struct cutoff_memory *memory)
{
    struct cutoff_law law = {0};
    struct homing homing = {0};
    kith_status status = cutoff_take_law(&slices->held, &law);
    status = ranks_agree(slices->context, status);
    if (status == KITH_OK)
        status = forces_cutoff_part(slices->context, &slices->held, &law, &slices->partition.part,
                                    memory);
    status = ranks_agree(slices->context, status);
    if (status == KITH_OK)
        status = bring_home(slices, &homing);
    free(homing.targets);
    free(homing.sent);
    free(homing.rows);
    free(homing.out);
    free(homing.in);
    cutoff_drop_law(&law);
    return status;
}

/* Collective: of the weights of this rank's bodies, one rank after the other. */
static kith_status add_tail(const struct slices *slices)
{
    struct cutoff_law law = {0};
    kith_status status = cutoff_take_law(slices->own, &law);
    status = ranks_agree(slices->context, status);
    if (status == KITH_OK)
        status = cutoff_add_tail(slices->context, slices->own, &law);
    cutoff_drop_law(&law);
    return status;
}

static void free_all(struct slices *slices)
{
    for (int32_t side = 0; side < slices->partition.side_count; side++) {
        struct traffic *traffic = &slices->traffic[side];
        ranks_parcels_free(&traffic->parcels);
        free(traffic->sent);
        free(traffic->origin);
        free(traffic->position);
    }
    cutoff_partition_free(&slices->partition);
    ranks_parcels_free(&slices->home);
    free(slices->outputs);
    free(slices->excluded.data);
    for (int k = 0; k < field_count; k++)
        free(slices->field[k]);
}

kith_status forces_cutoff_slices(kith_context *context, const struct forces_problem *own,
                                 struct cutoff_memory *memory)
{
    struct slices slices = {.context = context, .own = own, .excluded = kith_array_none()};
    kith_status status = cutoff_partition_make(context, own, &slices.partition);
    if (status == KITH_OK)
        status = send_bodies(&slices);
    if (status == KITH_OK)
        status = send_excluded(&slices);
    if (status == KITH_OK)
        status = sum(&slices, memory);
    if (status == KITH_OK && own->space.tail)
        status = add_tail(&slices);
    free_all(&slices);
    return status;
}
