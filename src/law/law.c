/* Laws from texts, and their parameters. */

#include "law/law.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"

/* A name at most so long is quoted in a message; a text may be megabytes of anything. */
enum { quoted_bytes = 60 };

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

static kith_status check_value(const kith_law *law, const struct law_parameter *parameter,
                               double value)
{
    if (!isfinite(value))
        return kith_fail(KITH_INVALID_ARGUMENT, "parameter %s of '%s' is %g; give a finite number",
                         parameter->name, law->text, value);
    if (parameter->range == law_positive && value <= 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "parameter %s of '%s' is %g; give a number greater than 0",
                         parameter->name, law->text, value);
    return KITH_OK;
}

static kith_status find_parameter(const kith_law *law, const char *name, int32_t *index)
{
    const struct law_parameter *list = law_recipes[law->row].parameters;
    char known[128] = "no parameters";
    size_t used = 0;
    for (int32_t k = 0; k < law_most_parameters && list[k].name; k++) {
        if (name && strcmp(list[k].name, name) == 0) {
            *index = k;
            return KITH_OK;
        }
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", k ? ", " : "",
                                 list[k].name);
    }
    return kith_fail(KITH_INVALID_ARGUMENT, "parameter is '%.60s'; '%s' has %s", name ? name : "",
                     law->text, known);
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
        KITH_TRY(check_value(law, &recipe->parameters[count], value));
        law->parameter[count] = value;
        at = *end ? end + 1 : end;
    }
    if (*at || count == 0 || count < recipe->arguments)
        return kith_fail(KITH_INVALID_ARGUMENT, "law is '%.*s'; write %s%s%s", quoted_bytes,
                         law->text, info->name, recipe->arguments ? ":" : "",
                         recipe->arguments ? info->arguments : ", without a colon");
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
                             "parameter %s is given twice: it stands in '%s' already",
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
            return kith_fail(KITH_INVALID_ARGUMENT, "law is '%s', which lacks %s; write %s:%s",
                             law->text, list[k].name, info->name, info->arguments);
    return KITH_OK;
}

static kith_status fill(kith_law *law, const char *text, int64_t count,
                        const kith_law_parameter *parameters)
{
    KITH_TRY(kith_allocate((int64_t)strlen(text) + 1, 1, "text of the law", &law->text));
    strcpy(law->text, text);
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

kith_status kith_law_parse(const char *text, int64_t count, const kith_law_parameter *parameters,
                           kith_law **law)
{
    *law = NULL;
    if (!text)
        return kith_fail(KITH_INVALID_ARGUMENT, "law is NULL; give a text");
    if (count < 0 || (count > 0 && !parameters))
        return kith_fail(KITH_INVALID_ARGUMENT, "%lld parameters at NULL; give their addresses",
                         (long long)count);
    if (strncmp(text, "expr:", 5) == 0)
        return kith_fail(KITH_UNSUPPORTED, "law is a formula; this version has laws by name only");
    kith_law *made = NULL;
    KITH_TRY(kith_allocate(1, sizeof *made, "law", &made));
    const kith_status status = fill(made, text, count, parameters);
    if (status == KITH_OK)
        *law = made;
    else
        kith_law_free(made);
    return status;
}

void kith_law_free(kith_law *law)
{
    if (!law)
        return;
    free(law->text);
    free(law);
}

const char *kith_law_text(const kith_law *law)
{
    return law->text;
}

kith_status kith_law_set(kith_law *law, const char *name, double value)
{
    int32_t index = 0;
    KITH_TRY(find_parameter(law, name, &index));
    KITH_TRY(check_value(law, &law_recipes[law->row].parameters[index], value));
    law->parameter[index] = value;
    return KITH_OK;
}

kith_status kith_law_get(const kith_law *law, const char *name, double *value)
{
    int32_t index = 0;
    KITH_TRY(find_parameter(law, name, &index));
    *value = law->parameter[index];
    return KITH_OK;
}

kith_status kith_law_compile(kith_context *context, const char *expression, int64_t count,
                             const kith_law_parameter *parameters, kith_law **law)
{
    (void)context, (void)expression, (void)count, (void)parameters;
    *law = NULL;
    return kith_fail(KITH_UNSUPPORTED, "law is a formula; this version has laws by name only");
}
