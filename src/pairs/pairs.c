#include "kith/pairs.h"

#include <float.h>
#include <stddef.h>

#include "cells/lattice.h"
#include "core/arguments.h"
#include "device/context.h"
#include "pairs/arguments.h"
#include "pairs/backend.h"
#include "pairs/list.h"
#include "pairs/memory.h"
#include "pairs/pairs_reference.h"
#include "pairs/stage.h"
#include "pairs/update.h"
#include "pairs/visit.h"

/* A power of two such that the cutoff is about 1 in units of it. Radii replace a cutoff of 0.
 */
static double unit_of(const struct pairs_arguments *arguments, double cutoff)
{
    const kith_array radii = arguments->options.radii;
    double size = cutoff;
    if (size == 0 && !kith_array_is_none(radii) && radii.device.kind == KITH_CPU)
        for (int64_t k = 0; k < radii.shape[0]; k++)
            size = fmax(size, pairs_get(radii, k, 0));
    if (!(size > 0) || !isfinite(size))
        return 1;
    const int exponent = ilogb(size), limit = 1000;
    return ldexp(1, exponent < -limit ? -limit : exponent > limit ? limit : exponent);
}

static double rounded(kith_dtype dtype, double value)
{
    return dtype == KITH_F32 ? (double)(float)value : value;
}

/* The largest coordinate; what is not finite is for the backend to find. */
static double largest_coordinate(kith_array array)
{
    double largest = 0;
    for (int64_t row = 0; row < array.shape[0]; row++)
        for (int64_t c = 0; c < array.shape[1]; c++)
            if (isfinite(pairs_get(array, row, c)))
                largest = fmax(largest, fabs(pairs_get(array, row, c)));
    return largest;
}

/* The nearest points without cutoff: no square of a distance is to be out of range. */
static bool needs_extent(const struct pairs_arguments *arguments)
{
    return arguments->nearest && arguments->options.cutoff == 0 &&
           !pairs_have_cells(arguments->positions.shape[1]);
}

/* A power of two near the largest coordinate, whose reciprocal is a number of the dtype. */
static kith_status unit_of_extent(const struct pairs_arguments *arguments, double *unit)
{
    const bool narrow = arguments->positions.dtype == KITH_F32;
    const int most = narrow ? 120 : 1000;
    const double largest = fmax(largest_coordinate(arguments->positions),
                                largest_coordinate(pairs_targets(arguments)));
    if (largest > (narrow ? (double)FLT_MAX : DBL_MAX) / 2)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "positions or queries have %g, and distances may be out of range; give "
                         "other units",
                         largest);
    const int exponent = largest > 0 ? ilogb(largest) : 0;
    *unit = ldexp(1, exponent < -most ? -most : exponent > most ? most : exponent);
    return KITH_OK;
}

static struct pairs_problem make_problem(const struct pairs_arguments *arguments, double unit)
{
    const kith_pairs_options *options = &arguments->options;
    const kith_dtype dtype = arguments->positions.dtype;
    const double reach = options->cutoff + options->skin;
    struct pairs_problem problem = {
        .dtype = dtype,
        .dimensions = (int32_t)arguments->positions.shape[1],
        .two_sets = !kith_array_is_none(options->queries),
        .half = options->half,
        .sorted = !options->unsorted,
        .count_only = options->quantities == KITH_PAIRS_COUNTS,
        .method = options->method,
        .unit = unit,
        .by_distance = arguments->nearest,
        .nearest = arguments->k,
        .points = arguments->positions,
        .targets = pairs_targets(arguments),
        .point_radii = options->radii,
        .target_radii =
            kith_array_is_none(options->queries) ? options->radii : options->query_radii,
        .exclusion_offsets = options->exclusion_offsets,
        .exclusions = options->exclusions,
        .visitor = arguments->visitor,
    };
    problem.cutoff = arguments->nearest && reach == 0
                         ? INFINITY
                         : rounded(dtype, rounded(dtype, reach) / problem.unit);
    if (isinf(problem.cutoff))
        problem.limit = INFINITY;
    else
        problem.limit = dtype == KITH_F32 ? (double)pairs_limit_float((float)problem.cutoff)
                                          : pairs_limit_double(problem.cutoff);
    return problem;
}

static int64_t offset_at(kith_array offsets, int64_t system, int64_t all)
{
    if (kith_array_is_none(offsets))
        return system == 0 ? 0 : all;
    return ((const int64_t *)offsets.data)[system];
}

/* Errors name the system if there are several. */
static kith_status make_systems(const struct pairs_arguments *arguments, kith_pairs *pairs,
                                struct pairs_problem *problem)
{
    const kith_pairs_options *options = &arguments->options;
    const int64_t count = pairs_system_count(arguments);
    const int64_t points = problem->points.shape[0], targets = problem->targets.shape[0];
    const kith_array of_targets =
        problem->two_sets ? options->query_system_offsets : options->system_offsets;
    KITH_TRY(pairs_host_buffer_grow(&pairs->memory->systems,
                                    (count + 1) * (int64_t)sizeof(struct pairs_system),
                                    "the systems"));
    struct pairs_system *systems = pairs->memory->systems.data;
    for (int64_t s = 0; s < count; s++) {
        struct pairs_system *system = &systems[s];
        system->first_point = offset_at(options->system_offsets, s, points);
        system->point_count =
            offset_at(options->system_offsets, s + 1, points) - system->first_point;
        system->first_target = offset_at(of_targets, s, targets);
        system->target_count = offset_at(of_targets, s + 1, targets) - system->first_target;
        kith_status status =
            pairs_lattice_make(arguments->cell ? &arguments->cell[s] : NULL, problem->dimensions,
                               problem->unit, &system->lattice);
        if (status == KITH_OK)
            status = pairs_check_images(&system->lattice, problem->cutoff, problem->unit);
        if (status != KITH_OK)
            return count == 1 ? status : kith_fail_within(status, "system %lld: ", (long long)s);
    }
    problem->system_count = count;
    problem->systems = systems;
    return KITH_OK;
}

static struct pairs_request request_of(const struct pairs_arguments *arguments)
{
    const kith_pairs_options *options = &arguments->options;
    const unsigned columns = options->quantities & ~(unsigned)KITH_PAIRS_COUNTS;
    return (struct pairs_request){
        .quantities = options->quantities == 0 ? KITH_PAIRS_I | KITH_PAIRS_J : columns,
        .narrow = options->narrow,
        .dtype = arguments->positions.dtype,
        .dimensions = (int32_t)arguments->positions.shape[1],
        .memory_limit = options->memory_limit,
    };
}

/* Host arrays go to a backend with memory of its own, and its list comes back. */
static kith_status solve(kith_context *context, struct pairs_problem *problem, kith_pairs *pairs)
{
    const bool staged = context->device.kind != KITH_CPU && problem->points.device.kind == KITH_CPU;
    if (!pairs_backend_of(context)->list)
        return kith_fail(KITH_UNSUPPORTED, "backend %s lists no pairs; compute on the CPU",
                         context->services->name);
    if (staged)
        KITH_TRY(
            pairs_stage_inputs(context, problem, &pairs->memory->input, &pairs->memory->staged));
    KITH_TRY(pairs_backend_of(context)->list(context, problem, pairs));
    return staged ? pairs_list_to_host(pairs) : KITH_OK;
}

static kith_status make_list(const struct pairs_arguments *arguments, kith_pairs *pairs)
{
    double unit = unit_of(arguments, arguments->options.cutoff + arguments->options.skin);
    if (needs_extent(arguments))
        KITH_TRY(unit_of_extent(arguments, &unit));
    struct pairs_problem problem = make_problem(arguments, unit);
    pairs->memory->request = request_of(arguments);
    KITH_TRY(make_systems(arguments, pairs, &problem));
    if (arguments->options.method == KITH_PAIRS_REFERENCE)
        return pairs_reference(arguments->context, &problem, pairs);
    return solve(arguments->context, &problem, pairs);
}

kith_status pairs_compute(const struct pairs_arguments *arguments, kith_pairs **pairs)
{
    kith_pairs *list = *pairs;
    KITH_TRY(pairs_check_arguments(arguments));
    KITH_TRY(kith_context_check_cancelled(arguments->context));
    if (!list)
        KITH_TRY(pairs_list_create(arguments->context, &list));
    if (list->memory->context != arguments->context)
        return kith_fail(KITH_INVALID_ARGUMENT, "pairs is a list of another context; give NULL, or "
                                                "a list of this one");
    pairs_list_clear(list);
    const kith_status status = make_list(arguments, list);
    if (status != KITH_OK && *pairs)
        pairs_list_clear(list);
    else if (status != KITH_OK)
        kith_pairs_free(list);
    else
        *pairs = list;
    return status;
}

static kith_status begin(kith_context *context, const kith_pairs_options *options,
                         kith_array positions, const kith_cell *cell, kith_pairs *const *pairs,
                         struct pairs_arguments *arguments)
{
    KITH_TRY(kith_check_pointer(context, "context"));
    KITH_TRY(kith_check_pointer(pairs, "pairs"));
    if (*pairs && !(*pairs)->memory)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "*pairs is not a list that kith created; set it to NULL for a new one");
    if (!options)
        return kith_fail(KITH_INVALID_ARGUMENT, "options is NULL; give some, with a cutoff");
    *arguments = (struct pairs_arguments){
        .context = context, .options = *options, .positions = positions, .cell = cell};
    return KITH_OK;
}

kith_status kith_pairs_compute(kith_context *context, const kith_pairs_options *options,
                               kith_array positions, const kith_cell *cell, kith_pairs **pairs)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    struct pairs_arguments arguments;
    KITH_TRY(begin(context, options, positions, cell, pairs, &arguments));
    return pairs_compute(&arguments, pairs);
}

kith_status pairs_visit(kith_context *context, const kith_pairs_options *options,
                        kith_array positions, const struct pairs_visitor *visitor)
{
    kith_pairs *pairs = NULL;
    const struct pairs_arguments arguments = {
        .context = context, .options = *options, .positions = positions, .visitor = visitor};
    const kith_status status = pairs_compute(&arguments, &pairs);
    kith_pairs_free(pairs);
    return status;
}

kith_status kith_pairs_update(kith_context *context, const kith_pairs_options *options,
                              kith_array positions, const kith_cell *cell, kith_pairs **pairs,
                              bool *rebuilt)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    struct pairs_arguments arguments;
    KITH_TRY(begin(context, options, positions, cell, pairs, &arguments));
    return pairs_update(&arguments, pairs, rebuilt);
}

kith_status kith_pairs_nearest(kith_context *context, const kith_pairs_options *options,
                               kith_array positions, const kith_cell *cell, int64_t k,
                               kith_pairs **pairs)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    struct pairs_arguments arguments;
    KITH_TRY(begin(context, options, positions, cell, pairs, &arguments));
    arguments.nearest = true;
    arguments.k = k;
    return pairs_compute(&arguments, pairs);
}
