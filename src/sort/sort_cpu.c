/* The radix sort on the CPU: parts of the keys count their digits, and then put each key where the
 * parts before leave off. How many parts there are depends on the number of keys alone. */

#include <string.h>

#include "device/threads.h"
#include "sort/sort.h"

enum { digit_bits = 8, digits = 1 << digit_bits, keys_of_part = 1 << 16, most_parts = 64 };

/* Of one thread, for a key and a pass. */
static const double seconds_of_key = 3e-9;

struct pass {
    int64_t count, part_keys;
    int32_t shift;
    const uint64_t *keys;
    const uint32_t *order;
    uint64_t *to_keys;
    uint32_t *to_order;
    uint32_t (*places)[digits]; /* of each part: counts, then where its next key of a digit goes */
};

static int64_t parts_of(int64_t count)
{
    const int64_t parts = (count + keys_of_part - 1) / keys_of_part;
    return parts < most_parts ? parts : most_parts;
}

int64_t sort_scratch_bytes(int64_t count)
{
    return count * (int64_t)(sizeof(uint64_t) + sizeof(uint32_t)) + 8 +
           parts_of(count) * digits * (int64_t)sizeof(uint32_t);
}

static int64_t end_of(const struct pass *pass, int64_t part)
{
    const int64_t end = (part + 1) * pass->part_keys;
    return end < pass->count ? end : pass->count;
}

static void count_digits(void *argument, int64_t part)
{
    const struct pass *pass = argument;
    uint32_t *counts = pass->places[part];
    memset(counts, 0, sizeof pass->places[part]);
    for (int64_t k = part * pass->part_keys; k < end_of(pass, part); k++)
        counts[pass->keys[k] >> pass->shift & (digits - 1)]++;
}

static void move_keys(void *argument, int64_t part)
{
    const struct pass *pass = argument;
    uint32_t *places = pass->places[part];
    for (int64_t k = part * pass->part_keys; k < end_of(pass, part); k++) {
        const uint32_t place = places[pass->keys[k] >> pass->shift & (digits - 1)]++;
        pass->to_keys[place] = pass->keys[k];
        pass->to_order[place] = pass->order[k];
    }
}

/* Turns counts into places, digit by digit and in it part by part; false if all keys have one digit
 * in common, and nothing is to be moved. */
static bool find_places(const struct pass *pass, int64_t parts)
{
    uint32_t place = 0;
    for (int32_t digit = 0; digit < digits; digit++) {
        const uint32_t first = place;
        for (int64_t part = 0; part < parts; part++) {
            const uint32_t count = pass->places[part][digit];
            pass->places[part][digit] = place;
            place += count;
        }
        if (place - first == (uint32_t)pass->count)
            return false;
    }
    return true;
}

kith_status sort_keys_cpu(kith_context *context, int64_t count, int32_t bits, uint64_t *keys,
                          uint32_t *order, void *scratch)
{
    const int64_t parts = parts_of(count);
    const int32_t threads = kith_threads_for(context, seconds_of_key * (double)count);
    uint64_t *other_keys = scratch;
    uint32_t *other_order = (uint32_t *)(other_keys + count);
    struct pass pass = {.count = count,
                        .part_keys = parts ? (count + parts - 1) / parts : 0,
                        .places = (void *)(other_order + count)};
    for (int64_t k = 0; k < count; k++)
        order[k] = (uint32_t)k;
    uint64_t *from_keys = keys;
    uint32_t *from_order = order;
    for (pass.shift = 0; pass.shift < bits; pass.shift += digit_bits) {
        pass.keys = from_keys;
        pass.order = from_order;
        pass.to_keys = from_keys == keys ? other_keys : keys;
        pass.to_order = from_keys == keys ? other_order : order;
        KITH_TRY(kith_for_each(context, threads, parts, count_digits, &pass));
        if (count == 0 || !find_places(&pass, parts))
            continue;
        KITH_TRY(kith_for_each(context, threads, parts, move_keys, &pass));
        from_keys = pass.to_keys;
        from_order = pass.to_order;
    }
    if (from_keys != keys) {
        memcpy(keys, from_keys, (size_t)count * sizeof *keys);
        memcpy(order, from_order, (size_t)count * sizeof *order);
    }
    return KITH_OK;
}

void sort_scan_cpu(int64_t count, const int32_t *values, int32_t *sums)
{
    int32_t sum = 0;
    for (int64_t k = 0; k < count; k++) {
        const int32_t value = values[k]; /* sums may be values */
        sums[k] = sum;
        sum += value;
    }
    sums[count] = sum;
}
