/* CUDA's services (device/services.h has the contract). */

#include "device/combine.h"
#include "device/context.h"
#include "device/cuda_state.h"

static kith_status enter(kith_context *context, int32_t *previous)
{
    return cuda_enter(cuda_state_of(context)->device, previous);
}

static void leave(kith_context *context, int32_t previous)
{
    (void)context;
    cuda_leave(previous);
}

static void *stream(kith_context *context)
{
    return cuda_stream(context);
}

const struct device_services device_cuda = {
    .name = "cuda",
    .kind = KITH_CUDA,
    .device_count = cuda_device_count,
    .describe = cuda_describe,
    .enter = enter,
    .leave = leave,
    .open = cuda_open,
    .close = cuda_close,
    .synchronize = cuda_synchronize,
    .check_memory = cuda_check_memory,
    .stream = stream,
    .allocate = cuda_allocate,
    .release = cuda_release,
    .workspace = cuda_workspace,
    .copy_in = cuda_copy_in,
    .copy_out = cuda_copy_out,
    .hold_errors = cuda_hold_errors,
    .report_errors = cuda_report_errors,
    .drop_errors = cuda_drop_errors,
    .allocate_host = cuda_allocate_host,
    .release_host = cuda_release_host,
    .begin_copy_out = cuda_begin_copy_out,
    .finish_copies = cuda_finish_copies,
    .mark_time = cuda_mark_time,
    .elapsed_seconds = cuda_elapsed_seconds,
    .convert_to_double = cuda_convert_to_double,
    .combine = combine_cuda,
    .accumulate = accumulate_cuda,
    .record = cuda_record,
    .replay = cuda_replay,
    .forget = cuda_forget,
};
