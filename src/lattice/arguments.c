#include "lattice/arguments.h"

#include <stdlib.h>
#include <string.h>

#include "core/arguments.h"
#include "core/memory.h"
#include "device/arrays.h"
#include "device/context.h"
#include "device/memory.h"
#include "lattice/backend.h"

kith_status collisions_check_place(const kith_context *context, const char *name, kith_array array,
                                   kith_device beads)
{
    char there[32], here[32];
    if (!kith_same_device(array.device, beads))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s is %s and beads is %s; give all arrays on one device", name,
                         kith_device_text(array.device, there), kith_device_text(beads, here));
    KITH_TRY(kith_check_device(context, array, name));
    return kith_check_memory(context, &array, name);
}

kith_status collisions_check_backend(const kith_context *context)
{
    if (!collisions_backend_of(context))
        return kith_fail(KITH_UNSUPPORTED, "this build counts collisions on the CPU only; use a "
                                           "context on the CPU (--device cpu)");
    return KITH_OK;
}

static kith_status check_shape(kith_array beads)
{
    if (kith_array_is_none(beads))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "beads is not given; give the coordinates of the beads");
    if (beads.dtype != KITH_I32 && beads.dtype != KITH_I64)
        return kith_fail(KITH_INVALID_ARGUMENT, "beads is of %s; give int32 or int64",
                         kith_dtype_name(beads.dtype));
    if (beads.ndim != 2 || beads.shape[0] < 0 || (beads.shape[1] != 2 && beads.shape[1] != 3))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "beads has %d dimensions, %lld rows and %lld columns; give n × 2 or n × 3",
                         (int)beads.ndim, (long long)beads.shape[0],
                         beads.ndim >= 2 ? (long long)beads.shape[1] : 1);
    if (!beads.data && beads.shape[0] > 0)
        return kith_fail(KITH_INVALID_ARGUMENT, "beads has %lld rows and its data is NULL",
                         (long long)beads.shape[0]);
    return kith_check_extent(&beads, "beads");
}

kith_status collisions_check_beads(const kith_context *context, kith_array beads,
                                   struct collisions_problem *problem, bool *on_host)
{
    KITH_TRY(collisions_check_backend(context));
    KITH_TRY(check_shape(beads));
    KITH_TRY(collisions_check_place(context, "beads", beads, beads.device));
    *problem = (struct collisions_problem){
        .dtype = beads.dtype,
        .dimensions = (int32_t)beads.shape[1],
        .count = beads.shape[0],
        .beads = beads.data,
        .row_stride = beads.strides[0],
        .column_stride = beads.strides[1],
    };
    *on_host = beads.device.kind == KITH_CPU;
    return KITH_OK;
}

kith_status collisions_check_host_beads(const kith_context *context, kith_array beads,
                                        struct collisions_problem *problem)
{
    bool on_host = false;
    KITH_TRY(collisions_check_beads(context, beads, problem, &on_host));
    if (!on_host)
        return kith_fail(
            KITH_UNSUPPORTED,
            "beads is on cuda:%d, but this function computes on the host; copy it there",
            (int)beads.device.index);
    return KITH_OK;
}

kith_status collisions_parse_sequence(const char *sequence, int64_t count, unsigned char **flags)
{
    *flags = NULL;
    if (!sequence)
        return KITH_OK;
    const int64_t length = (int64_t)strlen(sequence);
    if (length != count)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "sequence has %lld letters, but there are %lld beads; give a letter for "
                         "each bead",
                         (long long)length, (long long)count);
    for (int64_t i = 0; i < length; i++)
        if (!strchr("HhPp", sequence[i]))
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "letter %lld (from 0) of sequence is '%c'; give H or P", (long long)i,
                             sequence[i]);
    KITH_TRY(kith_allocate(count, 1, "the sequence", flags));
    for (int64_t i = 0; i < length; i++)
        (*flags)[i] = sequence[i] == 'H' || sequence[i] == 'h';
    return KITH_OK;
}

kith_status collisions_make_dense(struct collisions_problem *problem, void **copy)
{
    *copy = NULL;
    if (collisions_is_dense(problem) || problem->count == 0)
        return KITH_OK;
    const int64_t d = problem->dimensions;
    KITH_TRY(kith_allocate(problem->count * d, kith_dtype_bytes(problem->dtype),
                           "a dense copy of the beads", copy));
    for (int64_t k = 0; k < problem->count * d; k++) {
        const int64_t value = collisions_coordinate(problem, k / d, k % d);
        if (problem->dtype == KITH_I32)
            ((int32_t *)*copy)[k] = (int32_t)value;
        else
            ((int64_t *)*copy)[k] = value;
    }
    problem->beads = *copy;
    problem->row_stride = d;
    problem->column_stride = 1;
    return KITH_OK;
}
