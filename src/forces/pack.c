#include "forces/pack.h"

#include <math.h>
#include <string.h>

#include "core/memory.h"
#include "device/arrays.h"
#include "device/context.h"
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
static kith_status pack_column(const struct forces_packed *packed, const void *column,
                               kith_array array, int64_t from, int exponent)
{
    const kith_dtype dtype = packed->problem.dtype;
    clear_padding(dtype, (void *)column, array.shape[0]);
    return forces_column_pack(packed->context, array, from, ldexp(1.0, -exponent), dtype,
                              (void *)column);
}

static kith_status pack_vectors(const struct forces_packed *packed, const void *const columns[3],
                                kith_array array, int exponent)
{
    for (int64_t c = 0; !kith_array_is_none(array) && c < array.shape[1]; c++)
        KITH_TRY(pack_column(packed, columns[c], array, c, exponent));
    return KITH_OK;
}

/* A number a body, divided by 2^exponent; ones where there is no array. */
static kith_status pack_numbers(const struct forces_packed *packed, const void *column,
                                kith_array numbers, int64_t rows, int exponent)
{
    const kith_dtype dtype = packed->problem.dtype;
    if (!kith_array_is_none(numbers))
        return pack_column(packed, column, numbers, 0, exponent);
    for (int64_t row = 0; row < rows; row++)
        set(dtype, (void *)column, row, ldexp(1.0, -exponent));
    clear_padding(dtype, (void *)column, rows);
    return KITH_OK;
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

static kith_status pack_inputs(const struct forces_arguments *arguments,
                               struct forces_packed *packed)
{
    const struct forces_problem *problem = &packed->problem;
    const kith_dtype dtype = problem->dtype;
    const int exponent = packed->length_exponent;
    KITH_TRY(
        pack_vectors(packed, problem->source_position, arguments->sources.positions, exponent));
    KITH_TRY(pack_numbers(packed, problem->source_mass, arguments->sources.column[particles_m],
                          problem->source_count, packed->mass_exponent));
    if (arguments->uses_charges)
        KITH_TRY(pack_numbers(packed, problem->source_charge,
                              arguments->sources.column[particles_q], problem->source_count, 0));
    if (!kith_array_is_none(arguments->sources.column[particles_softening]))
        pack_softening(dtype, problem->source_half_softening2,
                       arguments->sources.column[particles_softening], exponent);
    KITH_TRY(pack_vectors(packed, problem->source_velocity, arguments->source_directions, 0));
    KITH_TRY(pack_vectors(packed, problem->target_velocity, arguments->target_directions, 0));
    if (arguments->uses_charges && !forces_shares_charges(arguments))
        KITH_TRY(pack_numbers(packed, problem->target_charge,
                              arguments->targets.column[particles_q], problem->target_count, 0));
    if (problem->self)
        return KITH_OK;
    KITH_TRY(
        pack_vectors(packed, problem->target_position, arguments->targets.positions, exponent));
    if (arguments->law)
        KITH_TRY(pack_numbers(packed, problem->target_mass, arguments->targets.column[particles_m],
                              problem->target_count, 0));
    if (!kith_array_is_none(arguments->targets.column[particles_softening]))
        pack_softening(dtype, problem->target_half_softening2,
                       arguments->targets.column[particles_softening], exponent);
    return KITH_OK;
}

kith_status forces_pack(kith_context *context, struct forces_arguments *arguments, kith_dtype dtype,
                        struct forces_packed *packed)
{
    KITH_TRY(forces_check_numbers(arguments));
    const bool has_masses = !kith_array_is_none(arguments->sources.column[particles_m]);
    *packed = (struct forces_packed){
        .length_exponent = forces_packed_length_exponent(arguments->largest_length),
        .mass_exponent = forces_packed_mass_exponent(has_masses ? arguments->largest_mass : 1),
        .context = context,
    };
    if (arguments->law)
        packed->length_exponent = packed->mass_exponent = 0;
    int64_t bytes = 0;
    void *memory = NULL, *own = NULL;
    KITH_TRY(forces_lay_out(arguments, dtype, NULL, &packed->problem, &bytes));
    KITH_TRY(context->services->workspace(context, bytes, &memory, &own));
    KITH_TRY(forces_lay_out(arguments, dtype, memory, &packed->problem, &bytes));

    const double softening = ldexp(arguments->softening, -packed->length_exponent);
    packed->problem.softening2 = softening * softening;
    return pack_inputs(arguments, packed);
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
        kith_array to;
        void *const *from;
        int exponent;
    } results[] = {
        {arguments->acceleration, problem->acceleration, g + mass - 2 * length},
        {arguments->potential, &problem->potential, g + mass - length},
        {arguments->acceleration_derivative, problem->jerk, g + mass - 3 * length},
        {arguments->potential_derivative, &problem->potential_rate, g + mass - 2 * length},
    };
    for (size_t k = 0; k < sizeof results / sizeof results[0]; k++)
        for (int64_t c = 0; results[k].from[0] && c < kith_array_columns(results[k].to); c++)
            KITH_TRY(forces_column_unpack(packed->context, results[k].to, c, fraction,
                                          results[k].exponent, problem->dtype, results[k].from[c]));
    return KITH_OK;
}
