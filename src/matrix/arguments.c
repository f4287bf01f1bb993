#include "matrix/arguments.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/arguments.h"
#include "core/context.h"
#include "core/status.h"

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

static int64_t columns_of(kith_array array)
{
    return array.ndim == 2 ? array.shape[1] : 1;
}

static bool same_place(kith_device a, kith_device b)
{
    return a.kind == b.kind && (a.kind == KITH_CPU || a.index == b.index);
}

/* The host's memory serves every context, a device's the one that computes there. */
static kith_status check_place(kith_device device, kith_device place)
{
    char name[32], own[32];
    if (place.kind == KITH_CPU || (place.kind == KITH_CUDA && same_place(device, place)))
        return KITH_OK;
    if (place.kind != KITH_CUDA)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "rows.positions is in the memory of a device of kind %d; give KITH_CPU "
                         "or KITH_CUDA",
                         (int)place.kind);
    if (device.kind == KITH_CPU)
        return kith_fail(KITH_UNSUPPORTED,
                         "rows.positions is not in the host's memory, and this context computes on "
                         "the CPU; copy it to the host");
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "rows.positions is %s, and this context computes %s; copy it, or make a "
                     "context there",
                     place_name(place, name), place_name(device, own));
}

static kith_status check_positions(const char *name, kith_array positions)
{
    if (kith_array_is_none(positions))
        return kith_fail(KITH_INVALID_ARGUMENT, "%s is none; give the particles' positions", name);
    if (positions.dtype != KITH_F64 && positions.dtype != KITH_F32)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s is of %s; give float64 or float32", name,
                         dtype_name(positions.dtype));
    if (positions.ndim != 2 || (positions.shape[1] != 2 && positions.shape[1] != 3) ||
        positions.shape[0] < 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s has %d dimensions and %lld columns; give n × 2 or n × 3", name,
                         (int)positions.ndim, (long long)columns_of(positions));
    return kith_check_extent(positions, name);
}

/* Byte addresses that an array's elements lie between. */
static void extent(kith_array array, uintptr_t *first, uintptr_t *end)
{
    int64_t low = 0, high = 0;
    for (int32_t k = 0; k < array.ndim; k++) {
        const int64_t span = (array.shape[k] - 1) * array.strides[k];
        low += span < 0 ? span : 0;
        high += span > 0 ? span : 0;
    }
    const int64_t each = kith_dtype_bytes(array.dtype);
    *first = (uintptr_t)array.data + (uintptr_t)(low * each);
    *end = (uintptr_t)array.data + (uintptr_t)((high + 1) * each);
}

static bool is_empty(kith_array array)
{
    return kith_array_is_none(array) || array.shape[0] == 0 || columns_of(array) == 0;
}

static kith_status check_overlap(const struct matrix_result *result, const char *name,
                                 kith_array other)
{
    uintptr_t first = 0, end = 0, other_first = 0, other_end = 0;
    if (is_empty(result->array) || is_empty(other))
        return KITH_OK;
    extent(result->array, &first, &end);
    extent(other, &other_first, &other_end);
    if (first < other_end && other_first < end)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s overlaps %s; give it memory of its own",
                         result->name, name);
    return KITH_OK;
}

static kith_status check_shape(const struct matrix_result *result)
{
    const kith_array *array = &result->array;
    if (array->ndim != result->ndim)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s has %d dimensions; give %d", result->name,
                         (int)array->ndim, (int)result->ndim);
    for (int32_t k = 0; k < array->ndim; k++) {
        if (result->shape[k] >= 0 && array->shape[k] != result->shape[k])
            return kith_fail(KITH_INVALID_ARGUMENT, "%s has %lld %s; give %lld", result->name,
                             (long long)array->shape[k],
                             array->ndim == 1 ? "elements"
                             : k == 0         ? "rows"
                                              : "columns",
                             (long long)result->shape[k]);
        if (result->is_output && array->strides[k] == 0 && array->shape[k] > 1 &&
            array->shape[0] > 0)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "%s has stride 0 along dimension %d, so that results would overwrite "
                             "each other; give each element its own memory",
                             result->name, (int)k);
    }
    return KITH_OK;
}

static kith_status check_array(const struct matrix_arguments *arguments,
                               const struct matrix_result *result)
{
    char name[32], common[32];
    const kith_device place = arguments->rows.positions.device;
    const kith_array *array = &result->array;
    if (!same_place(array->device, place))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s is %s and rows.positions is %s; give all arrays in one place",
                         result->name, place_name(array->device, name), place_name(place, common));
    if (array->dtype != result->dtype)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s is of %s; give %s", result->name,
                         dtype_name(array->dtype), dtype_name(result->dtype));
    KITH_TRY(kith_check_extent(*array, result->name));
    KITH_TRY(check_shape(result));
    if (!array->data && !is_empty(*array))
        return kith_fail(KITH_INVALID_ARGUMENT, "%s has %lld elements and its data is NULL",
                         result->name, (long long)(array->shape[0] * columns_of(*array)));
    return KITH_OK;
}

kith_status matrix_check_result(const struct matrix_arguments *arguments,
                                const struct matrix_result *result)
{
    if (kith_array_is_none(result->array))
        return kith_fail(KITH_INVALID_ARGUMENT, "%s is none; give an array", result->name);
    KITH_TRY(check_array(arguments, result));
    if (!result->is_output)
        return KITH_OK;
    const kith_particles *rows = &arguments->rows, *columns = &arguments->columns;
    KITH_TRY(check_overlap(result, "rows.positions", rows->positions));
    KITH_TRY(check_overlap(result, "rows.masses", rows->masses));
    KITH_TRY(check_overlap(result, "rows.charges", rows->charges));
    KITH_TRY(check_overlap(result, "columns.positions", columns->positions));
    KITH_TRY(check_overlap(result, "columns.masses", columns->masses));
    return check_overlap(result, "columns.charges", columns->charges);
}

static kith_status check_particles(const struct matrix_arguments *arguments,
                                   const kith_particles *particles, const char *const names[3])
{
    const int64_t n = particles->positions.shape[0];
    const kith_dtype dtype = arguments->dtype;
    const struct matrix_result arrays[] = {
        {names[0], particles->positions, 2, {n, arguments->dimensions}, dtype, false},
        {names[1], particles->masses, 1, {n, 0}, dtype, false},
        {names[2], particles->charges, 1, {n, 0}, dtype, false}};
    for (int k = 0; k < 3; k++)
        if (!kith_array_is_none(arrays[k].array))
            KITH_TRY(check_array(arguments, &arrays[k]));
    return KITH_OK;
}

static kith_status check_options(const struct matrix_arguments *arguments)
{
    const kith_matrix_options *options = &arguments->options;
    if (!isfinite(options->softening) || options->softening < 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "softening is %g; give a length of at least 0",
                         options->softening);
    if ((unsigned)options->diagonal > KITH_DIAGONAL_VALUE)
        return kith_fail(KITH_INVALID_ARGUMENT, "diagonal is %d; give a kith_matrix_diagonal",
                         (int)options->diagonal);
    if ((unsigned)options->method > KITH_MATRIX_TILE_P2)
        return kith_fail(KITH_INVALID_ARGUMENT, "method is %d; give a kith_matrix_method",
                         (int)options->method);
    const int32_t most = options->method == KITH_MATRIX_TILE_P2 ? 32 : 1024;
    if (options->block < 0 || options->block > most)
        return kith_fail(KITH_INVALID_ARGUMENT, "block is %d; give 1 to %d, or 0 for the best",
                         (int)options->block, (int)most);
    if (options->symmetric && !arguments->same)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "symmetric is set and columns are given; a matrix of two sets is not "
                         "symmetric");
    return KITH_OK;
}

static kith_status check_method(const struct matrix_arguments *arguments)
{
    const kith_matrix_method method = arguments->options.method;
    const bool on_gpu = arguments->context->device.kind == KITH_CUDA;
    if (method == KITH_MATRIX_REFERENCE && arguments->on_device)
        return kith_fail(KITH_UNSUPPORTED, "method is the reference, which computes on the host, "
                                           "and the arrays are not there; copy them to the host");
    if ((method == KITH_MATRIX_TILE_P || method == KITH_MATRIX_TILE_P2) && !on_gpu)
        return kith_fail(KITH_UNSUPPORTED,
                         "method is one of a GPU's tiles, and this context computes on the CPU; "
                         "give direct, or a device");
    if ((method == KITH_MATRIX_TILE_P || method == KITH_MATRIX_TILE_P2) &&
        arguments->view.form.kind == law_custom)
        return kith_fail(KITH_UNSUPPORTED, "method is one of a GPU's tiles, which know the laws of "
                                           "the table only; give direct");
    return KITH_OK;
}

static kith_status check_all(struct matrix_arguments *arguments)
{
    static const char *const of_rows[] = {"rows.positions", "rows.masses", "rows.charges"};
    static const char *const of_columns[] = {"columns.positions", "columns.masses",
                                             "columns.charges"};
    const kith_array positions = arguments->rows.positions;
    KITH_TRY(check_positions("rows.positions", positions));
    KITH_TRY(check_place(arguments->context->device, positions.device));
    KITH_TRY(check_positions("columns.positions", arguments->columns.positions));
    arguments->dtype = positions.dtype;
    arguments->dimensions = (int32_t)positions.shape[1];
    arguments->row_count = positions.shape[0];
    arguments->column_count = arguments->columns.positions.shape[0];
    arguments->on_device = positions.device.kind != KITH_CPU;
    KITH_TRY(check_particles(arguments, &arguments->rows, of_rows));
    KITH_TRY(check_particles(arguments, &arguments->columns, of_columns));
    KITH_TRY(check_options(arguments));
    return check_method(arguments);
}

kith_status matrix_take_arguments(kith_context *context, const kith_law *law,
                                  const kith_matrix_options *options, const kith_particles *rows,
                                  const kith_particles *columns, struct matrix_arguments *arguments)
{
    *arguments = (struct matrix_arguments){.context = context, .law = law};
    KITH_TRY(kith_check_pointer(context, "context"));
    if (!rows)
        return kith_fail(KITH_INVALID_ARGUMENT, "rows is NULL; give the particles of the rows");
    if (!law) {
        KITH_TRY(kith_law_parse("gravity", 0, NULL, &arguments->own_law));
        arguments->law = arguments->own_law;
    }
    law_look(arguments->law, &arguments->view);
    if (options)
        arguments->options = *options;
    arguments->same = !columns || columns == rows;
    arguments->rows = *rows;
    arguments->columns = arguments->same ? *rows : *columns;
    return check_all(arguments);
}

void matrix_drop_arguments(struct matrix_arguments *arguments)
{
    kith_law_free(arguments->own_law);
}
