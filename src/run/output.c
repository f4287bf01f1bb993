#include "run/output.h"

#include "device/context.h"
#include "ranks/bodies.h"
#include "run/chunks.h"

/* Where each rank has a slice, all ranks go on only if all can. */
static kith_status agree(const struct run_output *output, kith_status status)
{
    return output->is_sliced ? ranks_agree(output->context, status) : status;
}

kith_status run_output_agree(const struct run_output *output, kith_status status)
{
    const bool goes_on = output->context->goes_on;
    output->context->goes_on = true;
    status = agree(output, status);
    output->context->goes_on = goes_on;
    return status;
}

static kith_status put_bodies(void *argument, int64_t first, const kith_bodies *rows)
{
    const struct run_output *output = argument;
    return run_file_put_bodies(output->file, first, rows);
}

static kith_status put_frame(void *argument, int64_t first, const kith_bodies *rows)
{
    const struct run_output *output = argument;
    return run_file_put_frame(output->file, first, rows);
}

static kith_status put_images(void *argument, int64_t first, const kith_bodies *rows)
{
    const struct run_output *output = argument;
    return run_file_put_images(output->file, first, rows);
}

/* All rows, in order, to a function of rank 0's. */
static kith_status collect(struct run_output *output, const kith_bodies *rows,
                           ranks_take_rows *take)
{
    if (output->is_sliced)
        return ranks_collect_bodies(output->context, output->all, rows, take, output);
    return output->file ? take(output, 0, rows) : KITH_OK;
}

/* From here on nothing is cancelled; returns what is to be restored. */
static bool go_on(const struct run_output *output)
{
    const bool goes_on = output->context->goes_on;
    output->context->goes_on = true;
    return goes_on;
}

kith_status run_output_put_bodies(struct run_output *output, const kith_bodies *rows)
{
    const bool goes_on = go_on(output);
    const kith_status status = output->is_wanted ? collect(output, rows, put_bodies) : KITH_OK;
    output->context->goes_on = goes_on;
    return status;
}

/* Of a large frame each rank compresses its part, and one process all of it by its threads. */
static kith_status put_rows(struct run_output *output, const kith_bodies *rows)
{
    struct h5md_chunk chunk = {0};
    if (output->file)
        chunk = run_file_chunk(output->file);
    if (output->is_sliced)
        ranks_broadcast(output->context, &chunk, sizeof chunk);
    if (chunk.rows == 0)
        return collect(output, rows, put_frame);
    KITH_TRY(output->is_sliced ? run_put_chunks(output, chunk, rows)
                               : run_put_chunks_alone(output, chunk, rows));
    return chunk.wraps ? collect(output, rows, put_images) : KITH_OK;
}

static kith_status add_frame(struct run_output *output, int64_t step, const kith_bodies *rows,
                             const kith_diagnostics *diagnostics)
{
    kith_status status = KITH_OK;
    if (output->file)
        status = run_file_begin_frame(output->file, step, rows, diagnostics);
    KITH_TRY(agree(output, status));
    KITH_TRY(put_rows(output, rows));
    if (output->file)
        status = run_file_end_frame(output->file);
    return agree(output, status);
}

kith_status run_output_add_frame(struct run_output *output, int64_t step, const kith_bodies *rows,
                                 const kith_diagnostics *diagnostics)
{
    const bool goes_on = go_on(output);
    const kith_status status =
        output->is_wanted ? add_frame(output, step, rows, diagnostics) : KITH_OK;
    output->context->goes_on = goes_on;
    return status;
}

/* Rows of an array of the state. */
struct array_of_state {
    struct run_file *file;
    int64_t array;
};

static kith_status put_state(void *argument, int64_t first, int64_t rows, const void *numbers)
{
    const struct array_of_state *of = argument;
    return run_file_put_state(of->file, of->array, first, rows, numbers);
}

static kith_status put_states(struct run_output *output, const kith_checkpoint *checkpoint)
{
    const int64_t arrays = checkpoint->arrays, bodies = checkpoint->bodies;
    const int64_t bytes = arrays > 0 ? checkpoint->bytes / arrays : 0;
    for (int64_t k = 0; k < arrays; k++) {
        struct array_of_state of = {output->file, k};
        const char *numbers = (const char *)checkpoint->state + k * bytes;
        if (output->is_sliced)
            KITH_TRY(ranks_collect(output->context, output->all, numbers, bytes / bodies, put_state,
                                   &of));
        else if (output->file)
            KITH_TRY(put_state(&of, 0, bodies, numbers));
    }
    return KITH_OK;
}

static kith_status publish(struct run_output *output, const kith_simulation *simulation,
                           const kith_checkpoint *checkpoint, bool is_last)
{
    int64_t count = 0;
    const kith_event *events = kith_simulation_events(simulation, &count);
    kith_status status = KITH_OK;
    if (output->file)
        status = run_file_begin_checkpoint(output->file, checkpoint, is_last);
    KITH_TRY(agree(output, status));
    KITH_TRY(put_states(output, checkpoint));
    if (output->file)
        status = run_file_publish(output->file, events, count);
    return agree(output, status);
}

kith_status run_output_publish(struct run_output *output, const kith_simulation *simulation,
                               const kith_checkpoint *checkpoint, bool is_last)
{
    const bool goes_on = go_on(output);
    const kith_status status =
        output->is_wanted ? publish(output, simulation, checkpoint, is_last) : KITH_OK;
    output->context->goes_on = goes_on;
    return status;
}
