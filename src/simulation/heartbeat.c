#include "core/arguments.h"
#include "simulation/state.h"

kith_status kith_simulation_set_heartbeat(kith_simulation *simulation, int64_t every,
                                          kith_heartbeat *heartbeat, void *user)
{
    KITH_TRY(kith_check_pointer(simulation, "simulation"));
    if (heartbeat && every < 1)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "every is %lld; give a number of steps of at least 1", (long long)every);
    simulation->heartbeat = heartbeat;
    simulation->heartbeat_user = user;
    simulation->heartbeat_every = every;
    return KITH_OK;
}

int64_t heartbeat_steps(const struct kith_simulation *simulation, int64_t steps)
{
    const int64_t every = simulation->heartbeat_every;
    const int64_t left = simulation->heartbeat ? every - simulation->steps % every : steps;
    return left < steps ? left : steps;
}

kith_status heartbeat_call(struct kith_simulation *simulation)
{
    if (!simulation->heartbeat || simulation->steps % simulation->heartbeat_every != 0)
        return KITH_OK;
    simulation->is_looked_at = true;
    const bool goes_on = simulation->heartbeat(simulation->heartbeat_user, simulation);
    simulation->is_looked_at = false;
    return goes_on ? KITH_OK
                   : kith_fail(KITH_CANCELLED, "stopped by the heartbeat at step %lld",
                               (long long)simulation->steps);
}
