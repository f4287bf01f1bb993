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

void sparse_axis_clear(struct sparse_axis *axis)
{
    axis->count = 0;
    if (axis->slots > 0)
        memset(axis->slot, 0xff, (size_t)axis->slots * sizeof *axis->slot);
}

/* Brings entry `at` of a heap, whose children are in order, to where it belongs. */
static void sift(struct sparse_coordinate *heap, int64_t count, int64_t at)
{
    const struct sparse_coordinate moving = heap[at];
    for (int64_t child = 2 * at + 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && heap[child + 1].value > heap[child].value)
            child++;
        if (heap[child].value <= moving.value)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moving;
}

/* A heap sort (Williams 1964): qsort may allocate memory. */
static void sort(struct sparse_coordinate *all, int64_t count)
{
    for (int64_t at = count / 2 - 1; at >= 0; at--)
        sift(all, count, at);
    for (int64_t last = count - 1; last > 0; last--) {
        const struct sparse_coordinate largest = all[0];
        all[0] = all[last];
        all[last] = largest;
        sift(all, last, 0);
    }
}

int64_t sparse_axis_compress(const struct sparse_axis *axis, int64_t cells, int64_t reach,
                             bool periodic, struct sparse_coordinate *sorted, int64_t *compact)
{
    if (axis->count == 0)
        return 1;
    for (int64_t k = 0; k < axis->count; k++)
        sorted[k] = (struct sparse_coordinate){axis->value[k], k};
    sort(sorted, axis->count);
    int64_t at = compact[sorted[0].number] = 0;
    for (int64_t k = 1; k < axis->count; k++) {
        const int64_t gap = sorted[k].value - sorted[k - 1].value;
        at += gap <= reach ? gap : reach + 1;
        compact[sorted[k].number] = at;
    }
    const int64_t around = periodic ? cells - sorted[axis->count - 1].value + sorted[0].value : 1;
    return at + (around <= reach ? around : periodic ? reach + 1 : 1);
}

void sparse_axis_free(struct sparse_axis *axis)
{
    free(axis->value);
    *axis = (struct sparse_axis){0};
}
