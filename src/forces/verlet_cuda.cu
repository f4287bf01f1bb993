/* Steps by a Verlet list on a GPU: which kernels, and when the list is rebuilt. */

#include "forces/verlet_cuda.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/philox.h"
#include "device/architecture_80.cuh"
#include "device/cuda_state.h"
#include "device/overlap.cuh"
#include "forces/verlet_build_cuda.h"
#include "forces/verlet_frame_cuda.h"
#include "forces/verlet_law_cuda.h"
#include "forces/verlet_share_cuda.h"
#include "law/compiled_cuda.h"

/* Blocks that a multiprocessor is to hold: as wanted, or as it can. From 8.0 on it can hold twelve
 * at least. */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
static constexpr int verlet_most_blocks = 1024 / verlet_cuda_block;
#else
static constexpr int verlet_most_blocks = 1536 / verlet_cuda_block;
#endif

static constexpr int verlet_cuda_blocks(int wanted)
{
    return wanted < verlet_most_blocks ? wanted : verlet_most_blocks;
}

#include "forces/verlet_kernel_cuda.cuh"

enum { most_particles = INT32_MAX - 1024 };

/* Lists have room for rows longer than the mean by this factor. */
static const double room_of_mean = 1.35;

/* Partners that there is room for where the density is not known. */
enum { first_room = 96 };

/* Steps that are launched together while the lifetime of a list is unknown. */
enum { first_batch = 4 };

bool verlet_cuda_suits(const struct forces_problem *problem, const struct cutoff_law *law)
{
    const struct law_view *view = &law->view;
    return problem->space.repeats && problem->self && !problem->accumulate && !problem->potential &&
           !problem->space.totals && !problem->target_half_softening2 &&
           problem->target_count > 0 && problem->target_count <= most_particles &&
           view->is_central && !problem->delivery.measured && view->form.weighting != law_sum &&
           problem->acceleration[0];
}

static void set_law(const struct forces_problem *problem, const struct cutoff_law *law,
                    struct verlet_cuda_step *step)
{
    step->numbers = law->view.numbers;
    step->weighting = law->view.form.weighting;
    step->is_shifted = problem->space.shift == KITH_SHIFT_FORCE;
    step->cutoff = problem->space.cutoff;
    step->slope_at_cutoff = law->slope_at_cutoff;
    step->softening2 = problem->softening2;
    step->limit = problem->dtype == KITH_F64
                      ? pairs_limit_double(problem->space.cutoff)
                      : (double)pairs_limit_float((float)problem->space.cutoff);
}

/* About how many partners a particle has. Of an open cell that is found out. */
static int64_t choose_room(const struct forces_problem *problem, const struct verlet_cuda *verlet)
{
    const double pi = 3.14159265358979323846, search2 = verlet->building.search2;
    const double around =
        problem->dimensions == 2 ? pi * search2 : 4 * pi / 3 * search2 * sqrt(search2);
    const double volume = problem->space.volume;
    const double mean =
        volume > 0 ? (double)problem->target_count / volume * around : (double)first_room;
    const double wanted = fmin(room_of_mean * mean + 16, (double)problem->target_count);
    return ((int64_t)wanted + verlet_cuda_row_unit) / verlet_cuda_row_unit * verlet_cuda_row_unit;
}

static void set_columns_of_law(const struct forces_problem *problem, const struct cutoff_law *law,
                               struct verlet_cuda *verlet)
{
    verlet->building.weight = verlet_weights_cuda(problem, law);
    for (int k = 0; k < 2; k++)
        verlet->building.column[k] = verlet_column_cuda(problem, law, k);
}

static kith_status create(kith_context *context, const struct forces_problem *problem,
                          const struct cutoff_law *law, const struct excluded_cuda *excluded,
                          struct verlet_cuda **created, bool *suits)
{
    bool is_of_one_device = law->view.form.kind == law_custom || excluded->begin;
    struct verlet_cuda *verlet = NULL;
    KITH_TRY(kith_allocate(1, sizeof *verlet, "Verlet list", &verlet));
    verlet->dtype = problem->dtype;
    verlet->count = problem->target_count;
    verlet->lasts = first_batch;
    *suits = verlet_begin_frame_cuda(problem, verlet);
    kith_status status = KITH_OK;
    if (*suits)
        status = verlet_choose_unit_cuda(context, problem, law, &verlet->step, suits);
    if (status == KITH_OK && *suits) {
        is_of_one_device = is_of_one_device || verlet->step.open;
        set_columns_of_law(problem, law, verlet);
        verlet->row_room = choose_room(problem, verlet);
        status = verlet_share_cuda(context, verlet, is_of_one_device, problem->is_slice, suits);
    }
    if (status == KITH_OK && *suits)
        *created = verlet;
    else
        verlet_cuda_free(context, verlet);
    return status;
}

/* The frame of positions as they are now, if there are open axes. */
static kith_status take_frame(kith_context *context, struct verlet_cuda *verlet)
{
    float farthest[3];
    if (!verlet->step.open)
        return KITH_OK;
    KITH_TRY(verlet_find_farthest_cuda(context, verlet->dtype, &verlet->building, &verlet->lattice,
                                       farthest));
    verlet->has_left = !verlet_choose_frame_cuda(farthest, verlet);
    verlet->has_list = verlet->has_list && !verlet->has_left;
    return KITH_OK;
}

static kith_status list_one(kith_context *context, struct verlet_cuda *verlet, void *unused)
{
    (void)unused;
    verlet->step.list = verlet->building.list;
    verlet->now = 0;
    return verlet_list_cuda(context, verlet->dtype, &verlet->building);
}

/* The list as positions are now, those of the state; of one device. */
static kith_status build_one(kith_context *context, struct verlet_cuda *verlet)
{
    verlet->building.from = verlet->states[verlet->side];
    KITH_TRY(take_frame(context, verlet));
    if (verlet->has_left)
        return KITH_OK;
    verlet->side = 1 - verlet->side;
    verlet->building.to = verlet->step.state = verlet->states[verlet->side];
    verlet->since = 0;
    verlet->has_list = true;
    KITH_TRY(verlet_sort_cuda(context, verlet->dtype, &verlet->building));
    return list_one(context, verlet, NULL);
}

static kith_status build(kith_context *context, struct verlet_cuda *verlet)
{
    return verlet_devices_of(verlet) > 1 ? verlet_build_shared_cuda(context, verlet)
                                         : build_one(context, verlet);
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

/* The work of several kernels in a row, of which kernel k is next. */
struct work {
    const struct forces_problem *problem;
    enum law_kind kind;
    const struct cutoff_steps *steps; /* NULL: forces alone, of two kernels */
    int64_t kernels;
    int64_t k;
    int number; /* in its batch */
};

/* The kernel of a law, on the blocks that all own particles take. */
static kith_status start(kith_context *context, const struct verlet_cuda *verlet,
                         const struct work *work, bool is_noisy, struct verlet_cuda_step *step)
{
    const struct verlet_cuda_list *list = &verlet->building.list;
    const int64_t threads = (list->end - list->first) * verlet_cuda_lanes;
    const unsigned blocks = (unsigned)((threads + verlet_cuda_block - 1) / verlet_cuda_block);
    const char *what = "starting the kernel of steps within a cutoff";
    if (blocks == 0)
        return KITH_OK;
    if (work->kind != law_custom)
        return launch_overlapped(context, what, dim3(blocks), verlet_cuda_block,
                                 is_noisy ? find<true>(work->kind, verlet->dtype)
                                          : find<false>(work->kind, verlet->dtype),
                                 *step);
    void *kernel = NULL;
    KITH_TRY(law_compile_cuda(
        context, work->problem->law, "forces/verlet_kernel_cuda.cuh",
        verlet->dtype == KITH_F64 ? "verlet_custom_double" : "verlet_custom_float", &kernel));
    void *arguments[] = {step};
    const struct law_launch shape = {{blocks, 1, 1}, {verlet_cuda_block, 1, 1}, 0};
    return law_launch_cuda(context, kernel, &shape, arguments, what);
}

/* Kernel k of 0 … kernels − 1: the first has no forces before its kick, the last no drift. */
static kith_status launch(kith_context *context, struct verlet_cuda *verlet, void *argument)
{
    const struct work *work = (const struct work *)argument;
    const int64_t k = work->k;
    const struct cutoff_noise *noise = work->steps ? work->steps->noise : NULL;
    struct verlet_cuda_step step = verlet->step;
    step.sums = k > 0;
    step.places = k < work->kernels - 1;
    step.from = verlet->places[verlet->now];
    step.to = verlet->places[1 - verlet->now];
    step.to_below = verlet->to_below[1 - verlet->now];
    step.to_above = verlet->to_above[1 - verlet->now];
    step.number = work->number;
    if (work->steps) {
        step.kicks = true;
        step.moves = step.places;
        step.kick = work->steps->h / 2;
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
    return start(context, verlet, work, noise != NULL, &step);
}

static kith_status begin_one_batch(kith_context *context, struct verlet_cuda *verlet, void *unused)
{
    const struct verlet_cuda_list *list = &verlet->building.list;
    (void)unused;
    for (int device = 0; device < list->devices; device++)
        KITH_TRY(cuda_check(cudaMemsetAsync(&list->control[device], 0x7f,
                                            offsetof(struct verlet_cuda_control, longest),
                                            cuda_stream(context)),
                            "starting steps within a cutoff"));
    if (verlet->step.is_long_frame)
        return cuda_check(cudaMemsetAsync(&list->control->far_in, 0xff,
                                          sizeof list->control->far_in, cuda_stream(context)),
                          "starting steps within a cutoff");
    return KITH_OK;
}

/* Some kernels in a row; *found is what all devices have found. */
static kith_status do_batch(kith_context *context, struct verlet_cuda *verlet, struct work *work,
                            int64_t batch, struct verlet_cuda_control *found)
{
    const int64_t first = work->k;
    struct verlet_cuda_control controls[verlet_most_devices];
    const struct verlet_cuda_list *list = &verlet->building.list;
    KITH_TRY(verlet_on_each_cuda(context, verlet, begin_one_batch, NULL));
    KITH_TRY(verlet_wait_for_all_cuda(context, verlet));
    for (int64_t b = 0; b < batch; b++) {
        work->k = first + b;
        work->number = (int)b;
        const kith_status status = verlet_start_each_cuda(context, verlet, launch, work);
        KITH_TRY(verlet_exchange_cuda(context, status, verlet, work->k < work->kernels - 1));
    }
    work->k = first;
    const int64_t bytes = list->devices * (int64_t)sizeof *controls;
    KITH_TRY(
        verlet_agree_cuda(context, verlet, cuda_copy_out(context, controls, list->control, bytes)));
    *found = controls[0];
    for (int device = 1; device < list->devices; device++) {
        found->moved_in = min(found->moved_in, controls[device].moved_in);
        found->failed_in = min(found->failed_in, controls[device].failed_in);
        found->longest = max(found->longest, controls[device].longest);
    }
    return KITH_OK;
}

static kith_status widen_one(kith_context *context, struct verlet_cuda *verlet, void *room)
{
    verlet->row_room = *(const int64_t *)room;
    return verlet_make_rows_cuda(context, verlet);
}

/* The list for longer rows. */
static kith_status widen(kith_context *context, struct verlet_cuda *verlet, int longest)
{
    int64_t room = (longest + longest / 8 + verlet_cuda_row_unit) / verlet_cuda_row_unit *
                   verlet_cuda_row_unit;
    KITH_TRY(verlet_on_each_cuda(context, verlet, widen_one, &room));
    const kith_status status = verlet_start_each_cuda(context, verlet, list_one, NULL);
    return verlet_exchange_cuda(context, status, verlet, false);
}

static int64_t choose_batch(const struct verlet_cuda *verlet, int64_t left)
{
    const int64_t expected = verlet->lasts - verlet->since;
    const int64_t more = verlet->since / 4 > 2 ? verlet->since / 4 : 2;
    const int64_t batch = expected > 0 ? expected : more;
    return batch < left ? batch : left;
}

/* Of a batch. In a long frame, up to the first that finds its particles in half of it. */
static int64_t kernels_that_ran(const struct verlet_cuda *verlet,
                                const struct verlet_cuda_control *control, int64_t batch)
{
    const int64_t until_moved = (int64_t)control->moved_in + 1;
    const int64_t until_near = verlet->step.is_long_frame ? control->far_in + 2 : batch;
    return min(batch, min(until_moved, until_near));
}

static bool is_used_up(const struct verlet_cuda *verlet, const struct verlet_cuda_control *control,
                       int64_t ran)
{
    return control->moved_in < ran || (verlet->step.is_long_frame && control->far_in < ran - 1);
}

static kith_status load_one(kith_context *context, struct verlet_cuda *verlet, void *unused)
{
    (void)unused;
    verlet->building.from = verlet->states[verlet->side];
    return verlet_load_cuda(context, verlet->dtype, !verlet->has_list, &verlet->building);
}

/* Particles as columns have them, and a list. */
static kith_status begin_work(kith_context *context, struct verlet_cuda *verlet)
{
    KITH_TRY(verlet_send_cuda(context, verlet));
    KITH_TRY(verlet_on_each_cuda(context, verlet, load_one, NULL));
    if (!verlet->has_list) {
        KITH_TRY(build(context, verlet));
        KITH_TRY(verlet_fetch_orders_cuda(context, verlet));
    }
    return verlet->step.column[verlet_velocity][0] ? verlet_send_accelerations_cuda(context, verlet)
                                                   : KITH_OK;
}

static kith_status fail_out_of_range(const struct verlet_cuda_step *step)
{
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "a position is not finite, or the force of a pair is more than %g, which runs "
                     "within a cutoff on a GPU do not support; use a smaller dt, or the CPU",
                     step->largest_factor * step->cutoff * step->unit);
}

static kith_status do_work(kith_context *context, struct verlet_cuda *verlet, struct work *work)
{
    KITH_TRY(begin_work(context, verlet));
    while (work->k < work->kernels && !verlet->has_left) {
        const int64_t batch = choose_batch(verlet, work->kernels - work->k);
        struct verlet_cuda_control control;
        KITH_TRY(do_batch(context, verlet, work, batch, &control));
        if (control.longest > verlet->row_room) {
            KITH_TRY(widen(context, verlet, control.longest));
            continue;
        }
        if (control.failed_in < batch)
            return verlet_agree_cuda(context, verlet, fail_out_of_range(&verlet->step));
        const int64_t ran = kernels_that_ran(verlet, &control, batch);
        work->k += ran;
        verlet->since += ran;
        if (is_used_up(verlet, &control, ran) && work->k < work->kernels) {
            verlet->lasts = verlet->since;
            KITH_TRY(build(context, verlet));
        }
    }
    return verlet->has_left ? KITH_OK : verlet_fetch_cuda(context, verlet);
}

/* The streams of peers use memory of the context until they are joined. */
static kith_status do_work_and_join(kith_context *context, struct verlet_cuda *verlet,
                                    struct work *work)
{
    const kith_status status = do_work(context, verlet, work);
    const kith_status joined = verlet_wait_for_all_cuda(context, verlet);
    if (status != KITH_OK && verlet_devices_of(verlet) > 1)
        verlet->has_list = false; /* the first device may not know the others' rows */
    return status == KITH_OK ? joined : status;
}

static kith_status prepare(kith_context *context, const struct forces_problem *problem,
                           const struct cutoff_law *law, const struct excluded_cuda *excluded,
                           struct verlet_cuda **verlet, bool *suits)
{
    *suits = true;
    if (*verlet &&
        ((*verlet)->count != problem->target_count || (*verlet)->dtype != problem->dtype)) {
        verlet_cuda_free(context, *verlet);
        *verlet = NULL;
    }
    if (!*verlet)
        KITH_TRY(create(context, problem, law, excluded, verlet, suits));
    if (!*suits)
        return KITH_OK;
    set_law(problem, law, &(*verlet)->step);
    set_columns_of_law(problem, law, *verlet);
    (*verlet)->building.mass = law->target_mass;
    (*verlet)->building.excluded = *excluded;
    return KITH_OK;
}

static void set_columns(struct verlet_cuda *verlet, const struct forces_problem *problem,
                        const struct cutoff_steps *steps)
{
    for (int c = 0; c < problem->dimensions; c++) {
        void *const of_steps[verlet_vectors] = {
            steps ? steps->position[c] : (void *)problem->target_position[c],
            steps ? steps->velocity[c] : NULL, steps ? steps->lost_position[c] : NULL,
            steps ? steps->lost_velocity[c] : NULL};
        for (int k = 0; k < verlet_vectors; k++)
            verlet->building.vector[k][c] = verlet->step.column[k][c] = of_steps[k];
        verlet->step.acceleration[c] = steps ? steps->acceleration[c] : problem->acceleration[c];
    }
}

kith_status verlet_forces_cuda(kith_context *context, const struct forces_problem *problem,
                               const struct cutoff_law *law, const struct excluded_cuda *excluded,
                               struct verlet_cuda **verlet, bool *done)
{
    KITH_TRY(prepare(context, problem, law, excluded, verlet, done));
    if (!*done)
        return KITH_OK;
    struct work work = {problem, law->view.form.kind, NULL, 2, 0, 0};
    set_columns(*verlet, problem, NULL);
    KITH_TRY(do_work_and_join(context, *verlet, &work));
    *done = !(*verlet)->has_left;
    return KITH_OK;
}

kith_status verlet_steps_cuda(kith_context *context, const struct forces_problem *problem,
                              const struct cutoff_law *law, const struct cutoff_steps *steps,
                              const struct excluded_cuda *excluded, struct verlet_cuda **verlet,
                              int64_t *done)
{
    struct cutoff_steps taken = *steps;
    bool suits = true;
    *done = 0;
    KITH_TRY(prepare(context, problem, law, excluded, verlet, &suits));
    if (!suits)
        return KITH_OK;
    set_columns(*verlet, problem, steps);
    while (taken.count > 0 && *done == 0) {
        struct work work = {problem, law->view.form.kind, &taken, taken.count + 1, 0, 0};
        (*verlet)->has_left = false;
        KITH_TRY(do_work_and_join(context, *verlet, &work));
        *done = (*verlet)->has_left ? 0 : taken.count;
        taken.count = work.k - 1; /* columns are as they were: those that end in a frame again */
    }
    return KITH_OK;
}

void verlet_cuda_free(kith_context *context, struct verlet_cuda *verlet)
{
    if (verlet) {
        verlet_stop_sharing_cuda(context, verlet);
        cuda_release(context, verlet->memory);
        cuda_release(context, verlet->rows);
    }
    free(verlet);
}
