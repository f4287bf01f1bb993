#ifndef FORCES_RING_LAUNCH_CUDA_CUH
#define FORCES_RING_LAUNCH_CUDA_CUH

/* The launches of one variant of the symmetric kernel, on one device or several. */

#include "device/cuda.h"
#include "device/cuda_peers.h"
#include "forces/ring_groups.h"
#include "forces/ring_sum_cuda.cuh"
#include "ranks/device_parts.h"

/* Memory for the sources' sums between two kernels. A chunk of the ring has as many offsets as go
 * into it (one at least: `values` reals per body). The sums of the targets come on top, and the
 * totals of a group with more than one chunk and of each of several groups, `values` doubles per
 * body. */
constexpr int64_t ring_row_bytes = 256 << 20;

struct ring_plan {
    int64_t tiles, padded;
    int64_t groups, rows; /* rows: offsets of a chunk, at most */
    int64_t blocks;
};

/* Bodies with those that fill up the last tile. */
template <typename variant> int64_t ring_padded(int64_t count)
{
    return (count + variant::tile - 1) / variant::tile * variant::tile;
}

/* It is the same for all devices of one kind. */
template <typename variant> struct ring_plan ring_plan_for(kith_context *context, int64_t count)
{
    struct ring_plan plan;
    plan.padded = ring_padded<variant>(count);
    plan.tiles = plan.padded / variant::tile;
    plan.groups = ring_groups(plan.tiles);
    const int64_t row = plan.padded * variant::values * (int64_t)sizeof(typename variant::real);
    plan.rows = row < ring_row_bytes ? ring_row_bytes / row : 1;
    plan.blocks = (int64_t)cuda_multiprocessors(context) * variant::blocks_per_multiprocessor;
    return plan;
}

static inline int64_t ring_chunks(const struct ring_plan *plan, int64_t group)
{
    const int64_t first = ring_group_begin(plan->tiles, plan->groups, group);
    const int64_t offsets = ring_group_begin(plan->tiles, plan->groups, group + 1) - first;
    return (offsets + plan->rows - 1) / plan->rows;
}

static inline struct ring_chunk ring_chunk_of(const struct ring_plan *plan, int64_t group,
                                              int64_t k)
{
    const int64_t first = ring_group_begin(plan->tiles, plan->groups, group);
    const int64_t offsets = ring_group_begin(plan->tiles, plan->groups, group + 1) - first;
    const int64_t chunks = ring_chunks(plan, group);
    return {plan->tiles, first + share_begin(offsets, chunks, k),
            first + share_begin(offsets, chunks, k + 1)};
}

template <typename variant>
int64_t ring_blocks(const struct ring_plan *plan, struct ring_chunk chunk)
{
    const int64_t most = ring_most_shares(chunk, variant::steps);
    return most < plan->blocks ? most : plan->blocks;
}

/* Blocks that share a tile's targets, at most. */
template <typename variant>
int64_t ring_parts(const struct ring_plan *plan, struct ring_chunk chunk)
{
    const int64_t least_share =
        ring_cost(chunk, variant::steps) / ring_blocks<variant>(plan, chunk);
    const int64_t of_tile = ring_cost_before(chunk, variant::steps, 1);
    return (of_tile + least_share - 1) / least_share + 1;
}

/* What the kernels keep between them. */
template <typename real> struct ring_memory {
    struct ring_rows<real> rows;
    double *totals;
    double *groups; /* a row of totals for each, if there are several */
    bool *serve;    /* what the masses allow: struct ring_choice */
    const int *needed;
};

struct ring_row_counts {
    int64_t source_rows, target_rows;
};

template <typename variant> struct ring_row_counts ring_count_rows(const struct ring_plan *plan)
{
    int64_t source_rows = 0, target_rows = 0;
    for (int64_t group = 0; group < plan->groups; group++)
        for (int64_t k = 0; k < ring_chunks(plan, group); k++) {
            const struct ring_chunk chunk = ring_chunk_of(plan, group, k);
            const int64_t parts = ring_parts<variant>(plan, chunk);
            const int64_t offsets = chunk.end_offset - chunk.first_offset;
            source_rows = offsets > source_rows ? offsets : source_rows;
            target_rows = parts > target_rows ? parts : target_rows;
        }
    return {source_rows, target_rows};
}

/* Doubles before the reals of the sources' rows. */
template <typename variant>
int64_t ring_doubles(const struct ring_plan *plan, const struct ring_row_counts &rows)
{
    const int64_t group_rows = plan->groups > 1 ? plan->groups : 0;
    return (rows.target_rows + 1 + group_rows) * plan->padded * variant::values;
}

/* Of scratch memory that the plan needs. */
template <typename variant> int64_t ring_scratch_bytes(const struct ring_plan *plan)
{
    const struct ring_row_counts rows = ring_count_rows<variant>(plan);
    const int64_t reals = rows.source_rows * plan->padded * variant::values;
    return ring_doubles<variant>(plan, rows) * (int64_t)sizeof(double) +
           reals * (int64_t)sizeof(typename variant::real) + most_choice_blocks;
}

template <typename variant>
kith_status ring_scratch(kith_context *context, const struct ring_plan *plan,
                         struct ring_memory<typename variant::real> *taken)
{
    const struct ring_row_counts rows = ring_count_rows<variant>(plan);
    const int64_t row = plan->padded * variant::values;
    const int64_t bytes = ring_scratch_bytes<variant>(plan);
    void *memory;
    KITH_TRY(cuda_scratch(context, bytes, &memory));
    taken->rows.by_target = (double *)memory;
    taken->totals = taken->rows.by_target + rows.target_rows * row;
    taken->groups = taken->totals + row;
    taken->rows.by_source =
        (typename variant::real *)(taken->rows.by_target + ring_doubles<variant>(plan, rows));
    taken->rows.padded = plan->padded;
    taken->serve = (bool *)memory + bytes - most_choice_blocks;
    return KITH_OK;
}

template <typename variant>
using ring_function = void(const typename variant::pair::problem, const struct ring_chunk,
                           const struct ring_rows<typename variant::real>,
                           const struct ring_choice);

/* The kernel that meets pairs. Specialized where a problem chooses among several. */
template <typename pair> struct ring_kernels {
    template <typename variant> static ring_function<variant> *of(const typename pair::problem &)
    {
        return ring_kernel<variant>;
    }
};

/* The kernel of one variant for one chunk. */
template <typename variant>
kith_status ring_start(kith_context *context, const typename variant::pair::problem *problem,
                       struct ring_chunk chunk, int64_t blocks,
                       struct ring_rows<typename variant::real> rows, struct ring_choice choice)
{
    return launch_overlapped(context, "starting the kernel of symmetric forces",
                             dim3((unsigned)blocks), variant::warps * ring_lanes,
                             ring_kernels<typename variant::pair>::template of<variant>(*problem),
                             *problem, chunk, rows, choice);
}

template <typename variant>
struct ring_choice ring_choice_of(const struct ring_memory<typename variant::real> &memory)
{
    return {memory.serve, variant::pair::by_masses ? most_choice_blocks : 0, memory.needed};
}

/* A thread for each value of each body. */
template <typename variant> dim3 ring_sum_grid(int64_t count)
{
    return dim3((unsigned)((count + ring_sum_threads - 1) / ring_sum_threads), variant::values);
}

/* All chunks of a group. */
template <typename variant, typename otherwise>
kith_status ring_sum_group(kith_context *context, const typename variant::pair::problem *problem,
                           const struct ring_plan *plan,
                           const struct ring_memory<typename variant::real> &memory, int64_t group)
{
    const struct ring_choice choice = ring_choice_of<variant>(memory);
    double *sums = plan->groups > 1 ? memory.groups + group * variant::values * plan->padded : NULL;
    const int64_t chunks = ring_chunks(plan, group);
    for (int64_t k = 0; k < chunks; k++) {
        const struct ring_chunk chunk = ring_chunk_of(plan, group, k);
        const int64_t blocks = ring_blocks<variant>(plan, chunk);
        KITH_TRY(ring_start<variant>(context, problem, chunk, blocks, memory.rows, choice));
        if (variant::pair::by_masses)
            KITH_TRY(ring_start<otherwise>(context, problem, chunk, blocks, memory.rows, choice));
        const struct ring_sum_place place = {blocks, k == 0, k == chunks - 1, sums};
        KITH_TRY(launch_overlapped(context, "starting the kernel that adds symmetric forces",
                                   ring_sum_grid<variant>(problem->target_count), ring_sum_threads,
                                   ring_sum_kernel<variant>, *problem, chunk, memory.rows, place,
                                   memory.totals, choice));
    }
    return KITH_OK;
}

/* The groups first … end − 1. If the variant's sums are of forces, `otherwise` is the same one with
 * sums of accelerations. The masses are on the device and nothing waits for them: both kernels are
 * started, and the one that the masses do not call for returns immediately. */
template <typename variant, typename otherwise>
kith_status ring_sum_groups(kith_context *context, const typename variant::pair::problem *problem,
                            const struct ring_plan *plan,
                            const struct ring_memory<typename variant::real> &memory, int64_t first,
                            int64_t end)
{
    if constexpr (variant::pair::by_masses)
        KITH_TRY(launch_overlapped(context, "starting the kernel that inspects the masses",
                                   dim3(most_choice_blocks), choice_threads,
                                   inspect_masses<typename variant::pair>, *problem,
                                   ring_choice_of<variant>(memory)));
    for (int64_t group = first; group < end; group++)
        KITH_TRY((ring_sum_group<variant, otherwise>(context, problem, plan, memory, group)));
    return KITH_OK;
}

template <typename variant>
kith_status ring_add_groups(kith_context *context, const typename variant::pair::problem *problem,
                            const struct ring_plan *plan,
                            const struct ring_memory<typename variant::real> &memory)
{
    ring_groups_kernel<variant><<<ring_sum_grid<variant>(problem->target_count), ring_sum_threads,
                                  0, cuda_stream(context)>>>(
        *problem, memory.groups, plan->groups, plan->padded, ring_choice_of<variant>(memory));
    return cuda_check_launch("starting the kernel that adds groups of symmetric forces");
}

/* A problem of which several devices share the groups first … end − 1. */
template <typename variant> struct ring_shared_work {
    const typename variant::pair::problem *problem;
    const struct ring_plan *plan;
    const struct ring_memory<typename variant::real> *memory; /* of the leader */
    int64_t first, end;
};

/* The columns that the kernels read, on the part's device. */
template <typename problem> kith_status ring_send(const struct cuda_part *part, problem *sent)
{
    const int64_t bytes = sent->target_count * kith_dtype_bytes(sent->dtype);
    const int64_t room = (bytes + 255) / 256 * 256;
    const void **columns[] = {&sent->target_position[0], &sent->target_position[1],
                              &sent->target_position[2], ring_weight(sent)};
    void *memory;
    KITH_TRY(cuda_memory_of_arrays(part->context, 4 * room + (int64_t)sizeof(double), &memory));
    for (int k = 0; k < 4; k++) {
        void *column = (char *)memory + k * room;
        if (!*columns[k])
            continue;
        KITH_TRY(cuda_copy_to_part(part, column, *columns[k], bytes));
        *columns[k] = column;
    }
    double *softening2 = (double *)((char *)memory + 4 * room);
    if (sent->softening2_at) {
        KITH_TRY(cuda_copy_to_part(part, softening2, sent->softening2_at, sizeof *softening2));
        sent->softening2_at = softening2;
    }
    return KITH_OK;
}

template <typename variant, typename otherwise>
kith_status ring_do_part(const struct cuda_part *part, void *argument)
{
    const struct ring_shared_work<variant> *work =
        (const struct ring_shared_work<variant> *)argument;
    const struct ring_plan *plan = work->plan;
    const int64_t row = variant::values * plan->padded;
    const int64_t groups = work->end - work->first;
    const int64_t first = work->first + share_begin(groups, part->count, part->index);
    const int64_t end = work->first + share_begin(groups, part->count, part->index + 1);
    if (part->index == 0)
        return ring_sum_groups<variant, otherwise>(part->context, work->problem, plan,
                                                   *work->memory, first, end);
    typename variant::pair::problem problem = *work->problem;
    struct ring_memory<typename variant::real> memory = {
    };
    if (first == end)
        return KITH_OK;
    KITH_TRY(ring_send(part, &problem));
    KITH_TRY(ring_scratch<variant>(part->context, plan, &memory));
    KITH_TRY(
        (ring_sum_groups<variant, otherwise>(part->context, &problem, plan, memory, first, end)));
    return cuda_copy_from_part(part, work->memory->groups + first * row,
                               memory.groups + first * row,
                               (end - first) * row * (int64_t)sizeof(double));
}

/* The sums of the groups of this process, by all of its devices. */
template <typename variant, typename otherwise>
kith_status ring_sum_shared(kith_context *context, struct ring_shared_work<variant> *work)
{
    int32_t peers = 0;
    if (work->plan->groups > 1)
        KITH_TRY(cuda_count_peers(context, &peers));
    if (peers > 0)
        return cuda_share(context, false, ring_do_part<variant, otherwise>, work);
    return ring_sum_groups<variant, otherwise>(context, work->problem, work->plan, *work->memory,
                                               work->first, work->end);
}

/* Groups are divided among the ranks of a job, and those of a rank among its devices. needed: of
 * struct ring_choice, for one device. */
template <typename variant, typename otherwise>
kith_status ring_forces_if_needed(kith_context *context,
                                  const typename variant::pair::problem *problem, const int *needed)
{
    static_assert(variant::tile == otherwise::tile && variant::steps == otherwise::steps &&
                      !otherwise::pair::by_masses,
                  "both share plan and sums");
    const struct ring_plan plan = ring_plan_for<variant>(context, problem->target_count);
    struct ring_memory<typename variant::real> memory = {
    };
    int32_t rank = 0, ranks = 1;
    const bool is_divided = plan.groups > 1 && ranks_device_share(context, &rank, &ranks);
    if (is_divided)
        KITH_TRY(cuda_check_not_recording(context));
    memory.needed = needed;
    kith_status status = ring_scratch<variant>(context, &plan, &memory);
    struct ring_shared_work<variant> work = {
        problem, &plan, &memory, share_begin(plan.groups, ranks, rank),
            share_begin(plan.groups, ranks, rank + 1)
    };
    if (status == KITH_OK)
        status = ring_sum_shared<variant, otherwise>(context, &work);
    if (is_divided)
        status = ranks_gather_on_device(context, status, memory.groups, plan.groups,
                                        variant::values * plan.padded * (int64_t)sizeof(double));
    KITH_TRY(status);
    return plan.groups > 1 ? ring_add_groups<variant>(context, problem, &plan, memory) : KITH_OK;
}

template <typename variant, typename otherwise = variant>
kith_status ring_forces(kith_context *context, const typename variant::pair::problem *problem)
{
    return ring_forces_if_needed<variant, otherwise>(context, problem, NULL);
}

#endif
