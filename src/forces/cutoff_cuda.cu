/* Forces within a cutoff on the GPU: pairs are listed, and their forces added. */

#include "forces/cutoff_cuda.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "device/cuda_state.h"
#include "forces/cutoff_kernel_cuda.cuh"
#include "forces/cutoff_points_cuda.cuh"
#include "forces/deliver_cuda.cuh"
#include "forces/slice.h"
#include "forces/verlet_cuda.h"
#include "law/compiled_cuda.h"
#include "ranks/device_parts.h"

enum { total_threads = 256 };

using cutoff_kernel_cuda = void(const struct cutoff_cuda_problem);

template <bool everything> static cutoff_kernel_cuda *find(enum law_kind kind, kith_dtype dtype)
{
#define ENTRY(kind) cutoff_kernel_float<law_##kind, everything>,
    static cutoff_kernel_cuda *const in_float[] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
#define ENTRY(kind) cutoff_kernel_double<law_##kind, everything>,
    static cutoff_kernel_cuda *const in_double[] = {LAW_EACH_BUILT_IN(ENTRY)};
#undef ENTRY
    return (dtype == KITH_F64 ? in_double : in_float)[kind];
}

/* One block adds what all have, in one order. */
static __global__ void add_totals(int64_t blocks, const double *of_blocks, double *totals)
{
    __shared__ double part[total_threads];
    double sum = 0;
    for (int64_t block = threadIdx.x; block < blocks; block += total_threads)
        sum += of_blocks[block * cutoff_cuda_totals + blockIdx.x];
    part[threadIdx.x] = sum;
    for (int half = total_threads / 2; half > 0; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        totals[blockIdx.x] = part[0];
}

static void take_columns(const struct forces_problem *problem, const struct cutoff_law *law,
                         struct cutoff_cuda_problem *to)
{
    const bool of_charges = law->view.weight == law_weight_charge && !law->view.formula;
    if (law->view.weight != law_weight_none || law->view.formula) {
        to->source_weight = of_charges ? law->source_charge : problem->source_mass;
        to->target_weight = of_charges ? law->target_charge : law->target_weight;
    }
    if (law->view.formula) {
        to->source_charge = law->source_charge;
        to->target_charge = law->target_charge;
    }
    to->source_half_softening2 = problem->source_half_softening2;
    to->target_half_softening2 = problem->target_half_softening2;
    to->target_mass = law->target_mass;
    to->total_weight = law->total_weight;
}

static void fill_in(const struct forces_problem *problem, const struct cutoff_law *law,
                    struct cutoff_cuda_problem *to)
{
    const struct forces_delivery *delivery = &problem->delivery;
    const bool narrow = problem->dtype == KITH_F32;
    take_columns(problem, law, to);
    to->numbers = law->view.numbers;
    to->weighting = law->view.form.weighting;
    to->shift = (enum cutoff_cuda_shift)problem->space.shift;
    to->is_central = law->view.is_central;
    to->cutoff = narrow ? (double)(float)problem->space.cutoff : problem->space.cutoff;
    to->softening2 = problem->softening2;
    for (int c = 0; c < problem->dimensions; c++)
        to->acceleration[c] = problem->acceleration[c];
    to->value = problem->potential;
    to->acceleration_stride = to->value_stride = 1;
    to->factor = 1;
    to->accumulates = problem->accumulate;
    if (delivery->measured) {
        to->acceleration_stride = delivery->acceleration_stride;
        to->value_stride = delivery->potential_stride;
        to->factor = ldexp(delivery->g_fraction, delivery->g_exponent);
        to->bad = &delivery->measured->bad;
    }
}

static int64_t blocks_of(int64_t targets)
{
    const int64_t of_block = cutoff_cuda_block / cutoff_cuda_lanes;
    return (targets + of_block - 1) / of_block;
}

static kith_status start(kith_context *context, const struct forces_problem *problem,
                         const struct cutoff_law *law, const struct cutoff_cuda_problem *to)
{
    const unsigned blocks = (unsigned)blocks_of(to->count);
    const bool everything = to->value || to->totals;
    if (!law->view.formula) {
        const enum law_kind kind = law->view.form.kind;
        cutoff_kernel_cuda *const kernel =
            everything ? find<true>(kind, problem->dtype) : find<false>(kind, problem->dtype);
        kernel<<<blocks, cutoff_cuda_block, 0, cuda_stream(context)>>>(*to);
        return cuda_check_launch("starting the kernel of forces within a cutoff");
    }
    static const char *const symbols[2][2] = {
        {"cutoff_custom_force_float", "cutoff_custom_all_float"},
        {"cutoff_custom_force_double", "cutoff_custom_all_double"}};
    void *kernel = NULL;
    KITH_TRY(law_compile_cuda(context, problem->law, "forces/cutoff_kernel_cuda.cuh",
                              symbols[problem->dtype == KITH_F64][everything], &kernel));
    struct cutoff_cuda_problem given = *to;
    void *arguments[] = {&given};
    const struct law_launch launch = {{blocks, 1, 1}, {cutoff_cuda_block, 1, 1}, 0};
    return law_launch_cuda(context, kernel, &launch, arguments,
                           "starting the kernel of forces by a formula within a cutoff");
}

static void store_totals(const struct forces_problem *problem, double factor,
                         const double sum[cutoff_cuda_totals])
{
    kith_forces_totals *totals = problem->space.totals;
    totals->energy = factor * sum[0];
    for (int k = 0; k < 9; k++)
        totals->virial[k] = factor * sum[1 + k];
    totals->volume = problem->space.volume;
}

/* Room for the totals of blocks, then for all. */
static kith_status take_totals(kith_context *context, int64_t blocks, double **totals)
{
    void *memory = NULL;
    KITH_TRY(cuda_scratch(context, (blocks + 1) * cutoff_cuda_totals * (int64_t)sizeof(double),
                          &memory));
    *totals = (double *)memory;
    return KITH_OK;
}

kith_status forces_cutoff_cuda(kith_context *context, const struct forces_problem *problem,
                               const struct cutoff_law *law, struct cutoff_cuda_memory *memory)
{
    const int64_t blocks = blocks_of(problem->target_count);
    double sum[cutoff_cuda_totals] = {}, *of_blocks = NULL;
    struct cutoff_cuda_problem of_kernel = {};
    struct cutoff_points::listing listing;
    fill_in(problem, law, &of_kernel);
    if (problem->target_count > 0)
        KITH_TRY(cutoff_points::begin_pairs(context, problem, memory, &listing, &of_kernel));
    if (problem->target_count > 0 && problem->space.totals)
        KITH_TRY(take_totals(context, blocks, &of_blocks));
    for (int64_t k = 0; k < problem->target_count; k += cutoff_points::targets_at_once) {
        KITH_TRY(cutoff_points::list_pairs(&listing, memory, k, &of_kernel));
        of_kernel.totals = of_blocks ? of_blocks + blocks_of(k) * cutoff_cuda_totals : NULL;
        KITH_TRY(start(context, problem, law, &of_kernel));
    }
    if (!problem->space.totals)
        return KITH_OK;
    if (of_blocks) {
        double *const all = of_blocks + blocks * cutoff_cuda_totals;
        add_totals<<<cutoff_cuda_totals, total_threads, 0, cuda_stream(context)>>>(blocks,
                                                                                   of_blocks, all);
        KITH_TRY(cuda_check_launch("adding up totals"));
        KITH_TRY(cuda_copy_out(context, sum, all, sizeof sum));
    }
    store_totals(problem, of_kernel.factor, sum);
    return KITH_OK;
}

/* What is kept from call to call. */
struct cutoff_kept {
    struct cutoff_cuda_memory memory;
    struct verlet_cuda *verlet; /* of the steps of a run */
    bool lacks_list;            /* none suits */
};

static kith_status begin(void **kept, struct cutoff_kept **found)
{
    if (!*kept)
        KITH_TRY(kith_allocate(1, sizeof **found, "forces within a cutoff", kept));
    *found = (struct cutoff_kept *)*kept;
    return KITH_OK;
}

static bool takes_list(const struct forces_problem *problem, const struct cutoff_law *law,
                       const struct cutoff_kept *kept)
{
    return !kept->lacks_list && verlet_cuda_suits(problem, law);
}

/* Of a slice, by the columns of all. */
static kith_status evaluate_slice(kith_context *context, const struct forces_problem *own,
                                  struct cutoff_cuda_memory *memory)
{
    struct forces_wide wide = {};
    struct forces_problem all;
    struct cutoff_law law = {};
    kith_status status = forces_widen(context, own, &wide, &all);
    if (status == KITH_OK)
        status = cutoff_take_law(&all, &law);
    if (status == KITH_OK)
        status = forces_cutoff_cuda(context, &all, &law, memory);
    if (status == KITH_OK)
        status = forces_keep_own(context, &all, own);
    cutoff_drop_law(&law);
    forces_wide_free(context, &wide);
    return ranks_agree(context, status);
}

static kith_status evaluate(kith_context *context, const struct forces_problem *problem,
                            const struct cutoff_law *law, void **kept)
{
    struct cutoff_kept *found = NULL;
    bool done = false;
    KITH_TRY(begin(kept, &found));
    KITH_TRY(excluded_take_cuda(context, problem, &found->memory.excluded));
    if (takes_list(problem, law, found)) {
        KITH_TRY(verlet_forces_cuda(context, problem, law, &found->memory.excluded, &found->verlet,
                                    &done));
        found->lacks_list = !done;
    }
    if (done)
        return KITH_OK;
    return problem->is_slice ? evaluate_slice(context, problem, &found->memory)
                             : forces_cutoff_cuda(context, problem, law, &found->memory);
}

static kith_status take_steps(kith_context *context, const struct forces_problem *problem,
                              const struct cutoff_law *law, const struct cutoff_steps *steps,
                              void **kept, int64_t *done)
{
    struct cutoff_kept *found = NULL;
    *done = 0;
    KITH_TRY(begin(kept, &found));
    if (!takes_list(problem, law, found) || (steps->noise && law->view.formula))
        return KITH_OK;
    KITH_TRY(excluded_take_cuda(context, problem, &found->memory.excluded));
    KITH_TRY(verlet_steps_cuda(context, problem, law, steps, &found->memory.excluded,
                               &found->verlet, done));
    found->lacks_list = *done < steps->count;
    return KITH_OK;
}

static void forget(kith_context *context, void *kept)
{
    struct cutoff_kept *found = (struct cutoff_kept *)kept;
    cutoff_cuda_free(context, &found->memory);
    verlet_cuda_free(context, found->verlet);
    free(found);
}

const struct cutoff_backend cutoff_cuda = {evaluate, take_steps, forget};
