#include "forces/pack.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "forces/element.h"
#include "forces/scale.h"

/* The largest length is made about 2^20. In float, 1/s³ then neither overflows for the closest
 * pairs (s down to 2^−62 of the largest length) nor vanishes for the farthest. */
enum { exponent_of_largest = 20 };

/* Limits for a unit, such that it and its inverse are normal doubles. */
enum { largest_exponent = 1000 };

enum { max_columns = 5 }; /* of an allocation: three coordinates, mass, softening */

/* Columns of equal length that are taken from one allocation one by one. */
struct columns {
    char *next;
    int64_t bytes; /* of each */
};

static int clamp_exponent(int exponent)
{
    return exponent < -largest_exponent  ? -largest_exponent
           : exponent > largest_exponent ? largest_exponent
                                         : exponent;
}

static kith_status make_columns(kith_dtype dtype, int64_t rows, const char *what, void **memory,
                                struct columns *columns)
{
    columns->bytes = kith_padded(rows) * kith_dtype_bytes(dtype);
    KITH_TRY(kith_allocate(max_columns, columns->bytes ? columns->bytes : 1, what, memory));
    columns->next = *memory;
    return KITH_OK;
}

static void *take_column(struct columns *columns)
{
    void *column = columns->next;
    columns->next += columns->bytes;
    return column;
}

static void set(kith_dtype dtype, void *column, int64_t row, double value)
{
    if (dtype == KITH_F64)
        ((double *)column)[row] = value;
    else
        ((float *)column)[row] = (float)value;
}

static double get(kith_dtype dtype, const void *column, int64_t row)
{
    return dtype == KITH_F64 ? ((const double *)column)[row] : (double)((const float *)column)[row];
}

/* A column of an array, divided by 2^exponent. */
static const void *pack_column(struct columns *columns, kith_dtype dtype, kith_array array,
                               int64_t column, int exponent)
{
    void *packed = take_column(columns);
    const double factor = ldexp(1.0, -exponent);
    for (int64_t row = 0; row < array.shape[0]; row++)
        set(dtype, packed, row, forces_get(array, row, column) * factor);
    return packed;
}

static const void *pack_masses(struct columns *columns, kith_dtype dtype, kith_array masses,
                               int64_t count, int exponent)
{
    if (!kith_array_is_none(masses))
        return pack_column(columns, dtype, masses, 0, exponent);
    void *ones = take_column(columns);
    for (int64_t row = 0; row < count; row++)
        set(dtype, ones, row, ldexp(1.0, -exponent));
    return ones;
}

/* ε² / 2 of each body. */
static const void *pack_softening(struct columns *columns, kith_dtype dtype, kith_array softening,
                                  int exponent)
{
    void *packed = take_column(columns);
    for (int64_t row = 0; row < softening.shape[0]; row++) {
        const double length = ldexp(forces_get(softening, row, 0), -exponent);
        set(dtype, packed, row, 0.5 * length * length);
    }
    return packed;
}

static kith_status pack_sources(const struct forces_arguments *arguments, kith_dtype dtype,
                                struct forces_packed *packed)
{
    struct forces_problem *problem = &packed->problem;
    const kith_array sources = arguments->sources;
    struct columns columns;
    KITH_TRY(make_columns(dtype, sources.shape[0], "forces: a copy of the sources",
                          &packed->memory[0], &columns));
    for (int32_t c = 0; c < problem->dimensions; c++)
        problem->source_position[c] =
            pack_column(&columns, dtype, sources, c, packed->length_exponent);
    problem->source_mass =
        pack_masses(&columns, dtype, arguments->masses, sources.shape[0], packed->mass_exponent);
    if (!kith_array_is_none(arguments->source_softening))
        problem->source_half_softening2 =
            pack_softening(&columns, dtype, arguments->source_softening, packed->length_exponent);
    return KITH_OK;
}

static kith_status pack_targets(const struct forces_arguments *arguments, kith_dtype dtype,
                                struct forces_packed *packed)
{
    struct forces_problem *problem = &packed->problem;
    const kith_array targets = arguments->targets;
    problem->self = kith_array_is_none(targets);
    if (problem->self) {
        for (int32_t c = 0; c < problem->dimensions; c++)
            problem->target_position[c] = problem->source_position[c];
        problem->target_half_softening2 = problem->source_half_softening2;
        return KITH_OK;
    }
    struct columns columns;
    KITH_TRY(make_columns(dtype, targets.shape[0], "forces: a copy of the targets",
                          &packed->memory[1], &columns));
    for (int32_t c = 0; c < problem->dimensions; c++)
        problem->target_position[c] =
            pack_column(&columns, dtype, targets, c, packed->length_exponent);
    if (!kith_array_is_none(arguments->target_softening))
        problem->target_half_softening2 =
            pack_softening(&columns, dtype, arguments->target_softening, packed->length_exponent);
    return KITH_OK;
}

static kith_status make_outputs(const struct forces_arguments *arguments, kith_dtype dtype,
                                struct forces_packed *packed)
{
    struct forces_problem *problem = &packed->problem;
    struct columns columns;
    KITH_TRY(make_columns(dtype, problem->target_count, "forces: the results", &packed->memory[2],
                          &columns));
    if (!kith_array_is_none(arguments->acceleration))
        for (int32_t c = 0; c < problem->dimensions; c++)
            problem->acceleration[c] = take_column(&columns);
    if (!kith_array_is_none(arguments->potential))
        problem->potential = take_column(&columns);
    return KITH_OK;
}

kith_status forces_pack(const struct forces_arguments *arguments, kith_dtype dtype,
                        struct forces_packed *packed)
{
    const double largest_mass = kith_array_is_none(arguments->masses) ? 1 : arguments->largest_mass;
    *packed = (struct forces_packed){
        .length_exponent =
            clamp_exponent(forces_exponent_of(arguments->largest_length) - exponent_of_largest),
        .mass_exponent = clamp_exponent(forces_exponent_of(largest_mass)),
    };
    const double softening = ldexp(arguments->softening, -packed->length_exponent);
    packed->problem = (struct forces_problem){
        .dtype = dtype,
        .dimensions = (int32_t)arguments->sources.shape[1],
        .may_be_cancelled = true,
        .target_count = forces_target_count(arguments),
        .source_count = arguments->sources.shape[0],
        .gravitational_constant = 1, /* forces_unpack multiplies by G */
        .softening2 = softening * softening,
    };
    KITH_TRY(pack_sources(arguments, dtype, packed));
    KITH_TRY(pack_targets(arguments, dtype, packed));
    return make_outputs(arguments, dtype, packed);
}

/* The column times g · 2^exponent. g is taken apart, so that nothing overflows before the end. */
static void unpack_column(kith_dtype dtype, const void *packed, double g, int exponent,
                          kith_array array, int64_t column)
{
    int exponent_of_g = 0;
    const double fraction = frexp(g, &exponent_of_g);
    for (int64_t row = 0; row < array.shape[0]; row++)
        forces_set(array, row, column,
                   ldexp(fraction * get(dtype, packed, row), exponent_of_g + exponent));
}

void forces_unpack(const struct forces_packed *packed, const struct forces_arguments *arguments)
{
    const struct forces_problem *problem = &packed->problem;
    const int length = packed->length_exponent, mass = packed->mass_exponent;
    const double g = arguments->gravitational_constant;
    if (!kith_array_is_none(arguments->acceleration))
        for (int32_t c = 0; c < problem->dimensions; c++)
            unpack_column(problem->dtype, problem->acceleration[c], g, mass - 2 * length,
                          arguments->acceleration, c);
    if (!kith_array_is_none(arguments->potential))
        unpack_column(problem->dtype, problem->potential, g, mass - length, arguments->potential,
                      0);
}

void forces_packed_free(struct forces_packed *packed)
{
    for (int32_t k = 0; k < 3; k++)
        free(packed->memory[k]);
}
