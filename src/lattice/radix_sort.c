#include "lattice/radix_sort.h"

#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"

enum { most_digit_bits = 11, most_digits = 1 << most_digit_bits };

/* A pass by one digit; *moved is false, and nothing moved, if it is the same in all keys. */
static kith_status scatter(const kith_context *context, int64_t count, int32_t shift,
                           int32_t digit_bits, const uint64_t *keys, const int64_t *values,
                           uint64_t *keys_out, int64_t *values_out, bool *moved)
{
    int64_t place[most_digits] = {0};
    const uint64_t mask = ((uint64_t)1 << digit_bits) - 1;
    for (int64_t k = 0; k < count; k++)
        place[keys[k] >> shift & mask]++;
    *moved = place[keys[0] >> shift & mask] != count;
    if (!*moved)
        return KITH_OK;
    int64_t before = 0;
    for (uint64_t digit = 0; digit <= mask; digit++) {
        const int64_t here = place[digit];
        place[digit] = before;
        before += here;
    }
    for (int64_t k = 0; k < count; k++) {
        KITH_TRY(kith_context_check_iteration(context, k));
        const int64_t to = place[keys[k] >> shift & mask]++;
        keys_out[to] = keys[k];
        if (values)
            values_out[to] = values[k];
    }
    return KITH_OK;
}

kith_status collisions_sort_keys(const kith_context *context, int64_t count, int32_t bits,
                                 uint64_t *keys, int64_t *values, uint64_t *key_buffer,
                                 int64_t *value_buffer)
{
    if (count == 0 || bits == 0)
        return KITH_OK;
    const int32_t passes = (bits + most_digit_bits - 1) / most_digit_bits;
    const int32_t digit_bits = (bits + passes - 1) / passes;
    uint64_t *from = keys, *to = key_buffer;
    int64_t *values_from = values, *values_to = value_buffer;
    for (int32_t shift = 0; shift < bits; shift += digit_bits) {
        bool moved = false;
        KITH_TRY(
            scatter(context, count, shift, digit_bits, from, values_from, to, values_to, &moved));
        if (!moved)
            continue;
        uint64_t *const keys_there = to;
        to = from;
        from = keys_there;
        int64_t *const values_there = values_to;
        values_to = values_from;
        values_from = values_there;
    }
    if (from == keys)
        return KITH_OK;
    memcpy(keys, from, (size_t)count * sizeof *keys);
    if (values)
        memcpy(values, values_from, (size_t)count * sizeof *values);
    return KITH_OK;
}

/* By the last coordinate first: each sort leaves the order of the one before where its own
 * coordinates are equal. */
static kith_status order_by_columns(const kith_context *context,
                                    const struct collisions_problem *problem,
                                    const struct collisions_box *box, int64_t *order,
                                    uint64_t *keys, uint64_t *key_buffer, int64_t *order_buffer)
{
    for (int64_t c = problem->dimensions - 1; c >= 0; c--) {
        for (int64_t k = 0; k < problem->count; k++)
            keys[k] = (uint64_t)collisions_coordinate(problem, order[k], c) - (uint64_t)box->low[c];
        const int32_t bits = box->bits[c] < 64 ? box->bits[c] : 64;
        KITH_TRY(collisions_sort_keys(context, problem->count, bits, keys, order, key_buffer,
                                      order_buffer));
    }
    return KITH_OK;
}

kith_status collisions_order(const kith_context *context, const struct collisions_problem *problem,
                             const struct collisions_box *box, int64_t *order)
{
    const int64_t n = problem->count;
    uint64_t *keys = NULL;
    KITH_TRY(kith_allocate(n, 3 * (int64_t)sizeof *keys, "sorting the beads", &keys));
    uint64_t *key_buffer = keys + n;
    int64_t *order_buffer = (int64_t *)(keys + 2 * n);
    for (int64_t i = 0; i < n; i++)
        order[i] = i;
    kith_status status = KITH_OK;
    if (collisions_box_has_keys(box)) {
        collisions_keys(context, problem, box, 0, n, keys);
        status = collisions_sort_keys(context, n, box->total_bits, keys, order, key_buffer,
                                      order_buffer);
    } else {
        status = order_by_columns(context, problem, box, order, keys, key_buffer, order_buffer);
    }
    free(keys);
    return status;
}
