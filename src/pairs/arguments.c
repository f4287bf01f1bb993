#include "pairs/arguments.h"

#include <float.h>

#include "core/bad_row.h"
#include "device/arrays.h"
#include "device/context.h"

enum { most_points = INT32_MAX };

/* Offsets of systems: the host reads them. */
static kith_status check_on_host(const kith_context *context, const struct named_array *named)
{
    char text[32];
    if (!kith_array_is_none(*named->array) && named->array->device.kind != KITH_CPU)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s is %s; give it in the host's memory",
                         named->name, kith_device_text(named->array->device, text));
    return kith_check_array(context, named, named->array, named->name);
}

static kith_status check_arrays(const struct pairs_arguments *arguments)
{
    const kith_pairs_options *options = &arguments->options;
    const kith_array positions = arguments->positions;
    const kith_dtype dtype = positions.dtype;
    const int64_t n = positions.shape[0], m = pairs_targets(arguments).shape[0];
    const int64_t systems = pairs_system_count(arguments);
    const struct named_array there[] = {
        {"positions", &positions, dtype, 2, -1, positions.shape[1]},
        {"queries", &options->queries, dtype, 2, -1, positions.shape[1]},
        {"radii", &options->radii, dtype, 1, n, 1},
        {"query_radii", &options->query_radii, dtype, 1, m, 1},
        {"exclusion_offsets", &options->exclusion_offsets, KITH_I64, 1, m + 1, 1},
        {"exclusions", &options->exclusions, KITH_I64, 1, -1, 1},
    };
    const struct named_array on_host[] = {
        {"system_offsets", &options->system_offsets, KITH_I64, 1, systems + 1, 1},
        {"query_system_offsets", &options->query_system_offsets, KITH_I64, 1, systems + 1, 1},
    };
    for (size_t k = 0; k < sizeof there / sizeof there[0]; k++)
        KITH_TRY(kith_check_array(arguments->context, &there[k], &positions, "positions"));
    for (size_t k = 0; k < sizeof on_host / sizeof on_host[0]; k++)
        KITH_TRY(check_on_host(arguments->context, &on_host[k]));
    if (n > most_points || m > most_points)
        return kith_fail(KITH_UNSUPPORTED, "%lld points are more than %d; divide them",
                         (long long)(n > m ? n : m), (int)most_points);
    return KITH_OK;
}

static kith_status both_or_neither(kith_array a, const char *a_name, kith_array b,
                                   const char *b_name)
{
    if (kith_array_is_none(a) == kith_array_is_none(b))
        return KITH_OK;
    return kith_fail(KITH_INVALID_ARGUMENT, "%s is given without %s; give both or neither",
                     kith_array_is_none(a) ? b_name : a_name,
                     kith_array_is_none(a) ? a_name : b_name);
}

static kith_status check_combinations(const struct pairs_arguments *arguments)
{
    const kith_pairs_options *options = &arguments->options;
    KITH_TRY(both_or_neither(options->exclusion_offsets, "exclusion_offsets", options->exclusions,
                             "exclusions"));
    if (kith_array_is_none(options->queries)) {
        if (!kith_array_is_none(options->query_radii) ||
            !kith_array_is_none(options->query_system_offsets))
            return kith_fail(
                KITH_INVALID_ARGUMENT, "%s is given without queries; give queries, or leave it out",
                kith_array_is_none(options->query_radii) ? "query_system_offsets" : "query_radii");
        return KITH_OK;
    }
    if (options->half)
        return kith_fail(
            KITH_INVALID_ARGUMENT,
            "half is set, but a list with queries has each pair once anyway; leave it out");
    KITH_TRY(both_or_neither(options->radii, "radii", options->query_radii, "query_radii"));
    return both_or_neither(options->system_offsets, "system_offsets", options->query_system_offsets,
                           "query_system_offsets");
}

/* The cutoff is a number of the positions' precision too. */
static kith_status check_precision(const struct pairs_arguments *arguments)
{
    const bool narrow = arguments->positions.dtype == KITH_F32;
    const double cutoff = arguments->options.cutoff, reach = cutoff + arguments->options.skin;
    const double least = narrow ? (double)FLT_MIN : DBL_MIN;
    const double most = narrow ? (double)FLT_MAX : DBL_MAX;
    if (reach == 0 || (reach >= least && reach <= most))
        return KITH_OK;
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "cutoff is %g and skin %g, and positions of %s have lengths from %g to %g; "
                     "give other units%s",
                     cutoff, arguments->options.skin, kith_dtype_name(arguments->positions.dtype),
                     least, most, narrow ? " or float64" : "");
}

static kith_status check_lengths(const struct pairs_arguments *arguments)
{
    const kith_pairs_options *options = &arguments->options;
    const double cutoff = options->cutoff, skin = options->skin;
    const bool radii = !kith_array_is_none(options->radii);
    if (arguments->nearest) {
        if (arguments->k < 0)
            return kith_fail(KITH_INVALID_ARGUMENT, "k is %lld; give at least 0",
                             (long long)arguments->k);
        if (options->half || skin != 0 || radii || !kith_array_is_none(options->exclusions))
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "%s is given, which the nearest points do not have; leave it out",
                             options->half ? "half"
                             : radii       ? "radii"
                             : skin != 0   ? "skin"
                                           : "exclusions");
        if (!(cutoff >= 0) || isinf(cutoff))
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "cutoff is %g; give a finite length, or 0 for none", cutoff);
        return check_precision(arguments);
    }
    if (!isfinite(cutoff) || cutoff < 0 || (cutoff == 0 && !radii))
        return kith_fail(KITH_INVALID_ARGUMENT, "cutoff is %g; give a finite length greater than 0",
                         cutoff);
    if (!isfinite(skin) || skin < 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "skin is %g; give a length of at least 0", skin);
    return check_precision(arguments);
}

static kith_status check_options(const struct pairs_arguments *arguments)
{
    const kith_pairs_options *options = &arguments->options;
    if (options->quantities >= 2 * KITH_PAIRS_COUNTS)
        return kith_fail(KITH_INVALID_ARGUMENT, "quantities is %u; give kith_pairs_quantity flags",
                         options->quantities);
    if ((unsigned)options->method > KITH_PAIRS_REFERENCE)
        return kith_fail(KITH_INVALID_ARGUMENT, "method is %d; give a kith_pairs_method",
                         (int)options->method);
    if (options->memory_limit < 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "memory_limit is %lld; give bytes, or 0 for no limit",
                         (long long)options->memory_limit);
    if (options->method == KITH_PAIRS_REFERENCE && arguments->context->device.kind != KITH_CPU)
        return kith_fail(KITH_UNSUPPORTED, "method is the reference, which computes on the host, "
                                           "and this context does not; make one on the CPU");
    return check_lengths(arguments);
}

/* Points that are not of the plane or of space. */
static kith_status check_dimensions(const struct pairs_arguments *arguments)
{
    const int64_t dimensions = arguments->positions.shape[1];
    if (pairs_have_cells(dimensions))
        return KITH_OK;
    if (arguments->context->device.kind != KITH_CPU)
        return kith_fail(KITH_UNSUPPORTED,
                         "positions has %lld columns, and a GPU lists pairs of 2 or 3; compute on "
                         "the CPU",
                         (long long)dimensions);
    if (arguments->cell)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "cell is given, and positions has %lld columns; cells are of 2 or 3 "
                         "dimensions",
                         (long long)dimensions);
    return KITH_OK;
}

static kith_status check_offsets(const char *name, kith_array offsets, int64_t rows)
{
    if (kith_array_is_none(offsets))
        return KITH_OK;
    const int64_t *values = offsets.data, last = offsets.shape[0] - 1;
    if (last < 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s is empty; give 0, …, %lld", name,
                         (long long)rows);
    if (last > 0 && offsets.strides[0] != 1)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s has stride %lld; give a contiguous array", name,
                         (long long)offsets.strides[0]);
    if (values[0] != 0 || values[last] != rows)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s goes from %lld to %lld; it must go from 0 to %lld", name,
                         (long long)values[0], (long long)values[last], (long long)rows);
    for (int64_t k = 0; k < last; k++)
        if (values[k] > values[k + 1])
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "%s has %lld after %lld at element %lld; give ascending numbers", name,
                             (long long)values[k + 1], (long long)values[k], (long long)(k + 1));
    return KITH_OK;
}

kith_status pairs_fail_at_number(const char *name, int64_t row, double value, bool radius)
{
    return kith_fail_at_row(name, row, value, radius ? "lengths of at least 0" : "finite numbers");
}

kith_status pairs_check_numbers(const char *name, kith_array array, bool radius)
{
    if (kith_array_is_none(array))
        return KITH_OK;
    for (int64_t row = 0; row < array.shape[0]; row++)
        for (int64_t column = 0; column < (array.ndim == 2 ? array.shape[1] : 1); column++) {
            const double value = pairs_get(array, row, column);
            if (!isfinite(value) || (radius && value < 0))
                return pairs_fail_at_number(name, row, value, radius);
        }
    return KITH_OK;
}

kith_status pairs_fail_at_far_point(const char *name, int64_t row)
{
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "row %lld of %s is more than 2^30 cells away; bring it nearer to the cell",
                     (long long)row, name);
}

kith_status pairs_check_arguments(const struct pairs_arguments *arguments)
{
    const kith_pairs_options *options = &arguments->options;
    KITH_TRY(kith_check_points(arguments->positions, "positions"));
    KITH_TRY(check_dimensions(arguments));
    KITH_TRY(kith_check_device(arguments->context, arguments->positions, "positions"));
    KITH_TRY(check_arrays(arguments));
    KITH_TRY(check_combinations(arguments));
    KITH_TRY(check_options(arguments));
    KITH_TRY(
        check_offsets("system_offsets", options->system_offsets, arguments->positions.shape[0]));
    KITH_TRY(check_offsets("query_system_offsets", options->query_system_offsets,
                           pairs_targets(arguments).shape[0]));
    if (arguments->positions.device.kind == KITH_CPU && !kith_array_is_none(options->exclusions))
        return check_offsets("exclusion_offsets", options->exclusion_offsets,
                             options->exclusions.shape[0]);
    return KITH_OK;
}
