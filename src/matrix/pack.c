#include "matrix/pack.h"

#include <math.h>
#include <stddef.h>

#include "core/context.h"
#include "core/memory.h"
#include "matrix/element.h"

enum { columns_of_a_side = 5 }; /* x, y, z, weight, charge */

kith_array matrix_weights_of(const struct matrix_arguments *arguments,
                             const kith_particles *particles)
{
    if (arguments->view.form.kind == law_custom || arguments->view.weight == law_weight_mass)
        return particles->masses;
    return arguments->view.weight == law_weight_charge ? particles->charges : kith_array_none();
}

void matrix_begin_problem(const struct matrix_arguments *arguments, struct matrix_problem *problem)
{
    const kith_matrix_options *options = &arguments->options;
    *problem = (struct matrix_problem){
        .numbers = arguments->view.numbers,
        .weighting = arguments->view.form.weighting == law_sum ? law_sum : law_product,
        .has_weights = !kith_array_is_none(matrix_weights_of(arguments, &arguments->rows)) ||
                       !kith_array_is_none(matrix_weights_of(arguments, &arguments->columns)),
        .softening2 = options->softening * options->softening,
        .same = arguments->same,
        .replaces_diagonal = arguments->same && options->diagonal != KITH_DIAGONAL_KEEP,
        .diagonal_value = options->diagonal == KITH_DIAGONAL_VALUE ? options->diagonal_value : 0};
    problem->rows.count = arguments->row_count;
    problem->columns.count = arguments->column_count;
}

static char *lay_out_side(char *at, int64_t bytes_each, struct matrix_side *side)
{
    const int64_t bytes = kith_padded(side->count) * bytes_each;
    for (int c = 0; c < 3; c++)
        side->x[c] = at + c * bytes;
    side->weight = at + 3 * bytes;
    side->charge = at + 4 * bytes;
    return at + columns_of_a_side * bytes;
}

void matrix_lay_out(const struct matrix_arguments *arguments, kith_dtype dtype, char *memory,
                    struct matrix_problem *problem, int64_t *bytes)
{
    const int64_t each = kith_dtype_bytes(dtype);
    const int64_t n = kith_padded(arguments->row_count), m = kith_padded(arguments->column_count);
    *bytes = (columns_of_a_side * (arguments->same ? m : n + m) + m) * each;
    matrix_begin_problem(arguments, problem);
    if (!memory)
        return;
    char *end = lay_out_side(memory, each, &problem->rows);
    if (arguments->same)
        problem->columns = problem->rows;
    else
        end = lay_out_side(end, each, &problem->columns);
    problem->columns.coefficient = end;
}

/* What stands for an array that is not there. */
static double otherwise_of(const char *name)
{
    return name ? 1 : 0;
}

/* Column k of an array, or ones (without a name: zeros), to count numbers and zeros behind them. */
static kith_status pack_column(const char *name, kith_array array, int64_t k, int64_t count,
                               kith_dtype dtype, const void *to)
{
    const bool none = kith_array_is_none(array);
    for (int64_t row = 0; row < kith_padded(count); row++) {
        const double number = row >= count ? 0
                              : none       ? otherwise_of(name)
                                           : matrix_get(array, row, k);
        if (!isfinite(number))
            return kith_fail(KITH_INVALID_ARGUMENT, "row %lld of %s has %g; give finite numbers",
                             (long long)row, name ? name : "zeros", number);
        if (dtype == KITH_F64)
            ((double *)to)[row] = number;
        else
            ((float *)to)[row] = (float)number;
    }
    return KITH_OK;
}

static kith_status pack_side(const struct matrix_arguments *arguments,
                             const kith_particles *particles, const char *const names[3],
                             kith_dtype dtype, const struct matrix_side *side)
{
    const bool custom = arguments->view.form.kind == law_custom;
    const kith_array weights = matrix_weights_of(arguments, particles);
    const char *name = weights.data == particles->charges.data ? names[2] : names[1];
    for (int32_t c = 0; c < arguments->dimensions; c++)
        KITH_TRY(pack_column(names[0], particles->positions, c, side->count, dtype, side->x[c]));
    if (arguments->dimensions == 2)
        KITH_TRY(pack_column(NULL, kith_array_none(), 0, side->count, dtype, side->x[2]));
    KITH_TRY(pack_column(name, weights, 0, side->count, dtype, side->weight));
    return pack_column(names[2], custom ? particles->charges : kith_array_none(), 0, side->count,
                       dtype, side->charge);
}

kith_status matrix_pack(const struct matrix_arguments *arguments, kith_dtype dtype,
                        struct matrix_packed *packed)
{
    static const char *const of_rows[] = {"rows.positions", "rows.masses", "rows.charges"};
    static const char *const of_columns[] = {"columns.positions", "columns.masses",
                                             "columns.charges"};
    kith_context *context = arguments->context;
    void *host = NULL, *own = NULL;
    matrix_lay_out(arguments, dtype, NULL, &packed->host, &packed->bytes);
    KITH_TRY(context->backend->workspace(context, packed->bytes, &host, &own));
    packed->memory = host;
    packed->own_memory = own;
    matrix_lay_out(arguments, dtype, host, &packed->host, &packed->bytes);
    matrix_lay_out(arguments, dtype, own, &packed->own, &packed->bytes);
    KITH_TRY(pack_side(arguments, &arguments->rows, of_rows, dtype, &packed->host.rows));
    return arguments->same ? KITH_OK
                           : pack_side(arguments, &arguments->columns, of_columns, dtype,
                                       &packed->host.columns);
}

kith_status matrix_pack_coefficient(const struct matrix_arguments *arguments, kith_dtype dtype,
                                    kith_array b, int64_t k, const struct matrix_packed *packed)
{
    const struct matrix_side *columns = &packed->host.columns;
    const bool weighted =
        packed->host.weighting == law_product && arguments->view.form.kind != law_custom;
    KITH_TRY(pack_column("b", b, k, columns->count, dtype, columns->coefficient));
    for (int64_t j = 0; weighted && j < columns->count; j++)
        if (dtype == KITH_F64)
            ((double *)columns->coefficient)[j] *= ((const double *)columns->weight)[j];
        else
            ((float *)columns->coefficient)[j] *= ((const float *)columns->weight)[j];
    return KITH_OK;
}

kith_status matrix_send(const struct matrix_arguments *arguments,
                        const struct matrix_packed *packed)
{
    kith_context *context = arguments->context;
    if (packed->memory == packed->own_memory)
        return KITH_OK;
    return context->backend->copy_in(context, packed->own_memory, packed->memory, packed->bytes);
}
