#include "forces/mixing.h"

#include <string.h>

#include "law/law.h"

static const char formula[] =
    "expr:4 * m_i * m_j * (pow((q_i + q_j) / (2 * r), 12) - pow((q_i + q_j) / (2 * r), 6))";

kith_status forces_mix(const kith_law *law, const char *owner, bool has_epsilon, bool has_sigma,
                       kith_law **mixed)
{
    *mixed = NULL;
    if (law && law->near && law->near->info && (has_epsilon || has_sigma) &&
        strcmp(law->near->info->name, "lennard-jones") == 0)
        return kith_fail(KITH_UNSUPPORTED,
                         "%s have a column %s, and the law is a sum of %.60s and lennard-jones, "
                         "which takes none; leave the column out",
                         owner, has_epsilon ? "epsilon" : "sigma", kith_law_text(law));
    if (!law || !law->info || strcmp(law->info->name, "lennard-jones") != 0 ||
        (!has_epsilon && !has_sigma))
        return KITH_OK;
    if (!has_epsilon || !has_sigma)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "%s have a column %s and no column %s; lennard-jones takes both or none",
                         owner, has_epsilon ? "epsilon" : "sigma",
                         has_epsilon ? "sigma" : "epsilon");
    if (law->parameter[0] != 1 || law->parameter[1] != 1)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the law is %.60s and %s have columns epsilon and sigma; give "
                         "lennard-jones alone to use the columns, or leave them out",
                         kith_law_text(law), owner);
    return kith_law_parse(formula, 0, NULL, mixed);
}
