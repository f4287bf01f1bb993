#include "kith/law_sum.h"

#include <stddef.h>

#include "core/arguments.h"
#include "law/law.h"

/* Whether its images can all be summed: k q_i q_j / r, or 1/r without weights. */
static bool is_long_ranged(const kith_law *law)
{
    const struct law_view *view = &law->view;
    return view->form.kind == law_inverse && !view->formula && view->weight != law_weight_mass;
}

kith_status kith_law_add(kith_law *law, kith_law *near)
{
    KITH_TRY(kith_check_pointer(law, "law"));
    KITH_TRY(kith_check_pointer(near, "near"));
    if (law == near || law->near || near->near)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "law is %.60s and near is %.60s, and %s; give two different laws",
                         law->text, near->text,
                         law == near ? "they are one" : "one of them is a sum already");
    if (!is_long_ranged(law))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "law is %.60s; another is added to coulomb, or to power:1", law->text);
    law->near = near;
    return KITH_OK;
}

kith_status law_check_single(const kith_law *law)
{
    if (law && law->near)
        return kith_fail(KITH_UNSUPPORTED,
                         "law is a sum of %.60s and %.60s, which forces by the solvers ewald and "
                         "pme take; give a single law",
                         law->text, law->near->text);
    return KITH_OK;
}

const kith_law *kith_law_added(const kith_law *law)
{
    return law ? law->near : NULL;
}
