#include "kith/forces.h"
#include "core/status.h"
#include "forces/direct.h"
kith_status kith_forces_compute(kith_context *context, const kith_forces_options *options,
                                kith_array targets, kith_array sources, kith_array masses,
                                kith_array acceleration, kith_array potential)
{
    (void)context, (void)options, (void)targets, (void)sources, (void)masses, (void)acceleration,
        (void)potential;
    return kith_fail(KITH_UNSUPPORTED, "not yet");
}
