/* Contexts that several GPUs share. */

#include "kith/ranks.h"

#include "core/arguments.h"
#include "device/context.h"
#ifdef KITH_HAS_CUDA
#include "device/cuda_peers.h"
#endif

enum { most_peers = 63 };

static kith_status add(kith_context *context, const int32_t *peers, int32_t count)
{
#ifdef KITH_HAS_CUDA
    if (context->device.kind == KITH_CUDA)
        return cuda_add_peers(context, peers, count);
#endif
    (void)peers, (void)count;
    return kith_fail(KITH_UNSUPPORTED, "context is on %s, which has no peers; make it on a GPU",
                     context->services->name);
}

kith_status kith_context_add_peers(kith_context *context, const int32_t *peers, int32_t count)
{
    KITH_TRY(kith_check_pointer(context, "context"));
    if (count < 0 || count > most_peers)
        return kith_fail(KITH_INVALID_ARGUMENT, "count is %d; give 0 to %d", (int)count,
                         most_peers);
    if (count == 0)
        return KITH_OK;
    KITH_TRY(kith_check_pointer(peers, "peers"));
    DEVICE_SCOPE(scope);
    KITH_TRY(device_enter(context, &scope));
    KITH_TRY(add(context, peers, count));
    context->peers = count;
    return KITH_OK;
}
