/* Units and G of bodies: what they may be, and how text files hold them. */

#include "io/units.h"

#include <math.h>
#include <string.h>

#include "core/numbers.h"
#include "io/key_values.h"

enum { name_count = 3 };

static const char g_key[] = "gravitational_constant", names_key[] = "units";

static const char *name_of(const kith_units *units, int k)
{
    return k == 0 ? units->length : k == 1 ? units->time : units->mass;
}

static bool has_names(const kith_units *units)
{
    return units->length[0] || units->time[0] || units->mass[0];
}

static bool has_constant(const kith_units *units)
{
    return units->gravitational_constant != 0 && units->gravitational_constant != 1;
}

bool units_are_known(const kith_units *units)
{
    return has_constant(units) || has_names(units);
}

static bool is_name(const char *text)
{
    const size_t length = strnlen(text, KITH_NAME_BYTES);
    for (size_t k = 0; k < length; k++)
        if ((unsigned char)text[k] < ' ' || strchr(",\"\\\x7f", text[k]))
            return false;
    return length < KITH_NAME_BYTES;
}

kith_status units_check(const kith_units *units)
{
    static const char *const quantities[name_count] = {"length", "time", "mass"};
    if (!isfinite(units->gravitational_constant))
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "the bodies' gravitational constant is %g; give a finite number",
                         units->gravitational_constant);
    for (int k = 0; k < name_count; k++)
        if (!is_name(name_of(units, k)))
            return kith_fail(
                KITH_INVALID_ARGUMENT,
                "the name of the bodies' unit of %s is not a valid name; give at most %d bytes "
                "without commas, quotes, backslashes and control characters",
                quantities[k], KITH_NAME_BYTES - 1);
    return KITH_OK;
}

void units_set_name(kith_name name, const char *text)
{
    memset(name, 0, KITH_NAME_BYTES);
    if (is_name(text))
        memcpy(name, text, strlen(text) + 1);
}

void units_write(FILE *stream, const kith_units *units)
{
    char number[real_bytes];
    if (has_constant(units)) {
        format_real(units->gravitational_constant, number);
        fprintf(stream, "%s=%s%s", g_key, number, has_names(units) ? " " : "");
    }
    if (has_names(units))
        fprintf(stream, "%s=\"%s,%s,%s\"", names_key, units->length, units->time, units->mass);
}

static void take_names(char *value, kith_units *units)
{
    const char *names[name_count];
    for (int k = 0; k < name_count; k++)
        if (!(names[k] = strsep(&value, ",")))
            return;
    if (value)
        return;
    units_set_name(units->length, names[0]);
    units_set_name(units->time, names[1]);
    units_set_name(units->mass, names[2]);
}

kith_status units_take(const char *key, char *value, kith_units *units)
{
    if (strcmp(key, names_key) == 0)
        take_names(value, units);
    if (strcmp(key, g_key) != 0)
        return KITH_OK;
    if (parse_real(value, &units->gravitational_constant) && units->gravitational_constant != 0)
        return KITH_OK;
    return kith_fail(KITH_BAD_FORMAT, "%s is '%.40s'; give a finite number other than 0", g_key,
                     value);
}

static kith_status take_pair(void *units, const char *key, char *value)
{
    return units_take(key, value, units);
}

kith_status units_take_comment(char *comment, kith_units *units)
{
    comment += strspn(comment, " \t");
    const size_t length = strcspn(comment, "=");
    const bool names_ours =
        (length == strlen(g_key) && memcmp(comment, g_key, length) == 0) ||
        (length == strlen(names_key) && memcmp(comment, names_key, length) == 0);
    return names_ours && comment[length] ? key_values_each(comment, take_pair, units) : KITH_OK;
}
