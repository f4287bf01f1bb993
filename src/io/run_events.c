#include "io/run_events.h"

#include <stddef.h>
#include <stdlib.h>

#include "core/memory.h"
#include "io/h5md_layout.h"
#include "io/hdf5_data.h"

#define EVENTS H5MD_PARAMETERS "/events"

/* The columns besides kind: integers first. */
enum { whole_columns = 3, real_columns = 5 };

static const struct column {
    const char *name;
    size_t offset; /* in kith_event */
} columns[whole_columns + real_columns] = {
    {"step", offsetof(kith_event, step)},         {"body", offsetof(kith_event, body)},
    {"other", offsetof(kith_event, other)},       {"time", offsetof(kith_event, time)},
    {"distance", offsetof(kith_event, distance)}, {"speed", offsetof(kith_event, speed)},
    {"mass", offsetof(kith_event, mass)},         {"radius", offsetof(kith_event, radius)}};

static hid_t type_of_kinds(hid_t integer)
{
    const hid_t type = H5Tenum_create(integer);
    for (int32_t kind = KITH_EVENT_MERGE; kind <= KITH_EVENT_ESCAPE; kind++) {
        int32_t value = kind;
        H5Tconvert(H5T_NATIVE_INT32, integer, 1, &value, NULL, H5P_DEFAULT);
        H5Tenum_insert(type, kith_event_name((kith_event_kind)kind), &value);
    }
    return type;
}

static kith_status write_kinds(hid_t group, const kith_event *events, int64_t count)
{
    int32_t *kinds = NULL;
    KITH_TRY(kith_allocate(count, sizeof *kinds, "events", &kinds));
    for (int64_t k = 0; k < count; k++)
        kinds[k] = (int32_t)events[k].kind;
    const hid_t type = type_of_kinds(H5T_STD_I32LE), here = type_of_kinds(H5T_NATIVE_INT32);
    const kith_status status =
        hdf5_write(group, "kind", type, here, (struct hdf5_shape){1, {(hsize_t)count}}, kinds);
    H5Tclose(type);
    H5Tclose(here);
    free(kinds);
    return status;
}

static kith_status write_columns(hid_t group, const kith_event *events, int64_t count,
                                 double *reals, int64_t *wholes)
{
    const struct hdf5_shape rows = {1, {(hsize_t)count}};
    for (int c = 0; c < whole_columns + real_columns; c++) {
        const bool is_whole = c < whole_columns;
        for (int64_t k = 0; k < count; k++) {
            const char *field = (const char *)&events[k] + columns[c].offset;
            if (is_whole)
                wholes[k] = *(const int64_t *)(const void *)field;
            else
                reals[k] = *(const double *)(const void *)field;
        }
        if (is_whole)
            KITH_TRY(
                hdf5_write(group, columns[c].name, H5T_STD_I64LE, H5T_NATIVE_INT64, rows, wholes));
        else
            KITH_TRY(
                hdf5_write(group, columns[c].name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, rows, reals));
    }
    return write_kinds(group, events, count);
}

kith_status run_events_write(hid_t file, const kith_event *events, int64_t count)
{
    hid_t group = H5I_INVALID_HID;
    double *reals = NULL;
    int64_t *wholes = NULL;
    if (count == 0)
        return KITH_OK;
    KITH_TRY(hdf5_make_group(file, EVENTS, &group));
    kith_status status = kith_allocate(count, sizeof *reals, "events", &reals);
    if (status == KITH_OK)
        status = kith_allocate(count, sizeof *wholes, "events", &wholes);
    if (status == KITH_OK)
        status = write_columns(group, events, count, reals, wholes);
    free(reals);
    free(wholes);
    H5Gclose(group);
    return status;
}

/* Reads a column of as many rows as the first. */
static kith_status read_column(hid_t group, const char *name, hid_t type, int64_t count, void *to)
{
    struct hdf5_shape shape;
    KITH_TRY(hdf5_shape_of(group, name, &shape));
    if (shape.rank != 1 || shape.size[0] != (hsize_t)count)
        return kith_fail(KITH_BAD_FORMAT,
                         "dataset " EVENTS "/%s does not have the %lld rows of step", name,
                         (long long)count);
    return hdf5_read(group, name, type, NULL, shape, to);
}

static kith_status check_event(const kith_event *event, int64_t rows)
{
    const bool has_other = event->kind != KITH_EVENT_ESCAPE;
    if (kith_event_name(event->kind) && event->body >= 0 && event->body < rows &&
        (!has_other || (event->other >= 0 && event->other < rows)))
        return KITH_OK;
    return kith_fail(KITH_BAD_FORMAT,
                     EVENTS " has an event of kind %d, body %lld and other %lld, and there are "
                            "%lld bodies",
                     (int)event->kind, (long long)event->body, (long long)event->other,
                     (long long)rows);
}

static kith_status read_columns(hid_t group, int64_t rows, kith_event *events, int64_t count,
                                double *reals, int64_t *wholes)
{
    for (int c = 0; c < whole_columns + real_columns; c++) {
        const bool is_whole = c < whole_columns;
        if (is_whole)
            KITH_TRY(read_column(group, columns[c].name, H5T_NATIVE_INT64, count, wholes));
        else
            KITH_TRY(read_column(group, columns[c].name, H5T_NATIVE_DOUBLE, count, reals));
        for (int64_t k = 0; k < count; k++) {
            char *field = (char *)&events[k] + columns[c].offset;
            if (is_whole)
                *(int64_t *)(void *)field = wholes[k];
            else
                *(double *)(void *)field = reals[k];
        }
    }
    KITH_TRY(read_column(group, "kind", H5T_NATIVE_INT64, count, wholes));
    for (int64_t k = 0; k < count; k++) {
        const bool is_kind = wholes[k] >= KITH_EVENT_MERGE && wholes[k] <= KITH_EVENT_ESCAPE;
        events[k].kind = is_kind ? (kith_event_kind)wholes[k] : (kith_event_kind)0;
        KITH_TRY(check_event(&events[k], rows));
    }
    return KITH_OK;
}

kith_status run_events_read(hid_t file, int64_t rows, kith_event **events, int64_t *count)
{
    struct hdf5_shape shape;
    double *reals = NULL;
    int64_t *wholes = NULL;
    *events = NULL;
    *count = 0;
    if (!hdf5_exists(file, EVENTS "/step"))
        return KITH_OK;
    KITH_TRY(hdf5_shape_of(file, EVENTS "/step", &shape));
    if (shape.rank != 1)
        return kith_fail(KITH_BAD_FORMAT, "dataset " EVENTS "/step is not a list");
    const int64_t found = (int64_t)shape.size[0];
    kith_event *read = NULL;
    kith_status status = kith_allocate(found, sizeof *read, "events", &read);
    if (status == KITH_OK)
        status = kith_allocate(found, sizeof *reals, "events", &reals);
    if (status == KITH_OK)
        status = kith_allocate(found, sizeof *wholes, "events", &wholes);
    if (status == KITH_OK) {
        const hid_t group = H5Gopen2(file, EVENTS, H5P_DEFAULT);
        status = read_columns(group, rows, read, found, reals, wholes);
        H5Gclose(group);
    }
    free(reals);
    free(wholes);
    if (status != KITH_OK) {
        free(read);
        return status;
    }
    *events = read;
    *count = found;
    return KITH_OK;
}
