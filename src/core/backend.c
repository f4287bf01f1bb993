#include "core/backend.h"

#include <stddef.h>

static const struct kith_backend *const backends[] = {&kith_backend_cpu};

enum { backend_count = sizeof backends / sizeof backends[0] };

const struct kith_backend *kith_backend_at(int32_t k)
{
    return k >= 0 && k < backend_count ? backends[k] : NULL;
}

bool kith_backend_describe(int32_t k, kith_backend_info *info)
{
    const struct kith_backend *backend = kith_backend_at(k);
    if (backend) {
        const char *note = NULL;
        const int32_t devices = backend->device_count(&note);
        *info = (kith_backend_info){backend->name, true, devices, note};
        return true;
    }
    if (k == backend_count) {
        *info = (kith_backend_info){"cuda", false, 0, "this build has no CUDA backend"};
        return true;
    }
    return false;
}
