/* What a kernel needs of a law. */

#include <string.h>

#include "law/formula.h"
#include "law/law.h"
#include "law/law_rows.h"

static void look_at_formula(const kith_law *law, struct law_view *view)
{
    const struct law_formula *value = law->value;
    *view = (struct law_view){
        .form = {law_custom, law_unweighted},
        .uses_mass = formula_uses(value, formula_m_i) || formula_uses(value, formula_m_j),
        .uses_charge = formula_uses(value, formula_q_i) || formula_uses(value, formula_q_j),
        .is_central = !formula_uses(value, formula_dx) && !formula_uses(value, formula_dy) &&
                      !formula_uses(value, formula_dz),
        .is_symmetric = value->is_symmetric,
        .has_rate = value->has_rate,
        .value = value,
        .parameter = law->parameter};
    view->numbers.diverges = law_formula_diverges(value, law->parameter);
}

static enum law_kind kind_of(const char *name)
{
    static const char *const names[] = {
#define LAW_NAME(kind) #kind,
        LAW_EACH_BUILT_IN(LAW_NAME)
#undef LAW_NAME
    };
    int k = 0;
    while (strcmp(names[k], name) != 0)
        k++;
    return (enum law_kind)k;
}

/* The body that the parameters choose; its formula is read again when it has changed. */
static kith_status look_at_body(kith_law *law, struct law_view *view)
{
    struct law_row row;
    struct law_body body;
    char kind[law_kind_bytes];
    int32_t k = 0;
    KITH_TRY(law_row_read(law->info, &row));
    while (law_row_body(&row, k, &body, kind) && body.suits && !body.suits(law->parameter))
        k++;
    KITH_TRY(law_row_weighting(&row, law->value, &view->form.weighting));
    view->form.kind = kind_of(kind);
    view->weight = view->uses_mass     ? law_weight_mass
                   : view->uses_charge ? law_weight_charge
                                       : law_weight_none;
    if (body.resolve) {
        body.resolve(law->parameter, &view->numbers);
        return KITH_OK;
    }
    if (!law->body || law->body_index != k) {
        formula_free(law->body);
        law->body_index = k;
        KITH_TRY(law_row_parse_body(&row, &body, view->form.weighting, &law->body));
    }
    formula_constants(law->body, law->parameter, view->numbers.c);
    return KITH_OK;
}

kith_status law_update(kith_law *law)
{
    struct law_view view;
    look_at_formula(law, &view);
    if (law->info) {
        KITH_TRY(look_at_body(law, &view));
    } else {
        view.formula = law->value;
        formula_constants(law->value, law->parameter, view.numbers.c);
    }
    law->view = view;
    return KITH_OK;
}

void law_look(const kith_law *law, struct law_view *view)
{
    *view = law->view;
}
