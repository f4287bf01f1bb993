/* Particle–mesh Ewald on a GPU: the setting, memory, and the order of the kernels. */

#include "mesh/pme_cuda.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cells/lattice.h"
#include "core/arena.h"
#include "core/memory.h"
#include "device/context.h"
#include "device/cuda_state.h"
#include "mesh/cufft.h"
#include "sort/sort.h"

/* Eight times as many, at all neighbors of one block, are fewer than 2^32. */
enum { most_particles = (1 << 29) - 64 };

/* Of an H200: the times of its kernels for 10^5 and 10^6 ions. */
static const struct pme_costs in_float = {0.5e-11, 1.4e-11, 2e-11},
                              in_double = {1e-11, 2.7e-11, 5e-11};

/* What is kept from call to call. */
struct kept {
    void *memory;
    int64_t bytes;
    struct cufft cufft;
    /* On which the mesh is computed, from one event to the other; NULL until it is needed. */
    cudaStream_t stream;
    cudaEvent_t event[2];
    /* What the influence function was made for, in this memory; alpha 0: none. */
    struct pme_cuda_problem influence_of;
    double *flat; /* on the host: of all axes */
    struct split split;
    double split_alpha, split_error; /* that it was made for; 0: none */
};

/* Reals of the mesh, in rows that hold their waves. */
static int64_t mesh_reals(const struct pme_cuda_problem *problem)
{
    return (int64_t)problem->grid[0] * problem->grid[1] * 2 * (problem->grid[2] / 2 + 1);
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void lay_out_mesh(struct arena *arena, struct pme_cuda_problem *problem)
{
    const int64_t real = kith_dtype_bytes(problem->mesh_dtype), n = problem->count;
    problem->tables = arena_take(arena, 2 * splines_most_order * splines_most_order, real);
    for (int c = 0; c < 3; c++)
        problem->flat[c] = arena_take(arena, problem->grid[c], sizeof(double));
    problem->mesh = arena_take(arena, mesh_reals(problem), real);
    problem->influence = arena_take(arena, mesh_reals(problem) / 2, real);
    problem->begin[1] = arena_take(arena, pme_cuda_block_count(problem) + 1, sizeof(int32_t));
    problem->first = arena_take(arena, n, sizeof(int32_t));
    for (int c = 0; c < 3; c++)
        problem->offset[c] = arena_take(arena, n, real);
    problem->value = arena_take(arena, 3 * splines_most_order * n, real);
    problem->of_mesh = arena_take(arena, n, sizeof *problem->of_mesh);
    problem->parts_of_mesh = arena_take(arena, 7 * pme_cuda_parts, sizeof(double));
}

/* What the mesh keeps comes first, and does not move. */
static void lay_out(struct arena *arena, struct pme_cuda_problem *problem)
{
    const int64_t n = problem->count;
    lay_out_mesh(arena, problem);
    problem->is_bad = arena_take(arena, 1, sizeof(int));
    problem->totals = arena_take(arena, pme_cuda_totals, sizeof(double));
    problem->parts = arena_take(arena, most(9 * pme_cuda_parts, 6 * (n / 32 + 1)), sizeof(double));
    for (int k = 0; k < 2; k++) {
        problem->keys[k] = arena_take(arena, n, sizeof(uint64_t));
        problem->order_of[k] = arena_take(arena, n, sizeof(uint32_t));
    }
    problem->sort_scratch = arena_take(arena, sort_scratch_bytes_cuda(n), 1);
    problem->begin[0] = arena_take(arena, problem->cells.total + 1, sizeof(int32_t));
    problem->places = arena_take(arena, n, sizeof(struct pme_cuda_place));
    problem->sums = arena_take(arena, n, sizeof *problem->sums);
}

static kith_status make_room(kith_context *context, struct pme_cuda_problem *problem,
                             struct kept *kept)
{
    struct arena arena = {0};
    lay_out(&arena, problem);
    if (arena.used > kept->bytes) {
        cuda_release(context, kept->memory);
        kept->memory = NULL;
        kept->bytes = 0;
        kept->influence_of.alpha = 0;
        KITH_TRY(cuda_allocate(context, arena.used, 1, "particle-mesh Ewald", &kept->memory));
        kept->bytes = arena.used;
    }
    arena = (struct arena){kept->memory, 0};
    lay_out(&arena, problem);
    return KITH_OK;
}

/* Cells of the search: across a row a whole part of the cutoff, little wider than 32 particles,
 * which a block has; shorter along it, so that those of a block are little longer. No more than
 * twice as many as particles. */
static void choose_cells(struct pme_cuda_problem *problem)
{
    static const double widening = 1.2, shortening = 8;
    const double *height = problem->lattice.height, n = (double)problem->count;
    double edges = 0;
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++)
            edges += fabs(problem->lattice.basis[k][c]);
    const double search = problem->cutoff * (1 + 0x1p-20) + 0x1p-46 * edges;
    const double side = search / ceil(search / (widening * cbrt(32 * problem->volume / n)));
    struct pme_cuda_cells *cells = &problem->cells;
    cells->total = 1;
    for (int k = 0; k < 3; k++) {
        const double each = k < 2 ? side : side / shortening;
        cells->count[k] = (int32_t)fmax(1, fmin(floor(height[k] / each), 32 * (cbrt(n) + 1)));
        cells->total *= cells->count[k];
    }
    problem->step = exp2(ceil(log2(4 * (edges / problem->cutoff + 2))) - 24);
    problem->per_step = 1 / problem->step;
    while (cells->total > 2 * problem->count + 128) { /* of a dilute or a long cell */
        cells->total = 1;
        for (int k = 0; k < 3; k++) {
            cells->count[k] = (cells->count[k] + 1) / 2;
            cells->total *= cells->count[k];
        }
    }
    for (int k = 0; k < 3; k++)
        cells->reach[k] = (int32_t)ceil(search * cells->count[k] / height[k]);
}

/* U²/(Σ_m U²)²: of a wave and its aliases, for all axes. */
static kith_status make_flat(const struct pme_cuda_problem *problem, struct kept *kept)
{
    const double pi = 3.14159265358979323846;
    int64_t at = 0;
    free(kept->flat);
    kept->flat = NULL;
    KITH_TRY(kith_allocate((int64_t)problem->grid[0] + problem->grid[1] + problem->grid[2],
                           sizeof(double), "particle-mesh Ewald", &kept->flat));
    for (int c = 0; c < 3; c++)
        for (int32_t n = 0; n < problem->grid[c]; n++) {
            const int32_t count = problem->grid[c], number = 2 * n > count ? n - count : n;
            const double x = (double)number / count;
            double sum = 1;
            for (int m = -4; m <= 4; m++)
                sum += m == 0 ? 0 : pow(fabs(x / (x + m)), 2 * problem->order);
            const double sinc = n == 0 ? 1 : sin(pi * x) / (pi * x);
            kept->flat[at++] = 1 / (pow(sinc * sinc, problem->order) * sum * sum);
        }
    return KITH_OK;
}

static kith_status copy_tables(kith_context *context, const struct pme_cuda_problem *problem)
{
    enum { half = splines_most_order * splines_most_order };
    struct splines splines;
    double exact[2 * half];
    float rounded[2 * half];
    splines_make(problem->order, &splines);
    for (int k = 0; k < half; k++) {
        const int m = k / splines_most_order, point = k % splines_most_order;
        exact[k] = splines.value[m][point];
        exact[half + k] = splines.slope[m][point];
    }
    for (int k = 0; k < 2 * half; k++)
        rounded[k] = (float)exact[k];
    const bool is_double = problem->mesh_dtype == KITH_F64;
    return cuda_copy_in(context, problem->tables,
                        is_double ? (const void *)exact : (const void *)rounded,
                        is_double ? sizeof exact : sizeof rounded);
}

static bool has_same_influence(const struct pme_cuda_problem *a, const struct pme_cuda_problem *b)
{
    return a->alpha == b->alpha && a->order == b->order && a->mesh_dtype == b->mesh_dtype &&
           memcmp(a->grid, b->grid, sizeof a->grid) == 0 &&
           memcmp(a->lattice.basis, b->lattice.basis, sizeof a->lattice.basis) == 0;
}

/* Kernels of the mesh are small and many, those of pairs few and large: first those of the mesh. */
static kith_status make_stream(struct kept *kept)
{
    int least = 0, most_urgent = 0;
    if (kept->stream)
        return KITH_OK;
    KITH_TRY(cuda_check(cudaDeviceGetStreamPriorityRange(&least, &most_urgent), "making a stream"));
    for (int k = 0; k < 2; k++)
        if (!kept->event[k])
            KITH_TRY(cuda_check(cudaEventCreateWithFlags(&kept->event[k], cudaEventDisableTiming),
                                "making an event"));
    return cuda_check(
        cudaStreamCreateWithPriority(&kept->stream, cudaStreamNonBlocking, most_urgent),
        "making a stream");
}

static void free_stream(struct kept *kept)
{
    for (int k = 0; k < 2; k++)
        if (kept->event[k])
            cudaEventDestroy(kept->event[k]);
    if (kept->stream)
        cudaStreamDestroy(kept->stream);
}

static kith_status prepare_mesh(kith_context *context, const struct pme_cuda_problem *problem,
                                struct kept *kept)
{
    KITH_TRY(cufft_make(kept->stream, problem->mesh_dtype, problem->grid, &kept->cufft));
    if (kept->influence_of.alpha > 0)
        return KITH_OK;
    KITH_TRY(make_flat(problem, kept));
    int64_t at = 0;
    for (int c = 0; c < 3; c++) {
        KITH_TRY(cuda_copy_in(context, problem->flat[c], kept->flat + at,
                              problem->grid[c] * (int64_t)sizeof(double)));
        at += problem->grid[c];
    }
    KITH_TRY(copy_tables(context, problem));
    KITH_TRY(pme_cuda_fill_influence(context, problem));
    kept->influence_of = *problem;
    return KITH_OK;
}

static kith_status copy_column(kith_context *context, const struct periodic_particles *particles,
                               const void *from, const void **to)
{
    const int64_t bytes = kith_dtype_bytes(particles->dtype) * particles->count;
    void *copy = NULL;
    if (!from)
        return KITH_OK;
    KITH_TRY(kith_allocate(bytes, 1, "particles", &copy));
    *to = copy;
    return context->services->copy_out(context, copy, from, bytes);
}

/* Numbers that are not finite, which the call's results will be too. */
static void clean(kith_dtype dtype, int64_t count, const void *column)
{
    for (int64_t i = 0; column && i < count; i++)
        if (!isfinite(periodic_at(dtype, column, i))) {
            if (dtype == KITH_F64)
                ((double *)column)[i] = 0;
            else
                ((float *)column)[i] = 0;
        }
}

/* By what the host measures of the particles. */
static kith_status choose_on_host(kith_context *context, const kith_cell *cell,
                                  const struct periodic_particles *particles,
                                  const struct periodic_request *request,
                                  const struct pme_delivery *delivery, struct periodic_state *state)
{
    struct periodic_particles copies = {.count = particles->count, .dtype = particles->dtype};
    kith_status status = copy_column(context, particles, particles->weight, &copies.weight);
    for (int c = 0; c < 3 && status == KITH_OK; c++)
        status = copy_column(context, particles, particles->position[c], &copies.position[c]);
    if (status == KITH_OK && delivery->bad) {
        clean(copies.dtype, copies.count, copies.weight);
        for (int c = 0; c < 3; c++)
            clean(copies.dtype, copies.count, copies.position[c]);
    }
    if (status == KITH_OK)
        status = periodic_load(context, cell, pme_slab_error(request), &copies, state);
    if (status == KITH_OK)
        status = pme_find_setting(context, request, pme_is_coarse(request) ? &in_float : &in_double,
                                  state);
    free((void *)copies.weight);
    for (int c = 0; c < 3; c++)
        free((void *)copies.position[c]);
    return status;
}

static kith_status choose(kith_context *context, const kith_cell *cell,
                          const struct periodic_particles *particles,
                          const struct periodic_request *request,
                          const struct pme_delivery *delivery, struct periodic_state *state)
{
    struct periodic_setting *setting = &state->setting;
    if (state->keeps && state->is_chosen)
        return KITH_OK;
    if (request->wants_estimate || !pme_is_given(request) || !cell->periodic[2])
        return choose_on_host(context, cell, particles, request, delivery, state);
    KITH_TRY(periodic_take_cell(cell, particles->count, &state->system));
    *setting = (struct periodic_setting){
        .cutoff = request->cutoff, .alpha = request->alpha, .order = request->order};
    memcpy(setting->grid, request->grid, sizeof setting->grid);
    return pme_check_grid(request, request->order);
}

static struct pme_cuda_boundary boundary_of(const struct periodic_request *request,
                                            const struct periodic_system *system)
{
    const double pi = 3.14159265358979323846, volume = system->volume;
    struct pme_cuda_boundary boundary = {.is_slab = system->is_slab};
    if (system->is_slab) {
        const double height = volume / system->area;
        boundary.factor = 4 * pi / volume;
        boundary.constant = height * height / 12;
        memcpy(boundary.normal, system->normal, sizeof boundary.normal);
    } else if (request->is_vacuum) {
        boundary.factor = 4 * pi / (3 * volume);
    }
    if (request->part == periodic_near)
        boundary.factor = 0;
    return boundary;
}

static void pose(const struct periodic_particles *particles, const struct periodic_request *request,
                 const struct pme_delivery *delivery, const struct periodic_state *state,
                 struct pme_cuda_problem *problem)
{
    static const double most_reach = 6.5; /* where erfc is less than 1e-19 */
    const struct periodic_setting *setting = &state->setting;
    const bool is_coarse = pme_is_coarse(request);
    *problem =
        (struct pme_cuda_problem){.count = particles->count,
                                  .dtype = particles->dtype,
                                  .pair_dtype = is_coarse ? KITH_F32 : particles->dtype,
                                  .mesh_dtype = is_coarse ? KITH_F32 : KITH_F64,
                                  .weight = particles->weight,
                                  .lattice = state->system.lattice,
                                  .volume = state->system.volume,
                                  .alpha = setting->alpha,
                                  .cutoff = fmin(setting->cutoff, most_reach / setting->alpha),
                                  .has_near = request->part != periodic_far,
                                  .has_far = request->part != periodic_near,
                                  .order = setting->order,
                                  .boundary = boundary_of(request, &state->system),
                                  .delivery = *delivery};
    memcpy(problem->position, particles->position, sizeof problem->position);
    memcpy(problem->grid, setting->grid, sizeof problem->grid);
    problem->per_cutoff = 1 / problem->cutoff;
    choose_cells(problem);
}

/* The polynomials of a pair, which take a host 0.7 ms. */
static void take_split(double error, struct pme_cuda_problem *problem, struct kept *kept)
{
    const double alpha = problem->alpha * problem->cutoff;
    if (alpha != kept->split_alpha || error != kept->split_error)
        split_make(alpha, error, &kept->split);
    kept->split_alpha = alpha;
    kept->split_error = error;
    problem->split = kept->split;
    problem->near = fmin(1, 1e-8 / error); /* as in short_cpu.c */
}

static kith_status run_mesh(const struct pme_cuda_problem *problem, struct kept *kept)
{
    KITH_TRY(pme_cuda_fill_splines(problem));
    KITH_TRY(pme_cuda_spread(problem));
    KITH_TRY(cufft_run(&kept->cufft, false, problem->mesh));
    KITH_TRY(pme_cuda_multiply(problem));
    KITH_TRY(cufft_run(&kept->cufft, true, problem->mesh));
    return pme_cuda_gather(problem);
}

/* The stream waits for all that is on the other. */
static kith_status follow(cudaStream_t stream, cudaStream_t other, cudaEvent_t event)
{
    KITH_TRY(cuda_check(cudaEventRecord(event, other), "starting the mesh"));
    return cuda_check(cudaStreamWaitEvent(stream, event, 0), "starting the mesh");
}

static kith_status run(kith_context *context, const struct pme_cuda_problem *problem,
                       struct kept *kept)
{
    kith_status status = KITH_OK;
    KITH_TRY(pme_cuda_arrange(context, problem));
    if (problem->has_far) {
        KITH_TRY(follow(kept->stream, cuda_stream(context), kept->event[0]));
        status = run_mesh(problem, kept);
    }
    if (status == KITH_OK)
        status = pme_cuda_arrange_near(context, problem);
    if (status == KITH_OK && problem->has_near)
        status = pme_cuda_sum_near(context, problem);
    if (problem->has_far) /* whatever fails, the memory is the context's again */
        KITH_TRY(follow(cuda_stream(context), kept->stream, kept->event[1]));
    KITH_TRY(status);
    KITH_TRY(pme_cuda_finish(context, problem));
    return pme_cuda_deliver(context, problem);
}

static void add_virial_of_boundary(const struct pme_cuda_problem *problem, const double *totals,
                                   double virial[3][3])
{
    const struct pme_cuda_boundary *boundary = &problem->boundary;
    const struct pme_cuda_dipole of_all = pme_cuda_dipole(boundary, totals + pme_cuda_moments);
    const double total = totals[pme_cuda_weights], *dipole = of_all.dipole, *n = boundary->normal;
    double square = -total * of_all.trace - total * total * boundary->constant;
    for (int c = 0; c < 3; c++)
        square += dipole[c] * dipole[c];
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            const double bent = boundary->is_slab
                                    ? square * n[a] * n[b]
                                    : dipole[a] * dipole[b] - total * of_all.moment[a][b];
            virial[a][b] += boundary->factor * ((a == b ? square / 2 : 0) - bent);
        }
}

static void take_totals(const struct pme_cuda_problem *problem, const double *totals,
                        struct periodic_state *state)
{
    static const int row[6] = {0, 1, 2, 1, 0, 0}, column[6] = {0, 1, 2, 2, 2, 1};
    const double background = -3.14159265358979323846 * totals[pme_cuda_weights] /
                              (problem->volume * problem->alpha * problem->alpha);
    memset(state->virial, 0, sizeof state->virial);
    state->energy = totals[pme_cuda_energy];
    state->force_rms = sqrt(totals[pme_cuda_forces] / (double)problem->count);
    for (int k = 0; k < 6; k++) {
        double sum = problem->has_near ? totals[pme_cuda_pairs + k] : 0;
        if (problem->delivery.excluded_begin)
            sum += totals[pme_cuda_excluded + k];
        if (problem->has_far) {
            sum -= totals[pme_cuda_waves + 1 + k];
            if (k < 3)
                sum += totals[pme_cuda_waves] + 0.5 * background * totals[pme_cuda_weights];
        }
        state->virial[row[k]][column[k]] = state->virial[column[k]][row[k]] = sum;
    }
    if (problem->boundary.factor > 0)
        add_virial_of_boundary(problem, totals, state->virial);
}

static kith_status evaluate(kith_context *context, const kith_cell *cell,
                            const struct periodic_particles *particles,
                            const struct periodic_request *request,
                            const struct pme_delivery *delivery, struct periodic_state *state,
                            void **memory)
{
    struct pme_cuda_problem problem;
    double totals[pme_cuda_totals];
    if (particles->count > most_particles)
        return kith_fail(KITH_UNSUPPORTED, "there are %lld particles; give at most %d",
                         (long long)particles->count, (int)most_particles);
    if (!*memory)
        KITH_TRY(kith_allocate(1, sizeof(struct kept), "particle-mesh Ewald", memory));
    struct kept *kept = *memory;
    memset(state->virial, 0, sizeof state->virial);
    state->energy = state->force_rms = 0;
    if (particles->count == 0) {
        state->setting = (struct periodic_setting){.cutoff = 1, .alpha = 1, .order = 4};
        KITH_TRY(periodic_take_cell(cell, 0, &state->system));
        state->system.is_slab = !cell->periodic[2];
        return KITH_OK;
    }
    KITH_TRY(choose(context, cell, particles, request, delivery, state));
    pose(particles, request, delivery, state, &problem);
    take_split(pme_pair_error(request, problem.pair_dtype), &problem, kept);
    KITH_TRY(pairs_check_images(&problem.lattice, problem.cutoff, 1));
    if (!has_same_influence(&problem, &kept->influence_of))
        kept->influence_of.alpha = 0; /* its memory is rebuilt */
    KITH_TRY(make_room(context, &problem, kept));
    if (problem.has_far) {
        KITH_TRY(make_stream(kept));
        problem.stream = kept->stream;
        KITH_TRY(prepare_mesh(context, &problem, kept));
    }
    KITH_TRY(run(context, &problem, kept));
    if (!delivery->wants_totals)
        return KITH_OK;
    KITH_TRY(context->services->copy_out(context, totals, problem.totals, sizeof totals));
    take_totals(&problem, totals, state);
    return KITH_OK;
}

static void forget(kith_context *context, void *memory)
{
    struct kept *kept = memory;
    if (!kept)
        return;
    cuda_release(context, kept->memory);
    cufft_free(&kept->cufft);
    free_stream(kept);
    free(kept->flat);
    free(kept);
}

const struct pme_backend pme_cuda = {cufft_is_there, evaluate, forget};
