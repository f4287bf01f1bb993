#include "forces/layout.h"

#include "core/memory.h"

/* More rows than this are not in any memory; fewer do not overflow what is computed here. */
static const int64_t max_rows = (int64_t)1 << 56;

/* Columns of one length are taken one after another. */
struct columns {
    uintptr_t next;
    int64_t bytes; /* of each */
};

static struct columns columns_from(uintptr_t next, kith_dtype dtype, int64_t rows)
{
    return (struct columns){next, kith_padded(rows) * kith_dtype_bytes(dtype)};
}

static void *take_column(struct columns *columns)
{
    const uintptr_t column = columns->next;
    columns->next += (uintptr_t)columns->bytes;
    return (void *)column;
}

static void lay_out_sources(const struct forces_arguments *arguments, struct columns *columns,
                            struct forces_problem *problem)
{
    for (int32_t c = 0; c < problem->dimensions; c++)
        problem->source_position[c] = take_column(columns);
    problem->source_mass = take_column(columns);
    if (!kith_array_is_none(arguments->source_softening))
        problem->source_half_softening2 = take_column(columns);
}

static void lay_out_targets(const struct forces_arguments *arguments, struct columns *columns,
                            struct forces_problem *problem)
{
    problem->self = kith_array_is_none(arguments->targets);
    for (int32_t c = 0; c < problem->dimensions; c++)
        problem->target_position[c] =
            problem->self ? problem->source_position[c] : take_column(columns);
    if (problem->self)
        problem->target_half_softening2 = problem->source_half_softening2;
    else if (!kith_array_is_none(arguments->target_softening))
        problem->target_half_softening2 = take_column(columns);
}

static void lay_out_outputs(const struct forces_arguments *arguments, struct columns *columns,
                            struct forces_problem *problem)
{
    if (!kith_array_is_none(arguments->acceleration))
        for (int32_t c = 0; c < problem->dimensions; c++)
            problem->acceleration[c] = take_column(columns);
    if (!kith_array_is_none(arguments->potential))
        problem->potential = take_column(columns);
}

kith_status forces_lay_out(const struct forces_arguments *arguments, kith_dtype dtype, void *base,
                           struct forces_problem *problem, struct forces_layout *layout)
{
    *problem = (struct forces_problem){
        .dtype = dtype,
        .dimensions = (int32_t)arguments->sources.shape[1],
        .may_be_cancelled = true,
        .target_count = forces_target_count(arguments),
        .source_count = arguments->sources.shape[0],
        .gravitational_constant = 1,
    };
    if (problem->target_count > max_rows || problem->source_count > max_rows)
        return kith_fail(KITH_OUT_OF_MEMORY,
                         "forces: copies of %lld targets and %lld sources are more than can be "
                         "addressed",
                         (long long)problem->target_count, (long long)problem->source_count);

    const uintptr_t begin = (uintptr_t)base;
    struct columns columns = columns_from(begin, dtype, problem->source_count);
    lay_out_sources(arguments, &columns, problem);
    columns = columns_from(columns.next, dtype, problem->target_count);
    lay_out_targets(arguments, &columns, problem);
    layout->input_bytes = (int64_t)(columns.next - begin);
    lay_out_outputs(arguments, &columns, problem);
    layout->bytes = (int64_t)(columns.next - begin);
    return KITH_OK;
}
