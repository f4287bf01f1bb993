#include "core/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *open_in_toolkit(const char *home, const char *file)
{
    char path[4096];
    if (!home || snprintf(path, sizeof path, "%s/lib64/%s", home, file) >= (int)sizeof path)
        return NULL;
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

void *library_open(const char *const *names, int32_t count, const char *toolkit)
{
    void *handle = NULL;
    for (int32_t k = 0; !handle && k < count; k++)
        handle = dlopen(names[k], RTLD_NOW | RTLD_LOCAL);
    if (!toolkit)
        return handle;
    const char *const homes[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
    for (size_t k = 0; !handle && k < sizeof homes / sizeof homes[0]; k++)
        handle = open_in_toolkit(homes[k], toolkit);
    return handle;
}

const char *library_find(void *handle, const struct library_function *functions, int32_t count)
{
    for (int32_t k = 0; k < count; k++) {
        void *address = handle ? dlsym(handle, functions[k].name) : NULL;
        if (!address)
            return functions[k].name;
        memcpy(functions[k].pointer, &address, sizeof address);
    }
    return NULL;
}
