#include "pairs/arguments.h"

#include <float.h>
#include <stdio.h>

#include "core/arguments.h"
#include "core/context.h"

enum { most_points = INT32_MAX };

/* An array with the name that messages give it, and what it must be like. */
struct named_array {
    const char *name;
    kith_array array;
    kith_dtype dtype;
    int32_t ndim;
    int64_t rows; /* −1: any */
    int64_t columns;
};

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

static bool same_place(kith_device a, kith_device b)
{
    return a.kind == b.kind && (a.kind == KITH_CPU || a.index == b.index);
}

static kith_status check_positions(kith_array positions)
{
    if (kith_array_is_none(positions))
        return kith_fail(KITH_INVALID_ARGUMENT, "positions is none; give n × 2 or n × 3 numbers");
    if (positions.dtype != KITH_F64 && positions.dtype != KITH_F32)
        return kith_fail(KITH_INVALID_ARGUMENT, "positions is of %s; give float64 or float32",
                         dtype_name(positions.dtype));
    if (positions.ndim != 2 || (positions.shape[1] != 2 && positions.shape[1] != 3))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "positions has %d dimensions and %lld columns; give n × 2 or n × 3",
                         (int)positions.ndim,
                         (long long)(positions.ndim == 2 ? positions.shape[1] : 1));
    return kith_check_extent(positions, "positions");
}

static kith_status check_place(const kith_context *context, kith_device place)
{
    char name[32], own[32];
    if (place.kind == KITH_CPU || same_place(place, context->device))
        return KITH_OK;
    return kith_fail(context->device.kind == KITH_CPU ? KITH_UNSUPPORTED : KITH_INVALID_ARGUMENT,
                     "positions is %s, and this context computes %s; copy it, or make a context "
                     "there",
                     place_name(place, name), place_name(context->device, own));
}

static kith_status check_shape(const struct named_array *named)
{
    const kith_array *array = &named->array;
    if (array->ndim != named->ndim)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s has %d dimensions; give %d", named->name,
                         (int)array->ndim, (int)named->ndim);
    const int64_t rows = array->shape[0], columns = array->ndim == 2 ? array->shape[1] : 1;
    if ((named->rows < 0 ? rows >= 0 : rows == named->rows) && columns == named->columns)
        return KITH_OK;
    char expected[32] = "n";
    if (named->rows >= 0)
        snprintf(expected, sizeof expected, "%lld", (long long)named->rows);
    if (named->ndim == 1)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s has %lld elements; give %s", named->name,
                         (long long)rows, expected);
    return kith_fail(KITH_INVALID_ARGUMENT, "%s is %lld × %lld; give %s × %lld", named->name,
                     (long long)rows, (long long)columns, expected, (long long)named->columns);
}

static kith_status check_array(const struct named_array *named, kith_device place)
{
    char name[32], common[32];
    const kith_array array = named->array;
    if (kith_array_is_none(array))
        return KITH_OK;
    if (!same_place(array.device, place))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s is %s and belongs %s; give all numbers in one place, and the offsets "
                         "of systems on the host",
                         named->name, place_name(array.device, name), place_name(place, common));
    if (array.dtype != named->dtype)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s is of %s; give %s", named->name,
                         dtype_name(array.dtype), dtype_name(named->dtype));
    KITH_TRY(kith_check_extent(array, named->name));
    KITH_TRY(check_shape(named));
    if (!array.data && array.shape[0] > 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s has %lld rows and its data is NULL",
                         named->name, (long long)array.shape[0]);
    return KITH_OK;
}

static kith_status check_arrays(const struct pairs_arguments *arguments)
{
    const kith_pairs_options *options = &arguments->options;
    const kith_array positions = arguments->positions;
    const kith_dtype dtype = positions.dtype;
    const int64_t n = positions.shape[0], m = pairs_targets(arguments).shape[0];
    const int64_t systems = pairs_system_count(arguments);
    const struct named_array there[] = {
        {"positions", positions, dtype, 2, -1, positions.shape[1]},
        {"queries", options->queries, dtype, 2, -1, positions.shape[1]},
        {"radii", options->radii, dtype, 1, n, 1},
        {"query_radii", options->query_radii, dtype, 1, m, 1},
        {"exclusion_offsets", options->exclusion_offsets, KITH_I64, 1, m + 1, 1},
        {"exclusions", options->exclusions, KITH_I64, 1, -1, 1},
    };
    const struct named_array on_host[] = {
        {"system_offsets", options->system_offsets, KITH_I64, 1, systems + 1, 1},
        {"query_system_offsets", options->query_system_offsets, KITH_I64, 1, systems + 1, 1},
    };
    for (size_t k = 0; k < sizeof there / sizeof there[0]; k++)
        KITH_TRY(check_array(&there[k], positions.device));
    for (size_t k = 0; k < sizeof on_host / sizeof on_host[0]; k++)
        KITH_TRY(check_array(&on_host[k], (kith_device){KITH_CPU, 0}));
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
        return kith_fail(KITH_INVALID_ARGUMENT, "half is set, and there are queries: no pair of a "
                                                "query and a point is there twice; leave it out");
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
                     cutoff, arguments->options.skin, dtype_name(arguments->positions.dtype), least,
                     most, narrow ? " or float64" : "");
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

static kith_status check_offsets(const char *name, kith_array offsets, int64_t rows)
{
    if (kith_array_is_none(offsets))
        return KITH_OK;
    const int64_t *values = offsets.data, last = offsets.shape[0] - 1;
    if (last < 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s is empty; give 0, …, %lld", name,
                         (long long)rows);
    if (last > 0 && offsets.strides[0] != 1)
        return kith_fail(KITH_INVALID_ARGUMENT, "%s has stride %lld; give it dense", name,
                         (long long)offsets.strides[0]);
    if (values[0] != 0 || values[last] != rows)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s goes from %lld to %lld; let it go from 0 to %lld", name,
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
    return kith_fail(KITH_INVALID_ARGUMENT, "row %lld of %s has %g; give %s", (long long)row, name,
                     value, radius ? "lengths of at least 0" : "finite numbers");
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
    KITH_TRY(check_positions(arguments->positions));
    KITH_TRY(check_place(arguments->context, arguments->positions.device));
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
