#include "matrix/arguments.h"

#include <math.h>
#include <string.h>

#include "core/arguments.h"
#include "core/status.h"
#include "device/context.h"
#include "law/law.h"

static kith_status check_result(const struct matrix_arguments *arguments,
                                const struct named_array *result)
{
    if (kith_array_is_none(*result->array))
        return kith_fail(KITH_INVALID_ARGUMENT, "%s is not given; give an array", result->name);
    return kith_check_array(arguments->context, result, &arguments->rows.positions,
                            arguments->rows.argument->positions);
}

kith_status matrix_check_input(const struct matrix_arguments *arguments,
                               const struct named_array *input)
{
    return check_result(arguments, input);
}

kith_status matrix_check_result(const struct matrix_arguments *arguments,
                                const struct named_array *result)
{
    KITH_TRY(check_result(arguments, result));
    KITH_TRY(kith_check_output(result));
    KITH_TRY(particles_check_overlap(result, &arguments->rows));
    return particles_check_overlap(result, &arguments->columns);
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
        return kith_fail(
            KITH_UNSUPPORTED,
            "method is the reference, which computes on the host, but the arrays are elsewhere; "
            "copy them to the host");
    if ((method == KITH_MATRIX_TILE_P || method == KITH_MATRIX_TILE_P2) && !on_gpu)
        return kith_fail(KITH_UNSUPPORTED,
                         "method is a tile kernel of GPUs, but this context computes on the CPU; "
                         "use direct, or a context on a GPU");
    if ((method == KITH_MATRIX_TILE_P || method == KITH_MATRIX_TILE_P2) &&
        arguments->view.form.kind == law_custom)
        return kith_fail(
            KITH_UNSUPPORTED,
            "method is a tile kernel of GPUs, which supports only built-in laws; use direct");
    return KITH_OK;
}

/* Beyond three dimensions a law has r alone. Most kernels of GPUs have three. */
static kith_status check_dimensions(const struct matrix_arguments *arguments)
{
    const char *name = arguments->rows.argument->positions;
    const int dimensions = (int)arguments->dimensions;
    KITH_TRY(law_check_single(arguments->law));
    KITH_TRY(law_check_dimensions(arguments->law, dimensions));
    if (dimensions > 3 && !arguments->view.is_central)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "law has dx, dy or dz, and %s has %d columns; give a formula in r or r2, "
                         "or at most 3 columns",
                         name, dimensions);
    if (dimensions > 3 && arguments->context->device.kind != KITH_CPU &&
        (arguments->view.form.kind != law_gaussian || arguments->dtype != KITH_F32))
        return kith_fail(KITH_UNSUPPORTED,
                         "%s has %d columns, and a matrix on a GPU takes at most 3, but for sums "
                         "of a Gaussian in single precision; compute on the CPU",
                         name, dimensions);
    return KITH_OK;
}

static kith_status check_positions(const struct particles_side *side)
{
    const struct particles_argument *argument = side->argument;
    if (!kith_array_is_none(side->column[particles_softening]))
        return kith_fail(KITH_UNSUPPORTED,
                         "%s is given, and a matrix has one softening; give the option softening",
                         argument->column[particles_softening]);
    return kith_check_points(side->positions, argument->positions);
}

/* Forces mix these columns; a matrix of the law's own ε and σ would be another. */
static kith_status check_mixing(const struct matrix_arguments *arguments)
{
    const kith_law_info *info = arguments->law->info;
    const struct particles_side *const sides[] = {&arguments->rows, &arguments->columns};
    for (int k = 0; k < 2 && info && strcmp(info->name, "lennard-jones") == 0; k++)
        if (!kith_array_is_none(sides[k]->column[particles_epsilon]) ||
            !kith_array_is_none(sides[k]->column[particles_sigma]))
            return kith_fail(KITH_UNSUPPORTED,
                             "%s have a column epsilon or sigma, which matrices do not support; "
                             "leave it out, or give a formula of the columns m and q",
                             sides[k]->argument->name);
    return KITH_OK;
}

static kith_status check_all(struct matrix_arguments *arguments)
{
    const kith_array positions = arguments->rows.positions;
    const kith_context *context = arguments->context;
    KITH_TRY(check_positions(&arguments->rows));
    KITH_TRY(kith_check_device(context, positions, arguments->rows.argument->positions));
    KITH_TRY(check_positions(&arguments->columns));
    arguments->dtype = positions.dtype;
    if (arguments->dtype == KITH_F32)
        arguments->options.diagonal_value = (float)arguments->options.diagonal_value;
    arguments->dimensions = (int32_t)positions.shape[1];
    arguments->row_count = positions.shape[0];
    arguments->column_count = arguments->columns.positions.shape[0];
    arguments->on_device = positions.device.kind != KITH_CPU;
    KITH_TRY(particles_check(context, &arguments->rows, 0, &arguments->rows));
    KITH_TRY(particles_check(context, &arguments->columns, 0, &arguments->rows));
    KITH_TRY(check_dimensions(arguments));
    KITH_TRY(check_options(arguments));
    KITH_TRY(check_mixing(arguments));
    return check_method(arguments);
}

kith_status matrix_take_arguments(kith_context *context, const kith_law *law,
                                  const kith_matrix_options *options, const kith_particles *rows,
                                  const kith_particles *columns, struct matrix_arguments *arguments)
{
    *arguments = (struct matrix_arguments){.context = context, .law = law};
    KITH_TRY(kith_check_pointer(context, "context"));
    if (!law) {
        KITH_TRY(kith_law_parse("gravity", 0, NULL, &arguments->own_law));
        arguments->law = arguments->own_law;
    }
    law_look(arguments->law, &arguments->view);
    if (options)
        arguments->options = *options;
    arguments->same = !columns || columns == rows;
    KITH_TRY(particles_take(&particles_rows_of_matrix, rows, &arguments->rows));
    KITH_TRY(
        particles_take(arguments->same ? &particles_rows_of_matrix : &particles_columns_of_matrix,
                       arguments->same ? rows : columns, &arguments->columns));
    return check_all(arguments);
}

void matrix_drop_arguments(struct matrix_arguments *arguments)
{
    kith_law_free(arguments->own_law);
}
