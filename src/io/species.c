#include "io/species.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

/* FNV-1a (Fowler, Noll & Vo), of 64 bits. */
static uint64_t hash_of(const char *name)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (int k = 0; k < KITH_NAME_BYTES && name[k]; k++)
        hash = (hash ^ (unsigned char)name[k]) * UINT64_C(0x100000001b3);
    return hash;
}

/* The entry with this name, or the free one for it. */
static struct species_entry *find(const struct species *species, const char *name)
{
    uint64_t at = hash_of(name) & (uint64_t)(species->room - 1);
    while (species->entries[at].is_used &&
           strncmp(species->entries[at].name, name, KITH_NAME_BYTES) != 0)
        at = (at + 1) & (uint64_t)(species->room - 1);
    return &species->entries[at];
}

static kith_status grow(struct species *species)
{
    struct species_entry *old = species->entries, *entries = NULL;
    const int64_t old_room = species->room, room = old_room ? 2 * old_room : 64;
    KITH_TRY(kith_allocate(room, sizeof *entries, "names", &entries));
    species->entries = entries;
    species->room = room;
    for (int64_t k = 0; k < old_room; k++)
        if (old[k].is_used)
            *find(species, old[k].name) = old[k];
    free(old);
    return KITH_OK;
}

kith_status species_of(struct species *species, const char *name, int32_t row, int32_t *first)
{
    if (2 * (species->count + 1) > species->room)
        KITH_TRY(grow(species));
    struct species_entry *entry = find(species, name);
    if (!entry->is_used) {
        *entry = (struct species_entry){.row = row, .is_used = true};
        snprintf(entry->name, sizeof entry->name, "%s", name);
        species->count++;
    }
    *first = entry->row;
    return KITH_OK;
}

void species_free(struct species *species)
{
    free(species->entries);
    *species = (struct species){0};
}
