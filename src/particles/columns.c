/* The table of columns, how a call's columns are found in it, and what they must be like. */

#include "particles/columns.h"

#include <stdio.h>
#include <string.h>

#include "core/arguments.h"
#include "device/arrays.h"

#define INFO(argument, name, unit, otherwise, least, what)                                         \
    {#name, particles_unit_##unit, otherwise, least, what},
const struct particles_column_info particles_columns[] = {PARTICLES_COLUMNS(INFO, )};

#define NAME(argument, name, ...) argument "." #name,
#define ARGUMENT(name)                                                                             \
    {                                                                                              \
        name, name ".positions",                                                                   \
        {                                                                                          \
            PARTICLES_COLUMNS(NAME, name)                                                          \
        }                                                                                          \
    }
const struct particles_argument particles_sources = ARGUMENT("sources");
const struct particles_argument particles_targets = ARGUMENT("targets");
const struct particles_argument particles_rows_of_matrix = ARGUMENT("rows");
const struct particles_argument particles_columns_of_matrix = ARGUMENT("columns");

static kith_status fail_of_unknown(const char *argument, const char *name)
{
    char names[128] = "";
    size_t used = 0;
    for (int32_t k = 0; k < particles_column_count && used < sizeof names; k++)
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", k > 0 ? ", " : "",
                                 particles_columns[k].name);
    return kith_fail(KITH_INVALID_ARGUMENT, "%s has a column '%.60s'; the name must be one of %s",
                     argument, name, names);
}

kith_status particles_take(const struct particles_argument *argument,
                           const kith_particles *particles, struct particles_side *side)
{
    KITH_TRY(kith_check_pointer(particles, argument->name));
    side->argument = argument;
    if (!kith_array_is_none(particles->positions))
        side->positions = particles->positions;
    for (int32_t c = 0; c < KITH_MAX_COLUMNS; c++) {
        const kith_particle_column *column = &particles->columns[c];
        const bool is_none = kith_array_is_none(column->values);
        if (!column->name && is_none)
            continue;
        if (!column->name)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "columns[%d] of %s has values and no name; give a name", (int)c,
                             argument->name);
        int32_t k = 0;
        while (k < particles_column_count && strcmp(column->name, particles_columns[k].name) != 0)
            k++;
        if (k == particles_column_count)
            return fail_of_unknown(argument->name, column->name);
        if (!is_none && !kith_array_is_none(side->column[k]))
            return kith_fail(KITH_INVALID_ARGUMENT, "%s has two columns '%s'; give one",
                             argument->name, column->name);
        if (!is_none)
            side->column[k] = column->values;
    }
    return KITH_OK;
}

void particles_share(const struct particles_side *sources, struct particles_side *targets)
{
    const bool is_none = kith_array_is_none(targets->positions);
    if (!is_none && !kith_same_view(targets->positions, sources->positions))
        return;
    targets->positions = kith_array_none();
    for (int32_t k = 0; k < particles_column_count; k++)
        if (!kith_array_is_none(targets->column[k]) &&
            kith_same_view(targets->column[k], sources->column[k]))
            targets->column[k] = kith_array_none();
}

kith_status particles_check(const kith_context *context, const struct particles_side *side,
                            int64_t count, const struct particles_side *first)
{
    const kith_array *of = &first->positions;
    const char *first_name = first->argument->positions;
    const struct named_array positions = {
        side->argument->positions, &side->positions, of->dtype, 2, -1, of->shape[1]};
    KITH_TRY(kith_check_array(context, &positions, of, first_name));
    if (!kith_array_is_none(side->positions))
        count = side->positions.shape[0];
    for (int32_t k = 0; k < particles_column_count; k++) {
        if (kith_array_is_none(side->column[k]))
            continue;
        const struct named_array column = {
            side->argument->column[k], &side->column[k], of->dtype, 1, count, 1};
        KITH_TRY(kith_check_array(context, &column, of, first_name));
    }
    return KITH_OK;
}

kith_status particles_check_overlap(const struct named_array *output,
                                    const struct particles_side *side)
{
    KITH_TRY(kith_check_overlap(output, &side->positions, side->argument->positions));
    for (int32_t k = 0; k < particles_column_count; k++)
        if (!kith_array_is_none(side->column[k]))
            KITH_TRY(kith_check_overlap(output, &side->column[k], side->argument->column[k]));
    return KITH_OK;
}

void particles_stage(struct staging *staging, struct particles_side *side)
{
    staging_add(staging, &side->positions, false);
    for (int32_t k = 0; k < particles_column_count; k++)
        staging_add(staging, &side->column[k], false);
}
