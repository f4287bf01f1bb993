/* Steps by a Verlet list on a GPU: which kernels, and when the list is made anew. */

#include "forces/verlet_cuda.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/philox.h"
#include "core/reals.h"
#include "device/cuda_state.h"
#include "device/overlap.cuh"
#include "forces/verlet_build_cuda.h"
#include "forces/verlet_place_cuda.cuh"
#include "law/law_reference.h"
#include "sort/sort.h"

#define KERNEL_BODY "forces/verlet_cuda_body.h"
#include "law/for_each_real_cuda.h"

enum { most_particles = INT32_MAX - 1024, most_cells_of_axis = 1 << 20 };

/* Of the cutoff: a skin that kith chooses, and the least for which a list is worth it. */
static const double usual_skin = 0.12, least_skin = 0.02;

/* The forces of a pair are at most this many units; many of them are a sum of 64 bits. */
static const double most_units = 0x1p56;

/* Lists have room for rows longer than the mean by this factor. */
static const double room_of_mean = 1.35;

/* Steps that are started at once when nobody knows how long a list lasts. */
enum { first_batch = 4 };

struct verlet_cuda {
    kith_dtype dtype;
    int64_t count, row_room, bytes;
    double skin;
    char *memory;
    struct verlet_cuda_building building;
    struct verlet_cuda_step step; /* but for what differs from kernel to kernel */
    void *places[2];
    int now; /* which of the places are those of the particles */
    bool has_list;
    int64_t since, lasts; /* kernels since the list was made, and that the last one lasted */
};

bool verlet_cuda_suits(const struct forces_problem *problem, const struct cutoff_law *law)
{
    const struct law_view *view = &law->view;
    const struct pairs_lattice *lattice = problem->space.lattice;
    if (!problem->space.repeats || !problem->self || problem->accumulate || problem->potential ||
        problem->space.totals || problem->target_half_softening2 || problem->target_count == 0 ||
        problem->target_count > most_particles || view->formula || problem->delivery.measured ||
        view->form.weighting == law_sum || !problem->acceleration[0])
        return false;
    for (int k = 0; k < problem->dimensions; k++)
        if (!lattice->periodic[k])
            return false;
    return true;
}

/* The largest force of a pair of weights 1 in the outer half of the cutoff. */
static double scale_of(const struct forces_problem *problem, const struct cutoff_law *law)
{
    enum { points = 16 };
    const double still[3] = {0, 0, 0};
    double largest = 0;
    for (int k = points / 2; k <= points; k++) {
        const double r = problem->space.cutoff * k / points;
        const struct law_reference_pair pair = {{r, 0, 0}, r * r + problem->softening2, 1, 1, 1, 1};
        const double force =
            law_reference_evaluate(&law->view, &pair, still, formula_wants_force).force[0];
        largest = fmax(largest, fabs(force));
    }
    return largest;
}

/* The weights by row; NULL: ones, or none. */
static const void *weights_of(const struct forces_problem *problem, const struct cutoff_law *law)
{
    if (law->view.form.weighting != law_product)
        return NULL;
    return law->view.weight == law_weight_charge ? law->source_charge : problem->source_mass;
}

static kith_status find_largest_weight(kith_context *context, const struct forces_problem *problem,
                                       const void *weights, double *largest)
{
    const int64_t bytes = problem->target_count * kith_dtype_bytes(problem->dtype);
    void *copy = NULL;
    *largest = 1;
    if (!weights)
        return KITH_OK;
    KITH_TRY(kith_allocate(bytes, 1, "weights", &copy));
    const kith_status status = cuda_copy_out(context, copy, weights, bytes);
    *largest = 0;
    for (int64_t i = 0; i < problem->target_count && status == KITH_OK; i++)
        *largest = fmax(*largest, fabs(real_get(problem->dtype, copy, i)));
    free(copy);
    return status;
}

/* The unit of forces: a power of two, far enough below the forces that no digit of a sum is lost
 * that the precision has, and far enough above their range. */
static kith_status choose_unit(kith_context *context, const struct forces_problem *problem,
                               const struct cutoff_law *law, struct verlet_cuda_step *step,
                               bool *found)
{
    const int below = problem->dtype == KITH_F64 ? 40 : 32;
    double weight = 1;
    KITH_TRY(find_largest_weight(context, problem, weights_of(problem, law), &weight));
    const double scale = scale_of(problem, law) * weight * weight;
    *found = isfinite(scale) && scale > 0x1p-60 && scale < 0x1p60;
    if (!*found)
        return KITH_OK;
    step->unit = ldexp(1, ilogb(scale) - below);
    step->units_of_force = 1 / step->unit;
    step->largest_factor = most_units / problem->space.cutoff;
    return KITH_OK;
}

/* A list lasts as long as no particle has moved by half of the skin. False if the cell is so small
 * that a pair may have two images within the search distance. */
static bool choose_skin(const struct forces_problem *problem, struct verlet_cuda *verlet)
{
    const double cutoff = problem->space.cutoff;
    double most = INFINITY;
    for (int k = 0; k < problem->dimensions; k++)
        most = fmin(most, 0.4999 * problem->space.lattice->height[k] - cutoff);
    verlet->skin = fmin(
        problem->space.skin > 0 ? fmin(problem->space.skin, cutoff) : usual_skin * cutoff, most);
    return verlet->skin >= fmin(least_skin, usual_skin) * cutoff ||
           (problem->space.skin > 0 && verlet->skin == problem->space.skin);
}

/* Cells of half the search distance where there are many particles. */
static void choose_cells(const struct forces_problem *problem, double search,
                         struct verlet_cuda_cells *cells)
{
    static const int orders[4][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 1, 2}};
    const double most = 2 * (double)problem->target_count + 64;
    double total = 1;
    for (int k = 0; k < 3; k++) {
        const double fitting = floor(2 * problem->space.lattice->height[k] / search);
        cells->axis[k] = orders[problem->dimensions][k];
        cells->count[k] =
            k >= problem->dimensions ? 1 : (int)fmax(1, fmin((double)most_cells_of_axis, fitting));
        total *= cells->count[k];
    }
    while (total > most) {
        int longest = 0;
        for (int k = 1; k < 3; k++)
            longest = cells->count[k] > cells->count[longest] ? k : longest;
        total = total / cells->count[longest];
        cells->count[longest] = (cells->count[longest] + 1) / 2;
        total *= cells->count[longest];
    }
    cells->total = (int64_t)total;
    for (int k = 0; k < 3; k++) {
        const double share = search / problem->space.lattice->height[k];
        const double reach = k >= problem->dimensions ? 0 : ceil(share * cells->count[k]);
        const double window = fmin(2 * reach + 1, (double)cells->count[k]);
        cells->reach[k] = (int)reach;
        cells->window[k] = (int)window;
    }
}

static void set_geometry(const struct forces_problem *problem, struct verlet_cuda *verlet)
{
    const struct pairs_lattice *lattice = problem->space.lattice;
    const double of_unit = problem->dtype == KITH_F64 ? 0x1p-64 : 0x1p-32;
    struct verlet_cuda_step *step = &verlet->step;
    /* Rounding of places and distances, several times over. */
    const double margin = problem->dtype == KITH_F64 ? 1e-12 : 1e-5;
    const double search = (problem->space.cutoff + verlet->skin) * (1 + margin);
    const double most_moved = 0.5 * verlet->skin * (1 - margin) - margin * problem->space.cutoff;
    step->dimensions = problem->dimensions;
    step->is_orthogonal = true;
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++) {
            step->edge[k][c] = lattice->basis[k][c] * of_unit;
            step->is_orthogonal &= k == c || lattice->basis[k][c] == 0;
        }
    step->lattice = *lattice;
    step->most_moved2 = most_moved > 0 ? most_moved * most_moved : 0;
    verlet->building.lattice = *lattice;
    verlet->building.dimensions = step->dimensions;
    verlet->building.is_orthogonal = step->is_orthogonal;
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++)
            verlet->building.edge[k][c] = step->edge[k][c];
    verlet->building.search2 = search * search;
    choose_cells(problem, search, &verlet->building.cells);
}

static void set_law(const struct forces_problem *problem, const struct cutoff_law *law,
                    struct verlet_cuda_step *step)
{
    step->numbers = law->view.numbers;
    step->weighting = law->view.form.weighting;
    step->is_shifted = problem->space.shift == KITH_SHIFT_FORCE;
    step->slope_at_cutoff = law->slope_at_cutoff;
    step->softening2 = problem->softening2;
    step->limit = problem->dtype == KITH_F64
                      ? pairs_limit_double(problem->space.cutoff)
                      : (double)pairs_limit_float((float)problem->space.cutoff);
    step->mass = law->target_mass;
}

/* About how many partners a particle has. */
static int64_t choose_room(const struct forces_problem *problem, const struct verlet_cuda *verlet)
{
    const double pi = 3.14159265358979323846, search2 = verlet->building.search2;
    const double around =
        problem->dimensions == 2 ? pi * search2 : 4 * pi / 3 * search2 * sqrt(search2);
    const double mean = (double)problem->target_count / problem->space.volume * around;
    const double wanted = fmin(room_of_mean * mean + 16, (double)problem->target_count);
    return ((int64_t)wanted + verlet_cuda_row_unit) / verlet_cuda_row_unit * verlet_cuda_row_unit;
}

/* Parts of one block of memory; the first laying out only measures. */
struct arena {
    char *base;
    int64_t used;
};

template <typename type> static void take(struct arena *arena, int64_t bytes, type **memory)
{
    *memory = arena->base ? (type *)(arena->base + arena->used) : NULL;
    arena->used += (bytes + 255) / 256 * 256;
}

static void lay_out(struct arena *arena, struct verlet_cuda *verlet)
{
    const int64_t n = verlet->count, of_int = sizeof(int);
    const int64_t of_place = verlet->dtype == KITH_F64 ? (int64_t)sizeof(verlet_place_double)
                                                       : (int64_t)sizeof(verlet_place_float);
    struct verlet_cuda_building *building = &verlet->building;
    take(arena, sizeof *building->list.control, &building->list.control);
    take(arena, n * of_place, &verlet->places[0]);
    take(arena, n * of_place, &verlet->places[1]);
    take(arena, n * of_place, &building->list.reference);
    take(arena, n * of_int, &building->list.order);
    take(arena, n * of_int, &building->list.length);
    take(arena, (building->cells.total + 1) * of_int, &building->cells.begin);
    take(arena, n * (int64_t)sizeof(uint64_t), &building->keys);
    take(arena, sort_scratch_bytes_cuda(n), &building->sort_scratch);
    take(arena, n * verlet->row_room * of_int, &building->list.partner);
    building->list.count = n;
    building->list.room = verlet->row_room;
    building->places = verlet->places[0];
    building->places_by_row = verlet->places[1];
    verlet->step.list = building->list;
}

static kith_status make_room(kith_context *context, struct verlet_cuda *verlet)
{
    struct arena arena = {};
    lay_out(&arena, verlet);
    cuda_release(context, verlet->memory);
    verlet->memory = NULL;
    KITH_TRY(cuda_allocate(context, arena.used, 1, "Verlet list", &verlet->memory));
    arena = {verlet->memory, 0};
    lay_out(&arena, verlet);
    return KITH_OK;
}

static kith_status create(kith_context *context, const struct forces_problem *problem,
                          const struct cutoff_law *law, struct verlet_cuda **created, bool *suits)
{
    struct verlet_cuda *verlet = NULL;
    KITH_TRY(kith_allocate(1, sizeof *verlet, "Verlet list", &verlet));
    verlet->dtype = problem->dtype;
    verlet->count = problem->target_count;
    verlet->lasts = first_batch;
    *suits = choose_skin(problem, verlet);
    kith_status status = KITH_OK;
    if (*suits)
        status = choose_unit(context, problem, law, &verlet->step, suits);
    if (status == KITH_OK && *suits) {
        set_geometry(problem, verlet);
        verlet->row_room = choose_room(problem, verlet);
        status = make_room(context, verlet);
    }
    if (status == KITH_OK && *suits)
        *created = verlet;
    else
        verlet_cuda_free(context, verlet);
    return status;
}

/* The list as positions are now. */
static kith_status build(kith_context *context, struct verlet_cuda *verlet)
{
    verlet->now = 0;
    verlet->since = 0;
    verlet->has_list = true;
    return verlet_build_cuda(context, verlet->dtype, &verlet->building);
}

using verlet_kernel = void(const struct verlet_cuda_step);

template <bool noisy> static verlet_kernel *find(enum law_kind kind, kith_dtype dtype)
{
#define ENTRY(kind) verlet_kernel_float<law_##kind, noisy>,
    static verlet_kernel *const in_float[] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
#define ENTRY(kind) verlet_kernel_double<law_##kind, noisy>,
    static verlet_kernel *const in_double[] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
    return (dtype == KITH_F64 ? in_double : in_float)[kind];
}

/* What is to be done by a number of kernels in a row. */
struct work {
    enum law_kind kind;
    const struct cutoff_steps *steps; /* NULL: forces alone, of two kernels */
    int64_t kernels;
};

/* Kernel k of 0 … kernels − 1: the first has no forces before its kick, the last no drift. */
static kith_status launch(kith_context *context, struct verlet_cuda *verlet,
                          const struct work *work, int64_t k, int number)
{
    const int64_t threads = verlet->count * verlet_cuda_lanes;
    const struct cutoff_noise *noise = work->steps ? work->steps->noise : NULL;
    verlet_kernel *const kernel =
        noise ? find<true>(work->kind, verlet->dtype) : find<false>(work->kind, verlet->dtype);
    struct verlet_cuda_step step = verlet->step;
    step.sums = k > 0;
    step.places = k < work->kernels - 1;
    step.from = verlet->places[verlet->now];
    step.to = verlet->places[1 - verlet->now];
    step.number = number;
    if (work->steps) {
        step.kicks = true;
        step.moves = step.places;
        step.kick_before = step.sums ? work->steps->h / 2 : 0;
        step.kick_after = work->steps->h / 2;
        step.drift = work->steps->h;
        if (noise) {
            step.keep = noise->keep;
            step.noise_kick = noise->kick;
            step.noise_key[0] = noise->key[0];
            step.noise_key[1] = noise->key[1];
            step.noise_step = noise->first_step + k;
        }
    }
    if (step.places)
        verlet->now = 1 - verlet->now;
    return launch_overlapped(
        context, "starting the kernel of steps within a cutoff",
        dim3((unsigned)((threads + verlet_cuda_block - 1) / verlet_cuda_block)), verlet_cuda_block,
        kernel, step);
}

static kith_status begin_batch(kith_context *context, struct verlet_cuda *verlet)
{
    struct verlet_cuda_control *control = verlet->building.list.control;
    return cuda_check(cudaMemsetAsync(control, 0x7f, offsetof(struct verlet_cuda_control, longest),
                                      cuda_stream(context)),
                      "starting steps within a cutoff");
}

/* The list for longer rows. */
static kith_status widen(kith_context *context, struct verlet_cuda *verlet, int longest)
{
    verlet->row_room = (longest + longest / 8 + verlet_cuda_row_unit) / verlet_cuda_row_unit *
                       verlet_cuda_row_unit;
    KITH_TRY(make_room(context, verlet));
    return build(context, verlet);
}

static int64_t choose_batch(const struct verlet_cuda *verlet, int64_t left)
{
    const int64_t expected = verlet->lasts - verlet->since;
    const int64_t more = verlet->since / 4 > 2 ? verlet->since / 4 : 2;
    const int64_t batch = expected > 0 ? expected : more;
    return batch < left ? batch : left;
}

static kith_status do_work(kith_context *context, struct verlet_cuda *verlet,
                           const struct work *work)
{
    if (!verlet->has_list)
        KITH_TRY(build(context, verlet));
    int64_t k = 0;
    while (k < work->kernels) {
        const int64_t batch = choose_batch(verlet, work->kernels - k);
        struct verlet_cuda_control control;
        KITH_TRY(begin_batch(context, verlet));
        for (int64_t b = 0; b < batch; b++)
            KITH_TRY(launch(context, verlet, work, k + b, (int)b));
        KITH_TRY(cuda_copy_out(context, &control, verlet->building.list.control, sizeof control));
        if (control.longest > verlet->row_room) {
            KITH_TRY(widen(context, verlet, control.longest));
            continue;
        }
        if (control.failed_in < batch)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "a position is not finite, or the force of a pair is more than %g, "
                             "which runs within a cutoff on a GPU do not support; use a smaller "
                             "dt, or the CPU",
                             most_units * verlet->step.unit);
        const bool moved = control.moved_in < batch;
        const int64_t ran = moved ? control.moved_in + 1 : batch;
        k += ran;
        verlet->since += ran;
        if (moved) {
            verlet->lasts = verlet->since;
            KITH_TRY(build(context, verlet));
        }
    }
    return KITH_OK;
}

static kith_status prepare(kith_context *context, const struct forces_problem *problem,
                           const struct cutoff_law *law, struct verlet_cuda **verlet, bool *suits)
{
    *suits = true;
    if (*verlet &&
        ((*verlet)->count != problem->target_count || (*verlet)->dtype != problem->dtype)) {
        verlet_cuda_free(context, *verlet);
        *verlet = NULL;
    }
    if (!*verlet)
        KITH_TRY(create(context, problem, law, verlet, suits));
    if (!*suits)
        return KITH_OK;
    set_law(problem, law, &(*verlet)->step);
    (*verlet)->building.weight = weights_of(problem, law);
    return KITH_OK;
}

static void set_columns(struct verlet_cuda *verlet, const struct forces_problem *problem,
                        const struct cutoff_steps *steps)
{
    for (int c = 0; c < problem->dimensions; c++) {
        verlet->step.position[c] = steps ? steps->position[c] : (void *)problem->target_position[c];
        verlet->step.velocity[c] = steps ? steps->velocity[c] : NULL;
        verlet->step.acceleration[c] = steps ? steps->acceleration[c] : problem->acceleration[c];
        verlet->building.position[c] = verlet->step.position[c];
    }
}

kith_status verlet_forces_cuda(kith_context *context, const struct forces_problem *problem,
                               const struct cutoff_law *law, struct verlet_cuda **verlet,
                               bool *done)
{
    KITH_TRY(prepare(context, problem, law, verlet, done));
    if (!*done)
        return KITH_OK;
    const struct work work = {law->view.form.kind, NULL, 2};
    set_columns(*verlet, problem, NULL);
    return do_work(context, *verlet, &work);
}

kith_status verlet_steps_cuda(kith_context *context, const struct forces_problem *problem,
                              const struct cutoff_law *law, const struct cutoff_steps *steps,
                              struct verlet_cuda **verlet, bool *done)
{
    KITH_TRY(prepare(context, problem, law, verlet, done));
    if (!*done || steps->count == 0)
        return KITH_OK;
    const struct work work = {law->view.form.kind, steps, steps->count + 1};
    set_columns(*verlet, problem, steps);
    return do_work(context, *verlet, &work);
}

void verlet_cuda_free(kith_context *context, struct verlet_cuda *verlet)
{
    if (verlet)
        cuda_release(context, verlet->memory);
    free(verlet);
}
