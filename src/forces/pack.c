#include "forces/pack.h"

#include <math.h>
#include <string.h>

#include "core/context.h"
#include "core/memory.h"
#include "forces/columns.h"
#include "forces/element.h"
#include "forces/scale.h"

static void set(kith_dtype dtype, void *column, int64_t row, double value)
{
    if (dtype == KITH_F64)
        ((double *)column)[row] = value;
    else
        ((float *)column)[row] = (float)value;
}

/* Kernels read behind the last row: what was left there by another problem may be anything. */
static void clear_padding(kith_dtype dtype, void *column, int64_t rows)
{
    const int64_t bytes = kith_dtype_bytes(dtype);
    if (kith_padded(rows) > rows)
        memset((char *)column + rows * bytes, 0, (size_t)((kith_padded(rows) - rows) * bytes));
}

/* A column of an array, divided by 2^exponent. */
static void pack_column(const struct forces_packed *packed, const void *column, kith_array array,
                        int64_t from, int exponent)
{
    const kith_dtype dtype = packed->problem.dtype;
    forces_column_pack(packed->context, array, from, ldexp(1.0, -exponent), dtype, (void *)column);
    clear_padding(dtype, (void *)column, array.shape[0]);
}

static void pack_positions(const struct forces_packed *packed, const void *const columns[3],
                           kith_array array)
{
    for (int64_t c = 0; c < array.shape[1]; c++)
        pack_column(packed, columns[c], array, c, packed->length_exponent);
}

/* A number a body, divided by 2^exponent; ones where there is no array. */
static void pack_numbers(const struct forces_packed *packed, const void *column, kith_array numbers,
                         int64_t rows, int exponent)
{
    const kith_dtype dtype = packed->problem.dtype;
    if (!kith_array_is_none(numbers)) {
        pack_column(packed, column, numbers, 0, exponent);
        return;
    }
    for (int64_t row = 0; row < rows; row++)
        set(dtype, (void *)column, row, ldexp(1.0, -exponent));
    clear_padding(dtype, (void *)column, rows);
}

/* ε² / 2 of each body. */
static void pack_softening(kith_dtype dtype, const void *packed, kith_array softening, int exponent)
{
    void *to = (void *)packed;
    for (int64_t row = 0; row < softening.shape[0]; row++) {
        const double length = ldexp(forces_get(softening, row, 0), -exponent);
        set(dtype, to, row, 0.5 * length * length);
    }
    clear_padding(dtype, to, softening.shape[0]);
}

static void pack_inputs(const struct forces_arguments *arguments, struct forces_packed *packed)
{
    const struct forces_problem *problem = &packed->problem;
    const kith_dtype dtype = problem->dtype;
    const int exponent = packed->length_exponent;
    pack_positions(packed, problem->source_position, arguments->sources);
    pack_numbers(packed, problem->source_mass, arguments->masses, problem->source_count,
                 packed->mass_exponent);
    if (arguments->uses_charges)
        pack_numbers(packed, problem->source_charge, arguments->source_charges,
                     problem->source_count, 0);
    if (!kith_array_is_none(arguments->source_softening))
        pack_softening(dtype, problem->source_half_softening2, arguments->source_softening,
                       exponent);
    if (problem->self)
        return;
    pack_positions(packed, problem->target_position, arguments->targets);
    if (arguments->law)
        pack_numbers(packed, problem->target_mass, arguments->target_masses, problem->target_count,
                     0);
    if (arguments->uses_charges)
        pack_numbers(packed, problem->target_charge, arguments->target_charges,
                     problem->target_count, 0);
    if (!kith_array_is_none(arguments->target_softening))
        pack_softening(dtype, problem->target_half_softening2, arguments->target_softening,
                       exponent);
}

kith_status forces_pack(kith_context *context, const struct forces_arguments *arguments,
                        kith_dtype dtype, struct forces_packed *packed)
{
    const double largest_mass = kith_array_is_none(arguments->masses) ? 1 : arguments->largest_mass;
    *packed = (struct forces_packed){
        .length_exponent = forces_packed_length_exponent(arguments->largest_length),
        .mass_exponent = forces_packed_mass_exponent(largest_mass),
        .context = context,
    };
    if (arguments->law)
        packed->length_exponent = packed->mass_exponent = 0;
    KITH_TRY(forces_lay_out(arguments, dtype, NULL, &packed->problem, &packed->layout));
    KITH_TRY(context->backend->workspace(context, packed->layout.bytes, &packed->memory,
                                         &packed->own_memory));
    KITH_TRY(forces_lay_out(arguments, dtype, packed->memory, &packed->problem, &packed->layout));
    KITH_TRY(forces_lay_out(arguments, dtype, packed->own_memory, &packed->own, &packed->layout));

    const double softening = ldexp(arguments->softening, -packed->length_exponent);
    packed->problem.softening2 = packed->own.softening2 = softening * softening;
    pack_inputs(arguments, packed);
    return KITH_OK;
}

/* G is taken apart, so that nothing overflows before the end. */
void forces_unpack(const struct forces_packed *packed, const struct forces_arguments *arguments)
{
    const struct forces_problem *problem = &packed->problem;
    const int length = packed->length_exponent, mass = packed->mass_exponent;
    const kith_array acceleration = arguments->acceleration, potential = arguments->potential;
    int g = 0;
    const double fraction = frexp(arguments->gravitational_constant, &g);
    for (int32_t c = 0; c < problem->dimensions && problem->acceleration[c]; c++)
        forces_column_unpack(packed->context, acceleration, c, fraction, g + mass - 2 * length,
                             problem->dtype, problem->acceleration[c]);
    if (problem->potential)
        forces_column_unpack(packed->context, potential, 0, fraction, g + mass - length,
                             problem->dtype, problem->potential);
}
