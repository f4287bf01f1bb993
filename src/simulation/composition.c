/* Symplectic integrators: compositions of kicks, v += kick·h·a(x), and drifts, x += drift·h·v, each
 * the exact flow of one half of the Hamiltonian. An integrator is a table of coefficients, and one
 * loop runs them all (Hairer, Lubich & Wanner 2006, Geometric Numerical Integration, ch. II.5,
 * V.3).
 */

#include "simulation/integrator.h"
#include "simulation/thermostat.h"

static kith_status kick(struct kith_simulation *simulation, double h)
{
    return simulation_accumulate(simulation, 1, &h, &(const int32_t){ACCELERATION}, VELOCITY);
}

static kith_status drift(struct kith_simulation *simulation, double h)
{
    return simulation_accumulate(simulation, 1, &h, &(const int32_t){VELOCITY}, POSITION);
}

/* A thermostat acts in the middle: with leapfrog's kicks around it this is BAOAB. */
static kith_status drift_with_thermostat(struct kith_simulation *simulation, double h)
{
    if (simulation->thermostat.kind == KITH_THERMOSTAT_NONE)
        return drift(simulation, h);
    KITH_TRY(drift(simulation, h / 2));
    KITH_TRY(thermostat_apply(simulation, h));
    return drift(simulation, h / 2);
}

/* Forces are evaluated when positions have changed since the last time and a kick needs them. A
 * method that ends with a kick keeps its last forces for the first kick of the next step. */
kith_status composition_finish_step(struct kith_simulation *simulation, double h, int32_t first,
                                    bool has_forces)
{
    const struct integrator_method *method = simulation->method;
    const struct composition *composition = &method->composition;
    for (int32_t k = first; k < composition->stage_count; k++) {
        const struct composition_stage stage = composition->stages[k];
        if (!(k == first && has_forces) &&
            composition_evaluates(composition, method->kept > ACCELERATION, k))
            KITH_TRY(k + 1 == composition->stage_count
                         ? simulation_evaluate_last(simulation, simulation->steps + 1 ==
                                                                    simulation->sampled_step)
                         : simulation_evaluate(simulation, POSITION, ACCELERATION));
        if (stage.kick != 0)
            KITH_TRY(kick(simulation, stage.kick * h));
        if (stage.drift != 0)
            KITH_TRY(drift_with_thermostat(simulation, stage.drift * h));
    }
    return KITH_OK;
}

static kith_status composition_step(struct kith_simulation *simulation, double h)
{
    return composition_finish_step(simulation, h, 0, false);
}

/* ends_with_kick: the state includes the accelerations. */
#define COMPOSITION(coefficients, ends_with_kick)                                                  \
    {                                                                                              \
        .step = composition_step, .arrays = ACCELERATION + 1,                                      \
        .kept = (ends_with_kick) ? ACCELERATION + 1 : ACCELERATION, .composition = {               \
            sizeof(coefficients) / sizeof(coefficients)[0],                                        \
            coefficients                                                                           \
        }                                                                                          \
    }

static const struct composition_stage symplectic_euler[] = {{1, 1}};
const struct integrator_method symplectic_euler_method = COMPOSITION(symplectic_euler, false);

static const struct composition_stage leapfrog[] = {{0.5, 1}, {0.5, 0}};
const struct integrator_method leapfrog_method = COMPOSITION(leapfrog, true);

static const struct composition_stage leapfrog_dkd[] = {{0, 0.5}, {1, 0.5}};
const struct integrator_method leapfrog_dkd_method = COMPOSITION(leapfrog_dkd, false);

/* Ruth 1983, IEEE Trans. Nucl. Sci. 30, 2669. */
static const struct composition_stage ruth3[] = {
    {7.0 / 24, 2.0 / 3}, {3.0 / 4, -2.0 / 3}, {-1.0 / 24, 1}};
const struct integrator_method ruth3_method = COMPOSITION(ruth3, false);

/* The triple jump: weights t, 1 − 2t, t with t = 1 / (2 − 2^{1/3}) cancel the leapfrog's
 * third-order error (Forest & Ruth 1990, Physica D 43, 105; Yoshida 1990, Phys. Lett. A 150, 262).
 */
#define JUMP      1.3512071919596576340
#define JUMP_BACK (1 - 2 * JUMP)
static const struct composition_stage forest_ruth[] = {{0, JUMP / 2},
                                                       {JUMP, (JUMP + JUMP_BACK) / 2},
                                                       {JUMP_BACK, (JUMP_BACK + JUMP) / 2},
                                                       {JUMP, JUMP / 2}};
const struct integrator_method forest_ruth_method = COMPOSITION(forest_ruth, false);

static const struct composition_stage yoshida4[] = {
    {JUMP / 2, JUMP},
    {(JUMP + JUMP_BACK) / 2, JUMP_BACK},
    {(JUMP_BACK + JUMP) / 2, JUMP},
    {JUMP / 2, 0},
};
const struct integrator_method yoshida4_method = COMPOSITION(yoshida4, true);

/* Yoshida 1990, solution A of order 6; digits: Hairer, Lubich & Wanner 2006, eq. V.3.11. */
#define Y6_1 0.78451361047755726381949763
#define Y6_2 0.23557321335935813368479318
#define Y6_3 (-1.17767998417887100694641568)
#define Y6_4 1.31518632068391121888424974
static const struct composition_stage yoshida6[] = {
    {Y6_1 / 2, Y6_1},          {(Y6_1 + Y6_2) / 2, Y6_2},
    {(Y6_2 + Y6_3) / 2, Y6_3}, {(Y6_3 + Y6_4) / 2, Y6_4},
    {(Y6_4 + Y6_3) / 2, Y6_3}, {(Y6_3 + Y6_2) / 2, Y6_2},
    {(Y6_2 + Y6_1) / 2, Y6_1}, {Y6_1 / 2, 0},
};
const struct integrator_method yoshida6_method = COMPOSITION(yoshida6, true);

/* Fifteen leapfrogs, Yoshida's form, with the weights of Suzuki & Umeno 1993 (found again by
 * McLachlan 1995, SIAM J. Sci. Comput. 16, 151): their error is far below that of Yoshida's own
 * five solutions. Digits: Hairer, Lubich & Wanner 2006, eq. V.3.12. */
#define Y8_1 0.74167036435061295344822780
#define Y8_2 (-0.40910082580003159399730010)
#define Y8_3 0.19075471029623837995387626
#define Y8_4 (-0.57386247111608226665638773)
#define Y8_5 0.29906418130365592384446354
#define Y8_6 0.33462491824529818378495798
#define Y8_7 0.31529309239676659663205666
#define Y8_8 (-0.79688793935291635401978884)
static const struct composition_stage yoshida8[] = {
    {Y8_1 / 2, Y8_1},          {(Y8_1 + Y8_2) / 2, Y8_2},
    {(Y8_2 + Y8_3) / 2, Y8_3}, {(Y8_3 + Y8_4) / 2, Y8_4},
    {(Y8_4 + Y8_5) / 2, Y8_5}, {(Y8_5 + Y8_6) / 2, Y8_6},
    {(Y8_6 + Y8_7) / 2, Y8_7}, {(Y8_7 + Y8_8) / 2, Y8_8},
    {(Y8_8 + Y8_7) / 2, Y8_7}, {(Y8_7 + Y8_6) / 2, Y8_6},
    {(Y8_6 + Y8_5) / 2, Y8_5}, {(Y8_5 + Y8_4) / 2, Y8_4},
    {(Y8_4 + Y8_3) / 2, Y8_3}, {(Y8_3 + Y8_2) / 2, Y8_2},
    {(Y8_2 + Y8_1) / 2, Y8_1}, {Y8_1 / 2, 0},
};
const struct integrator_method yoshida8_method = COMPOSITION(yoshida8, true);

/* McLachlan 1995, order 4 with five stages; kicks (14 − √19)/108, (20 − 7√19)/108, the rest to 1/2.
 */
#define M4_KICK_1 0.089269454226475244889
#define M4_KICK_2 (-0.097336042636895508015)
#define M4_KICK_3 (0.5 - (M4_KICK_1 + M4_KICK_2))
static const struct composition_stage mclachlan4[] = {
    {M4_KICK_1, 0.4},  {M4_KICK_2, -0.1}, {M4_KICK_3, 0.4},
    {M4_KICK_3, -0.1}, {M4_KICK_2, 0.4},  {M4_KICK_1, 0},
};
const struct integrator_method mclachlan4_method = COMPOSITION(mclachlan4, true);

/* Omelyan, Mryglod & Folk 2002, Comput. Phys. Commun. 146, 188, eq. 20. The published ξ is kept; λ
 * and χ are solved again from the conditions of order 4 (the published digits end at the 16th). */
#define PEFRL_XI     0.1786178958448091
#define PEFRL_LAMBDA (-0.21234183106260611622)
#define PEFRL_CHI    (-0.066264582669818234293)
static const struct composition_stage pefrl[] = {
    {0, PEFRL_XI},
    {(1 - 2 * PEFRL_LAMBDA) / 2, PEFRL_CHI},
    {PEFRL_LAMBDA, 1 - 2 * (PEFRL_CHI + PEFRL_XI)},
    {PEFRL_LAMBDA, PEFRL_CHI},
    {(1 - 2 * PEFRL_LAMBDA) / 2, PEFRL_XI},
};
const struct integrator_method pefrl_method = COMPOSITION(pefrl, false);
