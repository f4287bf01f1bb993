/* In place of gpu_forces.c in a build without CUDA, which cannot make a context for them. */

#include "gpu_forces.h"

#include <math.h>
#include <stddef.h>

#include "core/status.h"

static kith_status fail(void)
{
    return kith_fail(KITH_UNSUPPORTED,
                     "this build has no CUDA backend; build with the CUDA toolkit");
}

kith_status gpu_forces_create(kith_context *context, kith_array position, kith_array mass,
                              const kith_law *law, kith_forces_method method, double softening,
                              struct gpu_forces **forces)
{
    (void)context, (void)position, (void)mass, (void)law, (void)method, (void)softening;
    *forces = NULL;
    return fail();
}

void gpu_forces_free(struct gpu_forces *forces)
{
    (void)forces;
}

kith_status gpu_forces_time(struct gpu_forces *forces, enum gpu_forces_way way, int64_t calls,
                            double *seconds)
{
    (void)forces, (void)way, (void)calls, (void)seconds;
    return fail();
}

kith_status gpu_forces_difference(struct gpu_forces *forces, enum gpu_forces_way a,
                                  enum gpu_forces_way b, double *difference)
{
    (void)forces, (void)a, (void)b, (void)difference;
    return fail();
}

double gpu_forces_limit(kith_context *context, kith_dtype dtype)
{
    (void)context, (void)dtype;
    return NAN;
}
