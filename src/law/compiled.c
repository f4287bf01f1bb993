/* What laws keep of their compiled code, and its names. */

#include "law/compiled.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

struct law_code {
    pthread_mutex_t mutex;
    struct law_module *modules;
};

kith_status law_code_create(struct law_code **code)
{
    KITH_TRY(kith_allocate(1, sizeof **code, "compiled law", code));
    pthread_mutex_init(&(*code)->mutex, NULL);
    return KITH_OK;
}

void law_code_free(struct law_code *code)
{
    if (!code)
        return;
    while (code->modules) {
        struct law_module *module = code->modules;
        code->modules = module->next;
        module->close(module->handle);
        free(module);
    }
    pthread_mutex_destroy(&code->mutex);
    free(code);
}

static kith_status find_or_open(const kith_law *law, const char *kernel, const char *target,
                                law_open_module *open, void *argument, void **handle)
{
    struct law_module *module = law->code->modules;
    for (; module; module = module->next)
        if (strcmp(module->kernel, kernel) == 0 && strcmp(module->target, target) == 0) {
            *handle = module->handle;
            return KITH_OK;
        }
    KITH_TRY(kith_allocate(1, sizeof *module, "compiled law", &module));
    snprintf(module->kernel, sizeof module->kernel, "%s", kernel);
    snprintf(module->target, sizeof module->target, "%s", target);
    const kith_status status = open(argument, law, module);
    if (status != KITH_OK) {
        free(module);
        return status;
    }
    module->next = law->code->modules;
    law->code->modules = module;
    *handle = module->handle;
    return KITH_OK;
}

kith_status law_code_module(const kith_law *law, const char *kernel, const char *target,
                            law_open_module *open, void *argument, void **handle)
{
    if (law->info)
        return kith_fail(KITH_INTERNAL_ERROR, "'%.60s' is not a formula", law->text);
    pthread_mutex_lock(&law->code->mutex);
    const kith_status status = find_or_open(law, kernel, target, open, argument, handle);
    pthread_mutex_unlock(&law->code->mutex);
    return status;
}

/* Two hashes of 64 bits, the first FNV-1a (Fowler, Noll & Vo), the second with the odd multiplier
 * of the golden ratio. The content of a file with this name is checked by the key that it stores.
 */
struct hash {
    uint64_t first, second;
};

static void add_text(struct hash *hash, const char *text)
{
    do { /* with the final zero, so that texts do not run together */
        hash->first = (hash->first ^ (unsigned char)*text) * 0x100000001b3u;
        hash->second = (hash->second ^ (unsigned char)*text) * 0x9e3779b97f4a7c15u;
        hash->second ^= hash->second >> 29;
    } while (*text++);
}

void law_key(const char *const *texts, char key[law_key_bytes])
{
    struct hash hash = {0xcbf29ce484222325u, 0x6a09e667f3bcc909u};
    for (; *texts; texts++)
        add_text(&hash, *texts);
    for (const struct law_source *source = law_sources; source->path; source++) {
        add_text(&hash, source->path);
        add_text(&hash, source->text);
    }
    snprintf(key, law_key_bytes, "%016llx%016llx", (unsigned long long)hash.first,
             (unsigned long long)hash.second);
}
