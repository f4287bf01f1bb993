#include "matrix/pack.h"

#include <float.h>
#include <math.h>
#include <stddef.h>

#include "core/bad_row.h"
#include "core/memory.h"
#include "core/reals.h"
#include "device/context.h"
#include "law/formula.h"
#include "matrix/backend.h"
#include "matrix/diagonal.h"

enum { columns_of_a_side = 5 }; /* x, y, z, weight, charge; then the axes from the fourth on */

enum particles_column matrix_weight_column(const struct matrix_arguments *arguments)
{
    return arguments->view.form.kind != law_custom && arguments->view.weight == law_weight_charge
               ? particles_q
               : particles_m;
}

kith_array matrix_weights_of(const struct matrix_arguments *arguments,
                             const struct particles_side *side)
{
    const bool weighted =
        arguments->view.form.kind == law_custom || arguments->view.weight != law_weight_none;
    return weighted ? side->column[matrix_weight_column(arguments)] : kith_array_none();
}

/* The rules of the columns, without their memory. */
static void begin_problem(const struct matrix_arguments *arguments, struct matrix_problem *problem)
{
    const kith_matrix_options *options = &arguments->options;
    *problem = (struct matrix_problem){
        .numbers = arguments->view.numbers,
        .weighting = arguments->view.form.weighting == law_sum ? law_sum : law_product,
        .has_weights = !kith_array_is_none(matrix_weights_of(arguments, &arguments->rows)) ||
                       !kith_array_is_none(matrix_weights_of(arguments, &arguments->columns)),
        .softening2 = options->softening * options->softening,
        .more_axes = arguments->dimensions > 3 ? arguments->dimensions - 3 : 0,
        .same = arguments->same,
        .replaces_diagonal = arguments->same && options->diagonal != KITH_DIAGONAL_KEEP,
        .leaves_diagonal_out = arguments->same && options->diagonal == KITH_DIAGONAL_ZERO,
        .diagonal_value = options->diagonal == KITH_DIAGONAL_VALUE ? options->diagonal_value : 0};
    problem->rows.count = arguments->row_count;
    problem->rows.stride = kith_padded(arguments->row_count);
    problem->columns.count = arguments->column_count;
    problem->columns.stride = kith_padded(arguments->column_count);
}

static char *lay_out_side(char *at, int64_t bytes_each, int more_axes, struct matrix_side *side)
{
    const int64_t bytes = side->stride * bytes_each;
    for (int c = 0; c < 3; c++)
        side->x[c] = at + c * bytes;
    side->weight = at + 3 * bytes;
    side->charge = at + 4 * bytes;
    side->more_axes = at + columns_of_a_side * bytes;
    return at + (columns_of_a_side + more_axes) * bytes;
}

void matrix_lay_out(const struct matrix_arguments *arguments, kith_dtype dtype, char *memory,
                    struct matrix_problem *problem, int64_t *bytes)
{
    const int64_t each = kith_dtype_bytes(dtype);
    begin_problem(arguments, problem);
    const int64_t n = problem->rows.stride, m = problem->columns.stride;
    const int64_t columns = columns_of_a_side + problem->more_axes;
    *bytes = (columns * (arguments->same ? m : n + m) + m) * each;
    if (!memory)
        return;
    char *end = lay_out_side(memory, each, problem->more_axes, &problem->rows);
    if (arguments->same)
        problem->columns = problem->rows;
    else
        end = lay_out_side(end, each, problem->more_axes, &problem->columns);
    problem->columns.coefficient = end;
}

/* The value of an absent array. */
static double otherwise_of(const char *name)
{
    return name ? 1 : 0;
}

double matrix_largest_coordinate(const struct matrix_arguments *arguments, kith_dtype dtype)
{
    return formula_uses_distance(arguments->view.value) ? kith_largest_coordinate(dtype) : DBL_MAX;
}

/* Column k of an array, or ones (without a name: zeros), to count numbers and zeros after them.
 * Coordinates are at most largest. */
static kith_status pack_coordinates(const char *name, kith_array array, int64_t k, int64_t count,
                                    kith_dtype dtype, double largest, const void *to)
{
    const bool none = kith_array_is_none(array);
    for (int64_t row = 0; row < kith_padded(count); row++) {
        const double number = row >= count ? 0
                              : none       ? otherwise_of(name)
                                           : array_get(array, row, k);
        if (!(fabs(number) <= largest))
            return kith_fail_at_row(name ? name : "zeros", row, number,
                                    isfinite(number) ? kith_remedy_of_far(dtype)
                                                     : "finite numbers");
        real_set(dtype, (void *)to, row, number);
    }
    return KITH_OK;
}

static kith_status pack_column(const char *name, kith_array array, int64_t k, int64_t count,
                               kith_dtype dtype, const void *to)
{
    return pack_coordinates(name, array, k, count, dtype, DBL_MAX, to);
}

static kith_status pack_side(const struct matrix_arguments *arguments,
                             const struct particles_side *particles, kith_dtype dtype,
                             const struct matrix_side *side)
{
    const bool custom = arguments->view.form.kind == law_custom;
    const struct particles_argument *argument = particles->argument;
    const kith_array weights = matrix_weights_of(arguments, particles);
    const char *name = argument->column[matrix_weight_column(arguments)];
    const int64_t axis_bytes = side->stride * kith_dtype_bytes(dtype);
    const double largest = matrix_largest_coordinate(arguments, dtype);
    for (int32_t c = 0; c < arguments->dimensions; c++)
        KITH_TRY(pack_coordinates(
            argument->positions, particles->positions, c, side->count, dtype, largest,
            c < 3 ? side->x[c] : (const char *)side->more_axes + (c - 3) * axis_bytes));
    for (int32_t c = arguments->dimensions; c < 3; c++)
        KITH_TRY(pack_column(NULL, kith_array_none(), 0, side->count, dtype, side->x[c]));
    KITH_TRY(pack_column(name, weights, 0, side->count, dtype, side->weight));
    return pack_column(argument->column[particles_q],
                       custom ? particles->column[particles_q] : kith_array_none(), 0, side->count,
                       dtype, side->charge);
}

kith_status matrix_pack(const struct matrix_arguments *arguments, kith_dtype dtype,
                        struct matrix_problem *problem)
{
    void *host = NULL, *own = NULL;
    int64_t bytes = 0;
    matrix_lay_out(arguments, dtype, NULL, problem, &bytes);
    KITH_TRY(arguments->context->services->workspace(arguments->context, bytes, &host, &own));
    matrix_lay_out(arguments, dtype, host, problem, &bytes);
    KITH_TRY(pack_side(arguments, &arguments->rows, dtype, &problem->rows));
    return arguments->same ? KITH_OK
                           : pack_side(arguments, &arguments->columns, dtype, &problem->columns);
}

kith_status matrix_pack_cpu(const struct matrix_arguments *arguments, kith_array b,
                            struct matrix_problem *problem)
{
    const kith_dtype dtype = arguments->dtype;
    KITH_TRY(matrix_pack(arguments, dtype, problem));
    const struct matrix_side *columns = &problem->columns;
    const bool weighted =
        problem->weighting == law_product && arguments->view.form.kind != law_custom;
    KITH_TRY(pack_column("b", b, 0, columns->count, dtype, columns->coefficient));
    for (int64_t j = 0; weighted && j < columns->count; j++)
        if (dtype == KITH_F64)
            ((double *)columns->coefficient)[j] *= ((const double *)columns->weight)[j];
        else
            ((float *)columns->coefficient)[j] *= ((const float *)columns->weight)[j];
    return KITH_OK;
}

/* The minimum of −V is minus the maximum. */
kith_status matrix_deliver_cpu(kith_context *context, const struct matrix_task *task,
                               const struct matrix_delivery *from)
{
    (void)context;
    const struct matrix_problem *problem = &task->problem;
    const bool counts_number = matrix_counts_number(problem);
    const void *weight = problem->rows.weight;
    for (int64_t i = 0; i < problem->rows.count; i++) {
        double found = from->found[i];
        long long at = from->at ? from->at[i] : -1;
        if (counts_number && from->at)
            matrix_count_number(problem, from->sign, i, &found, &at);
        if (from->is_place) {
            ((int64_t *)from->to.data)[i * from->to.strides[0]] = at;
            continue;
        }
        double value = from->sign * found;
        if (from->is_weighted)
            value *= real_get(task->dtype, weight, i);
        if (counts_number && !from->at)
            value += problem->diagonal_value *
                     (kith_array_is_none(from->b) ? 1 : array_get(from->b, i, 0));
        array_set(from->to, i, 0, value);
    }
    return KITH_OK;
}

void matrix_stage(struct staging *staging, struct matrix_arguments *arguments)
{
    particles_stage(staging, &arguments->rows);
    if (!arguments->same)
        particles_stage(staging, &arguments->columns);
}

bool matrix_is_staged(const struct matrix_arguments *arguments)
{
    return staging_is_needed(arguments->context, arguments->rows.positions) &&
           arguments->options.method != KITH_MATRIX_REFERENCE;
}

kith_status matrix_columns(const struct matrix_arguments *arguments, struct matrix_problem *problem)
{
    const struct matrix_backend *backend = matrix_backend_of(arguments->context);
    if (!matrix_is_staged(arguments))
        return backend->pack(arguments, kith_array_none(), problem);
    struct staging staging = {.context = arguments->context};
    struct matrix_arguments there = *arguments;
    matrix_stage(&staging, &there);
    KITH_TRY(staging_send(&staging));
    return staging_check(&staging, backend->pack(&there, kith_array_none(), problem));
}
