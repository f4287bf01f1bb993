/* Waiting for the device, and looking meanwhile whether the call was cancelled. */

#include <stddef.h>
#include <time.h>

#include "core/clock.h"
#include "device/context.h"
#include "device/cuda_state.h"

/* How long a thread polls, as cudaStreamSynchronize does; then it sleeps between two
 * queries, for about a hundredth of the time waited. */
static const double seconds_of_asking = 5e-3;
enum { nanoseconds_of_sleep = 50000 };

static cudaError_t query(const struct cuda_state *state, cudaEvent_t event)
{
    return event ? cudaEventQuery(event) : cudaStreamQuery(state->stream);
}

static kith_status wait(kith_context *context, cudaEvent_t event, const char *what)
{
    struct cuda_state *state = cuda_state_of(context);
    const struct timespec pause = {.tv_nsec = nanoseconds_of_sleep};
    const double begin = kith_clock();
    cudaError_t error = query(state, event);
    while (error == cudaErrorNotReady && !kith_context_stops(context)) {
        if (kith_clock() - begin > seconds_of_asking)
            nanosleep(&pause, NULL);
        error = query(state, event);
    }
    if (error != cudaErrorNotReady)
        return cuda_check(error, what);
    cudaGetLastError(); /* not ready is not a failure */
    state->has_unfinished = true;
    return kith_context_check_cancelled(context);
}

kith_status cuda_wait(kith_context *context, const char *what)
{
    KITH_TRY(wait(context, NULL, what));
    cuda_state_of(context)->has_unfinished = false;
    return KITH_OK;
}

kith_status cuda_wait_for(kith_context *context, cudaEvent_t event, const char *what)
{
    return wait(context, event, what);
}
