/* Counting by a partition: random accesses stay in the caches. */

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/cpu.h"
#include "device/threads.h"
#include "lattice/cpu_methods.h"
#include "lattice/site_table.h"

/* Beads of a piece, about: its table of 32 bytes per bead and the beads fit the second cache. More
 * pieces than this are too many to write to in alternation. */
enum { piece_beads = 8192, most_piece_bits = 11, chunk_beads = 1 << 15 };

/* Of a piece, whose beads may be most of all. */
enum { keys_between_looks = 1 << 16 };

/* Of a bead, all passes together. */
static const double seconds_of_bead = 12e-9;

struct slot {
    uint64_t key;
    int64_t count; /* 0: free */
};

struct partition {
    const kith_context *context;
    const struct collisions_problem *problem;
    const struct collisions_box *box;
    int64_t pieces, chunks, groups, table_slots;
    int32_t piece_shift;
    uint64_t *mixed, *parted; /* keys through collisions_mix */
    int64_t *place;           /* chunks × pieces: beads, then where they go */
    int64_t *end;             /* of each piece in parted */
    struct slot *tables;      /* one per group */
    atomic_llong collisions;
};

static int64_t least_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t *places_of(const struct partition *parts, int64_t chunk)
{
    return parts->place + chunk * parts->pieces;
}

static int64_t piece_of(const struct partition *parts, uint64_t mixed)
{
    return (int64_t)(mixed >> parts->piece_shift) & (parts->pieces - 1);
}

static void mix_chunk(void *argument, int64_t chunk)
{
    const struct partition *parts = argument;
    const int64_t begin = chunk * chunk_beads;
    const int64_t end = least_of(begin + chunk_beads, parts->problem->count);
    int64_t *beads = places_of(parts, chunk);
    uint64_t *mixed = parts->mixed;
    collisions_keys(parts->context, parts->problem, parts->box, begin, end, mixed + begin);
    memset(beads, 0, (size_t)parts->pieces * sizeof *beads);
    for (int64_t k = begin; k < end; k++) {
        mixed[k] = collisions_mix(mixed[k]);
        beads[piece_of(parts, mixed[k])]++;
    }
}

/* Piece after piece, and in a piece chunk after chunk. */
static void find_places(const struct partition *parts)
{
    int64_t before = 0;
    for (int64_t piece = 0; piece < parts->pieces; piece++) {
        for (int64_t chunk = 0; chunk < parts->chunks; chunk++) {
            int64_t *place = places_of(parts, chunk) + piece;
            const int64_t here = *place;
            *place = before;
            before += here;
        }
        parts->end[piece] = before;
    }
}

static void part_chunk(void *argument, int64_t chunk)
{
    const struct partition *parts = argument;
    const int64_t begin = chunk * chunk_beads;
    const int64_t end = least_of(begin + chunk_beads, parts->problem->count);
    int64_t *place = places_of(parts, chunk);
    for (int64_t k = begin; k < end; k++)
        parts->parted[place[piece_of(parts, parts->mixed[k])]++] = parts->mixed[k];
}

/* Collisions of keys in a table with at least twice as many slots. */
static int64_t count_piece(const kith_context *context, const uint64_t *keys, int64_t count,
                           struct slot *table, int64_t slots)
{
    const uint64_t mask = (uint64_t)slots - 1;
    int64_t collisions = 0;
    memset(table, 0, (size_t)slots * sizeof *table);
    for (int64_t k = 0; k < count; k++) {
        const uint64_t key = keys[k];
        if (k % keys_between_looks == 0 && kith_context_stops(context))
            break;
        uint64_t at = key & mask;
        while (table[at].count > 0 && table[at].key != key)
            at = (at + 1) & mask;
        table[at].key = key;
        collisions += table[at].count++;
    }
    return collisions;
}

/* A group's pieces; those that its table is too small for are left to count_large_pieces. */
static void count_group(void *argument, int64_t group)
{
    struct partition *parts = argument;
    struct slot *table = parts->tables + group * parts->table_slots;
    int64_t collisions = 0;
    for (int64_t piece = group; piece < parts->pieces; piece += parts->groups) {
        const int64_t begin = piece > 0 ? parts->end[piece - 1] : 0;
        const int64_t count = parts->end[piece] - begin;
        const int64_t slots = site_table_slots(count);
        if (slots <= parts->table_slots)
            collisions += count_piece(parts->context, parts->parted + begin, count, table, slots);
    }
    atomic_fetch_add(&parts->collisions, collisions);
}

/* Pieces that are much larger than the others have sites with very many beads. */
static kith_status count_large_pieces(struct partition *parts)
{
    for (int64_t piece = 0; piece < parts->pieces; piece++) {
        const int64_t begin = piece > 0 ? parts->end[piece - 1] : 0;
        const int64_t count = parts->end[piece] - begin;
        const int64_t slots = site_table_slots(count);
        if (slots <= parts->table_slots)
            continue;
        struct slot *table = NULL;
        KITH_TRY(kith_allocate(slots, sizeof *table, "the table of sites", &table));
        atomic_fetch_add(&parts->collisions,
                         count_piece(parts->context, parts->parted + begin, count, table, slots));
        free(table);
    }
    return kith_context_check_cancelled(parts->context);
}

/* Sizes, and the memory for them. */
static kith_status set_up(kith_context *context, struct partition *parts)
{
    const int64_t n = parts->problem->count;
    int32_t bits = 0;
    while (bits < most_piece_bits && n >> bits > piece_beads)
        bits++;
    parts->pieces = (int64_t)1 << bits;
    parts->piece_shift = 64 - most_piece_bits;
    parts->chunks = (n + chunk_beads - 1) / chunk_beads;
    parts->groups = least_of(parts->pieces, 4 * (int64_t)kith_context_threads(context));
    parts->table_slots = site_table_slots(n / parts->pieces + n / parts->pieces / 2 + 1);

    const int64_t places = (parts->chunks + 1) * parts->pieces;
    const int64_t words = 2 * n + 2 * parts->groups * parts->table_slots + places;
    uint64_t *memory = NULL;
    KITH_TRY(cpu_scratch(context, words * (int64_t)sizeof *memory, (void **)&memory));
    parts->tables = (struct slot *)memory;
    parts->mixed = memory + 2 * parts->groups * parts->table_slots;
    parts->parted = parts->mixed + n;
    parts->end = (int64_t *)(parts->parted + n);
    parts->place = parts->end + parts->pieces;
    return KITH_OK;
}

kith_status collisions_hash_cpu(kith_context *context, const struct collisions_problem *problem,
                                const struct collisions_box *box, int64_t *count)
{
    if (!collisions_box_has_keys(box))
        return site_table_collisions(context, problem, box, count);
    struct partition parts = {.context = context, .problem = problem, .box = box};
    KITH_TRY(set_up(context, &parts));
    const int32_t threads = kith_threads_for(context, (double)problem->count * seconds_of_bead);
    KITH_TRY(kith_for_each(context, threads, parts.chunks, mix_chunk, &parts));
    find_places(&parts);
    KITH_TRY(kith_for_each(context, threads, parts.chunks, part_chunk, &parts));
    KITH_TRY(kith_for_each(context, threads, parts.groups, count_group, &parts));
    KITH_TRY(count_large_pieces(&parts));
    *count = atomic_load(&parts.collisions);
    return KITH_OK;
}
