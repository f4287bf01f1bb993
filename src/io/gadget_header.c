#include "io/gadget_header.h"

#include <string.h>

#include "core/status.h"
#include "io/hdf5_data.h"

static kith_status read_number(hid_t group, const char *name, hid_t type, void *number)
{
    int64_t found = 0;
    return hdf5_get_numbers(group, name, type, 1, number, &found);
}

static kith_status check_counts(const struct gadget_header *header)
{
    int64_t total = 0;
    for (int k = 0; k < gadget_most_types; k++) {
        if (header->count[k] < 0)
            return kith_fail(KITH_BAD_FORMAT, "NumPart_ThisFile of PartType%d is %lld", k,
                             (long long)header->count[k]);
        if (header->count[k] > 0 && k >= gadget_type_count)
            return kith_fail(
                KITH_UNSUPPORTED,
                "there are bodies of PartType%d; kith supports PartType0 to PartType%d", k,
                gadget_type_count - 1);
        if (__builtin_add_overflow(total, header->count[k], &total))
            return kith_fail(KITH_BAD_FORMAT, "NumPart_ThisFile adds up to too many bodies");
    }
    return KITH_OK;
}

/* NumPart_Total, whose upper halves may be an attribute of their own. */
static kith_status read_totals(hid_t group, struct gadget_header *header)
{
    int64_t found = 0, upper[gadget_most_types] = {0};
    KITH_TRY(hdf5_get_numbers(group, "NumPart_Total", H5T_NATIVE_INT64, gadget_most_types,
                              header->total, &found));
    header->has_total = found > 0;
    KITH_TRY(hdf5_get_numbers(group, "NumPart_Total_HighWord", H5T_NATIVE_INT64, gadget_most_types,
                              upper, &found));
    for (int k = 0; k < gadget_most_types; k++)
        if (upper[k] > 0 && upper[k] <= INT32_MAX && header->total[k] <= UINT32_MAX)
            header->total[k] += upper[k] << 32;
    return KITH_OK;
}

static kith_status read_box(hid_t group, struct gadget_header *header)
{
    int64_t found = 0;
    KITH_TRY(hdf5_get_numbers(group, "BoxSize", H5T_NATIVE_DOUBLE, 3, header->box, &found));
    if (found == 1)
        header->box[1] = header->box[2] = header->box[0];
    return found == 2
               ? kith_fail(KITH_BAD_FORMAT, "attribute BoxSize has 2 numbers; it must have 1 "
                                            "or 3")
               : KITH_OK;
}

kith_status gadget_header_read(hid_t file, struct gadget_header *header)
{
    *header = (struct gadget_header){.files = 1};
    if (!hdf5_is_group(file, "/Header"))
        return kith_fail(KITH_BAD_FORMAT, "group /Header is missing: not a Gadget snapshot");
    const hid_t group = H5Gopen2(file, "/Header", H5P_DEFAULT);
    int64_t types = 0, masses = 0;
    KITH_TRY(hdf5_get_numbers(group, "NumPart_ThisFile", H5T_NATIVE_INT64, gadget_most_types,
                              header->count, &types));
    if (types == 0)
        return kith_fail(KITH_BAD_FORMAT, "attribute NumPart_ThisFile of /Header is missing");
    KITH_TRY(hdf5_get_numbers(group, "MassTable", H5T_NATIVE_DOUBLE, gadget_most_types,
                              header->mass, &masses));
    KITH_TRY(read_number(group, "Time", H5T_NATIVE_DOUBLE, &header->time));
    KITH_TRY(read_number(group, "NumFilesPerSnapshot", H5T_NATIVE_INT64, &header->files));
    KITH_TRY(read_totals(group, header));
    KITH_TRY(read_box(group, header));
    return check_counts(header);
}

kith_status gadget_header_check(const struct gadget_header *header,
                                const struct gadget_header *first)
{
    const char *what = header->files != first->files ? "NumFilesPerSnapshot"
                       : memcmp(&header->time, &first->time, sizeof first->time) != 0 ? "Time"
                       : memcmp(header->box, first->box, sizeof first->box) != 0      ? "BoxSize"
                       : memcmp(header->mass, first->mass, sizeof first->mass) != 0   ? "MassTable"
                       : header->has_total != first->has_total ||
                               memcmp(header->total, first->total, sizeof first->total) != 0
                           ? "NumPart_Total"
                           : NULL;
    if (what)
        return kith_fail(KITH_BAD_FORMAT,
                         "attribute %s is not that of the first file of the snapshot", what);
    return KITH_OK;
}
