#include <stdlib.h>

#include "core/arguments.h"
#include "device/context.h"
#include "lattice/arguments.h"
#include "lattice/batch_cpu.h"
#include "lattice/cpu_methods.h"

static kith_status count_contacts(kith_context *context, struct collisions_problem *problem,
                                  const unsigned char *hydrophobic, int64_t *count)
{
    void *copy = NULL;
    KITH_TRY(collisions_make_dense(problem, &copy));
    const kith_status status = collisions_contacts_cpu(context, problem, hydrophobic, count);
    free(copy);
    return status;
}

kith_status kith_contacts_count(kith_context *context, kith_array beads, const char *sequence,
                                int64_t *count)
{
    KITH_TRY(kith_check_pointer(count, "count"));
    struct collisions_problem problem;
    unsigned char *hydrophobic = NULL;
    *count = 0;
    KITH_TRY(kith_check_pointer(context, "context"));
    KITH_TRY(collisions_check_host_beads(context, beads, &problem));
    KITH_TRY(kith_context_check_cancelled(context));
    KITH_TRY(collisions_parse_sequence(sequence, problem.count, &hydrophobic));
    const kith_status status = count_contacts(context, &problem, hydrophobic, count);
    free(hydrophobic);
    return status;
}

kith_status kith_collisions_summarize(kith_context *context, kith_array beads,
                                      kith_collisions_summary *summary)
{
    KITH_TRY(kith_check_pointer(summary, "summary"));
    struct collisions_problem problem;
    void *copy = NULL;
    *summary = (kith_collisions_summary){0};
    KITH_TRY(kith_check_pointer(context, "context"));
    KITH_TRY(collisions_check_host_beads(context, beads, &problem));
    KITH_TRY(collisions_make_dense(&problem, &copy));
    const kith_status status = collisions_summarize_cpu(context, &problem, NULL, summary);
    free(copy);
    return status;
}

kith_status kith_hp_energy(kith_context *context, kith_array beads, const char *sequence,
                           int64_t *energy)
{
    KITH_TRY(kith_check_pointer(energy, "energy"));
    *energy = 0;
    if (!sequence)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "sequence is NULL; give the letters H and P of the beads");
    KITH_TRY(kith_contacts_count(context, beads, sequence, energy));
    *energy = -*energy;
    return KITH_OK;
}
