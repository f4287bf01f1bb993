#include "run/law_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "forces/law_choice.h"
#include "io/numbers.h"
#include "law/formula.h"
#include "law/law.h"

static const char gravity[] = "gravity", separator[] = "; ";

static const char *parameter_name(const kith_law *law, int32_t k)
{
    if (law->formula)
        return k < law->formula->parameters ? law->formula->names[k] : NULL;
    return k < law_most_parameters ? law_recipes[law->row].parameters[k].name : NULL;
}

/* The law's text, of a law of the table its name alone: what stands behind the colon is among the
 * parameters. */
static const char *name_of(const kith_law *law)
{
    int64_t count = 0;
    return law->formula ? law->text : kith_law_list(&count)[law->row].name;
}

kith_status law_record(const kith_law *law, char text[law_record_bytes])
{
    struct law_choice choice;
    KITH_TRY(forces_choose_law(law, 0, &choice));
    if (!choice.law) {
        memcpy(text, gravity, sizeof gravity);
        return KITH_OK;
    }
    const char *parameter = NULL;
    size_t used = (size_t)snprintf(text, law_record_bytes, "%s", name_of(law));
    for (int32_t k = 0; (parameter = parameter_name(law, k)) && used < law_record_bytes; k++) {
        char value[real_bytes];
        format_real(law->parameter[k], value);
        used += (size_t)snprintf(text + used, law_record_bytes - used, "%s%s=%s", separator,
                                 parameter, value);
    }
    if (used >= law_record_bytes)
        return kith_fail(KITH_UNSUPPORTED,
                         "the law has %zu characters, and a run's file has room for %d; give a "
                         "shorter formula",
                         used, law_record_bytes - 1);
    return KITH_OK;
}

kith_status law_of_record(const char *text, kith_law **law)
{
    char copy[law_record_bytes];
    kith_law_parameter parameters[law_constant_count];
    int64_t count = 0;
    *law = NULL;
    if (strcmp(text, gravity) == 0)
        return KITH_OK;
    snprintf(copy, sizeof copy, "%s", text);
    char *at = strstr(copy, separator);
    while (at && count < law_constant_count) {
        *at = '\0';
        at += strlen(separator);
        char *equals = strchr(at, '=');
        if (!equals)
            return kith_fail(KITH_BAD_FORMAT, "its law is '%.200s', which no run of kith wrote",
                             text);
        *equals = '\0';
        parameters[count++] = (kith_law_parameter){at, strtod(equals + 1, NULL)};
        at = strstr(equals + 1, separator);
    }
    return kith_law_parse(copy, count, parameters, law);
}
