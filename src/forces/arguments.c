#include "forces/arguments.h"

#include <math.h>
#include <stdio.h>

#include "core/arguments.h"
#include "core/status.h"
#include "forces/columns.h"
#include "forces/element.h"

/* An array with the name that messages give it, and what it must be like. */
struct named_array {
    const char *name;
    kith_array array;
    int32_t ndim;
    int64_t rows; /* −1: any */
    int64_t columns;
};

enum { array_count = 10, first_output = 8 };

static const char *dtype_name(kith_dtype dtype)
{
    static const char *const names[] = {"float64", "float32", "int64", "int32"};
    return (unsigned)dtype < sizeof names / sizeof names[0] ? names[dtype] : "unknown";
}

static const char *place_name(kith_device place, char name[32])
{
    if (place.kind == KITH_CUDA)
        snprintf(name, 32, "on cuda:%d", (int)place.index);
    else
        snprintf(name, 32, place.kind == KITH_CPU ? "in the host's memory" : "nowhere known");
    return name;
}

/* The host's memory serves every context, a device's the one that computes there. */
static kith_status check_place_of_sources(kith_device device, kith_device place)
{
    char name[32], own[32];
    if (place.kind == KITH_CPU)
        return KITH_OK;
    if (place.kind != KITH_CUDA)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "sources is in the memory of a device of kind %d; give KITH_CPU or "
                         "KITH_CUDA",
                         (int)place.kind);
    if (device.kind == KITH_CPU)
        return kith_fail(KITH_UNSUPPORTED,
                         "sources is not in the host's memory, and this context computes on the "
                         "CPU; copy it to the host");
    if (device.kind != place.kind || device.index != place.index)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "sources is %s, and this context computes %s; copy it, or make a context "
                         "there",
                         place_name(place, name), place_name(device, own));
    return KITH_OK;
}

static kith_status check_place(const struct named_array *named, kith_device sources)
{
    char name[32], common[32];
    const kith_device place = named->array.device;
    if (place.kind == sources.kind && (place.kind == KITH_CPU || place.index == sources.index))
        return KITH_OK;
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "%s is %s and sources is %s; give all arrays in one place", named->name,
                     place_name(place, name), place_name(sources, common));
}

static kith_status check_shape(const struct named_array *named)
{
    const kith_array *array = &named->array;
    if (array->ndim != named->ndim)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s has %d dimensions; give %d", named->name,
                         (int)array->ndim, (int)named->ndim);

    const int64_t rows = array->shape[0], columns = forces_columns(*array);
    const bool rows_fit = named->rows < 0 ? rows >= 0 : rows == named->rows;
    if (rows_fit && columns == named->columns)
        return KITH_OK;

    char expected[32] = "n";
    if (named->rows >= 0)
        snprintf(expected, sizeof expected, "%lld", (long long)named->rows);
    if (named->ndim == 1)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s has %lld elements; give %s", named->name,
                         (long long)rows, expected);
    return kith_fail(KITH_INVALID_ARGUMENT, "%s is %lld × %lld; give %s × %lld", named->name,
                     (long long)rows, (long long)columns, expected, (long long)named->columns);
}

static kith_status check_array(const struct named_array *named, kith_array sources)
{
    if (kith_array_is_none(named->array))
        return KITH_OK;
    KITH_TRY(check_place(named, sources.device));
    if (named->array.dtype != sources.dtype)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s is of %s and sources is of %s; give all arrays one dtype", named->name,
                         dtype_name(named->array.dtype), dtype_name(sources.dtype));
    KITH_TRY(check_shape(named));
    KITH_TRY(kith_check_extent(named->array, named->name));
    if (!named->array.data && named->array.shape[0] > 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s has %lld rows and its data is NULL",
                         named->name, (long long)named->array.shape[0]);
    return KITH_OK;
}

/* The first and the last byte's address + 1 of an array without gaps, or of its first element. */
static void extent(kith_array array, uintptr_t *first, uintptr_t *end)
{
    const int64_t columns = forces_columns(array);
    const bool dense = array.strides[0] == columns && (array.ndim == 1 || array.strides[1] == 1);
    const int64_t elements = dense ? array.shape[0] * columns : 1;
    *first = (uintptr_t)array.data;
    *end = *first + (uintptr_t)(elements * kith_dtype_bytes(array.dtype));
}

/* Catches the usual mistake, an array given twice; arrays may well interleave without overlap. */
static kith_status check_overlap(const struct named_array *output, const struct named_array *other)
{
    if (kith_array_is_none(output->array) || kith_array_is_none(other->array) ||
        output->array.shape[0] == 0 || other->array.shape[0] == 0)
        return KITH_OK;
    uintptr_t first = 0, end = 0, other_first = 0, other_end = 0;
    extent(output->array, &first, &end);
    extent(other->array, &other_first, &other_end);
    if (first < other_end && other_first < end)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s overlaps %s; give it memory of its own",
                         output->name, other->name);
    return KITH_OK;
}

static kith_status check_output_strides(const struct named_array *output)
{
    const kith_array *array = &output->array;
    for (int32_t k = 0; k < array->ndim; k++)
        if (array->strides[k] == 0 && array->shape[k] > 1 && array->shape[0] > 0)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "%s has stride 0 along dimension %d, so that results would overwrite "
                             "each other; give each element its own memory",
                             output->name, (int)k);
    return KITH_OK;
}

static kith_status check_arrays(const struct forces_arguments *arguments)
{
    const kith_array sources = arguments->sources;
    const int64_t n = forces_target_count(arguments), m = sources.shape[0];
    const int64_t dimensions = sources.shape[1];
    const struct named_array arrays[array_count] = {
        {"targets", arguments->targets, 2, -1, dimensions},
        {"sources", sources, 2, -1, dimensions},
        {"masses", arguments->masses, 1, m, 1},
        {"target_softening", arguments->target_softening, 1, n, 1},
        {"source_softening", arguments->source_softening, 1, m, 1},
        {"target_masses", arguments->target_masses, 1, n, 1},
        {"source_charges", arguments->source_charges, 1, m, 1},
        {"target_charges", arguments->target_charges, 1, n, 1},
        {"acceleration", arguments->acceleration, 2, n, dimensions},
        {"potential", arguments->potential, 1, n, 1},
    };
    for (int32_t k = 0; k < array_count; k++)
        KITH_TRY(check_array(&arrays[k], sources));
    for (int32_t output = first_output; output < array_count; output++) {
        KITH_TRY(check_output_strides(&arrays[output]));
        for (int32_t other = 0; other < output; other++)
            KITH_TRY(check_overlap(&arrays[output], &arrays[other]));
    }
    return KITH_OK;
}

/* Sources are checked first: what all other arrays must be follows from them. */
static kith_status check_sources(kith_array sources)
{
    if (kith_array_is_none(sources))
        return kith_fail(KITH_INVALID_ARGUMENT, "sources is none; give the sources' positions");
    if (sources.dtype != KITH_F64 && sources.dtype != KITH_F32)
        return kith_fail(KITH_INVALID_ARGUMENT, "sources is of %s; give float64 or float32",
                         dtype_name(sources.dtype));
    if (sources.ndim != 2 || (sources.shape[1] != 2 && sources.shape[1] != 3))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "sources has %d dimensions and %lld columns; give n × 2 or n × 3",
                         (int)sources.ndim, (long long)forces_columns(sources));
    return KITH_OK;
}

static kith_status check_options(const struct forces_arguments *arguments)
{
    const double softening = arguments->softening, g = arguments->gravitational_constant;
    if (!isfinite(g))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "gravitational_constant is %g; give a finite number", g);
    if (!isfinite(softening) || softening < 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "softening is %g; give a length of at least 0",
                         softening);

    const bool of_sources = !kith_array_is_none(arguments->source_softening);
    const bool of_targets = !kith_array_is_none(arguments->target_softening);
    const bool has_targets = !kith_array_is_none(arguments->targets);
    if (of_sources && softening > 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "softening is %g and source_softening is given; give one of them",
                         softening);
    if (of_targets && !has_targets)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "target_softening is given and the targets are the sources; give "
                         "source_softening alone");
    if (!has_targets && (!kith_array_is_none(arguments->target_masses) ||
                         !kith_array_is_none(arguments->target_charges)))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s is given and the targets are the sources; give those of the sources "
                         "alone",
                         kith_array_is_none(arguments->target_masses) ? "target_charges"
                                                                      : "target_masses");
    if (of_targets != of_sources && has_targets)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "only %s is given and the targets are not the sources; give both or none",
                         of_sources ? "source_softening" : "target_softening");
    return KITH_OK;
}

static kith_status fail_at_bad_row(const char *name, kith_array array, double least)
{
    int64_t row = 0, column = 0;
    double value = 0;
    for (;;) {
        value = forces_get(array, row, column);
        if (!isfinite(value) || value < least)
            break;
        column = (column + 1) % forces_columns(array);
        row += column == 0;
    }
    return kith_fail(KITH_INVALID_ARGUMENT, "row %lld of %s has %g; give %s", (long long)row, name,
                     value, forces_remedy(least));
}

/* The largest magnitude of the array's numbers, at least *largest; an error if one is not finite or
 * less than least. */
static kith_status check_numbers(kith_context *context, const char *name, kith_array array,
                                 double least, double *largest)
{
    if (kith_array_is_none(array))
        return KITH_OK;
    for (int64_t column = 0; column < forces_columns(array); column++)
        if (!forces_column_measure(context, array, column, least, largest))
            return fail_at_bad_row(name, array, least);
    return KITH_OK;
}

static kith_status check_all_numbers(struct forces_arguments *arguments)
{
    kith_context *context = arguments->context;
    double *length = &arguments->largest_length, *mass = &arguments->largest_mass;
    *length = arguments->softening;
    *mass = 0;
    KITH_TRY(check_numbers(context, "targets", arguments->targets, -INFINITY, length));
    KITH_TRY(check_numbers(context, "sources", arguments->sources, -INFINITY, length));
    KITH_TRY(check_numbers(context, "masses", arguments->masses,
                           forces_least_mass(arguments, false), mass));
    KITH_TRY(check_numbers(context, "target_softening", arguments->target_softening, 0, length));
    KITH_TRY(check_numbers(context, "source_softening", arguments->source_softening, 0, length));
    KITH_TRY(check_numbers(context, "target_masses", arguments->target_masses,
                           forces_least_mass(arguments, true), mass));
    double charge = 0;
    KITH_TRY(
        check_numbers(context, "source_charges", arguments->source_charges, -INFINITY, &charge));
    return check_numbers(context, "target_charges", arguments->target_charges, -INFINITY, &charge);
}

kith_status forces_check_arguments(kith_device device, struct forces_arguments *arguments)
{
    KITH_TRY(check_sources(arguments->sources));
    KITH_TRY(check_place_of_sources(device, arguments->sources.device));
    KITH_TRY(check_arrays(arguments));
    KITH_TRY(check_options(arguments));
    return forces_on_device(arguments) ? KITH_OK : check_all_numbers(arguments);
}
