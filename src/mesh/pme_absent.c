/* A build without FFTW. */

#include "mesh/pme.h"

bool pme_is_there(void)
{
    return false;
}

kith_status pme_add_waves(kith_context *context, kith_dtype dtype, struct periodic_state *state)
{
    (void)context;
    (void)dtype;
    (void)state;
    return kith_fail(KITH_UNSUPPORTED, "this build has no FFTW; use the solver ewald");
}
