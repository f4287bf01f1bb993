/* The names of columns, for messages. */

#include "sums/names_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "law/formula.h"

struct name {
    struct name *next;
    char text[formula_name_bytes + 16];
};

static void free_names(kith_context *context, void *kept)
{
    struct name *name = kept;
    (void)context;
    while (name) {
        struct name *next = name->next;
        free(name);
        name = next;
    }
}

static const struct device_slot_kind slot_kind = {.free = free_names};

kith_status sums_name_cuda(kith_context *context, const char *side, const char *column,
                           const char **name)
{
    char text[sizeof((struct name *)0)->text];
    struct name *made = NULL;
    void **slot = device_slot(context, &slot_kind);
    if (!slot)
        return kith_fail(KITH_OUT_OF_MEMORY, "formulas: no memory for the names of columns");
    snprintf(text, sizeof text, "%s.%s", side, column);
    for (struct name *kept = *slot; kept; kept = kept->next)
        if (strcmp(kept->text, text) == 0) {
            *name = kept->text;
            return KITH_OK;
        }
    KITH_TRY(kith_allocate(1, sizeof *made, "the names of columns", &made));
    memcpy(made->text, text, sizeof text);
    made->next = *slot;
    *slot = made;
    *name = made->text;
    return KITH_OK;
}
