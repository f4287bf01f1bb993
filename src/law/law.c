/* Laws from texts, and their parameters. */

#include "law/law.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arguments.h"
#include "core/memory.h"
#include "io/numbers.h"
#include "law/compiled.h"
#include "law/formula.h"

/* A name at most so long is quoted in a message; a text may be megabytes of anything. */
enum { quoted_bytes = 60, most_text_bytes = formula_most_bytes + 5 };

static kith_status fail_unknown(const char *text, size_t length)
{
    char known[512] = "";
    size_t used = 0;
    int64_t count = 0;
    const kith_law_info *list = kith_law_list(&count);
    for (int64_t k = 0; k < count && used < sizeof known; k++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s%s%s", k ? ", " : "",
                                 list[k].name,
                                 list[k].arguments[0] == '[' || !list[k].arguments[0] ? "" : ":",
                                 list[k].arguments[0] == '[' ? "" : list[k].arguments);
    return kith_fail(KITH_INVALID_ARGUMENT,
                     "law is '%.*s'%s; give one of %s, or expr: and a formula",
                     (int)(length < quoted_bytes ? length : quoted_bytes), text,
                     length > quoted_bytes ? " …" : "", known);
}

static kith_status find_row(const char *text, size_t length, int64_t *row)
{
    int64_t count = 0;
    const kith_law_info *list = kith_law_list(&count);
    for (int64_t k = 0; k < count; k++)
        if (strlen(list[k].name) == length && memcmp(list[k].name, text, length) == 0) {
            *row = k;
            return KITH_OK;
        }
    return fail_unknown(text, length);
}

/* The name of parameter k; NULL behind the last. */
static const char *parameter_name(const kith_law *law, int32_t k)
{
    if (law->formula)
        return k < law->formula->parameters ? law->formula->names[k] : NULL;
    return k < law_most_parameters ? law_recipes[law->row].parameters[k].name : NULL;
}

static kith_status find_parameter(const kith_law *law, const char *name, int32_t *index)
{
    char known[256] = "no parameters";
    size_t used = 0;
    const char *each = NULL;
    for (int32_t k = 0; (each = parameter_name(law, k)); k++) {
        if (name && strcmp(each, name) == 0) {
            *index = k;
            return KITH_OK;
        }
        if (used < sizeof known)
            used +=
                (size_t)snprintf(known + used, sizeof known - used, "%s%s", k ? ", " : "", each);
    }
    return kith_fail(KITH_INVALID_ARGUMENT, "parameter is '%.60s'; '%.60s' has %s",
                     name ? name : "", law->text, known);
}

static kith_status check_value(const kith_law *law, int32_t index, double value)
{
    if (!isfinite(value))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "parameter %s of '%.60s' is %g; give a finite number",
                         parameter_name(law, index), law->text, value);
    if (!law->formula && law_recipes[law->row].parameters[index].range == law_positive &&
        value <= 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "parameter %s of '%.60s' is %g; give a number greater than 0",
                         parameter_name(law, index), law->text, value);
    return KITH_OK;
}

/* The numbers behind the colon, all of them or, where they have defaults, none. */
static kith_status parse_arguments(kith_law *law, const char *text)
{
    int64_t rows = 0;
    const kith_law_info *info = &kith_law_list(&rows)[law->row];
    const struct law_recipe *recipe = &law_recipes[law->row];
    const char *at = text;
    int32_t count = 0;
    for (; count < recipe->arguments && *at; count++) {
        char *end = NULL;
        const double value = strtod(at, &end);
        if (end == at || (*end && *end != ',') || (*end == ',' && !end[1]))
            break;
        KITH_TRY(check_value(law, count, value));
        law->parameter[count] = value;
        at = *end ? end + 1 : end;
    }
    const bool may_lack = info->arguments[0] == '[';
    if (*at || count == 0 || count < recipe->arguments)
        return kith_fail(KITH_INVALID_ARGUMENT, "law is '%.*s'; write %s%s%s", quoted_bytes,
                         law->text, info->name,
                         !recipe->arguments ? ", without a colon"
                         : may_lack         ? "[:"
                                            : ":",
                         may_lack ? info->arguments + 1 : info->arguments);
    return KITH_OK;
}

static kith_status set_given(kith_law *law, int64_t count, const kith_law_parameter *parameters)
{
    for (int64_t k = 0; k < count; k++) {
        int32_t index = 0;
        KITH_TRY(find_parameter(law, parameters[k].name, &index));
        for (int64_t earlier = 0; earlier < k; earlier++)
            if (strcmp(parameters[earlier].name, parameters[k].name) == 0)
                return kith_fail(KITH_INVALID_ARGUMENT, "parameter %s is given twice; give it once",
                                 parameters[k].name);
        if (index < law_recipes[law->row].arguments && strchr(law->text, ':'))
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "parameter %s is given twice: it stands in '%.60s' already",
                             parameters[k].name, law->text);
        KITH_TRY(kith_law_set(law, parameters[k].name, parameters[k].value));
    }
    return KITH_OK;
}

static kith_status check_complete(const kith_law *law)
{
    int64_t rows = 0;
    const kith_law_info *info = &kith_law_list(&rows)[law->row];
    const struct law_parameter *list = law_recipes[law->row].parameters;
    for (int32_t k = 0; k < law_most_parameters && list[k].name; k++)
        if (isnan(law->parameter[k]))
            return kith_fail(KITH_INVALID_ARGUMENT, "law is '%.60s', which lacks %s; write %s:%s",
                             law->text, list[k].name, info->name, info->arguments);
    return KITH_OK;
}

static kith_status fill_of_table(kith_law *law, int64_t count, const kith_law_parameter *parameters)
{
    const size_t name = strcspn(law->text, ":");
    KITH_TRY(find_row(law->text, name, &law->row));
    const struct law_parameter *list = law_recipes[law->row].parameters;
    for (int32_t k = 0; k < law_most_parameters && list[k].name; k++)
        law->parameter[k] = list[k].otherwise;
    if (law->text[name] == ':')
        KITH_TRY(parse_arguments(law, law->text + name + 1));
    KITH_TRY(set_given(law, count, parameters));
    return check_complete(law);
}

static const char formula_prefix[] = "expr:";
enum { prefix_length = sizeof formula_prefix - 1 };

static kith_status fill_of_formula(kith_law *law, int64_t count,
                                   const kith_law_parameter *parameters)
{
    KITH_TRY(law_code_create(&law->code));
    KITH_TRY(formula_parse(law->text + prefix_length, count, parameters, &law->formula));
    for (int64_t k = 0; k < count; k++)
        KITH_TRY(kith_law_set(law, parameters[k].name, parameters[k].value));
    return KITH_OK;
}

static kith_status fill(kith_law *law, const char *text, int64_t count,
                        const kith_law_parameter *parameters)
{
    const bool is_formula = strncmp(text, formula_prefix, prefix_length) == 0;
    const size_t length = strnlen(text, most_text_bytes + 1);
    if (length > most_text_bytes && !is_formula)
        return fail_unknown(text, length);
    if (length > most_text_bytes)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the formula has more than %d characters; write it shorter",
                         formula_most_bytes);
    KITH_TRY(kith_allocate((int64_t)length + 1, 1, "text of the law", &law->text));
    memcpy(law->text, text, length);
    return is_formula ? fill_of_formula(law, count, parameters)
                      : fill_of_table(law, count, parameters);
}

static kith_status make(const char *text, int64_t count, const kith_law_parameter *parameters,
                        kith_law **law)
{
    kith_law *made = NULL;
    KITH_TRY(kith_allocate(1, sizeof *made, "law", &made));
    const kith_status status = fill(made, text, count, parameters);
    if (status == KITH_OK)
        *law = made;
    else
        kith_law_free(made);
    return status;
}

kith_status kith_law_parse(const char *text, int64_t count, const kith_law_parameter *parameters,
                           kith_law **law)
{
    KITH_TRY(kith_check_pointer(law, "law"));
    *law = NULL;
    if (!text)
        return kith_fail(KITH_INVALID_ARGUMENT, "law is NULL; give a text");
    if (count < 0 || (count > 0 && !parameters))
        return kith_fail(KITH_INVALID_ARGUMENT, "%lld parameters at NULL; give their addresses",
                         (long long)count);
    struct c_locale locale;
    KITH_TRY(c_locale_enter(&locale));
    const kith_status status = make(text, count, parameters, law);
    c_locale_leave(&locale);
    return status;
}

void kith_law_free(kith_law *law)
{
    if (!law)
        return;
    law_code_free(law->code);
    formula_free(law->formula);
    free(law->text);
    free(law);
}

const char *kith_law_text(const kith_law *law)
{
    return law ? law->text : "";
}

kith_status kith_law_set(kith_law *law, const char *name, double value)
{
    KITH_TRY(kith_check_pointer(law, "law"));
    int32_t index = 0;
    KITH_TRY(find_parameter(law, name, &index));
    KITH_TRY(check_value(law, index, value));
    law->parameter[index] = value;
    return KITH_OK;
}

kith_status kith_law_get(const kith_law *law, const char *name, double *value)
{
    KITH_TRY(kith_check_pointer(value, "value"));
    KITH_TRY(kith_check_pointer(law, "law"));
    int32_t index = 0;
    KITH_TRY(find_parameter(law, name, &index));
    *value = law->parameter[index];
    return KITH_OK;
}
