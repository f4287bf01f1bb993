/* A frame of an H5MD file, some rows at a time. */

#include <stdlib.h>

#include "core/memory.h"
#include "io/h5md_box.h"
#include "io/h5md_frames.h"
#include "io/hdf5_file.h"
#include "io/stream.h"

struct rows {
    struct h5md_reader reader;
    int64_t first, frame;
};

static kith_status open_reader(const kith_read_options *options, struct rows *rows,
                               kith_bodies **like, int64_t *count)
{
    struct h5md_reader *reader = &rows->reader;
    kith_status status = h5md_choose_system(options, reader);
    if (status == KITH_OK)
        status = h5md_choose_frame(options->frame, reader->frames, &rows->frame);
    if (status == KITH_OK)
        status = kith_bodies_create(1, reader->dimensions, h5md_reader_columns(reader), like);
    if (status != KITH_OK)
        return status;
    rows->first = reader->first_row;
    *count = reader->count;
    (*like)->time = reader->time[rows->frame];
    (*like)->units = reader->units;
    h5md_keep_open(reader);
    return h5md_read_box(reader, rows->frame, *like);
}

/* Of a run with events rows may have been removed: how many there are is known at the end. */
static kith_status open_rows(const char *path, const kith_read_options *options, kith_bodies **like,
                             int64_t *count, void **state)
{
    struct hdf5_session session;
    struct rows rows = {.first = 0};
    hdf5_begin(&session);
    kith_status status = h5md_reader_open(path, &rows.reader);
    if (status == KITH_OK) {
        if (rows.reader.event_count == 0) {
            status = open_reader(options, &rows, like, count);
            if (status == KITH_OK)
                status = kith_allocate(1, sizeof rows, "rows", state);
        }
        if (*state)
            *(struct rows *)*state = rows;
        else
            h5md_reader_close(&rows.reader);
    }
    hdf5_end(&session);
    return status;
}

static kith_status next_rows(void *state, int64_t first, kith_bodies *rows)
{
    struct rows *from = state;
    struct hdf5_session session;
    hdf5_begin(&session);
    h5md_reader_choose_rows(&from->reader, from->first + first, rows->count);
    const kith_status status = h5md_reader_frame(&from->reader, from->frame, rows);
    hdf5_end(&session);
    return status;
}

static void close_rows(void *state)
{
    struct rows *rows = state;
    if (!rows)
        return;
    struct hdf5_session session;
    hdf5_begin(&session);
    h5md_reader_close(&rows->reader);
    hdf5_end(&session);
    free(rows);
}

const struct stream_functions h5md_stream = {open_rows, next_rows, close_rows};
