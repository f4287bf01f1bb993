#include "kith/sums.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

#include "cells/lattice.h"
#include "core/arguments.h"
#include "core/bad_row.h"
#include "device/arrays.h"
#include "device/context.h"
#include "sums/backend.h"
#include "sums/list.h"
#include "sums/sums_reference.h"

enum { most_points = INT32_MAX - 1024 };

struct arguments {
    kith_context *context;
    kith_sums_options options;
    const kith_particles *targets, *sources;
    struct sums_formulas formulas;
    struct sums_problem problem;
};

/* The index of a column's name in the scope, which is added if need be. */
static kith_status find_column(struct formula_scope *scope, const char *side, const char *name,
                               int32_t *index)
{
    if (!sums_is_name(name))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s has a column '%.40s'; its name must be of letters, digits and _, at "
                         "most %d",
                         side, name, formula_name_bytes - 1);
    for (*index = 0; *index < scope->column_count; ++*index)
        if (strcmp(scope->column[*index], name) == 0)
            return KITH_OK;
    if (scope->column_count == formula_most_columns)
        return kith_fail(KITH_INVALID_ARGUMENT, "targets and sources have more than %d columns",
                         formula_most_columns);
    snprintf(scope->column[scope->column_count++], formula_name_bytes, "%s", name);
    return KITH_OK;
}

static kith_status take_columns(struct formula_scope *scope, const kith_particles *particles,
                                struct sums_side *side)
{
    for (int32_t c = 0; c < KITH_MAX_COLUMNS; c++) {
        const kith_particle_column *column = &particles->columns[c];
        int32_t k = 0;
        if (kith_array_is_none(column->values))
            continue;
        if (!column->name)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "columns[%d] of %s has values and no name; give a name", (int)c,
                             side->name);
        KITH_TRY(find_column(scope, side->name, column->name, &k));
        if (!kith_array_is_none(side->column[k]))
            return kith_fail(KITH_INVALID_ARGUMENT, "%s has two columns '%s'; give one", side->name,
                             column->name);
        side->column[k] = column->values;
    }
    return KITH_OK;
}

/* Targets that are the sources have the sources' columns, but for those of their own. */
static void share(struct sums_problem *problem)
{
    struct sums_side *targets = &problem->targets;
    const struct sums_side *sources = &problem->sources;
    problem->same = kith_array_is_none(targets->positions) ||
                    kith_same_view(targets->positions, sources->positions);
    if (!problem->same)
        return;
    targets->positions = sources->positions;
    for (int32_t k = 0; k < formula_most_columns; k++)
        if (kith_array_is_none(targets->column[k]))
            targets->column[k] = sources->column[k];
}

static kith_status take_particles(struct arguments *arguments)
{
    struct sums_problem *problem = &arguments->problem;
    KITH_TRY(kith_check_pointer(arguments->sources, "sources"));
    problem->sources.name = "sources";
    problem->targets.name = "targets";
    problem->sources.positions = kith_array_or_none(arguments->sources->positions);
    KITH_TRY(take_columns(&arguments->formulas.scope, arguments->sources, &problem->sources));
    if (arguments->targets) {
        problem->targets.positions = kith_array_or_none(arguments->targets->positions);
        KITH_TRY(take_columns(&arguments->formulas.scope, arguments->targets, &problem->targets));
    }
    share(problem);
    return KITH_OK;
}

static kith_status check_side(const struct arguments *arguments, struct sums_side *side,
                              const kith_array of)
{
    char name[64];
    snprintf(name, sizeof name, "%s.positions", side->name);
    const struct named_array positions = {name, &side->positions, of.dtype, 2, -1, of.shape[1]};
    KITH_TRY(kith_check_array(arguments->context, &positions, &of, "sources.positions"));
    side->count = side->positions.shape[0];
    if (side->count > most_points)
        return kith_fail(KITH_UNSUPPORTED, "%s has %lld rows; give at most %d", name,
                         (long long)side->count, (int)most_points);
    for (int32_t k = 0; k < arguments->formulas.scope.column_count; k++) {
        snprintf(name, sizeof name, "%s.%s", side->name, arguments->formulas.scope.column[k]);
        const struct named_array column = {name, &side->column[k], of.dtype, 1, side->count, 1};
        KITH_TRY(kith_check_array(arguments->context, &column, &of, "sources.positions"));
    }
    return KITH_OK;
}

static kith_status check_overlap(const struct named_array *output, const struct sums_side *side)
{
    KITH_TRY(kith_check_overlap(output, &side->positions, side->name));
    for (int32_t k = 0; k < formula_most_columns; k++)
        KITH_TRY(kith_check_overlap(output, &side->column[k], side->name));
    return KITH_OK;
}

static kith_status check_arrays(struct arguments *arguments, int64_t output_count)
{
    struct sums_problem *problem = &arguments->problem;
    const kith_array of = problem->sources.positions;
    KITH_TRY(kith_check_points(of, "sources.positions"));
    KITH_TRY(kith_check_device(arguments->context, of, "sources.positions"));
    KITH_TRY(check_side(arguments, &problem->sources, of));
    KITH_TRY(check_side(arguments, &problem->targets, of));
    problem->dtype = of.dtype;
    problem->dimensions = (int32_t)of.shape[1];
    const struct named_array results = {"results", &problem->results,      of.dtype,
                                        2,         problem->targets.count, output_count};
    if (kith_array_is_none(problem->results))
        return kith_fail(KITH_INVALID_ARGUMENT, "results is empty; give an array of %lld x %lld",
                         (long long)problem->targets.count, (long long)output_count);
    KITH_TRY(kith_check_array(arguments->context, &results, &of, "sources.positions"));
    KITH_TRY(kith_check_output(&results));
    KITH_TRY(check_overlap(&results, &problem->sources));
    return check_overlap(&results, &problem->targets);
}

static kith_status check_column_uses(const struct sums_formulas *formulas,
                                     const struct sums_side *side, const bool *uses, char letter)
{
    for (int32_t k = 0; k < formulas->scope.column_count; k++)
        if (uses[k] && kith_array_is_none(side->column[k]))
            return kith_fail(
                KITH_INVALID_ARGUMENT, "a formula has %s_%c, but %s has no column %s; give one",
                formulas->scope.column[k], letter, side->name, formulas->scope.column[k]);
    return KITH_OK;
}

/* m and q are 1 on the side that has no such column. */
static kith_status drop_unused_columns(struct arguments *arguments)
{
    struct sums_problem *problem = &arguments->problem;
    const struct sums_formulas *formulas = &arguments->formulas;
    KITH_TRY(check_column_uses(formulas, &problem->targets, formulas->uses_i, 'i'));
    KITH_TRY(check_column_uses(formulas, &problem->sources, formulas->uses_j, 'j'));
    for (int32_t k = 0; k < formula_most_columns; k++) {
        if (!formulas->uses_i[k])
            problem->targets.column[k] = kith_array_none();
        if (!formulas->uses_j[k])
            problem->sources.column[k] = kith_array_none();
    }
    return KITH_OK;
}

static kith_status check_cutoff(const struct arguments *arguments)
{
    const double cutoff = arguments->options.cutoff;
    const bool narrow = arguments->problem.dtype == KITH_F32;
    const double least = sqrt(narrow ? (double)FLT_MIN : DBL_MIN);
    const double most = sqrt(narrow ? (double)FLT_MAX : DBL_MAX) / 4;
    if (!isfinite(cutoff) || cutoff < 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "cutoff is %g; give a finite length greater than 0, or 0 for all pairs",
                         cutoff);
    for (int k = 0; k < 3 && cutoff == 0 && !arguments->options.pairs; k++)
        if (arguments->problem.lattice.periodic[k])
            return kith_fail(
                KITH_INVALID_ARGUMENT,
                "cutoff is 0 in a periodic cell, which has infinitely many images; give a "
                "cutoff greater than 0, or a cell that is not periodic");
    if (cutoff > 0 && (cutoff < least || cutoff > most))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "cutoff is %g, and its square must be a number of %s; give other units",
                         cutoff, kith_dtype_name(arguments->problem.dtype));
    return KITH_OK;
}

/* Cells are of the plane and of space, and so is all on a GPU but sums of all pairs; formulas name
 * three axes. */
static kith_status check_dimensions(const struct arguments *arguments)
{
    const struct sums_problem *problem = &arguments->problem;
    const struct sums_formulas *formulas = &arguments->formulas;
    const kith_sums_options *options = &arguments->options;
    const int dimensions = (int)problem->dimensions;
    if (dimensions == 2 || dimensions == 3)
        return KITH_OK;
    if (options->cell)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "cell is given, and sources.positions has %d columns; cells are of 2 or 3 "
                         "dimensions",
                         dimensions);
    if ((options->cutoff != 0 || options->pairs) && arguments->context->device.kind != KITH_CPU)
        return kith_fail(KITH_UNSUPPORTED,
                         "sources.positions has %d columns, and a GPU sums pairs within a cutoff "
                         "or of a list in 2 or 3; compute on the CPU",
                         dimensions);
    for (int32_t k = 0; dimensions > 3 && k < formulas->needed.count; k++) {
        const struct formula_node *node = &formulas->formula->nodes[formulas->needed.nodes[k]];
        if (node->operation == formula_variable && node->which >= (int32_t)formula_dx &&
            node->which <= (int32_t)formula_dz)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "a formula has dx, dy or dz, but sources.positions has %d columns; "
                             "give formulas in r or r2, or at most 3 columns",
                             dimensions);
    }
    return KITH_OK;
}

static kith_status take_space(struct arguments *arguments)
{
    struct sums_problem *problem = &arguments->problem;
    const kith_sums_options *options = &arguments->options;
    KITH_TRY(check_dimensions(arguments));
    KITH_TRY(
        pairs_lattice_make(options->cell, problem->dimensions == 2 ? 2 : 3, 1, &problem->lattice));
    KITH_TRY(check_cutoff(arguments));
    problem->cutoff = options->cutoff;
    problem->limit = options->cutoff > 0 ? pairs_limit_double(options->cutoff) : (double)INFINITY;
    if (problem->dtype == KITH_F32 && options->cutoff > 0) {
        problem->cutoff = (double)(float)options->cutoff;
        problem->limit = (double)pairs_limit_float((float)options->cutoff);
    }
    return pairs_check_images(&problem->lattice, problem->cutoff, 1);
}

static kith_status check_choices(const struct arguments *arguments)
{
    const kith_sums_options *options = &arguments->options;
    if ((int)options->reduction < KITH_SUMS_SUM || options->reduction > KITH_SUMS_LOGSUMEXP)
        return kith_fail(KITH_INVALID_ARGUMENT, "reduction is %d; give a kith_sums_reduction",
                         (int)options->reduction);
    if ((int)options->method < KITH_SUMS_AUTO || options->method > KITH_SUMS_REFERENCE)
        return kith_fail(KITH_INVALID_ARGUMENT, "method is %d; give a kith_sums_method",
                         (int)options->method);
    if (options->include_self && !arguments->problem.same)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "include_self is set, but the targets are not the sources; leave it out");
    return KITH_OK;
}

static kith_status compute(struct arguments *arguments, int64_t output_count,
                           const kith_named_formula *outputs)
{
    struct sums_problem *problem = &arguments->problem;
    const struct sums_backend *backend = sums_backend_of(arguments->context);
    KITH_TRY(take_particles(arguments));
    KITH_TRY(check_choices(arguments));
    KITH_TRY(sums_formulas_read(&arguments->options, "output", output_count, outputs,
                                &arguments->formulas));
    KITH_TRY(check_arrays(arguments, output_count));
    KITH_TRY(drop_unused_columns(arguments));
    KITH_TRY(take_space(arguments));
    problem->formulas = &arguments->formulas;
    problem->reduction = arguments->options.reduction;
    problem->include_self = arguments->options.include_self;
    if (arguments->options.pairs)
        KITH_TRY(sums_list_take(arguments->context, arguments->options.pairs, problem));
    if (arguments->options.method == KITH_SUMS_REFERENCE &&
        problem->sources.positions.device.kind != KITH_CPU)
        return kith_fail(KITH_UNSUPPORTED, "method is reference, which computes on the CPU, and "
                                           "sources.positions is on a GPU; give arrays in the "
                                           "host's memory");
    if (arguments->options.method == KITH_SUMS_REFERENCE)
        return sums_reference(arguments->context, problem);
    return backend->compute(arguments->context, problem);
}

kith_status kith_sums_compute(kith_context *context, const kith_sums_options *options,
                              const kith_particles *targets, const kith_particles *sources,
                              int64_t output_count, const kith_named_formula *outputs,
                              kith_array results)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    KITH_TRY(kith_check_pointer(context, "context"));
    struct arguments arguments = {.context = context,
                                  .options = options ? *options : (kith_sums_options){0},
                                  .targets = targets,
                                  .sources = sources,
                                  .problem.results = kith_array_or_none(results),
                                  .problem.wants_pair_count = options && options->pair_count};
    const kith_status status = compute(&arguments, output_count, outputs);
    sums_formulas_free(&arguments.formulas);
    if (status == KITH_OK && options && options->pair_count)
        *options->pair_count = arguments.problem.pair_count;
    return status;
}

static kith_status fail_at_number(const struct sums_side *side, const char *column, int64_t row,
                                  double value, const char *remedy)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s", side->name, column);
    return kith_fail_at_row(name, row, value, remedy);
}

kith_status sums_fail_at_row(const struct sums_side *side, int64_t row)
{
    for (int64_t c = 0; c < side->positions.shape[1]; c++) {
        const double value = sums_get(side->positions, row, c);
        if (!isfinite(value))
            return fail_at_number(side, "positions", row, value, "finite numbers");
    }
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "row %lld of %s.positions is more than 2^30 cells away from the cell; give "
                     "positions nearer to it",
                     (long long)row, side->name);
}

kith_status sums_check_columns(const struct sums_problem *problem, const struct sums_side *side)
{
    for (int32_t k = 0; k < problem->formulas->scope.column_count; k++) {
        const kith_array column = side->column[k];
        for (int64_t row = 0; !kith_array_is_none(column) && row < side->count; row++)
            if (!isfinite(sums_get(column, row, 0)))
                return fail_at_number(side, problem->formulas->scope.column[k], row,
                                      sums_get(column, row, 0), "finite numbers");
    }
    for (int64_t row = 0; problem->dimensions > 3 && row < side->count; row++)
        for (int64_t c = 3; c < problem->dimensions; c++)
            if (!isfinite(sums_get(side->positions, row, c)))
                return sums_fail_at_row(side, row);
    return KITH_OK;
}

double sums_largest_coordinate(const struct sums_problem *problem)
{
    return problem->cutoff == 0 && problem->formulas->uses_distance
               ? kith_largest_coordinate(problem->dtype)
               : DBL_MAX;
}

static kith_status check_distances(const struct sums_problem *problem, const struct sums_side *side)
{
    const double largest = sums_largest_coordinate(problem);
    for (int64_t row = 0; row < side->count; row++)
        for (int64_t c = 0; c < problem->dimensions; c++)
            if (fabs(sums_get(side->positions, row, c)) > largest)
                return fail_at_number(side, "positions", row, sums_get(side->positions, row, c),
                                      kith_remedy_of_far(problem->dtype));
    return KITH_OK;
}

kith_status sums_check_distances(const struct sums_problem *problem)
{
    if (!problem->same)
        KITH_TRY(check_distances(problem, &problem->targets));
    return check_distances(problem, &problem->sources);
}
