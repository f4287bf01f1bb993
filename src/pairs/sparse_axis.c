#include "pairs/sparse_axis.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

enum { first_slots = 1024 };

/* The slot that has the value, or the free one where it belongs. */
static int64_t slot_of(const struct sparse_axis *axis, int64_t value)
{
    uint64_t at = (uint64_t)value * 0x9e3779b97f4a7c15U;
    for (at ^= at >> 32;; at++) {
        const int64_t slot = (int64_t)(at & (uint64_t)(axis->slots - 1));
        if (axis->slot[slot] < 0 || axis->value[axis->slot[slot]] == value)
            return slot;
    }
}

static kith_status grow(struct sparse_axis *axis)
{
    const int64_t slots = axis->slots ? 4 * axis->slots : first_slots;
    int64_t *value = NULL, *slot = NULL;
    KITH_TRY(kith_allocate(slots / 2 + slots, 8, "the cells that have points", &value));
    slot = value + slots / 2;
    if (axis->count > 0)
        memcpy(value, axis->value, (size_t)axis->count * sizeof *value);
    memset(slot, 0xff, (size_t)slots * sizeof *slot);
    free(axis->value);
    *axis = (struct sparse_axis){value, axis->count, slot, slots};
    for (int64_t k = 0; k < axis->count; k++)
        slot[slot_of(axis, value[k])] = k;
    return KITH_OK;
}

kith_status sparse_axis_add(struct sparse_axis *axis, int64_t value, int64_t *number)
{
    if (2 * axis->count >= axis->slots)
        KITH_TRY(grow(axis));
    int64_t *slot = &axis->slot[slot_of(axis, value)];
    if (*slot < 0) {
        axis->value[axis->count] = value;
        *slot = axis->count++;
    }
    *number = *slot;
    return KITH_OK;
}

struct numbered {
    int64_t value, number;
};

static int by_value(const void *a, const void *b)
{
    const int64_t x = ((const struct numbered *)a)->value, y = ((const struct numbered *)b)->value;
    return (x > y) - (x < y);
}

kith_status sparse_axis_compress(const struct sparse_axis *axis, int64_t cells, int64_t reach,
                                 bool periodic, int64_t *compact, int64_t *left)
{
    *left = 1;
    if (axis->count == 0)
        return KITH_OK;
    struct numbered *sorted = NULL;
    KITH_TRY(kith_allocate(axis->count, sizeof *sorted, "the cells that have points", &sorted));
    for (int64_t k = 0; k < axis->count; k++)
        sorted[k] = (struct numbered){axis->value[k], k};
    qsort(sorted, (size_t)axis->count, sizeof *sorted, by_value);
    int64_t at = compact[sorted[0].number] = 0;
    for (int64_t k = 1; k < axis->count; k++) {
        const int64_t gap = sorted[k].value - sorted[k - 1].value;
        at += gap <= reach ? gap : reach + 1;
        compact[sorted[k].number] = at;
    }
    const int64_t around = periodic ? cells - sorted[axis->count - 1].value + sorted[0].value : 1;
    *left = at + (around <= reach ? around : periodic ? reach + 1 : 1);
    free(sorted);
    return KITH_OK;
}

void sparse_axis_free(struct sparse_axis *axis)
{
    free(axis->value);
    *axis = (struct sparse_axis){0};
}
