#include "simulation/whfast_slice.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "ranks/partition.h"
#include "ranks/ranks.h"
#include "simulation/slice.h"

/* A component of the kept state has the center of mass, too. */
static int64_t numbers_of_component(const struct whfast_leaders *leaders)
{
    return leaders->leading + 1;
}

static double *component_of(const struct kith_simulation *simulation, int32_t array, int32_t c)
{
    const struct whfast_leaders *leaders = simulation->slice->leaders;
    return leaders->memory + (array * simulation->dimensions + c) * numbers_of_component(leaders);
}

/* The last body with mass, of all ranks: of this one it is row `last`, from `first` on. */
static int64_t last_of_all(const kith_context *context, int64_t first, int64_t last)
{
    double largest = last < 0 ? -1 : (double)(first + last);
    ranks_maximum(context, &largest, 1);
    return (int64_t)largest;
}

int64_t whfast_last_with_mass(const kith_bodies *bodies)
{
    int64_t last = bodies->count - 1;
    while (last >= 0 && bodies->mass && bodies->mass[last] == 0)
        last--;
    return last;
}

/* Rows of rank 0. */
static int64_t rows_of_first(const kith_context *context, int64_t all)
{
    return ranks_first(all, context->ranks->size, 1);
}

bool whfast_can_be_sliced(kith_context *context, const kith_bodies *bodies, int64_t all)
{
    const struct ranks *ranks = context->ranks;
    const int64_t first = ranks_first(all, ranks->size, ranks->rank);
    const int64_t last = last_of_all(context, first, whfast_last_with_mass(bodies));
    const int64_t leading = whfast_leading(last, all - 1);
    return leading < all - 1 && leading < rows_of_first(context, all);
}

static kith_status allocate(struct kith_simulation *simulation, int64_t leading)
{
    struct simulation_slice *slice = simulation->slice;
    if (slice->leaders && slice->leaders->memory && slice->leaders->leading == leading)
        return KITH_OK;
    whfast_slice_free(slice);
    KITH_TRY(kith_allocate(1, sizeof *slice->leaders, "coordinates of planets", &slice->leaders));
    struct whfast_leaders *leaders = slice->leaders;
    leaders->leading = leading;
    const int64_t components = WHFAST_ARRAYS * simulation->dimensions;
    KITH_TRY(kith_allocate(numbers_of_component(leaders) * (components + 1),
                           sizeof *leaders->memory, "coordinates of planets", &leaders->memory));
    leaders->mass = leaders->memory + components * numbers_of_component(leaders);
    for (int32_t c = 0; c < simulation->dimensions; c++) {
        leaders->arrays.position[c] = component_of(simulation, POSITION, c);
        leaders->arrays.velocity[c] = component_of(simulation, VELOCITY, c);
        leaders->arrays.kept_position[c] = component_of(simulation, WHFAST_POSITION, c);
        leaders->arrays.kept_velocity[c] = component_of(simulation, WHFAST_VELOCITY, c);
        leaders->arrays.lost_position[c] = component_of(simulation, WHFAST_LOST_POSITION, c);
        leaders->arrays.lost_velocity[c] = component_of(simulation, WHFAST_LOST_VELOCITY, c);
    }
    return KITH_OK;
}

kith_status whfast_slice_begin(struct kith_simulation *simulation)
{
    kith_context *context = simulation->context;
    struct simulation_slice *slice = simulation->slice;
    KITH_TRY(ranks_agree(context, KITH_OK)); /* a rank may have failed before */
    const int64_t last = last_of_all(context, slice->first, simulation->last_with_mass);
    const int64_t leading = whfast_leading(last, slice->all - 1);
    KITH_TRY(ranks_agree(context, allocate(simulation, leading)));
    const size_t bytes = (size_t)numbers_of_component(slice->leaders) * sizeof(double);
    for (int32_t c = 0; context->ranks->rank == 0 && c < simulation->dimensions; c++) {
        memcpy(component_of(simulation, POSITION, c), simulation->vector[POSITION][c], bytes);
        memcpy(component_of(simulation, VELOCITY, c), simulation->vector[VELOCITY][c], bytes);
    }
    if (context->ranks->rank == 0)
        memcpy(slice->leaders->mass, simulation->mass, bytes);
    ranks_broadcast(context, slice->leaders->memory, 2 * simulation->dimensions * (int64_t)bytes);
    ranks_broadcast(context, slice->leaders->mass, (int64_t)bytes);
    return KITH_OK;
}

void whfast_slice_free(struct simulation_slice *slice)
{
    if (slice->leaders)
        free(slice->leaders->memory);
    free(slice->leaders);
    slice->leaders = NULL;
}

/* The first and the last row of each rank. */
struct edges {
    double first[3], last[3];
};

static void gather_edges(const struct kith_simulation *simulation, const double *rows,
                         struct edges *edges)
{
    const struct ranks *ranks = simulation->context->ranks;
    const int32_t d = simulation->dimensions;
    for (int32_t c = 0; c < d; c++) {
        edges[ranks->rank].first[c] = rows[c];
        edges[ranks->rank].last[c] = rows[(simulation->count - 1) * d + c];
    }
    ranks_gather(simulation->context, edges, sizeof *edges, ranks->size, 1);
}

static kith_status allocate_edges(const struct kith_simulation *simulation, struct edges **edges)
{
    return ranks_agree(simulation->context, kith_allocate(simulation->context->ranks->size,
                                                          sizeof **edges, "checkpoint", edges));
}

kith_status whfast_slice_save(struct kith_simulation *simulation, int32_t array, double *rows)
{
    const struct ranks *ranks = simulation->context->ranks;
    const int32_t d = simulation->dimensions, next = ranks->rank + 1;
    const int64_t others = (simulation->count - 1) * d;
    struct edges *edges = NULL;
    if (array < WHFAST_POSITION)
        return KITH_OK;
    KITH_TRY(allocate_edges(simulation, &edges));
    gather_edges(simulation, rows, edges);
    if (ranks->rank > 0)
        memmove(rows, rows + d, (size_t)others * sizeof *rows);
    memcpy(rows + others, next < ranks->size ? edges[next].first : edges[0].last,
           (size_t)d * sizeof *rows);
    free(edges);
    return KITH_OK;
}

/* Those that lead, from the rows of rank 0, and what comes after them. */
static void lead(struct kith_simulation *simulation, int32_t array, const double *rows)
{
    const int32_t d = simulation->dimensions;
    const struct whfast_leaders *leaders = simulation->slice->leaders;
    const int64_t numbers = numbers_of_component(leaders), count = simulation->count;
    for (int32_t c = 0; simulation->context->ranks->rank == 0 && c < d; c++)
        for (int64_t i = 0; i < numbers; i++) {
            const bool is_center = array >= WHFAST_POSITION && i == leaders->leading;
            component_of(simulation, array, c)[i] =
                rows[(is_center ? count - 1 : i) * d + c] / simulation->units.length;
        }
    ranks_broadcast(simulation->context, component_of(simulation, array, 0),
                    numbers * d * (int64_t)sizeof *rows);
}

kith_status whfast_slice_restore(struct kith_simulation *simulation, int32_t array, double *rows)
{
    const struct ranks *ranks = simulation->context->ranks;
    const int32_t d = simulation->dimensions;
    const int64_t others = (simulation->count - 1) * d;
    struct edges *edges = NULL;
    KITH_TRY(allocate_edges(simulation, &edges));
    gather_edges(simulation, rows, edges);
    if (array >= WHFAST_POSITION && ranks->rank > 0) {
        memmove(rows + d, rows, (size_t)others * sizeof *rows);
        memcpy(rows, edges[ranks->rank - 1].last, (size_t)d * sizeof *rows);
    } else if (array >= WHFAST_POSITION) {
        memcpy(rows + others, edges[ranks->size - 1].last, (size_t)d * sizeof *rows);
    }
    free(edges);
    lead(simulation, array, rows);
    return KITH_OK;
}
