#include "pairs/nearest_cpu.h"

kith_status pairs_nearest_cpu(kith_context *context, const struct pairs_problem *problem,
                              const struct pairs_kernels *kernels,
                              struct pairs_workspace *workspace, kith_pairs *pairs)
{
    (void)context;
    (void)problem;
    (void)kernels;
    (void)workspace;
    (void)pairs;
    return kith_fail(KITH_UNSUPPORTED, "the nearest points are not written yet");
}
