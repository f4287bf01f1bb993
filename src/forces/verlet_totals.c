#include "forces/verlet_totals.h"

#include <math.h>
#include <stdlib.h>

#include "core/memory.h"
#include "core/reals.h"
#include "ranks/ranks.h"

/* Modulo 2^128: at most 2^97 per pair, of fewer than 2^30 pairs, with all that cancels on the way.
 */
__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 signed_wide;

struct summing {
    const struct verlet *verlet;
    verlet_force_of *force_of;
    const void *user;
    wide (*parts)[9];
};

double verlet_wide_value(struct verlet_wide sum)
{
    const unsigned long long carried = sum.high + (sum.low >> 32);
    return (double)(long long)carried * 0x1p32 + (double)(sum.low & 0xffffffff);
}

/* Collective, of a job: each is replaced by its sum over all ranks, modulo 2^128. */
static void add_over_ranks(kith_context *context, wide *sums, int count)
{
    enum { most = 18, words = 4 };
    unsigned long long word[most * words];
    for (int k = 0; k < count * words; k++)
        word[k] = (unsigned long long)(sums[k / words] >> (32 * (k % words))) & 0xffffffff;
    ranks_add(context, word, (int64_t)count * words);
    for (int k = 0; k < count; k++) {
        sums[k] = 0;
        for (int w = 0; w < words; w++)
            sums[k] += (wide)word[k * words + w] << (32 * w);
    }
}

static wide widened(int64_t x)
{
    return (wide)(signed_wide)x;
}

static wide wide_of(struct verlet_wide sum)
{
    return (widened((int64_t)sum.high) << 32) + (wide)sum.low;
}

void verlet_wide_add_halves(kith_context *context, struct verlet_wide *sum,
                            struct verlet_wide with_ghosts)
{
    wide sums[2] = {wide_of(*sum), wide_of(with_ghosts)};
    add_over_ranks(context, sums, 2);
    const wide all = sums[0] + (wide)((signed_wide)sums[1] / 2);
    *sum = (struct verlet_wide){(unsigned long long)(all >> 32),
                                (unsigned long long)(all & 0xffffffff)};
}

/* A position or translation in grids. */
static wide grids_of(const struct verlet *verlet, double x)
{
    return widened((int64_t)(x / verlet->grid.length));
}

static void sum_part(void *argument, int64_t part)
{
    const struct summing *summing = argument;
    const struct verlet *verlet = summing->verlet;
    const struct verlet_list *list = &verlet->list;
    const int64_t end = verlet_end_of_part(part, list->count);
    for (int64_t slot = part * verlet_slots_a_part; slot < end; slot++) {
        const int64_t first = verlet_place(list, slot);
        wide x[3], force[3];
        for (int c = 0; c < 3; c++) {
            const int64_t place = first + (int64_t)c * list->lanes;
            x[c] = grids_of(verlet, real_get(verlet->dtype, list->position, place));
            force[c] = widened((int64_t)summing->force_of(summing->user, place));
        }
        for (int k = 0; k < 9; k++)
            summing->parts[part][k] += x[k / 3] * force[k % 3];
    }
}

kith_status verlet_add_virial(kith_context *context, const struct verlet *verlet,
                              verlet_force_of *force_of, const void *user,
                              const struct verlet_totals *sums, kith_forces_totals *totals)
{
    const struct verlet_list *list = &verlet->list;
    const int64_t parts = (list->count + verlet_slots_a_part - 1) / verlet_slots_a_part;
    struct summing summing = {verlet, force_of, user, NULL};
    wide sum[18] = {0}; /* and of translations with ghosts */
    KITH_TRY(kith_allocate(parts, sizeof *summing.parts, "virial", &summing.parts));
    const kith_status status = verlet_for_slots(context, list->count, sum_part, &summing);
    for (int64_t part = 0; part < parts; part++)
        for (int k = 0; k < 9; k++)
            sum[k] += summing.parts[part][k];
    free(summing.parts);
    KITH_TRY(status);
    for (int64_t t = 0; t < list->image_count; t++)
        for (int k = 0; k < 9; k++)
            sum[k] -=
                grids_of(verlet, list->translations[t][k / 3]) * wide_of(sums->across[t][k % 3]);
    for (int64_t t = 0; sums->across_with_ghosts && t < list->image_count; t++)
        for (int k = 0; k < 9; k++)
            sum[9 + k] += grids_of(verlet, list->translations[t][k / 3]) *
                          wide_of(sums->across_with_ghosts[t][k % 3]);
    if (sums->across_with_ghosts)
        add_over_ranks(context, sum, 18);
    for (int k = 0; k < 9; k++)
        sum[k] -= (wide)((signed_wide)sum[9 + k] / 2);
    for (int k = 0; k < 9; k++)
        totals->virial[k] += (double)(signed_wide)sum[k] * verlet->grid.length * sums->unit;
    return KITH_OK;
}
