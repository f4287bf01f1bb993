/* The radix sort on the CPU: parts of the keys count their digits, and then put each key where the
 * parts before leave off. How many parts there are depends on the number of keys alone. */

#include <stdlib.h>
#include <string.h>

#include "device/threads.h"
#include "sort/sort.h"

enum { most_digit_bits = 11, most_keys_of_wide = 1 << 19, keys_of_part = 1 << 16, most_parts = 64 };

/* Of one thread, for a key and a pass. */
static const double seconds_of_key = 3e-9;

struct pass {
    int64_t count, part_keys;
    int32_t shift, digits; /* digits: a power of 2 */
    const uint64_t *keys;
    const uint32_t *order;
    uint64_t *to_keys;
    uint32_t *to_order;
    uint32_t *places; /* of each part: counts, then where its next key of a digit goes */
};

static int64_t parts_of(int64_t count)
{
    const int64_t parts = (count + keys_of_part - 1) / keys_of_part;
    return parts < most_parts ? parts : most_parts;
}

int64_t sort_scratch_bytes(int64_t count)
{
    return count * (int64_t)(sizeof(uint64_t) + sizeof(uint32_t)) + 8 +
           (parts_of(count) << most_digit_bits) * (int64_t)sizeof(uint32_t);
}

static int64_t end_of(const struct pass *pass, int64_t part)
{
    const int64_t end = (part + 1) * pass->part_keys;
    return end < pass->count ? end : pass->count;
}

static void count_digits(void *argument, int64_t part)
{
    const struct pass pass = *(const struct pass *)argument; /* which counts do not overlap */
    const uint64_t mask = (uint64_t)(pass.digits - 1);
    const int64_t end = end_of(&pass, part);
    uint32_t *counts = pass.places + part * pass.digits;
    memset(counts, 0, (size_t)pass.digits * sizeof *counts);
    for (int64_t k = part * pass.part_keys; k < end; k++)
        counts[pass.keys[k] >> pass.shift & mask]++;
}

static void move_keys(void *argument, int64_t part)
{
    const struct pass pass = *(const struct pass *)argument;
    const uint64_t mask = (uint64_t)(pass.digits - 1);
    const int64_t end = end_of(&pass, part);
    uint32_t *places = pass.places + part * pass.digits;
    for (int64_t k = part * pass.part_keys; k < end; k++) {
        const uint32_t place = places[pass.keys[k] >> pass.shift & mask]++;
        pass.to_keys[place] = pass.keys[k];
        if (pass.order)
            pass.to_order[place] = pass.order[k];
    }
}

/* Turns counts into places, digit by digit and in it part by part; false if all keys have one digit
 * in common, and nothing is to be moved. */
static bool find_places(const struct pass *pass, int64_t parts)
{
    uint32_t place = 0;
    for (int32_t digit = 0; digit < pass->digits; digit++) {
        const uint32_t first = place;
        for (int64_t part = 0; part < parts; part++) {
            uint32_t *here = &pass->places[part * pass->digits + digit];
            const uint32_t count = *here;
            *here = place;
            place += count;
        }
        if (place - first == (uint32_t)pass->count)
            return false;
    }
    return true;
}

/* Bits of a digit: the fewest passes, but no more digits than keys; and 256 digits where keys and
 * their order go to more pages than a TLB has. Zen 5: 11 bits take 0.59 to 0.73 times as long as 8
 * from 10 000 to 100 000 keys, and from a million on 1.1 to 1.8 times, keys alone 0.9 times. */
static int32_t digit_bits_for(int64_t count, int32_t bits, bool has_order)
{
    const int32_t of_count = 63 - __builtin_clzll((unsigned long long)count | 64);
    const int32_t most = has_order && count > most_keys_of_wide ? 8
                         : of_count < most_digit_bits           ? of_count
                                                                : most_digit_bits;
    const int32_t passes = bits > 0 ? (bits + most - 1) / most : 1;
    return (bits + passes - 1) / passes;
}

kith_status sort_keys_cpu(kith_context *context, int64_t count, int32_t bits, uint64_t *keys,
                          uint32_t *order, void *scratch)
{
    const int64_t parts = parts_of(count);
    const int32_t threads = kith_threads_for(context, seconds_of_key * (double)count);
    const int32_t digit_bits = digit_bits_for(count, bits, order);
    uint64_t *other_keys = scratch;
    uint32_t *other_order = (uint32_t *)(other_keys + count);
    struct pass pass = {.count = count,
                        .part_keys = parts ? (count + parts - 1) / parts : 0,
                        .digits = 1 << digit_bits,
                        .keys = keys,
                        .order = order,
                        .to_keys = other_keys,
                        .to_order = other_order,
                        .places = other_order + count};
    for (int64_t k = 0; order && k < count; k++)
        order[k] = (uint32_t)k;
    for (; count > 0 && pass.shift < bits; pass.shift += digit_bits) {
        KITH_TRY(kith_for_each(context, threads, parts, count_digits, &pass));
        if (!find_places(&pass, parts))
            continue;
        KITH_TRY(kith_for_each(context, threads, parts, move_keys, &pass));
        const bool are_back = pass.to_keys == keys;
        pass.keys = pass.to_keys;
        pass.order = order ? pass.to_order : NULL;
        pass.to_keys = are_back ? other_keys : keys;
        pass.to_order = are_back ? other_order : order;
    }
    if (pass.keys != keys) {
        memcpy(keys, pass.keys, (size_t)count * sizeof *keys);
        if (order)
            memcpy(order, pass.order, (size_t)count * sizeof *order);
    }
    return KITH_OK;
}

static int compare_reals(const void *first, const void *second)
{
    const double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

void sort_reals(int64_t count, double *numbers)
{
    qsort(numbers, (size_t)count, sizeof *numbers, compare_reals);
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
