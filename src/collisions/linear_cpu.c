/* Seed 004's sequential linear method: one pass, a counter a site.
 *
 * Where the box has many more sites than beads, its sites are taken in blocks of 4 × 4 × 4 (8 × 8
 * in 2D), whose 64 counters of a byte fill a line of the cache, and a table finds the lines of the
 * blocks that have beads. A chain stays in a block for some beads and comes back to its
 * neighbours. */

#include <string.h>

#include "collisions/cpu_methods.h"
#include "collisions/radix_sort.h"
#include "core/status.h"
#include "cpu/state.h"

enum {
    line_bytes = 64,
    counter_values = 256,
    chunk_beads = 512,
    first_slots = 1024,
    spare_lines = 1024
};

/* One array of counters for boxes of up to so many sites. */
static int64_t most_sites(int64_t beads)
{
    return 4 * beads + 4096;
}

static kith_status count_in_array(kith_context *context, const struct collisions_problem *problem,
                                  const struct collisions_box *box, int64_t *count)
{
    const int64_t sites = collisions_box_sites(box);
    uint32_t *counters = NULL;
    KITH_TRY(cpu_scratch(context, sites * (int64_t)sizeof *counters, (void **)&counters));
    memset(counters, 0, (size_t)sites * sizeof *counters);
    uint64_t number[chunk_beads];
    int64_t collisions = 0;
    for (int64_t begin = 0; begin < problem->count; begin += chunk_beads) {
        const int64_t left = problem->count - begin;
        const int64_t beads = left < chunk_beads ? left : chunk_beads;
        collisions_site_numbers(context, problem, box, begin, begin + beads, number);
        for (int64_t k = 0; k < beads; k++)
            collisions += counters[number[k]]++;
    }
    *count = collisions;
    return KITH_OK;
}

struct slot {
    uint64_t block; /* UINT64_MAX: free */
    int64_t line;
};

/* The blocks with beads. */
struct blocks {
    uint64_t *block;  /* of each line */
    uint8_t *counter; /* 64 a line */
    int64_t lines, slots;
    int32_t shift; /* of a mixed block to its slot */
    struct slot *slot;
    uint64_t *full; /* a counter's number, each time that it went from 255 to 0 */
    int64_t fulls;
    int64_t collisions; /* as if counters went no further than that */
    uint64_t low_bits;  /* of a key: the site in its block */
};

/* Where the bits of a site in its block are in a key. */
struct local_bits {
    uint64_t mask[3];
    int32_t shift[3];
};

static struct local_bits local_bits_of(const struct collisions_problem *problem,
                                       const struct collisions_box *box)
{
    struct local_bits local = {{0}, {0}};
    const int32_t each = problem->dimensions == 3 ? 2 : 3;
    for (int32_t c = 0; c < problem->dimensions; c++) {
        local.mask[c] = (((uint64_t)1 << each) - 1) << box->shift[c];
        local.shift[c] = box->shift[c] - c * each;
    }
    return local;
}

static void insert_slot(struct blocks *blocks, uint64_t block, int64_t line)
{
    uint64_t at = collisions_mix(block) >> blocks->shift;
    while (blocks->slot[at].block != UINT64_MAX)
        at = (at + 1) & (uint64_t)(blocks->slots - 1);
    blocks->slot[at] = (struct slot){block, line};
}

static void set_slots(struct blocks *blocks, int64_t slots)
{
    blocks->slots = slots;
    blocks->shift = __builtin_clzll((uint64_t)slots) + 1;
    memset(blocks->slot, 0xff, (size_t)slots * sizeof *blocks->slot);
    for (int64_t line = 0; line < blocks->lines; line++)
        insert_slot(blocks, blocks->block[line], line);
}

static int64_t add_line(struct blocks *blocks, uint64_t block)
{
    const int64_t line = blocks->lines++;
    blocks->block[line] = block;
    memset(blocks->counter + line * line_bytes, 0, line_bytes);
    if (blocks->lines * 2 > blocks->slots)
        set_slots(blocks, 4 * blocks->slots);
    else
        insert_slot(blocks, block, line);
    return line;
}

static int64_t find_line(struct blocks *blocks, uint64_t block, uint64_t mixed)
{
    for (uint64_t at = mixed >> blocks->shift;; at = (at + 1) & (uint64_t)(blocks->slots - 1)) {
        const struct slot *slot = &blocks->slot[at];
        if (slot->block == block)
            return slot->line;
        if (slot->block == UINT64_MAX)
            return add_line(blocks, block);
    }
}

static void count_chunk(struct blocks *blocks, const struct local_bits *local, int64_t beads,
                        const uint64_t *keys)
{
    uint64_t block[chunk_beads], mixed[chunk_beads];
    uint8_t site[chunk_beads];
    const uint64_t all = local->mask[0] | local->mask[1] | local->mask[2];
    for (int64_t k = 0; k < beads; k++) {
        block[k] = keys[k] & ~all;
        mixed[k] = collisions_mix(block[k]);
        site[k] = (uint8_t)((keys[k] & local->mask[0]) >> local->shift[0] |
                            (keys[k] & local->mask[1]) >> local->shift[1] |
                            (keys[k] & local->mask[2]) >> local->shift[2]);
    }
    int64_t collisions = 0;
    for (int64_t k = 0; k < beads; k++) {
        const int64_t at = find_line(blocks, block[k], mixed[k]) * line_bytes + site[k];
        const uint8_t before = blocks->counter[at]++;
        collisions += before;
        if (before == counter_values - 1)
            blocks->full[blocks->fulls++] = (uint64_t)at;
    }
    blocks->collisions += collisions;
}

/* A site with n = 256 m + c beads was counted as m times 256 and c beads. */
static void correct_full_counters(struct blocks *blocks, uint64_t *buffer)
{
    collisions_sort_keys(blocks->fulls, 64, blocks->full, NULL, buffer, NULL);
    for (int64_t k = 0, m = 1; k < blocks->fulls; k++, m++) {
        if (k + 1 < blocks->fulls && blocks->full[k] == blocks->full[k + 1])
            continue;
        const int64_t c = blocks->counter[blocks->full[k]];
        blocks->collisions += collisions_of(counter_values * m + c) -
                              m * collisions_of(counter_values) - collisions_of(c);
        m = 0;
    }
}

/* Room for a line to four beads: with more, the beads are no chain. */
static kith_status set_up_blocks(kith_context *context, int64_t n, struct blocks *blocks,
                                 uint64_t **buffer)
{
    const int64_t lines = n / 4 + spare_lines + chunk_beads;
    const int64_t fulls = n / counter_values + 1;
    int64_t slots = first_slots;
    while (slots < 2 * lines)
        slots *= 4;
    const int64_t bytes = lines * line_bytes + slots * (int64_t)sizeof(struct slot) +
                          (lines + 2 * fulls) * (int64_t)sizeof(uint64_t);
    char *memory = NULL;
    KITH_TRY(cpu_scratch(context, bytes, (void **)&memory));
    blocks->counter = (uint8_t *)memory;
    blocks->slot = (struct slot *)(memory + lines * line_bytes);
    blocks->block = (uint64_t *)(blocks->slot + slots);
    blocks->full = blocks->block + lines;
    *buffer = blocks->full + fulls;
    set_slots(blocks, first_slots);
    return KITH_OK;
}

/* *is_chain is false, and nothing counted, if the beads are too scattered for blocks. */
static kith_status count_in_blocks(kith_context *context, const struct collisions_problem *problem,
                                   const struct collisions_box *box, bool *is_chain, int64_t *count)
{
    const int64_t n = problem->count;
    const struct local_bits local = local_bits_of(problem, box);
    struct blocks blocks = {0};
    uint64_t *buffer = NULL, keys[chunk_beads];
    KITH_TRY(set_up_blocks(context, n, &blocks, &buffer));
    *is_chain = true;
    for (int64_t begin = 0; begin < n && *is_chain; begin += chunk_beads) {
        const int64_t beads = n - begin < chunk_beads ? n - begin : chunk_beads;
        collisions_keys(context, problem, box, begin, begin + beads, keys);
        count_chunk(&blocks, &local, beads, keys);
        *is_chain = blocks.lines <= begin / 4 + spare_lines;
    }
    correct_full_counters(&blocks, buffer);
    *count = blocks.collisions;
    return KITH_OK;
}

kith_status collisions_linear_cpu(kith_context *context, const struct collisions_problem *problem,
                                  const struct collisions_box *box, int64_t *count)
{
    bool is_chain = false;
    if (collisions_box_sites(box) <= most_sites(problem->count) && problem->count <= UINT32_MAX)
        return count_in_array(context, problem, box, count);
    if (collisions_box_has_keys(box))
        KITH_TRY(count_in_blocks(context, problem, box, &is_chain, count));
    return is_chain ? KITH_OK : collisions_hash_cpu(context, problem, box, count);
}
