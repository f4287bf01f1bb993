#include "forces/layout.h"

#include <stddef.h>
#include <string.h>

#include "core/arguments.h"
#include "core/memory.h"

/* No memory holds more rows than this, and fewer cannot overflow sizes computed here. */
static const int64_t max_rows = (int64_t)1 << 56;

/* Columns that are taken one after another; NULL without a base yet. */
struct columns {
    char *base;
    int64_t offset; /* of the next */
    int64_t bytes;  /* of each */
};

static void set_rows(struct columns *columns, kith_dtype dtype, int64_t rows)
{
    columns->bytes = kith_padded(rows) * kith_dtype_bytes(dtype);
}

static void *take_column(struct columns *columns)
{
    char *column = columns->base ? columns->base + columns->offset : NULL;
    columns->offset += columns->bytes;
    return column;
}

static void take_directions(kith_array directions, struct columns *columns, int32_t dimensions,
                            const void *to[3])
{
    if (!kith_array_is_none(directions))
        for (int32_t c = 0; c < dimensions; c++)
            to[c] = take_column(columns);
}

static void lay_out_sources(const struct forces_arguments *arguments, struct columns *columns,
                            struct forces_problem *problem)
{
    for (int32_t c = 0; c < problem->dimensions; c++)
        problem->source_position[c] = take_column(columns);
    problem->source_mass = take_column(columns); /* or weights that are mixed */
    if (arguments->uses_charges)
        problem->source_charge = take_column(columns);
    if (!kith_array_is_none(arguments->sources.column[particles_softening]))
        problem->source_half_softening2 = take_column(columns);
    take_directions(arguments->source_directions, columns, problem->dimensions,
                    problem->source_velocity);
}

static void lay_out_targets(const struct forces_arguments *arguments, struct columns *columns,
                            struct forces_problem *problem)
{
    problem->self = kith_array_is_none(arguments->targets.positions);
    for (int32_t c = 0; c < problem->dimensions; c++)
        problem->target_position[c] =
            problem->self ? problem->source_position[c] : take_column(columns);
    if (arguments->mixes)
        problem->target_weight = problem->self ? problem->source_mass : take_column(columns);
    if (arguments->law)
        problem->target_mass =
            problem->self && !arguments->mixes ? problem->source_mass : take_column(columns);
    if (arguments->uses_charges)
        problem->target_charge =
            forces_shares_charges(arguments) ? problem->source_charge : take_column(columns);
    if (problem->self)
        problem->target_half_softening2 = problem->source_half_softening2;
    else if (!kith_array_is_none(arguments->targets.column[particles_softening]))
        problem->target_half_softening2 = take_column(columns);
    if (problem->self)
        memcpy(problem->target_velocity, problem->source_velocity, sizeof problem->source_velocity);
    take_directions(arguments->target_directions, columns, problem->dimensions,
                    problem->target_velocity);
}

static void lay_out_outputs(const struct forces_arguments *arguments, struct columns *columns,
                            struct forces_problem *problem)
{
    if (!kith_array_is_none(arguments->acceleration))
        for (int32_t c = 0; c < problem->dimensions; c++)
            problem->acceleration[c] = take_column(columns);
    if (!kith_array_is_none(arguments->potential))
        problem->potential = take_column(columns);
    if (!kith_array_is_none(arguments->acceleration_derivative))
        for (int32_t c = 0; c < problem->dimensions; c++)
            problem->jerk[c] = take_column(columns);
    if (!kith_array_is_none(arguments->potential_derivative))
        problem->potential_rate = take_column(columns);
}

/* Kernels have the rates of potentials by laws only: gravity's is that of −m_j/s. */
static void derive_gravity(const struct forces_arguments *arguments, struct forces_problem *problem)
{
    problem->law = arguments->law_of_unit_mass;
    problem->source_charge = problem->source_mass;
}

kith_status forces_begin_problem(const struct forces_arguments *arguments, kith_dtype dtype,
                                 struct forces_problem *problem)
{
    kith_clear(problem, sizeof *problem);
    problem->dtype = dtype;
    problem->dimensions = (int32_t)arguments->sources.positions.shape[1];
    problem->target_count = forces_target_count(arguments);
    problem->source_count = arguments->sources.positions.shape[0];
    problem->gravitational_constant = 1;
    problem->law = arguments->law;
    problem->way = arguments->way;
    problem->space = arguments->space;
    problem->accuracy = arguments->accuracy;
    problem->report = arguments->report;
    if (problem->target_count > max_rows || problem->source_count > max_rows)
        return kith_fail(KITH_OUT_OF_MEMORY,
                         "forces: copies of %lld targets and %lld sources are more than can be "
                         "addressed",
                         (long long)problem->target_count, (long long)problem->source_count);
    return KITH_OK;
}

int64_t forces_lay_out(const struct forces_arguments *arguments, void *base,
                       struct forces_problem *problem)
{
    struct columns columns = {.base = base};
    set_rows(&columns, problem->dtype, problem->source_count);
    lay_out_sources(arguments, &columns, problem);
    set_rows(&columns, problem->dtype, problem->target_count);
    lay_out_targets(arguments, &columns, problem);
    lay_out_outputs(arguments, &columns, problem);
    if (arguments->law_of_unit_mass)
        derive_gravity(arguments, problem);
    return columns.offset;
}
