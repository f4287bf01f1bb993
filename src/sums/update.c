#include "sums/update.h"

#include "kith/update.h"

#include <stdio.h>
#include <string.h>

#include "core/arguments.h"
#include "device/arrays.h"
#include "device/context.h"
#include "sums/backend.h"

_Static_assert((int)update_most_columns == (int)KITH_MAX_COLUMNS, "kernels take all columns");
_Static_assert((int)update_most_outputs == (int)KITH_SUMS_MAX_OUTPUTS, "kernels take all updates");

struct update_rows update_rows_of(const struct update_problem *problem)
{
    const struct sums_formulas *formulas = problem->formulas.formulas;
    struct update_rows rows = {.count = problem->count};
    int32_t used = 0;
    formula_constants(formulas->formula, formulas->parameter, rows.numbers.c);
    for (int32_t c = 0; c < formulas->scope.column_count; c++)
        if (!kith_array_is_none(problem->from[c]))
            rows.from[used++] =
                (struct update_column){problem->from[c].data, problem->from[c].strides[0]};
    for (int32_t k = 0; k < formulas->output_count; k++)
        rows.to[k] = (struct update_column){problem->to[k].data, problem->to[k].strides[0]};
    return rows;
}

static kith_status take_columns(const kith_context *context, int64_t count,
                                const kith_particle_column *columns, struct formula_scope *scope)
{
    if (count < 1 || count > KITH_MAX_COLUMNS)
        return kith_fail(KITH_INVALID_ARGUMENT, "column_count is %lld; give 1 to %d columns",
                         (long long)count, KITH_MAX_COLUMNS);
    const kith_array first = columns[0].values;
    for (int64_t c = 0; c < count; c++) {
        const kith_particle_column *column = &columns[c];
        if (!sums_is_name(column->name))
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "columns[%lld] is named '%.40s'; give a name of letters, digits and "
                             "_, at most %d",
                             (long long)c, column->name ? column->name : "",
                             formula_name_bytes - 1);
        for (int32_t before = 0; before < scope->column_count; before++)
            if (strcmp(scope->column[before], column->name) == 0)
                return kith_fail(KITH_INVALID_ARGUMENT, "column %s is given twice; give one",
                                 column->name);
        if (kith_array_is_none(column->values) ||
            (column->values.dtype != KITH_F64 && column->values.dtype != KITH_F32))
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "column %s is %s; give a vector of float64 or float32", column->name,
                             kith_array_is_none(column->values)
                                 ? "empty"
                                 : kith_dtype_name(column->values.dtype));
        const struct named_array named = {
            column->name, &column->values, first.dtype, 1, c > 0 ? first.shape[0] : -1, 1};
        KITH_TRY(kith_check_device(context, column->values, column->name));
        KITH_TRY(kith_check_array(context, &named, &first, columns[0].name));
        snprintf(scope->column[scope->column_count++], formula_name_bytes, "%s", column->name);
    }
    return KITH_OK;
}

/* An update is of one particle: formulas have no variables of pairs. */
static kith_status check_variables(const struct sums_formulas *formulas)
{
    for (int32_t c = 0; c < formulas->scope.column_count; c++)
        if (formulas->uses_j[c])
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "an update has %s_j, but is of one particle; give %s_i",
                             formulas->scope.column[c], formulas->scope.column[c]);
    for (int32_t k = 0; k < formulas->needed.count; k++) {
        const struct formula_node *node = &formulas->formula->nodes[formulas->needed.nodes[k]];
        if (node->operation == formula_power_of_r ||
            (node->operation == formula_variable && node->which < (int32_t)formula_variable_count))
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "an update has r, r2, dx, dy, dz, or m, q without a column; give "
                             "formulas in the columns of one particle");
    }
    return KITH_OK;
}

static kith_status take_updates(int64_t column_count, const kith_particle_column *columns,
                                const kith_named_formula *updates, struct update_problem *problem)
{
    const struct sums_formulas *formulas = problem->formulas.formulas;
    for (int32_t k = 0; k < formulas->output_count; k++) {
        int64_t c = 0;
        while (c < column_count && strcmp(columns[c].name, updates[k].name) != 0)
            c++;
        if (c == column_count)
            return kith_fail(KITH_INVALID_ARGUMENT, "an update is of %s, which is not a column",
                             updates[k].name);
        problem->to[k] = columns[c].values;
        const struct named_array output = {
            columns[c].name, &columns[c].values, columns[c].values.dtype, 1, problem->count, 1};
        KITH_TRY(kith_check_output(&output));
        for (int64_t other = 0; other < column_count; other++)
            if (other != c)
                KITH_TRY(kith_check_overlap(&output, &columns[other].values, columns[other].name));
    }
    for (int64_t c = 0; c < column_count; c++)
        if (formulas->uses_i[c])
            problem->from[c] = columns[c].values;
    return KITH_OK;
}

static kith_status update(kith_context *context, const kith_update_options *options,
                          int64_t column_count, const kith_particle_column *columns,
                          int64_t update_count, const kith_named_formula *updates,
                          struct sums_formulas *formulas)
{
    const kith_sums_options as_sums = {.let_count = options->let_count,
                                       .lets = options->lets,
                                       .parameter_count = options->parameter_count,
                                       .parameters = options->parameters};
    struct update_problem problem = {.formulas = {.dimensions = 1, .formulas = formulas}};
    KITH_TRY(take_columns(context, column_count, columns, &formulas->scope));
    KITH_TRY(sums_formulas_read(&as_sums, "update", update_count, updates, formulas));
    KITH_TRY(check_variables(formulas));
    problem.formulas.dtype = columns[0].values.dtype;
    problem.count = columns[0].values.shape[0];
    KITH_TRY(take_updates(column_count, columns, updates, &problem));
    KITH_TRY(kith_context_check_cancelled(context));
    return sums_backend_of(context)->update(context, &problem);
}

kith_status kith_columns_update(kith_context *context, const kith_update_options *options,
                                int64_t column_count, const kith_particle_column *columns,
                                int64_t update_count, const kith_named_formula *updates)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    KITH_TRY(kith_check_pointer(context, "context"));
    KITH_TRY(kith_check_pointer(columns, "columns"));
    KITH_TRY(kith_check_pointer(updates, "updates"));
    struct sums_formulas formulas = {0};
    const kith_status status = update(context, options ? options : &(kith_update_options){0},
                                      column_count, columns, update_count, updates, &formulas);
    sums_formulas_free(&formulas);
    return status;
}
