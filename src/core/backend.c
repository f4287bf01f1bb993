#include "core/backend.h"

#include <stddef.h>

static const struct kith_backend *const backends[] = {
#ifdef KITH_HAS_CUDA
    &kith_backend_cuda,
#endif
    &kith_backend_cpu,
};

enum { backend_count = sizeof backends / sizeof backends[0] };

const struct kith_backend *kith_backend_at(int32_t k)
{
    return k >= 0 && k < backend_count ? backends[k] : NULL;
}

bool kith_backend_describe(int32_t k, kith_backend_info *info)
{
    if (!info)
        return false;
    const struct kith_backend *backend = kith_backend_at(k);
    if (backend) {
        const char *note = NULL;
        const int32_t devices = backend->device_count(&note);
        *info = (kith_backend_info){backend->name, true, devices, note};
        return true;
    }
#ifndef KITH_HAS_CUDA
    if (k == backend_count) {
        *info = (kith_backend_info){"cuda", false, 0, "this build has no CUDA backend"};
        return true;
    }
#endif
    return false;
}

bool kith_device_describe(kith_device device, kith_device_info *info)
{
    if (!info)
        return false;
    *info = (kith_device_info){0};
    const struct kith_backend *backend = NULL;
    for (int32_t k = 0; (backend = kith_backend_at(k)); k++)
        if (backend->kind == device.kind && backend->describe)
            return backend->describe(device.index, info) == KITH_OK;
    return false;
}
