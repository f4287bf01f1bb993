/* Laws from texts, and their parameters. */

#include "law/law.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/arguments.h"
#include "core/memory.h"
#include "core/numbers.h"
#include "law/compiled.h"
#include "law/formula.h"
#include "law/law_rows.h"

/* A name at most this long is quoted in a message; a text may be megabytes of anything. */
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

static kith_status find_info(const char *text, size_t length, const kith_law_info **info)
{
    int64_t count = 0;
    const kith_law_info *list = kith_law_list(&count);
    for (int64_t k = 0; k < count; k++)
        if (strlen(list[k].name) == length && memcmp(list[k].name, text, length) == 0) {
            *info = &list[k];
            return KITH_OK;
        }
    return fail_unknown(text, length);
}

static kith_status find_parameter(const kith_law *law, const char *name, int32_t *index)
{
    char known[256] = "no parameters";
    size_t used = 0;
    for (int32_t k = 0; k < law->value->parameters; k++) {
        const char *each = law->value->names[k];
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

/* row: of a law of the table, else NULL. */
static kith_status check_value(const kith_law *law, const struct law_row *row, int32_t index,
                               double value)
{
    const char *name = law->value->names[index];
    if (!isfinite(value))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "parameter %s of '%.60s' is %g; give a finite number", name, law->text,
                         value);
    if (row && row->parameters[index].is_positive && value <= 0)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "parameter %s of '%.60s' is %g; give a number greater than 0", name,
                         law->text, value);
    return KITH_OK;
}

/* The numbers after the colon, all of them or, where they have defaults, none. */
static kith_status parse_arguments(kith_law *law, const struct law_row *row, const char *text)
{
    const kith_law_info *info = law->info;
    const char *at = text;
    int32_t count = 0;
    for (; count < row->arguments && *at; count++) {
        char *end = NULL;
        const double value = strtod(at, &end);
        if (end == at || (*end && *end != ',') || (*end == ',' && !end[1]))
            break;
        KITH_TRY(check_value(law, row, count, value));
        law->parameter[count] = value;
        at = *end ? end + 1 : end;
    }
    const bool may_lack = info->arguments[0] == '[';
    if (*at || count == 0 || count < row->arguments)
        return kith_fail(KITH_INVALID_ARGUMENT, "law is '%.*s'; write %s%s%s%s", quoted_bytes,
                         law->text, info->name,
                         !row->arguments ? ", without a colon"
                         : may_lack      ? "[:"
                                         : ":",
                         may_lack ? info->arguments + 1 : info->arguments,
                         row->arguments > 1    ? ", with numbers"
                         : row->arguments == 1 ? ", with a number"
                                               : "");
    return KITH_OK;
}

/* Without the law's view. */
static kith_status set_parameter(kith_law *law, const struct law_row *row, int32_t index,
                                 double value)
{
    KITH_TRY(check_value(law, row, index, value));
    law->parameter[index] = value;
    law->is_given[index] = true;
    return KITH_OK;
}

static kith_status set_given(kith_law *law, const struct law_row *row, int64_t count,
                             const kith_law_parameter *parameters)
{
    for (int64_t k = 0; k < count; k++) {
        int32_t index = 0;
        KITH_TRY(find_parameter(law, parameters[k].name, &index));
        for (int64_t earlier = 0; earlier < k; earlier++)
            if (strcmp(parameters[earlier].name, parameters[k].name) == 0)
                return kith_fail(KITH_INVALID_ARGUMENT, "parameter %s is given twice; give it once",
                                 parameters[k].name);
        if (index < row->arguments && strchr(law->text, ':'))
            return kith_fail(KITH_INVALID_ARGUMENT,
                             "parameter %s is given twice: '%.60s' already has it",
                             parameters[k].name, law->text);
        KITH_TRY(set_parameter(law, row, index, parameters[k].value));
    }
    return KITH_OK;
}

static kith_status check_complete(const kith_law *law, const struct law_row *row)
{
    for (int32_t k = 0; k < row->parameter_count; k++)
        if (isnan(law->parameter[k]))
            return kith_fail(KITH_INVALID_ARGUMENT, "law is '%.60s', which needs %s; write %s:%s",
                             law->text, row->parameters[k].name, law->info->name,
                             law->info->arguments);
    return KITH_OK;
}

static kith_status fill_of_table(kith_law *law, int64_t count, const kith_law_parameter *parameters)
{
    const size_t name = strcspn(law->text, ":");
    struct law_row row;
    KITH_TRY(find_info(law->text, name, &law->info));
    KITH_TRY(law_row_read(law->info, &row));
    KITH_TRY(law_row_parse(&row, &law->value));
    for (int32_t k = 0; k < row.parameter_count; k++)
        law->parameter[k] = row.parameters[k].otherwise;
    if (law->text[name] == ':')
        KITH_TRY(parse_arguments(law, &row, law->text + name + 1));
    KITH_TRY(set_given(law, &row, count, parameters));
    KITH_TRY(check_complete(law, &row));
    return law_update(law);
}

static const char formula_prefix[] = "expr:";
enum { prefix_length = sizeof formula_prefix - 1 };

static kith_status fill_of_formula(kith_law *law, int64_t count,
                                   const kith_law_parameter *parameters)
{
    KITH_TRY(law_code_create(&law->code));
    KITH_TRY(formula_parse(law->text + prefix_length, count, parameters, &law->value));
    for (int64_t k = 0; k < count; k++)
        KITH_TRY(set_parameter(law, NULL, (int32_t)k, parameters[k].value));
    return law_update(law);
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

kith_status law_check_dimensions(const kith_law *law, int64_t dimensions)
{
    if (law && law->view.form.kind == law_log2d && dimensions != 2)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "law is log2d, which is two-dimensional, but positions have %lld "
                         "coordinates; give 2, or use another law",
                         (long long)dimensions);
    return KITH_OK;
}

void kith_law_free(kith_law *law)
{
    if (!law)
        return;
    kith_law_free(law->near);
    law_code_free(law->code);
    formula_free(law->value);
    formula_free(law->body);
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
    struct law_row row;
    if (law->info)
        KITH_TRY(law_row_read(law->info, &row));
    KITH_TRY(set_parameter(law, law->info ? &row : NULL, index, value));
    return law_update(law);
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
