/* Test particles cost only their share of targets: massive.h. */

#include "simulation/massive.h"

#include <stdlib.h>
#include <string.h>

#include "ranks/partition.h"
#include "ranks/ranks.h"
#include "simulation/backend.h"
#include "simulation/integrator.h"
#include "simulation/recording.h"
#include "simulation/slice.h"

/* Fewer bodies cost next to nothing, and have the bits that they have in an ensemble; on a GPU they
 * do whole steps in a launch. */
enum { column_count = 17, least_bodies = 65, least_bodies_on_gpu = 8193 };

enum { tag_of_massive = 14 };

kith_status massive_pick_cpu(kith_context *context, kith_dtype dtype, int64_t count,
                             const int64_t *body, const void *from, void *to)
{
    (void)context;
    for (int64_t k = 0; k < count; k++)
        if (dtype == KITH_F64)
            ((double *)to)[k] = ((const double *)from)[body[k]];
        else
            ((float *)to)[k] = ((const float *)from)[body[k]];
    return KITH_OK;
}

kith_status massive_place_cpu(kith_context *context, int64_t all, int64_t count,
                              const int64_t *body, const double *from, double *to)
{
    (void)context;
    memset(to, 0, (size_t)all * sizeof *to);
    for (int64_t k = 0; k < count; k++)
        to[body[k]] = from[k];
    return KITH_OK;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Rows of the columns that a rank has. */
static int64_t rows_begin(const struct kith_simulation *simulation, int32_t rank)
{
    const int32_t size = simulation->slice ? simulation->context->ranks->size : 1;
    return ranks_first(simulation->massive->count, size, rank);
}

/* A column of a slice, from the ranks that have the bodies to those that have the rows, or back. */
static void deal(const struct kith_simulation *simulation, int64_t each, char *bodies, char *rows,
                 bool is_back)
{
    const struct ranks *ranks = simulation->context->ranks;
    const int64_t *first = simulation->massive->first;
    const int32_t own = ranks->rank;
    const int64_t row = rows_begin(simulation, own), end = rows_begin(simulation, own + 1);
    for (int32_t k = 0; k < ranks->size; k++) {
        const int64_t go = larger(first[own], rows_begin(simulation, k));
        const int64_t gone = smaller(first[own + 1], rows_begin(simulation, k + 1));
        const int64_t come = larger(first[k], row), last = smaller(first[k + 1], end);
        char *mine = go < gone ? bodies + (go - first[own]) * each : bodies;
        char *theirs = come < last ? rows + (come - row) * each : rows;
        const int64_t bytes_of_mine = (gone - go) * each, bytes_of_theirs = (last - come) * each;
        if (k == own && go < gone)
            memcpy(is_back ? mine : theirs, is_back ? theirs : mine, (size_t)bytes_of_mine);
        if (k == own)
            continue;
        ranks_post(ranks, k, tag_of_massive, NULL, is_back ? mine : theirs,
                   is_back ? bytes_of_mine : bytes_of_theirs);
        ranks_post(ranks, k, tag_of_massive, is_back ? theirs : mine, NULL,
                   is_back ? bytes_of_theirs : bytes_of_mine);
    }
    ranks->library->wait(ranks->state, 0);
}

static kith_status pick(const struct kith_simulation *simulation, kith_dtype dtype,
                        const void *from, void *to)
{
    const struct massive *massive = simulation->massive;
    void *picked = simulation->slice ? massive->picked : to;
    KITH_TRY(simulation_backend_of(simulation->context)
                 ->pick(simulation->context, dtype, massive->own, massive->body, from, picked));
    if (simulation->slice)
        deal(simulation, kith_dtype_bytes(dtype), picked, to, false);
    return KITH_OK;
}

/* The bodies with mass, on the host, which the caller frees. */
static kith_status list(struct kith_simulation *simulation, int64_t **body, int64_t *count)
{
    const struct device_services *services = simulation->context->services;
    const int64_t each = kith_dtype_bytes(simulation->dtype);
    const char zero[sizeof(double)] = {0};
    char *mass = NULL;
    *count = 0;
    KITH_TRY(kith_allocate(simulation->count, each, "bodies with mass", &mass));
    kith_status status =
        services->copy_out(simulation->context, mass, simulation->mass, simulation->count * each);
    if (status == KITH_OK)
        status = kith_allocate(simulation->count, sizeof **body, "bodies with mass", body);
    for (int64_t i = 0; status == KITH_OK && i < simulation->count; i++)
        if (memcmp(mass + i * each, zero, (size_t)each) != 0)
            (*body)[(*count)++] = i;
    free(mass);
    return status;
}

/* Memory of the columns, which without rows is not NULL either, and the list of the bodies. */
static kith_status make(struct kith_simulation *simulation, const int64_t *body)
{
    const struct device_services *services = simulation->context->services;
    struct massive *massive = simulation->massive;
    const int32_t rank = simulation->slice ? simulation->context->ranks->rank : 0;
    const int64_t rows = rows_begin(simulation, rank + 1) - rows_begin(simulation, rank);
    const int64_t bytes = (int64_t)sizeof(double) * kith_padded(rows > 0 ? rows : 1);
    KITH_TRY(services->allocate(simulation->context, massive->own, sizeof *body, "bodies with mass",
                                &massive->body));
    KITH_TRY(services->allocate(simulation->context, column_count, bytes, "bodies with mass",
                                &massive->memory));
    if (simulation->slice)
        KITH_TRY(kith_allocate(massive->own > 0 ? massive->own : 1, sizeof(double),
                               "bodies with mass", &massive->picked));
    char *column = massive->memory;
    for (int32_t c = 0; c < 3; c++) {
        massive->position[c] = column + c * bytes;
        massive->velocity[c] = column + (3 + c) * bytes;
        massive->sampled.position[c] = column + (8 + c) * bytes;
        massive->sampled.acceleration[c] = column + (11 + c) * bytes;
    }
    massive->mass = column + 6 * bytes;
    massive->half_softening2 = column + 7 * bytes;
    massive->sampled.mass = column + 14 * bytes;
    massive->sampled.half_softening2 = column + 15 * bytes;
    massive->sampled.potential = column + 16 * bytes;
    return services->copy_in(simulation->context, massive->body, body,
                             massive->own * (int64_t)sizeof *body);
}

/* Of a slice collective: how many there are, on all ranks. */
static kith_status count_all(struct kith_simulation *simulation, kith_status status, int64_t own)
{
    const struct ranks *ranks = simulation->context->ranks;
    struct massive *massive = NULL;
    if (status == KITH_OK)
        status = kith_allocate(1, sizeof *massive, "bodies with mass", &massive);
    simulation->massive = massive;
    if (status == KITH_OK)
        massive->own = massive->count = own;
    if (!simulation->slice)
        return status;
    if (status == KITH_OK)
        status = kith_allocate(ranks->size + 1, sizeof *massive->first, "bodies with mass",
                               &massive->first);
    const kith_status agreed = ranks_agree(simulation->context, status);
    if (status != KITH_OK || agreed != KITH_OK)
        return agreed;
    massive->first[ranks->rank + 1] = own;
    ranks_gather(simulation->context, massive->first + 1, sizeof own, ranks->size, 1);
    for (int32_t k = 0; k < ranks->size; k++)
        massive->first[k + 1] += massive->first[k];
    massive->count = massive->first[ranks->size];
    return KITH_OK;
}

static bool suits(const struct kith_simulation *simulation)
{
    const bool on_gpu = simulation->context->device.kind != KITH_CPU;
    return !simulation->is_ensemble && !simulation->law.law && simulation->is_fused &&
           simulation->space.cutoff <= 0 && !(on_gpu && simulation->method->has_blocks) &&
           simulation_bodies(simulation) >= (on_gpu ? least_bodies_on_gpu : least_bodies);
}

kith_status massive_choose(struct kith_simulation *simulation)
{
    massive_free(simulation);
    if (!suits(simulation))
        return KITH_OK;
    int64_t *body = NULL, own = 0;
    kith_status status = list(simulation, &body, &own);
    status = count_all(simulation, status, own);
    const int64_t count = status == KITH_OK && simulation->massive ? simulation->massive->count : 0;
    const bool are_few = count > 0 && 2 * count <= simulation_bodies(simulation);
    if (are_few)
        status = slice_agree(simulation, make(simulation, body));
    if (are_few && status == KITH_OK)
        status = pick(simulation, simulation->dtype, simulation->mass, simulation->massive->mass);
    if (are_few && status == KITH_OK && simulation->half_softening2)
        status = pick(simulation, simulation->dtype, simulation->half_softening2,
                      simulation->massive->half_softening2);
    if (!are_few || status != KITH_OK)
        massive_free(simulation);
    free(body);
    return status;
}

/* A recorded step has the addresses of the columns. */
void massive_free(struct kith_simulation *simulation)
{
    const struct device_services *services = simulation->context->services;
    struct massive *massive = simulation->massive;
    if (!massive)
        return;
    simulation_forget_recording(simulation);
    services->release(simulation->context, massive->body);
    services->release(simulation->context, massive->memory);
    free(massive->picked);
    free(massive->first);
    free(massive);
    simulation->massive = NULL;
}

kith_status massive_take(const struct kith_simulation *simulation, struct forces_problem *problem)
{
    const struct massive *massive = simulation->massive;
    if (!massive)
        return KITH_OK;
    KITH_TRY(slice_agree(simulation, KITH_OK)); /* a rank may have failed before */
    for (int32_t c = 0; c < problem->dimensions; c++) {
        KITH_TRY(
            pick(simulation, problem->dtype, problem->source_position[c], massive->position[c]));
        problem->source_position[c] = massive->position[c];
        if (!problem->source_velocity[c])
            continue;
        KITH_TRY(
            pick(simulation, problem->dtype, problem->source_velocity[c], massive->velocity[c]));
        problem->source_velocity[c] = massive->velocity[c];
    }
    problem->self = false;
    problem->source_count = massive->count;
    problem->source_mass = massive->mass;
    if (problem->source_half_softening2)
        problem->source_half_softening2 = massive->half_softening2;
    return KITH_OK;
}

kith_status massive_begin_sample(const struct kith_simulation *simulation,
                                 const struct forces_problem *all, struct forces_problem *among)
{
    const struct massive_sampled *sampled = &simulation->massive->sampled;
    *among = *all;
    KITH_TRY(slice_agree(simulation, KITH_OK));
    for (int32_t c = 0; c < all->dimensions; c++) {
        KITH_TRY(pick(simulation, KITH_F64, all->source_position[c], sampled->position[c]));
        among->source_position[c] = among->target_position[c] = sampled->position[c];
        among->acceleration[c] = sampled->acceleration[c];
    }
    KITH_TRY(pick(simulation, KITH_F64, all->source_mass, sampled->mass));
    among->source_mass = sampled->mass;
    among->potential = sampled->potential;
    among->source_count = among->target_count = simulation->massive->count;
    if (!all->source_half_softening2)
        return KITH_OK;
    KITH_TRY(pick(simulation, KITH_F64, all->source_half_softening2, sampled->half_softening2));
    among->source_half_softening2 = among->target_half_softening2 = sampled->half_softening2;
    return KITH_OK;
}

static kith_status place(const struct kith_simulation *simulation, void *from, double *to)
{
    const struct massive *massive = simulation->massive;
    if (simulation->slice)
        deal(simulation, (int64_t)sizeof(double), massive->picked, from, true);
    return simulation_backend_of(simulation->context)
        ->place(simulation->context, simulation->count, massive->own, massive->body,
                simulation->slice ? massive->picked : from, to);
}

kith_status massive_end_sample(const struct kith_simulation *simulation,
                               const struct forces_problem *among, const struct forces_problem *all)
{
    for (int32_t c = 0; c < all->dimensions; c++)
        KITH_TRY(place(simulation, among->acceleration[c], all->acceleration[c]));
    return place(simulation, among->potential, all->potential);
}
