#include <stdlib.h>

#include "core/arguments.h"
#include "core/memory.h"
#include "device/context.h"
#include "lattice/arguments.h"
#include "lattice/backend.h"

static bool is_dense(kith_array array)
{
    int64_t stride = 1;
    for (int32_t k = array.ndim - 1; k >= 0; k--) {
        if (array.shape[k] > 1 && array.strides[k] != stride)
            return false;
        stride *= array.shape[k];
    }
    return true;
}

static kith_status check_beads(const kith_context *context, kith_array beads, bool is_ragged,
                               struct collisions_batch_problem *problem)
{
    const int32_t ndim = is_ragged ? 2 : 3;
    const int64_t columns = beads.ndim == ndim ? beads.shape[ndim - 1] : 0;
    if (beads.ndim != ndim || (columns != 2 && columns != 3) || beads.shape[0] < 0 ||
        beads.shape[1] < 0)
        return kith_fail(
            KITH_INVALID_ARGUMENT, "beads has %d dimensions, the last of %lld; give %s",
            (int)beads.ndim, (long long)columns,
            is_ragged ? "m × 2 or m × 3 with offsets" : "B × L × 2 or B × L × 3, or offsets");
    if (beads.dtype != KITH_I32 && beads.dtype != KITH_I64)
        return kith_fail(KITH_INVALID_ARGUMENT, "beads is of floating point; give int32 or int64");
    KITH_TRY(kith_check_extent(&beads, "beads"));
    if (!is_dense(beads))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "beads is not dense and row-major; give a dense copy");
    if (!beads.data && beads.shape[0] * beads.shape[1] > 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "beads has %lld rows and its data is NULL",
                         (long long)beads.shape[0]);
    problem->dtype = beads.dtype;
    problem->dimensions = (int32_t)columns;
    problem->beads = beads.data;
    problem->conformations = is_ragged ? 0 : beads.shape[0];
    problem->length = is_ragged ? 0 : beads.shape[1];
    return collisions_check_place(context, "beads", beads, beads.device);
}

static kith_status check_length(int64_t length, int64_t conformation)
{
    if (length <= collisions_most_of_batch)
        return KITH_OK;
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "conformation %lld has %lld beads; give at most %d, or count it alone",
                     (long long)conformation, (long long)length, (int)collisions_most_of_batch);
}

/* The offsets of host beads are checked; those on a device are not. */
static kith_status check_offsets(const kith_context *context, kith_array beads, kith_array offsets,
                                 struct collisions_batch_problem *problem)
{
    if (kith_array_is_none(offsets))
        return check_length(problem->length, 0);
    KITH_TRY(collisions_check_place(context, "offsets", offsets, beads.device));
    if (offsets.ndim != 1 || offsets.dtype != KITH_I64 || offsets.shape[0] < 1 ||
        !is_dense(offsets))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "offsets has %d dimensions and %lld elements; give B + 1 dense int64",
                         (int)offsets.ndim, (long long)offsets.shape[0]);
    KITH_TRY(kith_check_extent(&offsets, "offsets"));
    KITH_TRY(kith_check_pointer(offsets.data, "offsets' data"));
    const int64_t *offset = offsets.data;
    problem->offsets = offset;
    problem->conformations = offsets.shape[0] - 1;
    if (offsets.device.kind != KITH_CPU)
        return KITH_OK;
    for (int64_t b = 0; b < problem->conformations; b++) {
        if (offset[b + 1] < offset[b])
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "offsets[%lld] is %lld and the next one %lld; give ascending ones",
                             (long long)b, (long long)offset[b], (long long)offset[b + 1]);
        KITH_TRY(check_length(offset[b + 1] - offset[b], b));
    }
    if (offset[0] != 0 || offset[problem->conformations] != beads.shape[0])
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "offsets goes from %lld to %lld; give 0 to %lld, the beads",
                         (long long)offset[0], (long long)offset[problem->conformations],
                         (long long)beads.shape[0]);
    return KITH_OK;
}

static kith_status check_output(const kith_context *context, const char *name, kith_array output,
                                kith_array beads, int64_t conformations, int64_t **data)
{
    *data = NULL;
    if (kith_array_is_none(output))
        return KITH_OK;
    KITH_TRY(collisions_check_place(context, name, output, beads.device));
    if (output.ndim != 1 || output.dtype != KITH_I64 || output.shape[0] != conformations ||
        !is_dense(output) || (!output.data && conformations > 0))
        return kith_fail(
            KITH_INVALID_ARGUMENT,
            "%s has %d dimensions and %lld elements; give %lld dense int64, one per conformation",
            name, (int)output.ndim, (long long)output.shape[0], (long long)conformations);
    *data = output.data;
    return KITH_OK;
}

kith_status kith_collisions_batch(kith_context *context, kith_array beads, kith_array offsets,
                                  const char *sequence, kith_array collisions, kith_array contacts)
{
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    KITH_TRY(kith_check_pointer(context, "context"));
    struct collisions_batch_problem problem = {0};
    const bool is_ragged = !kith_array_is_none(offsets);
    KITH_TRY(collisions_check_backend(context));
    KITH_TRY(kith_context_check_cancelled(context));
    KITH_TRY(check_beads(context, beads, is_ragged, &problem));
    KITH_TRY(check_offsets(context, beads, offsets, &problem));
    const int64_t all = problem.conformations;
    KITH_TRY(check_output(context, "collisions", collisions, beads, all, &problem.collisions));
    KITH_TRY(check_output(context, "contacts", contacts, beads, all, &problem.contacts));
    if (sequence && is_ragged)
        return kith_fail(KITH_INVALID_ARGUMENT, "sequence and offsets are given; a sequence is for "
                                                "conformations of one length");
    if (all == 0 || (!problem.collisions && !problem.contacts))
        return KITH_OK;

    unsigned char *hydrophobic = NULL;
    KITH_TRY(collisions_parse_sequence(sequence, problem.length, &hydrophobic));
    problem.hydrophobic = hydrophobic;
    const kith_status status =
        collisions_backend_of(context)->batch(context, &problem, beads.device.kind == KITH_CPU);
    free(hydrophobic);
    return status;
}
