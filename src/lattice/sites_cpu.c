/* Sites, collisions and contacts of beads anywhere, by a partition: what is random in it happens in
 * caches.
 *
 * Sites are taken in pages of 16 × 16 × 16 (64 × 64 in 2D), and a hash of its page decides on the
 * piece that a bead goes to. So most sites have their neighbors in the same piece; a bead at the
 * upper face of its page asks for the neighbor after it in that one's piece. A table of a piece
 * then has a slot a site. */

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/threads.h"
#include "lattice/cpu_methods.h"
#include "lattice/site_table.h"

/* Beads of a piece, about: its table, 36 to 72 bytes per bead, fits the second cache. More pieces
 * than this are too many to write to in alternation. */
enum { piece_beads = 4096, most_piece_bits = 11, chunk_beads = 1 << 15, keys_at_once = 512 };

/* Of a bead, all passes together. */
static const double seconds_of_bead = 30e-9;

struct survey {
    const kith_context *context;
    const struct collisions_problem *problem;
    const struct collisions_box *box;
    const unsigned char *hydrophobic;
    uint64_t upper[3], in_page; /* the bits of a coordinate in its page, each and all */
    uint64_t step[3];
    int64_t pieces, chunks, groups;
    uint64_t *parted; /* keys of each piece's beads, and then of the neighbors that are requested */
    int64_t *place;   /* chunks × bins: keys, then where they go */
    int64_t *end;     /* of each bin in parted; a piece has two */
    atomic_llong collisions, sites, max_at_site, contacts;
    atomic_bool is_out_of_memory;
};

/* The bin of the beads of a page's piece; the next one is that of its questions. */
static int64_t bin_of(const struct survey *survey, uint64_t page)
{
    return 2 * (int64_t)(collisions_mix(page) >> (64 - most_piece_bits) &
                         (uint64_t)(survey->pieces - 1));
}

static bool is_step(const struct survey *survey, uint64_t apart)
{
    bool found = false;
    for (int32_t c = 0; c < survey->problem->dimensions; c++)
        found |= apart == survey->step[c] || apart == 0 - survey->step[c];
    return found;
}

/* Counts a chunk's keys of each bin or, if parted is given, puts them there. */
static inline void walk_chunk(const struct survey *survey, int64_t chunk, int64_t *place,
                              uint64_t *parted)
{
    const int64_t begin = chunk * chunk_beads, all = survey->problem->count;
    const int64_t end = begin + chunk_beads < all ? begin + chunk_beads : all;
    uint64_t keys[keys_at_once], last = UINT64_MAX;
    int64_t bin = 0;
    for (int64_t first = begin; first < end; first += keys_at_once) {
        const int64_t count = end - first < keys_at_once ? end - first : keys_at_once;
        collisions_keys(survey->context, survey->problem, survey->box, first, first + count, keys);
        for (int64_t k = 0; k < count; k++) {
            const uint64_t key = keys[k], page = key & ~survey->in_page;
            if (survey->hydrophobic && !survey->hydrophobic[first + k])
                continue;
            if (page != last) {
                last = page;
                bin = bin_of(survey, page);
            }
            if (parted)
                parted[place[bin]] = key;
            place[bin]++;
            for (int32_t c = 0; c < survey->problem->dimensions; c++) {
                if ((key & survey->upper[c]) != survey->upper[c])
                    continue;
                const uint64_t next = key + survey->step[c];
                const int64_t asked = bin_of(survey, next & ~survey->in_page) + 1;
                if (parted)
                    parted[place[asked]] = next;
                place[asked]++;
            }
        }
    }
}

/* Beads of the chunk at distance 1 from the one before them in the chain. */
static int64_t count_bonds(const struct survey *survey, int64_t chunk)
{
    const int64_t begin = chunk > 0 ? chunk * chunk_beads - 1 : 0, all = survey->problem->count;
    const int64_t end = (chunk + 1) * chunk_beads < all ? (chunk + 1) * chunk_beads : all;
    const unsigned char *hydrophobic = survey->hydrophobic;
    uint64_t keys[keys_at_once];
    int64_t bonds = 0;
    for (int64_t first = begin; first + 1 < end; first += keys_at_once - 1) {
        const int64_t count = end - first < keys_at_once ? end - first : keys_at_once;
        collisions_keys(survey->context, survey->problem, survey->box, first, first + count, keys);
        for (int64_t k = 1; k < count; k++)
            bonds += is_step(survey, keys[k] - keys[k - 1]) &&
                     (!hydrophobic || (hydrophobic[first + k] && hydrophobic[first + k - 1]));
    }
    return bonds;
}

static int64_t *places_of(const struct survey *survey, int64_t chunk)
{
    return survey->place + chunk * 2 * survey->pieces;
}

static void count_chunk(void *argument, int64_t chunk)
{
    struct survey *survey = argument;
    memset(places_of(survey, chunk), 0, 2 * (size_t)survey->pieces * sizeof(int64_t));
    walk_chunk(survey, chunk, places_of(survey, chunk), NULL);
    atomic_fetch_sub(&survey->contacts, count_bonds(survey, chunk));
}

static void part_chunk(void *argument, int64_t chunk)
{
    const struct survey *survey = argument;
    walk_chunk(survey, chunk, places_of(survey, chunk), survey->parted);
}

/* Bin after bin, and in a bin chunk after chunk; returns how many keys there are. */
static int64_t find_places(const struct survey *survey)
{
    int64_t before = 0;
    for (int64_t bin = 0; bin < 2 * survey->pieces; bin++) {
        for (int64_t chunk = 0; chunk < survey->chunks; chunk++) {
            int64_t *place = places_of(survey, chunk) + bin;
            const int64_t here = *place;
            *place = before;
            before += here;
        }
        survey->end[bin] = before;
    }
    return before;
}

struct slot {
    uint64_t key;
    int64_t beads; /* 0: free */
};

/* The sites of a piece. */
struct table {
    struct slot *slot;
    uint32_t *used; /* the slots of the sites */
    int64_t sites, slots, room;
};

static struct slot *find(const struct table *table, uint64_t key)
{
    const uint64_t mask = (uint64_t)table->slots - 1;
    uint64_t at = collisions_mix(key) & mask;
    while (table->slot[at].beads > 0 && table->slot[at].key != key)
        at = (at + 1) & mask;
    return &table->slot[at];
}

static void drop(struct table *table)
{
    free(table->slot);
    free(table->used);
    *table = (struct table){.sites = 0};
}

/* An empty table of this many slots. */
static kith_status clear(struct table *table, int64_t slots)
{
    if (!table->slot || slots > table->room) {
        drop(table);
        KITH_TRY(kith_allocate(slots, sizeof *table->slot, "the table of sites", &table->slot));
        KITH_TRY(kith_allocate(slots / 2, sizeof *table->used, "the sites", &table->used));
        table->room = slots;
    } else {
        memset(table->slot, 0, (size_t)slots * sizeof *table->slot);
    }
    table->slots = slots;
    table->sites = 0;
    return KITH_OK;
}

static void occupy(struct table *table, struct slot *slot, uint64_t key, int64_t beads)
{
    table->used[table->sites++] = (uint32_t)(slot - table->slot);
    *slot = (struct slot){key, beads};
}

static kith_status grow(struct table *table)
{
    struct table larger = {.sites = 0};
    const kith_status status = clear(&larger, 4 * table->slots);
    for (int64_t k = 0; k < table->sites && status == KITH_OK; k++) {
        const struct slot *from = &table->slot[table->used[k]];
        occupy(&larger, find(&larger, from->key), from->key, from->beads);
    }
    drop(status == KITH_OK ? table : &larger);
    if (status == KITH_OK)
        *table = larger;
    return status;
}

/* Counts the beads of each site; returns the collisions through *collisions. */
static kith_status fill_table(const kith_context *context, struct table *table,
                              const uint64_t *keys, int64_t count, int64_t *collisions)
{
    for (int64_t k = 0; k < count; k++) {
        KITH_TRY(kith_context_check_iteration(context, k));
        struct slot *slot = find(table, keys[k]);
        *collisions += slot->beads;
        if (slot->beads++ > 0)
            continue;
        occupy(table, slot, keys[k], 1);
        if (2 * table->sites >= table->slots)
            KITH_TRY(grow(table));
    }
    return KITH_OK;
}

/* Contacts of the piece's sites with those one step forwards in their pages. */
static int64_t count_ahead(const struct survey *survey, const struct table *table, int64_t *most)
{
    int64_t contacts = 0;
    for (int64_t k = 0; k < table->sites; k++) {
        const struct slot *slot = &table->slot[table->used[k]];
        int64_t ahead = 0;
        for (int32_t c = 0; c < survey->problem->dimensions; c++)
            if ((slot->key & survey->upper[c]) != survey->upper[c])
                ahead += find(table, slot->key + survey->step[c])->beads;
        contacts += slot->beads * ahead;
        *most = slot->beads > *most ? slot->beads : *most;
    }
    return contacts;
}

struct piece_sums {
    int64_t collisions, sites, max_at_site, contacts;
};

static kith_status survey_piece(const struct survey *survey, int64_t piece, struct table *table,
                                struct piece_sums *sums)
{
    const int64_t begin = piece > 0 ? survey->end[2 * piece - 1] : 0;
    const int64_t end = survey->end[2 * piece], end_of_questions = survey->end[2 * piece + 1];
    const int64_t usual = survey->problem->count / survey->pieces + 1;
    KITH_TRY(clear(table, site_table_slots(end - begin < usual ? end - begin : usual)));
    KITH_TRY(
        fill_table(survey->context, table, survey->parted + begin, end - begin, &sums->collisions));
    sums->sites += table->sites;
    sums->contacts += count_ahead(survey, table, &sums->max_at_site);
    for (int64_t k = end; k < end_of_questions; k++)
        sums->contacts += find(table, survey->parted[k])->beads;
    return KITH_OK;
}

static void survey_group(void *argument, int64_t group)
{
    struct survey *survey = argument;
    struct table table = {.sites = 0};
    struct piece_sums sums = {0};
    kith_status status = KITH_OK;
    for (int64_t piece = group; piece < survey->pieces && status == KITH_OK;
         piece += survey->groups)
        status = survey_piece(survey, piece, &table, &sums);
    drop(&table);
    if (status != KITH_OK)
        atomic_store(&survey->is_out_of_memory, true);
    atomic_fetch_add(&survey->collisions, sums.collisions);
    atomic_fetch_add(&survey->sites, sums.sites);
    atomic_fetch_add(&survey->contacts, sums.contacts);
    long long most = atomic_load(&survey->max_at_site);
    while (most < sums.max_at_site &&
           !atomic_compare_exchange_weak(&survey->max_at_site, &most, sums.max_at_site)) {
    }
}

static void set_up(kith_context *context, struct survey *survey)
{
    const int32_t dimensions = survey->problem->dimensions, page_bits = dimensions == 3 ? 4 : 6;
    for (int32_t c = 0; c < dimensions; c++) {
        const int32_t bits = survey->box->bits[c];
        const uint64_t coordinate = ((uint64_t)1 << (bits < page_bits ? bits : page_bits)) - 1;
        survey->upper[c] = coordinate << survey->box->shift[c];
        survey->in_page |= survey->upper[c];
        survey->step[c] = collisions_step(survey->box, c);
    }
    int32_t bits = 0;
    while (bits < most_piece_bits && survey->problem->count >> bits > piece_beads)
        bits++;
    survey->pieces = (int64_t)1 << bits;
    survey->chunks = (survey->problem->count + chunk_beads - 1) / chunk_beads;
    const int64_t most_groups = 4 * (int64_t)kith_context_threads(context);
    survey->groups = survey->pieces < most_groups ? survey->pieces : most_groups;
}

static kith_status run(kith_context *context, struct survey *survey)
{
    const double seconds = (double)survey->problem->count * seconds_of_bead;
    const int32_t threads = kith_threads_for(context, seconds);
    KITH_TRY(kith_allocate((survey->chunks + 1) * 2 * survey->pieces, sizeof *survey->place,
                           "the partition of the beads", &survey->place));
    survey->end = places_of(survey, survey->chunks);
    KITH_TRY(kith_for_each(context, threads, survey->chunks, count_chunk, survey));
    KITH_TRY(kith_allocate(find_places(survey), sizeof *survey->parted, "the beads' sites",
                           &survey->parted));
    KITH_TRY(kith_for_each(context, threads, survey->chunks, part_chunk, survey));
    KITH_TRY(kith_for_each(context, threads, survey->groups, survey_group, survey));
    if (atomic_load(&survey->is_out_of_memory))
        return kith_fail(KITH_OUT_OF_MEMORY, "no memory for a table of sites; use fewer threads");
    return KITH_OK;
}

kith_status collisions_summarize_cpu(kith_context *context,
                                     const struct collisions_problem *problem,
                                     const unsigned char *hydrophobic,
                                     kith_collisions_summary *summary)
{
    const struct collisions_box box = collisions_box_of(context, problem);
    if (!collisions_box_has_keys(&box) || problem->count > INT32_MAX)
        return site_table_summarize(context, problem, &box, hydrophobic, summary);
    struct survey survey = {
        .context = context, .problem = problem, .box = &box, .hydrophobic = hydrophobic};
    set_up(context, &survey);
    const kith_status status = run(context, &survey);
    *summary = (kith_collisions_summary){.beads = problem->count,
                                         .collisions = atomic_load(&survey.collisions),
                                         .sites = atomic_load(&survey.sites),
                                         .max_at_site = atomic_load(&survey.max_at_site),
                                         .contacts = atomic_load(&survey.contacts)};
    free(survey.place);
    free(survey.parted);
    return status;
}
