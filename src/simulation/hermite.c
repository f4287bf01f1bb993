/* The Hermite method of order 4 (Makino & Aarseth 1992, PASJ 44, 141), as P(EC)^2: predict
 * positions and velocities with a Taylor series, then twice evaluate accelerations a' and jerks j'
 * there and correct with the Hermite interpolation between both ends of the step,
 *
 *     v' = v + h/2 (a + a') + h²/12 (j − j')
 *     x' = x + h/2 (v + v') + h²/12 (a − a')
 *
 * The second correction makes it nearly time-symmetric. The step keeps a' and j'. */

#include "simulation/integrator.h"

enum {
    START_POSITION = JERK + 1,
    START_VELOCITY,
    POSITION_CHANGE, /* that the start of the step fixes, of the corrector's */
    VELOCITY_CHANGE,
    HERMITE_ARRAYS
};
enum { corrections = 2 };

static kith_status keep_start(struct kith_simulation *simulation, double h)
{
    const double one = 1, factor[] = {h / 2, h * h / 12};
    const int32_t of_position[] = {VELOCITY, ACCELERATION}, of_velocity[] = {ACCELERATION, JERK};
    KITH_TRY(simulation_combine(simulation, 1, &one, &(const int32_t){POSITION}, START_POSITION));
    KITH_TRY(simulation_combine(simulation, 1, &one, &(const int32_t){VELOCITY}, START_VELOCITY));
    KITH_TRY(simulation_combine(simulation, 2, factor, of_position, POSITION_CHANGE));
    return simulation_combine(simulation, 2, factor, of_velocity, VELOCITY_CHANGE);
}

static kith_status predict(struct kith_simulation *simulation, double h)
{
    const double factor[] = {1, h, h * h / 2, h * h * h / 6};
    const int32_t of_position[] = {POSITION, VELOCITY, ACCELERATION, JERK};
    const int32_t of_velocity[] = {VELOCITY, ACCELERATION, JERK};
    KITH_TRY(simulation_combine(simulation, 4, factor, of_position, POSITION));
    return simulation_combine(simulation, 3, factor, of_velocity, VELOCITY);
}

/* The last correction goes from the start of the step, with what did not fit in there. */
static kith_status correct(struct kith_simulation *simulation, double h, bool is_last)
{
    const double factor[] = {1, 1, h / 2, -h * h / 12}, one = 1;
    const int32_t of_velocity[] = {START_VELOCITY, VELOCITY_CHANGE, ACCELERATION, JERK};
    const int32_t of_position[] = {START_POSITION, POSITION_CHANGE, VELOCITY, ACCELERATION};
    if (!is_last) {
        KITH_TRY(simulation_combine(simulation, 4, factor, of_velocity, VELOCITY));
        return simulation_combine(simulation, 4, factor, of_position, POSITION);
    }
    KITH_TRY(simulation_combine(simulation, 1, &one, of_velocity, VELOCITY));
    KITH_TRY(simulation_accumulate(simulation, 3, factor + 1, of_velocity + 1, VELOCITY));
    KITH_TRY(simulation_combine(simulation, 1, &one, of_position, POSITION));
    return simulation_accumulate(simulation, 3, factor + 1, of_position + 1, POSITION);
}

static kith_status hermite4_step(struct kith_simulation *simulation, double h)
{
    KITH_TRY(keep_start(simulation, h));
    KITH_TRY(predict(simulation, h));
    for (int32_t k = 1; k <= corrections; k++) {
        KITH_TRY(simulation_evaluate_with_jerk(simulation));
        KITH_TRY(correct(simulation, h, k == corrections));
    }
    return KITH_OK;
}

const struct integrator_method hermite4_method = {.step = hermite4_step,
                                                  .arrays = HERMITE_ARRAYS,
                                                  .kept = JERK + 1,
                                                  .has_jerk = true,
                                                  .advance = advance_hermite};
