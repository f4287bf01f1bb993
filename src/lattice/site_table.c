#include "lattice/site_table.h"

#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"

/* A site with beads. */
struct slot {
    uint64_t key;
    int64_t first; /* one of its beads, for its coordinates */
    int64_t count; /* 0: free */
};

struct site_table {
    const struct collisions_problem *problem;
    const struct collisions_box *box;
    bool is_exact; /* another site has another key */
    struct slot *slots;
    uint64_t mask;
};

struct site {
    int64_t at[3];
};

static struct site site_of(const struct collisions_problem *problem, int64_t i)
{
    struct site site = {{0}};
    for (int64_t c = 0; c < problem->dimensions; c++)
        site.at[c] = collisions_coordinate(problem, i, c);
    return site;
}

static uint64_t key_of(const struct site_table *table, const struct site *site)
{
    uint64_t key = 0;
    for (int64_t c = 0; c < table->problem->dimensions; c++) {
        const uint64_t x = (uint64_t)site->at[c] - (uint64_t)table->box->low[c] + 1;
        key = table->is_exact ? key | x << table->box->shift[c] : collisions_mix(key + x) + x;
    }
    return collisions_mix(key);
}

static bool is_at(const struct site_table *table, const struct slot *slot, uint64_t key,
                  const struct site *site)
{
    if (slot->key != key)
        return false;
    for (int64_t c = 0; c < table->problem->dimensions && !table->is_exact; c++)
        if (collisions_coordinate(table->problem, slot->first, c) != site->at[c])
            return false;
    return true;
}

/* The site's slot, or the free one where it belongs. */
static struct slot *find(const struct site_table *table, uint64_t key, const struct site *site)
{
    uint64_t at = key & table->mask;
    while (table->slots[at].count > 0 && !is_at(table, &table->slots[at], key, site))
        at = (at + 1) & table->mask;
    return &table->slots[at];
}

/* Adds a bead; returns how many were at its site. */
static int64_t add(const struct site_table *table, int64_t i)
{
    const struct site site = site_of(table->problem, i);
    const uint64_t key = key_of(table, &site);
    struct slot *slot = find(table, key, &site);
    if (slot->count == 0) {
        slot->key = key;
        slot->first = i;
    }
    return slot->count++;
}

static kith_status create(const struct collisions_problem *problem,
                          const struct collisions_box *box, struct site_table *table)
{
    const int64_t slots = site_table_slots(problem->count);
    *table =
        (struct site_table){problem, box, collisions_box_has_keys(box), NULL, (uint64_t)slots - 1};
    return kith_allocate(slots, sizeof *table->slots, "the table of sites", &table->slots);
}

kith_status site_table_collisions(const kith_context *context,
                                  const struct collisions_problem *problem,
                                  const struct collisions_box *box, int64_t *count)
{
    struct site_table table;
    KITH_TRY(create(problem, box, &table));
    int64_t collisions = 0;
    kith_status status = KITH_OK;
    for (int64_t i = 0; i < problem->count && status == KITH_OK; i++) {
        status = kith_context_check_iteration(context, i + 1);
        collisions += add(&table, i);
    }
    free(table.slots);
    *count = collisions;
    return status;
}

/* Beads one step forwards along the axes. */
static int64_t count_ahead(const struct site_table *table, int64_t i)
{
    const struct site site = site_of(table->problem, i);
    int64_t ahead = 0;
    for (int64_t c = 0; c < table->problem->dimensions; c++) {
        struct site next = site;
        if (site.at[c] == INT64_MAX)
            continue;
        next.at[c]++;
        ahead += find(table, key_of(table, &next), &next)->count;
    }
    return ahead;
}

/* One step apart along one axis. */
static bool are_bonded(const struct collisions_problem *problem, int64_t i, int64_t j)
{
    uint64_t apart = 0;
    for (int64_t c = 0; c < problem->dimensions; c++) {
        const int64_t a = collisions_coordinate(problem, i, c);
        const int64_t b = collisions_coordinate(problem, j, c);
        const uint64_t d = a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
        if (d > 1)
            return false;
        apart += d;
    }
    return apart == 1;
}

/* What each bead with a flag has next to it. */
static kith_status count_contacts(const kith_context *context, const struct site_table *table,
                                  const unsigned char *hydrophobic, int64_t *contacts)
{
    const struct collisions_problem *problem = table->problem;
    for (int64_t i = 0; i < problem->count; i++) {
        KITH_TRY(kith_context_check_iteration(context, i + 1));
        if (hydrophobic && !hydrophobic[i])
            continue;
        *contacts += count_ahead(table, i);
        if (i > 0 && (!hydrophobic || hydrophobic[i - 1]))
            *contacts -= are_bonded(problem, i - 1, i);
    }
    return KITH_OK;
}

kith_status site_table_summarize(const kith_context *context,
                                 const struct collisions_problem *problem,
                                 const struct collisions_box *box, const unsigned char *hydrophobic,
                                 kith_collisions_summary *summary)
{
    struct site_table table;
    KITH_TRY(create(problem, box, &table));
    kith_collisions_summary found = {.beads = problem->count};
    kith_status status = KITH_OK;
    for (int64_t i = 0; i < problem->count && status == KITH_OK; i++) {
        status = kith_context_check_iteration(context, i + 1);
        if (hydrophobic && !hydrophobic[i])
            continue;
        const int64_t before = add(&table, i);
        found.collisions += before;
        found.sites += before == 0;
        found.max_at_site = before >= found.max_at_site ? before + 1 : found.max_at_site;
    }
    if (status == KITH_OK)
        status = count_contacts(context, &table, hydrophobic, &found.contacts);
    free(table.slots);
    *summary = found;
    return status;
}
