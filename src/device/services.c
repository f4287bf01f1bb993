#include "device/services.h"

#include <stddef.h>

bool kith_backend_describe(int32_t k, kith_backend_info *info)
{
    if (!info)
        return false;
    const struct device_services *services = device_kind_at(k).services;
    if (services) {
        const char *note = NULL;
        const int32_t devices = services->device_count(&note);
        *info = (kith_backend_info){services->name, true, devices, note};
        return true;
    }
#ifndef KITH_HAS_CUDA
    if (k > 0 && device_kind_at(k - 1).services) {
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
    const struct device_services *services = NULL;
    for (int32_t k = 0; (services = device_kind_at(k).services); k++)
        if (services->kind == device.kind && services->describe)
            return services->describe(device.index, info) == KITH_OK;
    return false;
}
