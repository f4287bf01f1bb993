/* Kernels that were compiled with formulas, kept by the context. */

#include "sums/code.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "sums/write.h"

enum { most_kept = 16 };

struct code {
    const char *file; /* the kernel's, and what it was compiled with */
    char *text;
    void *handle;
    void (*close)(void *handle);
};

/* The last used first. */
struct codes {
    int32_t count;
    struct code code[most_kept];
};

static void forget(struct code *code)
{
    code->close(code->handle);
    free(code->text);
}

static void free_codes(kith_context *context, void *kept)
{
    struct codes *codes = kept;
    (void)context;
    for (int32_t k = 0; k < codes->count; k++)
        forget(&codes->code[k]);
    free(codes);
}

static const struct device_slot_kind slot_kind = {.free = free_codes};

static kith_status find_codes(kith_context *context, struct codes **codes)
{
    void **slot = device_slot(context, &slot_kind);
    if (!slot)
        return kith_fail(KITH_OUT_OF_MEMORY, "formulas: no memory for their code");
    if (!*slot)
        KITH_TRY(kith_allocate(1, sizeof **codes, "formulas", slot));
    *codes = *slot;
    return KITH_OK;
}

static void move_to_front(struct codes *codes, int32_t at, struct code code)
{
    memmove(&codes->code[1], &codes->code[0], (size_t)at * sizeof code);
    codes->code[0] = code;
}

kith_status sums_code_of(kith_context *context, const struct sums_problem *problem,
                         const struct sums_compiler *compiler, void **handle)
{
    struct codes *codes = NULL;
    struct code code = {0};
    KITH_TRY(find_codes(context, &codes));
    KITH_TRY(sums_write(problem, &code.text));
    int32_t at = 0;
    while (at < codes->count && (strcmp(codes->code[at].file, compiler->file) != 0 ||
                                 strcmp(codes->code[at].text, code.text) != 0))
        at++;
    if (at < codes->count) {
        free(code.text);
        code = codes->code[at];
    } else {
        code.file = compiler->file;
        code.close = compiler->close;
        const kith_status status = compiler->open(context, code.text, compiler->file, &code.handle);
        if (status != KITH_OK) {
            free(code.text);
            return status;
        }
        if (codes->count == most_kept)
            forget(&codes->code[--codes->count]);
        at = codes->count++;
    }
    move_to_front(codes, at, code);
    *handle = code.handle;
    return KITH_OK;
}
