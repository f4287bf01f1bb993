/* The Hermite method of order 4 (Makino & Aarseth 1992, PASJ 44, 141), as P(EC)^2: predict
 * positions and velocities with a Taylor series, then twice evaluate accelerations a' and jerks j'
 * there and correct with the Hermite interpolation between both ends of the step,
 *
 *     v' = v + h/2 (a + a') + h²/12 (j − j')
 *     x' = x + h/2 (v + v') + h²/12 (a − a')
 *
 * The second correction makes it nearly time-symmetric. The step keeps a' and j'. */

#include "simulation/integrator.h"

enum { BASE_POSITION = JERK + 1, BASE_VELOCITY, HERMITE_ARRAYS };
enum { corrections = 2 };

/* The parts of the corrector that the start of the step fixes. */
static kith_status set_bases(struct kith_simulation *simulation, double h)
{
    const double factor[] = {1, h / 2, h * h / 12};
    const int32_t of_position[] = {POSITION, VELOCITY, ACCELERATION};
    const int32_t of_velocity[] = {VELOCITY, ACCELERATION, JERK};
    KITH_TRY(simulation_combine(simulation, 3, factor, of_position, BASE_POSITION));
    return simulation_combine(simulation, 3, factor, of_velocity, BASE_VELOCITY);
}

static kith_status predict(struct kith_simulation *simulation, double h)
{
    const double factor[] = {1, h, h * h / 2, h * h * h / 6};
    const int32_t of_position[] = {POSITION, VELOCITY, ACCELERATION, JERK};
    const int32_t of_velocity[] = {VELOCITY, ACCELERATION, JERK};
    KITH_TRY(simulation_combine(simulation, 4, factor, of_position, POSITION));
    return simulation_combine(simulation, 3, factor, of_velocity, VELOCITY);
}

static kith_status correct(struct kith_simulation *simulation, double h)
{
    const double factor[] = {1, h / 2, -h * h / 12};
    const int32_t of_velocity[] = {BASE_VELOCITY, ACCELERATION, JERK};
    const int32_t of_position[] = {BASE_POSITION, VELOCITY, ACCELERATION};
    KITH_TRY(simulation_combine(simulation, 3, factor, of_velocity, VELOCITY));
    return simulation_combine(simulation, 3, factor, of_position, POSITION);
}

static kith_status hermite4_step(struct kith_simulation *simulation, double h)
{
    KITH_TRY(set_bases(simulation, h));
    KITH_TRY(predict(simulation, h));
    for (int32_t k = 0; k < corrections; k++) {
        KITH_TRY(simulation_evaluate_with_jerk(simulation));
        KITH_TRY(correct(simulation, h));
    }
    return KITH_OK;
}

const struct integrator_method hermite4_method = {.step = hermite4_step,
                                                  .arrays = HERMITE_ARRAYS,
                                                  .kept = JERK + 1,
                                                  .has_jerk = true,
                                                  .advance = advance_hermite};
