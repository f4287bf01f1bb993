/* The linear method: one pass, a counter per site.
 *
 * Where the box has many more sites than beads, its sites are taken in blocks of 4 × 4 × 4 (8 × 8
 * in 2D), whose 64 counters of a byte fill a line of the cache, and a table finds the lines of the
 * blocks that have beads. A chain stays in a block for some beads and comes back to its
 * neighbors. */

#include <string.h>

#include "core/status.h"
#include "device/context.h"
#include "device/cpu.h"
#include "lattice/cpu_methods.h"
#include "sort/sort.h"

enum {
    in_block = 64, /* sites */
    in_page = 64,  /* blocks */
    counter_values = 256,
    chunk_beads = 512,
    first_slots = 1024,
    spare_lines = 1024,
    spare_pages = 512
};

/* Bits of a key that number a site in its block, a block in its page. */
struct level_bits {
    uint64_t mask[3];
    int32_t shift[3];
};

struct page_slot {
    uint64_t page; /* the key of its sites without the bits of both levels; UINT64_MAX: free */
    int64_t number;
};

/* Counters of a byte. */
struct counters {
    uint8_t *beads;
    uint64_t *full; /* a counter's number, each time that it went from 255 to 0 */
    int64_t fulls;
    int64_t collisions; /* as if counters went no further than that */
};

/* The blocks with beads. */
struct blocks {
    struct level_bits site, block;
    struct counters counters;
    uint8_t (*counter)[in_block]; /* of each line */
    int32_t (*line)[in_page];     /* of each page, for its blocks; less than 0: none yet */
    int64_t lines, pages, slots;
    int32_t shift; /* of a mixed page to its slot */
    struct page_slot *slot;
    uint64_t *page; /* the key of each */
    uint64_t last;  /* the page that the bead before was in, and its number */
    int64_t last_number;
};

/* The bits of each coordinate from bit `from` on. Where a coordinate has fewer, these are some
 * of the next one's: then they number twice, and still no two sites alike. */
static struct level_bits level_bits_of(const struct collisions_problem *problem,
                                       const struct collisions_box *box, int32_t from)
{
    struct level_bits level = {{0}, {0}};
    const int32_t each = problem->dimensions == 3 ? 2 : 3;
    for (int32_t c = 0; c < problem->dimensions; c++) {
        const int32_t at = box->shift[c] + from * each;
        level.mask[c] = at < 64 ? (((uint64_t)1 << each) - 1) << at : 0;
        level.shift[c] = at < 64 ? at - c * each : 0;
    }
    return level;
}

static uint64_t number_in(const struct level_bits *level, uint64_t key)
{
    return (key & level->mask[0]) >> level->shift[0] | (key & level->mask[1]) >> level->shift[1] |
           (key & level->mask[2]) >> level->shift[2];
}

static void insert_slot(struct blocks *blocks, uint64_t page, int64_t number)
{
    uint64_t at = collisions_mix(page) >> blocks->shift;
    while (blocks->slot[at].page != UINT64_MAX)
        at = (at + 1) & (uint64_t)(blocks->slots - 1);
    blocks->slot[at] = (struct page_slot){page, number};
}

static void set_slots(struct blocks *blocks, int64_t slots)
{
    blocks->slots = slots;
    blocks->shift = __builtin_clzll((uint64_t)slots) + 1;
    memset(blocks->slot, 0xff, (size_t)slots * sizeof *blocks->slot);
    for (int64_t number = 0; number < blocks->pages; number++)
        insert_slot(blocks, blocks->page[number], number);
}

static int64_t add_page(struct blocks *blocks, uint64_t page)
{
    const int64_t number = blocks->pages++;
    blocks->page[number] = page;
    memset(blocks->line[number], 0xff, sizeof blocks->line[number]);
    if (blocks->pages * 2 > blocks->slots)
        set_slots(blocks, 4 * blocks->slots);
    else
        insert_slot(blocks, page, number);
    return number;
}

static int64_t find_page(struct blocks *blocks, uint64_t page)
{
    for (uint64_t at = collisions_mix(page) >> blocks->shift;;
         at = (at + 1) & (uint64_t)(blocks->slots - 1)) {
        const struct page_slot *slot = &blocks->slot[at];
        if (slot->page == page)
            return slot->number;
        if (slot->page == UINT64_MAX)
            return add_page(blocks, page);
    }
}

static int64_t add_line(struct blocks *blocks, int64_t page, uint64_t block)
{
    const int64_t line = blocks->lines++;
    memset(blocks->counter[line], 0, sizeof blocks->counter[line]);
    blocks->line[page][block] = (int32_t)line;
    return line;
}

static void count_chunk(struct blocks *blocks, int64_t beads, const uint64_t *keys)
{
    uint64_t page[chunk_beads];
    uint8_t site[chunk_beads], block[chunk_beads];
    const struct level_bits sites = blocks->site, in_pages = blocks->block;
    uint64_t both = 0;
    for (int32_t c = 0; c < 3; c++)
        both |= sites.mask[c] | in_pages.mask[c];
    for (int64_t k = 0; k < beads; k++) {
        site[k] = (uint8_t)number_in(&sites, keys[k]);
        block[k] = (uint8_t)number_in(&in_pages, keys[k]);
        page[k] = keys[k] & ~both;
    }
    int64_t collisions = 0, number = blocks->last_number;
    uint64_t last = blocks->last;
    for (int64_t k = 0; k < beads; k++) {
        if (page[k] != last) {
            last = page[k];
            number = find_page(blocks, last);
        }
        int64_t line = blocks->line[number][block[k]];
        if (line < 0)
            line = add_line(blocks, number, block[k]);
        const uint8_t before = blocks->counter[line][site[k]]++;
        collisions += before;
        if (before == counter_values - 1)
            blocks->counters.full[blocks->counters.fulls++] = (uint64_t)(line * in_block + site[k]);
    }
    blocks->last = last;
    blocks->last_number = number;
    blocks->counters.collisions += collisions;
}

/* A site with n = 256 m + c beads was counted as m times 256 and c beads. */
static kith_status correct_full_counters(kith_context *context, struct counters *counters,
                                         void *scratch)
{
    KITH_TRY(sort_keys_cpu(context, counters->fulls, 64, counters->full, NULL, scratch));
    for (int64_t k = 0, m = 1; k < counters->fulls; k++, m++) {
        if (k + 1 < counters->fulls && counters->full[k] == counters->full[k + 1])
            continue;
        const int64_t c = counters->beads[counters->full[k]];
        counters->collisions += collisions_of(counter_values * m + c) -
                                m * collisions_of(counter_values) - collisions_of(c);
        m = 0;
    }
    return KITH_OK;
}

static void count_sites(struct counters *counters, int64_t beads, const uint64_t *number)
{
    uint8_t *counter = counters->beads;
    int64_t collisions = 0;
    for (int64_t k = 0; k < beads; k++) {
        const uint8_t before = counter[number[k]]++;
        collisions += before;
        if (before == counter_values - 1)
            counters->full[counters->fulls++] = number[k];
    }
    counters->collisions += collisions;
}

static kith_status count_in_array(kith_context *context, const struct collisions_problem *problem,
                                  const struct collisions_box *box, int64_t *count)
{
    const int64_t sites = collisions_box_sites(box), fulls = problem->count / counter_values + 1;
    const int64_t begin_of_full = (sites + 63) / 64 * 64;
    struct counters counters = {.fulls = 0};
    uint64_t number[chunk_beads];
    KITH_TRY(cpu_scratch(
        context, begin_of_full + fulls * (int64_t)sizeof *number + sort_scratch_bytes(fulls),
        (void **)&counters.beads));
    counters.full = (uint64_t *)(void *)(counters.beads + begin_of_full);
    memset(counters.beads, 0, (size_t)sites);
    for (int64_t begin = 0; begin < problem->count; begin += chunk_beads) {
        const int64_t left = problem->count - begin;
        const int64_t beads = left < chunk_beads ? left : chunk_beads;
        KITH_TRY(kith_context_check_iteration(context, begin));
        collisions_site_numbers(context, problem, box, begin, begin + beads, number);
        count_sites(&counters, beads, number);
    }
    KITH_TRY(correct_full_counters(context, &counters, counters.full + fulls));
    *count = counters.collisions;
    return KITH_OK;
}

/* Room for a line to four beads and a page to 32: with more, the beads are no chain. */
static kith_status set_up_blocks(kith_context *context, const struct collisions_problem *problem,
                                 const struct collisions_box *box, struct blocks *blocks,
                                 uint64_t **buffer)
{
    const int64_t n = problem->count;
    const int64_t lines = n / 4 + spare_lines + 2 * chunk_beads;
    const int64_t pages = n / 32 + spare_pages + 2 * chunk_beads;
    const int64_t fulls = n / counter_values + 1;
    int64_t slots = first_slots;
    while (slots < 2 * pages)
        slots *= 4;
    const int64_t bytes = lines * in_block + pages * in_page * (int64_t)sizeof(int32_t) +
                          slots * (int64_t)sizeof(struct page_slot) +
                          (pages + fulls) * (int64_t)sizeof(uint64_t) + sort_scratch_bytes(fulls);
    char *memory = NULL;
    KITH_TRY(cpu_scratch(context, bytes, (void **)&memory));
    *blocks = (struct blocks){.site = level_bits_of(problem, box, 0),
                              .block = level_bits_of(problem, box, 1),
                              .last = UINT64_MAX};
    blocks->counter = (uint8_t(*)[in_block])memory;
    blocks->line = (int32_t(*)[in_page])(memory + lines * in_block);
    blocks->slot = (struct page_slot *)(blocks->line + pages);
    blocks->page = (uint64_t *)(blocks->slot + slots);
    blocks->counters.beads = (uint8_t *)memory;
    blocks->counters.full = blocks->page + pages;
    *buffer = blocks->counters.full + fulls;
    set_slots(blocks, first_slots);
    return KITH_OK;
}

/* *is_chain is false, and nothing counted, if the beads are too scattered for blocks. */
static kith_status count_in_blocks(kith_context *context, const struct collisions_problem *problem,
                                   const struct collisions_box *box, bool *is_chain, int64_t *count)
{
    const int64_t n = problem->count;
    struct blocks blocks;
    uint64_t *buffer = NULL, keys[chunk_beads];
    KITH_TRY(set_up_blocks(context, problem, box, &blocks, &buffer));
    *is_chain = true;
    for (int64_t begin = 0; begin < n && *is_chain; begin += chunk_beads) {
        const int64_t beads = n - begin < chunk_beads ? n - begin : chunk_beads;
        KITH_TRY(kith_context_check_iteration(context, begin));
        collisions_keys(context, problem, box, begin, begin + beads, keys);
        count_chunk(&blocks, beads, keys);
        *is_chain =
            blocks.lines <= begin / 4 + spare_lines && blocks.pages <= begin / 32 + spare_pages;
    }
    KITH_TRY(correct_full_counters(context, &blocks.counters, buffer));
    *count = blocks.counters.collisions;
    return KITH_OK;
}

bool collisions_sites_are_few(const struct collisions_problem *problem,
                              const struct collisions_box *box)
{
    const int64_t n = problem->count;
    return collisions_box_sites(box) <= (n < INT64_MAX / 32 ? 16 * n : n) + 4096;
}

kith_status collisions_linear_cpu(kith_context *context, const struct collisions_problem *problem,
                                  const struct collisions_box *box, int64_t *count)
{
    bool is_chain = false;
    if (collisions_sites_are_few(problem, box))
        return count_in_array(context, problem, box, count);
    if (collisions_box_has_keys(box) && problem->count <= INT32_MAX)
        KITH_TRY(count_in_blocks(context, problem, box, &is_chain, count));
    return is_chain ? KITH_OK : collisions_hash_cpu(context, problem, box, count);
}
