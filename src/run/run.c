#include "kith/run.h"
#include "core/status.h"

kith_status kith_run(kith_context *context, const kith_run_options *options,
                     const kith_bodies *bodies, kith_run_summary *summary)
{
    (void)context, (void)options, (void)bodies, (void)summary;
    return kith_fail(KITH_UNSUPPORTED, "not yet");
}
