#include "run/law_record.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/numbers.h"
#include "forces/law_choice.h"
#include "kith/law_sum.h"
#include "law/formula.h"
#include "law/law.h"

static const char gravity[] = "gravity", separator[] = "; ", plus[] = "; plus ";

/* The law's text, of a law of the table its name alone: the arguments after the colon are
 * among the parameters. */
static const char *name_of(const kith_law *law)
{
    return law->info ? law->info->name : law->text;
}

/* Appends to what is in the text; returns how long it then is, or would be. */
static size_t append(const kith_law *law, char text[law_record_bytes], size_t used)
{
    if (used < law_record_bytes)
        used += (size_t)snprintf(text + used, law_record_bytes - used, "%s", name_of(law));
    for (int32_t k = 0; k < law->value->parameters && used < law_record_bytes; k++) {
        char value[real_bytes];
        format_real(law->parameter[k], value);
        used += (size_t)snprintf(text + used, law_record_bytes - used, "%s%s=%s", separator,
                                 law->value->names[k], value);
    }
    return used;
}

kith_status law_record(const kith_law *law, char text[law_record_bytes])
{
    struct law_choice choice;
    KITH_TRY(forces_choose_law(law, 0, 0, &choice));
    if (!choice.law) {
        memcpy(text, gravity, sizeof gravity);
        return KITH_OK;
    }
    size_t used = append(law, text, 0);
    if (law->near && used < law_record_bytes)
        used = append(law->near, text,
                      used + (size_t)snprintf(text + used, law_record_bytes - used, "%s", plus));
    if (used >= law_record_bytes)
        return kith_fail(KITH_UNSUPPORTED,
                         "the law has %zu characters, and a run's file has room for %d; give a "
                         "shorter formula",
                         used, law_record_bytes - 1);
    return KITH_OK;
}

/* One law, of a record that is cut up. */
static kith_status read_one(char *copy, const char *text, kith_law **law)
{
    kith_law_parameter parameters[formula_most_parameters];
    int64_t count = 0;
    char *at = strstr(copy, separator);
    while (at && count < formula_most_parameters) {
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

kith_status law_of_record(const char *text, kith_law **law)
{
    char copy[law_record_bytes];
    kith_law *near = NULL;
    *law = NULL;
    if (strcmp(text, gravity) == 0)
        return KITH_OK;
    snprintf(copy, sizeof copy, "%s", text);
    char *second = strstr(copy, plus);
    if (second)
        *second = '\0';
    KITH_TRY(read_one(copy, text, law));
    if (!second)
        return KITH_OK;
    kith_status status = read_one(second + strlen(plus), text, &near);
    if (status == KITH_OK)
        status = kith_law_add(*law, near);
    if (status != KITH_OK) {
        kith_law_free(near);
        kith_law_free(*law);
        *law = NULL;
    }
    return status;
}
