#include "forces/pack.h"

#include <math.h>

#include "core/memory.h"
#include "core/reals.h"
#include "device/context.h"
#include "forces/columns.h"
#include "forces/scale.h"
#include "forces/solver.h"
#include "forces/space.h"
#include "ranks/ranks.h"

/* An array's columns, divided by 2^exponent. */
static kith_status pack_vectors(const struct forces_packed *packed, const void *const *columns,
                                const kith_array *array, int exponent)
{
    if (kith_array_is_none(*array))
        return KITH_OK;
    return forces_pack_columns(packed->context, *array, -exponent, packed->problem.dtype, columns);
}

/* Numbers of an absent array, and zeros after them. */
static void fill(kith_dtype dtype, const void *column, int64_t rows, double value)
{
    for (int64_t row = 0; row < kith_padded(rows); row++)
        real_set(dtype, (void *)column, row, row < rows ? value : 0);
}

/* A number a body, divided by 2^exponent; ones without an array. */
static kith_status pack_numbers(const struct forces_packed *packed, const void *column,
                                const kith_array *numbers, int64_t rows, int exponent)
{
    if (!kith_array_is_none(*numbers))
        return pack_vectors(packed, &column, numbers, exponent);
    fill(packed->problem.dtype, column, rows, ldexp(1.0, -exponent));
    return KITH_OK;
}

/* ε² / 2 of each body. */
static kith_status pack_softening(const struct forces_packed *packed, const void *column,
                                  const kith_array *softening, int exponent)
{
    const kith_dtype dtype = packed->problem.dtype;
    KITH_TRY(pack_vectors(packed, &column, softening, exponent));
    for (int64_t row = 0; !kith_array_is_none(*softening) && row < softening->shape[0]; row++) {
        const double length = real_get(dtype, column, row);
        real_set(dtype, (void *)column, row, 0.5 * length * length);
    }
    return KITH_OK;
}

/* What replaces the masses where ε and σ are mixed: √ε. */
static kith_status pack_weights(const struct forces_packed *packed, const void *column,
                                const kith_array *epsilon, int64_t rows)
{
    const kith_dtype dtype = packed->problem.dtype;
    KITH_TRY(pack_numbers(packed, column, epsilon, rows, 0));
    for (int64_t row = 0; row < rows; row++)
        real_set(dtype, (void *)column, row, sqrt(real_get(dtype, column, row)));
    return KITH_OK;
}

/* The column that the law takes as charges. */
static const kith_array *charges_of(const struct forces_arguments *arguments,
                                    const struct particles_side *side)
{
    return &side->column[arguments->mixes ? particles_sigma : particles_q];
}

static kith_status pack_sources(const struct forces_arguments *arguments,
                                const struct forces_packed *packed)
{
    const struct forces_problem *problem = &packed->problem;
    const struct particles_side *side = &arguments->sources;
    const int exponent = packed->length_exponent;
    const int64_t count = problem->source_count;
    KITH_TRY(pack_vectors(packed, problem->source_position, &side->positions, exponent));
    if (arguments->mixes)
        KITH_TRY(
            pack_weights(packed, problem->source_mass, &side->column[particles_epsilon], count));
    else
        KITH_TRY(pack_numbers(packed, problem->source_mass, &side->column[particles_m], count,
                              packed->mass_exponent));
    if (arguments->uses_charges)
        KITH_TRY(
            pack_numbers(packed, problem->source_charge, charges_of(arguments, side), count, 0));
    KITH_TRY(pack_softening(packed, problem->source_half_softening2,
                            &side->column[particles_softening], exponent));
    return pack_vectors(packed, problem->source_velocity, &arguments->source_directions, 0);
}

static kith_status pack_targets(const struct forces_arguments *arguments,
                                const struct forces_packed *packed)
{
    const struct forces_problem *problem = &packed->problem;
    const struct particles_side *side = &arguments->targets;
    const int exponent = packed->length_exponent;
    const int64_t count = problem->target_count;
    KITH_TRY(pack_vectors(packed, problem->target_velocity, &arguments->target_directions, 0));
    if (arguments->uses_charges && !forces_shares_charges(arguments))
        KITH_TRY(
            pack_numbers(packed, problem->target_charge, charges_of(arguments, side), count, 0));
    if (arguments->mixes && problem->self)
        KITH_TRY(pack_numbers(packed, problem->target_mass, &arguments->sources.column[particles_m],
                              count, 0));
    if (problem->self)
        return KITH_OK;
    if (arguments->mixes)
        KITH_TRY(
            pack_weights(packed, problem->target_weight, &side->column[particles_epsilon], count));
    KITH_TRY(pack_vectors(packed, problem->target_position, &side->positions, exponent));
    if (arguments->law)
        KITH_TRY(pack_numbers(packed, problem->target_mass, &side->column[particles_m], count, 0));
    return pack_softening(packed, problem->target_half_softening2,
                          &side->column[particles_softening], exponent);
}

static kith_status pack_space(const struct forces_arguments *arguments,
                              struct forces_packed *packed)
{
    struct forces_space *space = &packed->problem.space;
    const int exponent = packed->length_exponent;
    if (space->cutoff == 0 || !arguments->solver->has_cutoff)
        return KITH_OK;
    space->cutoff = ldexp(space->cutoff, -exponent);
    return forces_space_set(packed->problem.dimensions, ldexp(1, exponent), &packed->lattice,
                            space);
}

/* Of slices the magnitudes are those of all ranks. */
static kith_status check_numbers(kith_context *context, struct forces_arguments *arguments)
{
    const kith_status status = forces_check_numbers(arguments);
    if (arguments->all == 0)
        return status;
    double largest[] = {arguments->largest_length, arguments->largest_mass};
    KITH_TRY(ranks_agree(context, status));
    ranks_maximum(context, largest, 2);
    arguments->largest_length = largest[0];
    arguments->largest_mass = largest[1];
    return KITH_OK;
}

kith_status forces_pack(kith_context *context, struct forces_arguments *arguments, kith_dtype dtype,
                        struct forces_packed *packed)
{
    KITH_TRY(check_numbers(context, arguments));
    const bool has_masses = !kith_array_is_none(arguments->sources.column[particles_m]);
    packed->context = context;
    packed->length_exponent = packed->mass_exponent = 0;
    if (!arguments->law && !arguments->solver->is_periodic) {
        packed->length_exponent = forces_packed_length_exponent(arguments->largest_length);
        packed->mass_exponent =
            forces_packed_mass_exponent(has_masses ? arguments->largest_mass : 1);
    }
    KITH_TRY(forces_begin_problem(arguments, dtype, &packed->problem));
    packed->bytes = forces_lay_out(arguments, NULL, &packed->problem);
    KITH_TRY(context->services->workspace(context, packed->bytes, &packed->memory, &packed->own));
    forces_lay_out(arguments, packed->memory, &packed->problem);

    const double softening = ldexp(arguments->softening, -packed->length_exponent);
    packed->problem.softening2 = softening * softening;
    KITH_TRY(pack_space(arguments, packed));
    KITH_TRY(pack_sources(arguments, packed));
    return pack_targets(arguments, packed);
}

/* Bytes before the outputs, which are the last columns. */
static int64_t bytes_of_inputs(const struct forces_packed *packed)
{
    const struct forces_problem *problem = &packed->problem;
    const char *first = problem->acceleration[0] ? problem->acceleration[0] : problem->potential;
    return first ? first - (const char *)packed->memory : packed->bytes;
}

kith_status forces_pack_send(const struct forces_packed *packed,
                             const struct forces_arguments *arguments, struct forces_problem *there)
{
    *there = packed->problem;
    if (packed->own == packed->memory)
        return KITH_OK;
    forces_lay_out(arguments, packed->own, there);
    return packed->context->services->copy_in(packed->context, packed->own, packed->memory,
                                              bytes_of_inputs(packed));
}

kith_status forces_pack_receive(const struct forces_packed *packed)
{
    const int64_t inputs = bytes_of_inputs(packed);
    if (packed->own == packed->memory)
        return KITH_OK;
    return packed->context->services->copy_out(packed->context, (char *)packed->memory + inputs,
                                               (const char *)packed->own + inputs,
                                               packed->bytes - inputs);
}

/* Energies of pairs, whose unit is G mass² / length. */
static void unpack_totals(const struct forces_packed *packed, double fraction, int g)
{
    kith_forces_totals *totals = packed->problem.space.totals;
    const int exponent = g + 2 * packed->mass_exponent - packed->length_exponent;
    if (!totals)
        return;
    totals->energy = ldexp(fraction * totals->energy, exponent);
    for (int k = 0; k < 9; k++)
        totals->virial[k] = ldexp(fraction * totals->virial[k], exponent);
    totals->volume = ldexp(totals->volume, packed->problem.dimensions * packed->length_exponent);
}

/* G is taken apart, so that nothing overflows before the end. */
kith_status forces_unpack(const struct forces_packed *packed,
                          const struct forces_arguments *arguments)
{
    const struct forces_problem *problem = &packed->problem;
    const int length = packed->length_exponent, mass = packed->mass_exponent;
    int g = 0;
    const double fraction = frexp(arguments->gravitational_constant, &g);
    const struct {
        const kith_array *to;
        void *const *from;
        int exponent;
    } results[] = {
        {&arguments->acceleration, problem->acceleration, g + mass - 2 * length},
        {&arguments->potential, &problem->potential, g + mass - length},
        {&arguments->acceleration_derivative, problem->jerk, g + mass - 3 * length},
        {&arguments->potential_derivative, &problem->potential_rate, g + mass - 2 * length},
    };
    for (size_t k = 0; k < sizeof results / sizeof results[0]; k++)
        if (results[k].from[0])
            KITH_TRY(forces_unpack_columns(packed->context, *results[k].to, fraction,
                                           results[k].exponent, problem->dtype, results[k].from));
    unpack_totals(packed, fraction, g);
    return KITH_OK;
}
