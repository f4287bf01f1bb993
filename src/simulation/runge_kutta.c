/* The classical Runge-Kutta method of order 4. For x'' = a(x) its stages reduce to (Nyström's form)
 *
 *     a_1 = a(x)                  a_2 = a(x + h/2 v)
 *     a_3 = a(x + h/2 v + h²/4 a_1)    a_4 = a(x + h v + h²/2 a_2)
 *     x' = x + h v + h²/6 (a_1 + a_2 + a_3)    v' = v + h/6 (a_1 + 2 a_2 + 2 a_3 + a_4)
 *
 * (Hairer, Nørsett & Wanner 1993, Solving Ordinary Differential Equations I, II.14). */

#include "simulation/integrator.h"

enum { A1 = ACCELERATION, A2, A3, A4, STAGE, RK4_ARRAYS };

/* STAGE = x + b·v + c·a, then its forces. */
static kith_status evaluate_stage(struct kith_simulation *simulation, double b, double c,
                                  int32_t previous, int32_t acceleration)
{
    const double factor[] = {1, b, c};
    const int32_t in[] = {POSITION, VELOCITY, previous};
    KITH_TRY(simulation_combine(simulation, c == 0 ? 2 : 3, factor, in, STAGE));
    return simulation_evaluate(simulation, STAGE, acceleration);
}

static kith_status advance_positions(struct kith_simulation *simulation, double h)
{
    const double factor[] = {h, h * h / 6, h * h / 6, h * h / 6};
    const int32_t in[] = {VELOCITY, A1, A2, A3};
    return simulation_accumulate(simulation, 4, factor, in, POSITION);
}

static kith_status advance_velocities(struct kith_simulation *simulation, double h)
{
    const double factor[] = {h / 6, h / 3, h / 3, h / 6};
    const int32_t in[] = {A1, A2, A3, A4};
    return simulation_accumulate(simulation, 4, factor, in, VELOCITY);
}

static kith_status rk4_step(struct kith_simulation *simulation, double h)
{
    KITH_TRY(simulation_evaluate(simulation, POSITION, A1));
    KITH_TRY(evaluate_stage(simulation, h / 2, 0, A1, A2));
    KITH_TRY(evaluate_stage(simulation, h / 2, h * h / 4, A1, A3));
    KITH_TRY(evaluate_stage(simulation, h, h * h / 2, A2, A4));
    KITH_TRY(advance_positions(simulation, h));
    return advance_velocities(simulation, h);
}

const struct integrator_method rk4_method = {.step = rk4_step,
                                             .arrays = RK4_ARRAYS,
                                             .kept = LOST_VELOCITY + 1,
                                             .advance = advance_runge_kutta};
