/* Lists of pairs that the caller keeps. */

#include "sums/list.h"

#include "core/arguments.h"
#include "device/arrays.h"

static kith_status check_same_device(kith_array array, const char *name,
                                     const struct sums_problem *problem)
{
    const kith_device device = problem->sources.positions.device;
    char here[32], there[32];
    if (kith_same_device(array.device, device))
        return KITH_OK;
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "%s is %s, but sources.positions is %s; give both on one device", name,
                     kith_device_text(array.device, here), kith_device_text(device, there));
}

/* A vector, or a matrix where columns is not 0. */
static kith_status check_dense(const kith_context *context, const struct sums_problem *problem,
                               kith_array array, const char *name, int64_t rows, int64_t columns)
{
    bool fits = array.ndim == (columns > 0 ? 2 : 1) && array.shape[0] == rows;
    if (columns > 0)
        fits = fits && array.shape[1] == columns &&
               (rows == 0 || (array.strides[1] == 1 && array.strides[0] == columns));
    else
        fits = fits && (rows < 2 || array.strides[0] == 1);
    if (!fits)
        return kith_fail(
            KITH_INVALID_ARGUMENT,
            "%s does not have %lld rows without gaps; give a list of these targets and "
            "sources",
            name, (long long)rows);
    KITH_TRY(kith_check_device(context, array, name));
    return check_same_device(array, name, problem);
}

static kith_status check_dtype(kith_array array, const char *name, bool fits, const char *wanted)
{
    return fits ? KITH_OK
                : kith_fail(KITH_INVALID_ARGUMENT, "%s is %s; it must be %s", name,
                            kith_dtype_name(array.dtype), wanted);
}

static kith_status check_shifts(const kith_context *context, const kith_pairs *pairs,
                                const struct sums_problem *problem)
{
    const kith_array shifts = pairs->shifts;
    const bool *periodic = problem->lattice.periodic;
    if (kith_array_is_none(shifts))
        return periodic[0] || periodic[1] || periodic[2]
                   ? kith_fail(KITH_INVALID_ARGUMENT,
                               "pairs has no shifts, but the cell is periodic; list them with "
                               "KITH_PAIRS_SHIFTS")
                   : KITH_OK;
    KITH_TRY(check_dtype(shifts, "pairs.shifts", shifts.dtype == KITH_I32, "int32"));
    return check_dense(context, problem, shifts, "pairs.shifts", pairs->count, problem->dimensions);
}

static kith_status check_arrays(const kith_context *context, const kith_pairs *pairs,
                                const struct sums_problem *problem)
{
    const kith_array offsets = pairs->offsets, j = pairs->j;
    const bool is_whole = j.dtype == KITH_I64 || j.dtype == KITH_I32;
    if (kith_array_is_none(j) || kith_array_is_none(offsets))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "pairs has no offsets or no j; list the pairs with KITH_PAIRS_J");
    KITH_TRY(check_dtype(offsets, "pairs.offsets", offsets.dtype == KITH_I64, "int64"));
    KITH_TRY(check_dtype(j, "pairs.j", is_whole, "int64 or int32"));
    KITH_TRY(
        check_dense(context, problem, offsets, "pairs.offsets", problem->targets.count + 1, 0));
    KITH_TRY(check_dense(context, problem, j, "pairs.j", pairs->count, 0));
    return check_shifts(context, pairs, problem);
}

static kith_status check_numbers(const kith_pairs *pairs, const struct sums_problem *problem)
{
    const int64_t n = problem->targets.count, m = problem->sources.count;
    const struct sums_list *list = &problem->list;
    bool ascends = list->offsets[0] == 0 && list->offsets[n] == pairs->count;
    for (int64_t i = 0; i < n; i++)
        ascends = ascends && list->offsets[i] <= list->offsets[i + 1];
    if (!ascends)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "pairs.offsets does not ascend from 0 to %lld, the number of pairs",
                         (long long)pairs->count);
    for (int64_t p = 0; p < pairs->count; p++)
        if (sums_list_source(list, p) < 0 || sums_list_source(list, p) >= m)
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "pairs.j[%lld] is %lld; it must be from 0 to %lld", (long long)p,
                             (long long)sums_list_source(list, p), (long long)(m - 1));
    return KITH_OK;
}

kith_status sums_list_take(kith_context *context, const kith_pairs *pairs,
                           struct sums_problem *problem)
{
    struct sums_list *list = &problem->list;
    KITH_TRY(check_arrays(context, pairs, problem));
    *list = (struct sums_list){.offsets = pairs->offsets.data,
                               .j = pairs->j.data,
                               .is_narrow = pairs->j.dtype == KITH_I32,
                               .shifts = pairs->shifts.data,
                               .includes_self = problem->include_self};
    problem->list_arrays[sums_list_offsets] = pairs->offsets;
    problem->list_arrays[sums_list_j] = pairs->j;
    problem->list_arrays[sums_list_shifts] = pairs->shifts;
    for (int k = 0; k < 9; k++)
        list->cell[k / 3][k % 3] = problem->lattice.basis[k / 3][k % 3];
    return pairs->offsets.device.kind == KITH_CPU ? check_numbers(pairs, problem) : KITH_OK;
}
