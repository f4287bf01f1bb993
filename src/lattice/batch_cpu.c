#include "lattice/batch_cpu.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "core/memory.h"
#include "device/context.h"
#include "device/cpu.h"
#include "device/threads.h"
#include "lattice/collisions_kernel.h"
#include "lattice/conformation.h"
#include "lattice/cpu_methods.h"
#include "lattice/site_table.h"

/* Of a bead, collisions and contacts. */
static const double seconds_of_bead = 3e-9;

enum { ranges_a_thread = 8, conformations_between_looks = 64 };

struct run {
    const kith_context *context;
    const struct collisions_batch_problem *problem;
    int64_t ranges, scratch_bytes;
    char *scratch; /* of each range */
    atomic_int status;
};

/* Bytes of the scratch memory of conformation. */
static int64_t conformation_bytes(int64_t rows)
{
    const int64_t bytes = rows * (int64_t)sizeof(uint64_t) +
                          conformation_most_sites(rows) * (int64_t)sizeof(uint16_t);
    return (bytes + 63) / 64 * 64;
}

static int64_t first_bead(const struct collisions_batch_problem *problem, int64_t conformation)
{
    return problem->offsets ? problem->offsets[conformation] : conformation * problem->length;
}

/* A conformation that is too spread out for an array of counters. */
static kith_status count_in_table(const kith_context *context,
                                  const struct collisions_problem *chain,
                                  const unsigned char *hydrophobic, int64_t *collisions,
                                  int64_t *contacts)
{
    const struct collisions_box box = collisions_box_of(context, chain);
    kith_collisions_summary summary;
    KITH_TRY(site_table_collisions(context, chain, &box, collisions));
    if (!contacts)
        return KITH_OK;
    KITH_TRY(site_table_summarize(context, chain, &box, hydrophobic, &summary));
    *contacts = summary.contacts;
    return KITH_OK;
}

static kith_status count_one(const kith_context *context, const struct collisions_problem *chain,
                             const unsigned char *hydrophobic, void *scratch, int64_t *collisions,
                             int64_t *contacts)
{
    const struct collisions_kernels *kernels = collisions_kernels_of(context, chain->dtype);
    *collisions = 0;
    if (contacts)
        *contacts = 0;
    if (chain->count < 2)
        return KITH_OK;
    const bool counted = kernels->conformation(chain->beads, chain->count, chain->dimensions,
                                               hydrophobic, scratch, collisions, contacts);
    return counted ? KITH_OK : count_in_table(context, chain, hydrophobic, collisions, contacts);
}

static kith_status count_conformation(const struct run *run, int64_t conformation, void *scratch)
{
    const struct collisions_batch_problem *problem = run->problem;
    const int64_t first = first_bead(problem, conformation), d = problem->dimensions;
    const struct collisions_problem chain = {
        .dtype = problem->dtype,
        .dimensions = problem->dimensions,
        .count = first_bead(problem, conformation + 1) - first,
        .beads = (const char *)problem->beads + first * d * kith_dtype_bytes(problem->dtype),
        .row_stride = d,
        .column_stride = 1,
    };
    int64_t collisions = 0;
    KITH_TRY(count_one(run->context, &chain, problem->hydrophobic, scratch, &collisions,
                       problem->contacts ? &problem->contacts[conformation] : NULL));
    if (problem->collisions)
        problem->collisions[conformation] = collisions;
    return KITH_OK;
}

static void count_range(void *argument, int64_t range)
{
    struct run *run = argument;
    const int64_t all = run->problem->conformations;
    const int64_t begin = range * all / run->ranges, end = (range + 1) * all / run->ranges;
    void *scratch = run->scratch + range * run->scratch_bytes;
    for (int64_t b = begin; b < end; b++) {
        if (b % conformations_between_looks == 0 && kith_context_stops(run->context))
            return;
        const kith_status status = count_conformation(run, b, scratch);
        if (status != KITH_OK)
            atomic_store(&run->status, (int)status);
    }
}

static int64_t longest_of(const struct collisions_batch_problem *problem)
{
    int64_t longest = problem->length;
    for (int64_t b = 0; b < problem->conformations && problem->offsets; b++) {
        const int64_t length = problem->offsets[b + 1] - problem->offsets[b];
        longest = length > longest ? length : longest;
    }
    return longest;
}

kith_status collisions_batch_cpu(kith_context *context,
                                 const struct collisions_batch_problem *problem, bool on_host)
{
    (void)on_host;
    const int64_t all = problem->conformations;
    const double beads = (double)first_bead(problem, all);
    const int32_t threads = kith_threads_for(context, beads * seconds_of_bead);
    const int64_t most_ranges = threads == 1 ? 1 : (int64_t)threads * ranges_a_thread;
    struct run run = {.context = context,
                      .problem = problem,
                      .ranges = all < most_ranges ? all : most_ranges,
                      .scratch_bytes = conformation_bytes(longest_of(problem))};
    KITH_TRY(cpu_scratch(context, run.ranges * run.scratch_bytes, (void **)&run.scratch));
    KITH_TRY(kith_for_each(context, threads, run.ranges, count_range, &run));
    const kith_status status = (kith_status)atomic_load(&run.status);
    if (status != KITH_OK)
        return kith_fail(status, "no memory for the table of sites of a conformation; use fewer "
                                 "threads");
    return KITH_OK;
}

kith_status collisions_contacts_cpu(kith_context *context, const struct collisions_problem *problem,
                                    const unsigned char *hydrophobic, int64_t *count)
{
    int64_t collisions = 0;
    if (problem->count > collisions_most_of_batch) {
        kith_collisions_summary summary;
        KITH_TRY(collisions_summarize_cpu(context, problem, hydrophobic, &summary));
        *count = summary.contacts;
        return KITH_OK;
    }
    void *scratch = NULL;
    KITH_TRY(kith_allocate(1, conformation_bytes(problem->count), "counters of sites", &scratch));
    const kith_status status =
        count_one(context, problem, hydrophobic, scratch, &collisions, count);
    free(scratch);
    return status;
}
