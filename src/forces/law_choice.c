#include "forces/law_choice.h"

#include <stddef.h>

#include "law/law.h"

static bool is_gravity(const struct law_view *view)
{
    return view->form.kind == law_inverse && view->weight == law_weight_mass;
}

kith_status forces_choose_law(const kith_law *law, double g, double g_of_bodies,
                              struct law_choice *choice)
{
    const double otherwise = g_of_bodies == 0 ? 1 : g_of_bodies;
    *choice = (struct law_choice){NULL, g == 0 ? otherwise : g, false};
    if (!law)
        return KITH_OK;
    struct law_view view;
    law_look(law, &view);
    if (!is_gravity(&view)) {
        const bool near_uses_charge = law->near && law->near->view.uses_charge;
        *choice = (struct law_choice){law, 1, view.uses_charge || near_uses_charge};
        return KITH_OK;
    }
    if (!law->is_given[0]) /* G is the first parameter */
        return KITH_OK;
    const double of_law = -view.numbers.c[0];
    if (g != 0 && g != of_law)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "gravitational constant is %g, but the law's G is %g; give one of them", g,
                         of_law);
    choice->g = of_law;
    return KITH_OK;
}

kith_status forces_check_jerk(const kith_law *law)
{
    struct law_view view;
    law_look(law, &view);
    if (!view.has_rate)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "law is '%.60s', a formula whose second derivatives, which rates of "
                         "forces need, are too long; shorten it",
                         kith_law_text(law));
    return KITH_OK;
}
