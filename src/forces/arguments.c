#include "forces/arguments.h"

#include <math.h>

#include "core/bad_row.h"
#include "core/reals.h"
#include "device/arrays.h"
#include "forces/columns.h"

static kith_status check_particles(const struct forces_arguments *arguments)
{
    const kith_context *context = arguments->context;
    const struct particles_side *sources = &arguments->sources;
    const char *name = sources->argument->positions;
    KITH_TRY(kith_check_positions(sources->positions, name));
    KITH_TRY(kith_check_device(context, sources->positions, name));
    KITH_TRY(particles_check(context, sources, 0, sources));
    return particles_check(context, &arguments->targets, sources->positions.shape[0], sources);
}

enum { direction_count = 2, output_count = 4 };

/* Directions and outputs: of the sources' dtype, on their device. */
static kith_status check_arrays(const struct forces_arguments *arguments)
{
    const kith_array *of = &arguments->sources.positions;
    const char *of_name = arguments->sources.argument->positions;
    const int64_t n = forces_target_count(arguments), m = of->shape[0], d = of->shape[1];
    const struct {
        const char *name;
        const kith_array *array;
        int32_t ndim;
        int64_t rows;
    } arrays[direction_count + output_count] = {
        {"target_directions", &arguments->target_directions, 2, n},
        {"source_directions", &arguments->source_directions, 2, m},
        {"acceleration", &arguments->acceleration, 2, n},
        {"potential", &arguments->potential, 1, n},
        {"acceleration_derivative", &arguments->acceleration_derivative, 2, n},
        {"potential_derivative", &arguments->potential_derivative, 1, n}};
    for (int32_t k = 0; k < direction_count + output_count; k++) {
        if (kith_array_is_none(*arrays[k].array))
            continue;
        const struct named_array named = {arrays[k].name, arrays[k].array,
                                          of->dtype,      arrays[k].ndim,
                                          arrays[k].rows, arrays[k].ndim == 2 ? d : 1};
        KITH_TRY(kith_check_array(arguments->context, &named, of, of_name));
        if (k < direction_count)
            continue;
        KITH_TRY(kith_check_output(&named));
        KITH_TRY(particles_check_overlap(&named, &arguments->sources));
        KITH_TRY(particles_check_overlap(&named, &arguments->targets));
        for (int32_t other = 0; other < k; other++)
            KITH_TRY(kith_check_overlap(&named, arrays[other].array, arrays[other].name));
    }
    return KITH_OK;
}

static kith_status check_own_column(const struct forces_arguments *arguments,
                                    enum particles_column column)
{
    const struct particles_argument *targets = arguments->targets.argument;
    if (kith_array_is_none(arguments->targets.column[column]))
        return KITH_OK;
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "%s is given, but the targets are the sources; give %s alone",
                     targets->column[column], arguments->sources.argument->column[column]);
}

static kith_status check_softening(const struct forces_arguments *arguments)
{
    const double softening = arguments->softening;
    const kith_array of_sources = arguments->sources.column[particles_softening];
    const kith_array of_targets = arguments->targets.column[particles_softening];
    const char *name = arguments->sources.argument->column[particles_softening];
    const char *target_name = arguments->targets.argument->column[particles_softening];
    if (!isfinite(softening) || softening < 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "softening is %g; give a length of at least 0",
                         softening);
    if (!kith_array_is_none(of_sources) && softening > 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "softening is %g, and %s is given; give one of them", softening, name);
    if (kith_array_is_none(arguments->targets.positions))
        return check_own_column(arguments, particles_softening);
    if (kith_array_is_none(of_targets) != kith_array_is_none(of_sources))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "only %s is given, but the targets are not the sources; give both or none",
                         kith_array_is_none(of_targets) ? name : target_name);
    return KITH_OK;
}

static kith_status check_options(const struct forces_arguments *arguments)
{
    if (!isfinite(arguments->gravitational_constant))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "gravitational_constant is %g; give a finite number",
                         arguments->gravitational_constant);
    KITH_TRY(check_softening(arguments));
    if (!kith_array_is_none(arguments->targets.positions))
        return KITH_OK;
    KITH_TRY(check_own_column(arguments, particles_epsilon));
    KITH_TRY(check_own_column(arguments, particles_sigma));
    return check_own_column(arguments, particles_m);
}

static kith_status fail_at_bad_row(const char *name, kith_array array, struct forces_rule rule)
{
    int64_t row = 0, column = 0;
    double value = 0;
    for (;;) {
        value = array_get(array, row, column);
        if (!isfinite(value) || value < rule.least || fabs(value) > rule.most)
            break;
        column = (column + 1) % kith_array_columns(array);
        row += column == 0;
    }
    return kith_fail_at_row(name, row, value, forces_remedy(rule, value));
}

/* The largest magnitude of the array's numbers, at least *largest; an error if one breaks the rule.
 */
static kith_status check_numbers(kith_context *context, const char *name, const kith_array *array,
                                 struct forces_rule rule, double *largest)
{
    bool good = true;
    if (kith_array_is_none(*array))
        return KITH_OK;
    KITH_TRY(forces_measure(context, *array, rule.least, largest, &good));
    return good && *largest <= rule.most ? KITH_OK : fail_at_bad_row(name, *array, rule);
}

static kith_status check_numbers_of_side(struct forces_arguments *arguments,
                                         const struct particles_side *side, bool is_targets)
{
    double none = 0, farthest = 0;
    double *const largest[] = {[particles_unit_none] = &none,
                               [particles_unit_length] = &arguments->largest_length,
                               [particles_unit_mass] = &arguments->largest_mass};
    KITH_TRY(check_numbers(arguments->context, side->argument->positions, &side->positions,
                           forces_rule_of_positions(arguments), &farthest));
    arguments->largest_length = fmax(arguments->largest_length, farthest);
    for (int k = 0; k < particles_column_count; k++)
        if (!kith_array_is_none(side->column[k]))
            KITH_TRY(check_numbers(arguments->context, side->argument->column[k], &side->column[k],
                                   forces_rule_of_column(arguments, is_targets, k),
                                   largest[particles_columns[k].unit]));
    return KITH_OK;
}

kith_status forces_check_numbers(struct forces_arguments *arguments)
{
    double direction = 0;
    arguments->largest_length = arguments->softening;
    arguments->largest_mass = 0;
    KITH_TRY(check_numbers_of_side(arguments, &arguments->targets, true));
    KITH_TRY(check_numbers_of_side(arguments, &arguments->sources, false));
    KITH_TRY(check_numbers(arguments->context, "target_directions", &arguments->target_directions,
                           forces_rule_of_vectors(), &direction));
    return check_numbers(arguments->context, "source_directions", &arguments->source_directions,
                         forces_rule_of_vectors(), &direction);
}

kith_status forces_check_arguments(const struct forces_arguments *arguments)
{
    KITH_TRY(check_particles(arguments));
    KITH_TRY(check_arrays(arguments));
    return check_options(arguments);
}
