/* Thermostats as text. */

#include <stdio.h>
#include <string.h>

#include "core/arguments.h"
#include "core/numbers.h"
#include "simulation/thermostat.h"

static const char form[] = "give langevin:T,TAU[,SEED] or bussi:T,TAU[,SEED]";

static const char *const names[] = {
    [KITH_THERMOSTAT_LANGEVIN] = "langevin", [KITH_THERMOSTAT_BUSSI] = "bussi"};

/* The numbers after the colon, T, TAU and SEED; false if they are not numbers in range. */
static bool read_numbers(char *text, kith_thermostat *thermostat)
{
    char *rest = text;
    const char *temperature = strsep(&rest, ","), *time = strsep(&rest, ",");
    const char *seed = strsep(&rest, ",");
    int64_t number = 0;
    if (!time || rest || !parse_real(temperature, &thermostat->temperature) ||
        !parse_real(time, &thermostat->time) || (seed && !parse_integer(seed, &number)))
        return false;
    thermostat->seed = (uint64_t)number;
    return thermostat->temperature >= 0 && thermostat->time > 0 && number >= 0;
}

kith_status kith_thermostat_parse(const char *text, kith_thermostat *thermostat)
{
    char copy[thermostat_text_bytes] = "";
    struct c_locale locale;
    KITH_TRY(kith_check_pointer(text, "text"));
    KITH_TRY(kith_check_pointer(thermostat, "thermostat"));
    *thermostat = (kith_thermostat){0};
    const size_t length = strcspn(text, ":");
    for (int k = KITH_THERMOSTAT_LANGEVIN; k <= KITH_THERMOSTAT_BUSSI; k++)
        if (strlen(names[k]) == length && strncmp(text, names[k], length) == 0)
            thermostat->kind = (kith_thermostat_kind)k;
    if (thermostat->kind == KITH_THERMOSTAT_NONE || !text[length])
        return kith_fail(KITH_INVALID_ARGUMENT, "thermostat is '%.60s'; %s", text, form);
    snprintf(copy, sizeof copy, "%s", text + length + 1);
    KITH_TRY(c_locale_enter(&locale));
    const bool read = strlen(text + length + 1) < sizeof copy && read_numbers(copy, thermostat);
    c_locale_leave(&locale);
    if (!read)
        return kith_fail(KITH_INVALID_ARGUMENT,
                         "thermostat is '%.60s'; %s with T ≥ 0, TAU > 0 and a whole SEED ≥ 0", text,
                         form);
    return KITH_OK;
}

kith_status thermostat_write(const kith_thermostat *thermostat, char text[thermostat_text_bytes])
{
    char number[2][real_bytes];
    struct c_locale locale;
    text[0] = '\0';
    if (thermostat->kind == KITH_THERMOSTAT_NONE)
        return KITH_OK;
    KITH_TRY(thermostat_check_numbers(thermostat));
    KITH_TRY(c_locale_enter(&locale));
    format_real(thermostat->temperature, number[0]);
    format_real(thermostat->time, number[1]);
    snprintf(text, thermostat_text_bytes, "%s:%s,%s,%llu", names[thermostat->kind], number[0],
             number[1], (unsigned long long)thermostat->seed);
    c_locale_leave(&locale);
    return KITH_OK;
}
