#include "json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "streams.h"

/* cJSON silently leaves out what it has no memory for. */
static bool is_incomplete;

static void *allocate(size_t bytes)
{
    void *memory = malloc(bytes);
    is_incomplete |= !memory;
    return memory;
}

void json_begin(void)
{
    cJSON_InitHooks(&(cJSON_Hooks){allocate, free});
}

void json_add_real(cJSON *object, const char *key, double value)
{
    if (!isfinite(value)) {
        cJSON_AddNullToObject(object, key);
        return;
    }
    char text[32];
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    cJSON_AddRawToObject(object, key, text);
}

void json_add_count(cJSON *object, const char *key, int64_t value)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    cJSON_AddRawToObject(object, key, text);
}

int json_print(const char *command, cJSON *object)
{
    char *text = cJSON_Print(object);
    cJSON_Delete(object);
    if (!text || is_incomplete) {
        free(text);
        return cli_fail_with(command, "no memory for the JSON output");
    }
    const bool written = printf("%s\n", text) >= 0 && fflush(stdout) == 0;
    free(text);
    return written ? exit_ok : cli_fail_stdout(command);
}
