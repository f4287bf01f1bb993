/* The table of integrators. */

#include <string.h>

#include "core/status.h"
#include "simulation/domain.h"
#include "simulation/integrator.h"

/* name, method, order, evaluations of all forces a step (0: as many as it takes), symplectic,
 * central, description */
#define EACH_INTEGRATOR(ROW)                                                                       \
    ROW("leapfrog", leapfrog_method, 2, 1, true, false,                                            \
        "kick-drift-kick velocity Verlet, the default (Verlet 1967)")                              \
    ROW("leapfrog-dkd", leapfrog_dkd_method, 2, 1, true, false,                                    \
        "drift-kick-drift position Verlet (Tuckerman et al. 1992)")                                \
    ROW("symplectic-euler", symplectic_euler_method, 1, 1, true, false,                            \
        "kick, then drift (de Vogelaere 1956)")                                                    \
    ROW("ruth3", ruth3_method, 3, 3, true, false, "three stages (Ruth 1983)")                      \
    ROW("forest-ruth", forest_ruth_method, 4, 3, true, false,                                      \
        "three drift-kick-drift leapfrogs (Forest & Ruth 1990)")                                   \
    ROW("yoshida4", yoshida4_method, 4, 3, true, false,                                            \
        "three kick-drift-kick leapfrogs (Yoshida 1990)")                                          \
    ROW("yoshida6", yoshida6_method, 6, 7, true, false,                                            \
        "seven leapfrogs, solution A (Yoshida 1990)")                                              \
    ROW("yoshida8", yoshida8_method, 8, 15, true, false,                                           \
        "fifteen leapfrogs, the small-error solution (Yoshida 1990; Suzuki & Umeno 1993)")         \
    ROW("mclachlan4", mclachlan4_method, 4, 5, true, false,                                        \
        "five stages with optimized error (McLachlan 1995)")                                       \
    ROW("pefrl", pefrl_method, 4, 4, true, false,                                                  \
        "position-extended Forest-Ruth-like, optimized error (Omelyan et al. 2002)")               \
    ROW("rk4", rk4_method, 4, 4, false, false, "classical Runge-Kutta (Kutta 1901)")               \
    ROW("hermite4", hermite4_method, 4, 2, false, false,                                           \
        "Hermite P(EC)^2 with the jerk (Makino & Aarseth 1992)")                                   \
    ROW("hermite-block", hermite_block_method, 4, 0, false, false,                                 \
        "Hermite with a step for each body, in blocks of powers of two (Makino 1991)")             \
    ROW("ias15", ias15_method, 15, 0, false, false,                                                \
        "adaptive Gauss-Radau, to rounding (Everhart 1985; Rein & Spiegel 2015)")                  \
    ROW("whfast", whfast_method, 2, 1, true, true,                                                 \
        "planets about body 0, a star (Wisdom & Holman 1991; Rein & Tamayo 2015)")                 \
    ROW("hybrid", hybrid_method, 2, 1, false, true,                                                \
        "whfast, with close encounters by ias15, reversible (Lu, Hernandez & Rein 2024)")

#define PUBLIC_ROW(name, method, order, evaluations, symplectic, central, description)             \
    {name, description, order, evaluations, symplectic, (evaluations) == 0, central},
#define METHOD_ROW(name, method, order, evaluations, symplectic, central, description) &(method),

static const kith_integrator integrators[] = {EACH_INTEGRATOR(PUBLIC_ROW)};
static const struct integrator_method *const methods[] = {EACH_INTEGRATOR(METHOD_ROW)};

enum { integrator_count = sizeof integrators / sizeof integrators[0] };

const kith_integrator *kith_integrator_list(int64_t *count)
{
    if (count)
        *count = integrator_count;
    return integrators;
}

/* The names, separated by ", ". */
static void list_names(char *text, size_t bytes)
{
    size_t used = 0;
    for (int32_t k = 0; k < integrator_count; k++) {
        const size_t length = strlen(integrators[k].name);
        if (used + length + 3 > bytes)
            break;
        if (k > 0) {
            memcpy(text + used, ", ", 2);
            used += 2;
        }
        memcpy(text + used, integrators[k].name, length);
        used += length;
    }
    text[used] = '\0';
}

kith_status integrator_find(const char *name, const struct integrator_method **method)
{
    const char *wanted = name ? name : "leapfrog";
    for (int32_t k = 0; k < integrator_count; k++)
        if (strcmp(wanted, integrators[k].name) == 0) {
            *method = methods[k];
            return KITH_OK;
        }
    char names[512];
    list_names(names, sizeof names);
    return kith_fail(KITH_INVALID_ARGUMENT, "integrator is '%s'; give one of %s", wanted, names);
}

int32_t integrator_evaluations(const struct integrator_method *method)
{
    for (int32_t k = 0; k < integrator_count; k++)
        if (methods[k] == method)
            return integrators[k].evaluations;
    return 0;
}

kith_status integrator_prepare(struct kith_simulation *simulation)
{
    simulation->lacks_forces = true;
    if (simulation->slice && simulation_is_divided(simulation))
        return simulation_prepare_divided(simulation);
    if (simulation->method->prepare)
        KITH_TRY(simulation->method->prepare(simulation));
    else if (simulation->method->has_jerk)
        KITH_TRY(simulation_evaluate_with_jerk(simulation));
    else if (simulation->method->kept > ACCELERATION)
        KITH_TRY(simulation_evaluate_last(simulation, true));
    simulation->lacks_forces = false;
    return KITH_OK;
}
