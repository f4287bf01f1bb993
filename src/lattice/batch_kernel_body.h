/* A conformation in an array of counters, for one type of coordinates: included by
 * collisions_kernel.c.
 *
 * Each bead finds the number of those before it at its site, and adds itself: their sum is the
 * number of collisions. A pair at distance 1 has one bead that sees the other in a positive
 * direction: the counters there, summed over beads, are all such pairs, neighbors along the chain
 * among them, which are counted apart. */

/* Of the box of sites with the margin; false if there are too many. */
SIMD_INLINE bool NAME(sites_of)(int64_t rows, const int64_t low[3], const int64_t high[3],
                                uint64_t step[3], uint64_t *sites)
{
    *sites = 1;
    for (int64_t c = 0; c < 3; c++) {
        const uint64_t range = (uint64_t)high[c] - (uint64_t)low[c];
        step[c] = *sites;
        if (range > 0xffff)
            return false;
        *sites *= range + 2;
    }
    return *sites <= (uint64_t)conformation_most_sites(rows);
}

SIMD_INLINE int64_t NAME(count_bonds)(const uint64_t *site, const unsigned char *hydrophobic,
                                      int64_t rows, const uint64_t step[3])
{
    int64_t bonds = 0;
    for (int64_t k = 0; k + 1 < rows; k++) {
        const uint64_t forward = site[k + 1] - site[k], back = site[k] - site[k + 1];
        const bool is_bond = forward == step[0] || forward == step[1] || forward == step[2] ||
                             back == step[0] || back == step[1] || back == step[2];
        bonds += is_bond && (!hydrophobic || (hydrophobic[k] && hydrophobic[k + 1]));
    }
    return bonds;
}

SIMD_INLINE int64_t NAME(count_contacts)(uint16_t *counters, const uint64_t *site,
                                         const unsigned char *hydrophobic, int64_t rows,
                                         const uint64_t step[3])
{
    int64_t pairs = 0;
    if (hydrophobic)
        for (int64_t k = 0; k < rows; k++)
            counters[site[k]] = (uint16_t)(counters[site[k]] - !hydrophobic[k]);
    for (int64_t k = 0; k < rows; k++) {
        const uint16_t *at = counters + site[k];
        const int64_t near = at[step[0]] + at[step[1]] + at[step[2]];
        pairs += !hydrophobic || hydrophobic[k] ? near : 0;
    }
    return pairs - NAME(count_bonds)(site, hydrophobic, rows, step);
}

/* Collisions and contacts (of flagged beads, unless hydrophobic is NULL; contacts may be NULL);
 * false if the conformation is too spread out. */
static bool NAME(conformation)(const void *beads, int64_t rows, int64_t columns,
                               const unsigned char *hydrophobic, void *scratch, int64_t *collisions,
                               int64_t *contacts)
{
    int64_t low[3], high[3];
    uint64_t step[3], sites = 0, origin[3];
    NAME(extent)(beads, rows, columns, low, high);
    if (!NAME(sites_of)(rows, low, high, step, &sites))
        return false;
    for (int64_t c = 0; c < 3; c++)
        origin[c] = (uint64_t)low[c];

    uint64_t *site = scratch;
    uint16_t *counters = (uint16_t *)(site + rows);
    NAME(keys)(beads, rows, columns, origin, step, site);
    memset(counters, 0, sites * sizeof *counters);
    int64_t equal = 0;
    for (int64_t k = 0; k < rows; k++)
        equal += counters[site[k]]++;
    *collisions = equal;
    if (contacts)
        *contacts = NAME(count_contacts)(counters, site, hydrophobic, rows, step);
    return true;
}
