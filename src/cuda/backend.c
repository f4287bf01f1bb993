/* CUDA's instance of the backend table (core/backend.h has the contract): each function with the
 * context's device as the thread's current one, which is then what it was before. */

#include "collisions/backend.h"
#include "core/context.h"
#include "cuda/state.h"
#include "forces/direct.h"
#include "forces/in_place.h"
#include "matrix/backend.h"
#include "pairs/pairs_cuda.h"
#include "pairs/verlet.h"
#include "simulation/advance_cuda.h"
#include "sparse/product_cuda.h"

static kith_status enter(kith_context *context, int *previous)
{
    return cuda_enter(cuda_state_of(context)->device, previous);
}

static void *stream(kith_context *context)
{
    return cuda_stream(context);
}

static kith_status synchronize(kith_context *context)
{
    int previous = 0;
    KITH_TRY(enter(context, &previous));
    return cuda_leave(previous, cuda_synchronize(context));
}

static kith_status allocate(kith_context *context, int64_t count, int64_t bytes_each,
                            const char *what, void *memory)
{
    int previous = 0;
    KITH_TRY(enter(context, &previous));
    return cuda_leave(previous, cuda_allocate(context, count, bytes_each, what, memory));
}

static void release(kith_context *context, void *memory)
{
    int previous = 0;
    const kith_status status = enter(context, &previous);
    cuda_release(context, memory);
    cuda_leave(previous, status);
}

static kith_status workspace(kith_context *context, int64_t bytes, void **host, void **own)
{
    int previous = 0;
    KITH_TRY(enter(context, &previous));
    return cuda_leave(previous, cuda_workspace(context, bytes, host, own));
}

static kith_status copy_in(kith_context *context, void *to, const void *from_host, int64_t bytes)
{
    int previous = 0;
    KITH_TRY(enter(context, &previous));
    return cuda_leave(previous, cuda_copy_in(context, to, from_host, bytes));
}

static kith_status copy_out(kith_context *context, void *to_host, const void *from, int64_t bytes)
{
    int previous = 0;
    KITH_TRY(enter(context, &previous));
    return cuda_leave(previous, cuda_copy_out(context, to_host, from, bytes));
}

static kith_status allocate_host(kith_context *context, int64_t count, int64_t bytes_each,
                                 const char *what, void *memory)
{
    int previous = 0;
    KITH_TRY(enter(context, &previous));
    return cuda_leave(previous, cuda_allocate_host(context, count, bytes_each, what, memory));
}

static void release_host(kith_context *context, void *memory)
{
    int previous = 0;
    const kith_status status = enter(context, &previous);
    cuda_release_host(context, memory);
    cuda_leave(previous, status);
}

static kith_status begin_copy_out(kith_context *context, void *to_host, const void *from,
                                  int64_t bytes)
{
    int previous = 0;
    KITH_TRY(enter(context, &previous));
    return cuda_leave(previous, cuda_begin_copy_out(context, to_host, from, bytes));
}

static kith_status finish_copies(kith_context *context)
{
    int previous = 0;
    KITH_TRY(enter(context, &previous));
    return cuda_leave(previous, cuda_finish_copies(context));
}

static kith_status note_time(kith_context *context, int32_t k)
{
    int previous = 0;
    KITH_TRY(enter(context, &previous));
    return cuda_leave(previous, cuda_note_time(context, k));
}

static kith_status noted_seconds(kith_context *context, double *seconds)
{
    int previous = 0;
    KITH_TRY(enter(context, &previous));
    return cuda_leave(previous, cuda_noted_seconds(context, seconds));
}

static kith_status widen(kith_context *context, kith_dtype dtype, int64_t count, const void *from,
                         double *to)
{
    int previous = 0;
    KITH_TRY(enter(context, &previous));
    return cuda_leave(previous, cuda_widen(context, dtype, count, from, to));
}

static kith_status combine(kith_context *context, kith_dtype dtype, int64_t count, int32_t terms,
                           const double *factor, const void *const *in, void *out)
{
    int previous = 0;
    KITH_TRY(enter(context, &previous));
    return cuda_leave(previous, cuda_combine(context, dtype, count, terms, factor, in, out));
}

static kith_status forces(kith_context *context, const struct forces_problem *problem)
{
    int previous = 0;
    KITH_TRY(enter(context, &previous));
    return cuda_leave(previous, forces_direct_cuda(context, problem));
}

static kith_status in_place(kith_context *context, const struct forces_arguments *arguments)
{
    int previous = 0;
    KITH_TRY(enter(context, &previous));
    return cuda_leave(previous, forces_in_place_cuda(context, arguments));
}

static kith_status pairs(kith_context *context, const struct pairs_problem *problem,
                         kith_pairs *list)
{
    int previous = 0;
    KITH_TRY(enter(context, &previous));
    return cuda_leave(previous, pairs_cuda(context, problem, list));
}

static kith_status advance(kith_context *context, const struct advance_problem *problem,
                           int64_t *done)
{
    int previous = 0;
    KITH_TRY(enter(context, &previous));
    return cuda_leave(previous, advance_cuda(context, problem, done));
}

static kith_status record(kith_context *context, kith_status (*work)(void *argument),
                          void *argument, void **recording)
{
    int previous = 0;
    KITH_TRY(enter(context, &previous));
    return cuda_leave(previous, cuda_record(context, work, argument, recording));
}

static kith_status replay(kith_context *context, void *recording, int64_t times, int64_t *done)
{
    int previous = 0;
    KITH_TRY(enter(context, &previous));
    return cuda_leave(previous, cuda_replay(context, recording, times, done));
}

static void forget(kith_context *context, void *recording)
{
    int previous = 0;
    const kith_status status = enter(context, &previous);
    cuda_forget(context, recording);
    cuda_leave(previous, status);
}

static kith_status sparse_assemble(kith_context *context, const struct sparse_entries *entries,
                                   struct sparse_csr *made)
{
    int previous = 0;
    KITH_TRY(enter(context, &previous));
    return cuda_leave(previous, sparse_assemble_cuda(context, entries, made));
}

static kith_status sparse_transpose(kith_context *context, const struct sparse_csr *csr,
                                    struct sparse_csr *made)
{
    int previous = 0;
    KITH_TRY(enter(context, &previous));
    return cuda_leave(previous, sparse_transpose_cuda(context, csr, made));
}

static kith_status sparse_inspect(kith_context *context, const struct sparse_csr *csr,
                                  struct sparse_statistics *statistics)
{
    int previous = 0;
    KITH_TRY(enter(context, &previous));
    return cuda_leave(previous, sparse_inspect_cuda(context, csr, statistics));
}

static kith_status sparse_convert(kith_context *context, const struct sparse_statistics *statistics,
                                  struct sparse_matrix *matrix)
{
    int previous = 0;
    KITH_TRY(enter(context, &previous));
    return cuda_leave(previous, sparse_convert_cuda(context, statistics, matrix));
}

static kith_status sparse_multiply(kith_context *context, const struct sparse_product *product)
{
    int previous = 0;
    KITH_TRY(enter(context, &previous));
    return cuda_leave(previous, sparse_multiply_cuda(context, product));
}

const struct kith_backend kith_backend_cuda = {
    .name = "cuda",
    .kind = KITH_CUDA,
    .device_count = cuda_device_count,
    .describe = cuda_describe,
    .open = cuda_open,
    .close = cuda_close,
    .synchronize = synchronize,
    .stream = stream,
    .allocate = allocate,
    .release = release,
    .workspace = workspace,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .allocate_host = allocate_host,
    .release_host = release_host,
    .begin_copy_out = begin_copy_out,
    .finish_copies = finish_copies,
    .note_time = note_time,
    .noted_seconds = noted_seconds,
    .widen = widen,
    .combine = combine,
    .forces = forces,
    .forces_in_place = in_place,
    .matrix = &matrix_cuda,
    .pairs = pairs,
    .pairs_verlet = &pairs_verlet_cuda,
    .collisions = &collisions_cuda,
    .advance = advance,
    .record = record,
    .replay = replay,
    .forget = forget,
    .sparse_assemble = sparse_assemble,
    .sparse_transpose = sparse_transpose,
    .sparse_inspect = sparse_inspect,
    .sparse_predict = sparse_predict_cuda,
    .sparse_convert = sparse_convert,
    .sparse_dispose = sparse_dispose_cuda,
    .sparse_multiply = sparse_multiply,
};
