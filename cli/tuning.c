/* How kith tune and kith info print a tuning. */

#include <stdio.h>

#include "cli.h"
#include "json.h"

cJSON *json_of_tuning(const kith_tuning *tuning)
{
    cJSON *object = cJSON_CreateObject();
    json_add_count(object, "forces_least_symmetric_single", tuning->forces_least_symmetric_single);
    json_add_count(object, "forces_least_symmetric_double", tuning->forces_least_symmetric_double);
    json_add_count(object, "threads", tuning->threads);
    json_add_count(object, "matrix_block", tuning->matrix_block);
    return object;
}

static void print_number(const char *what, int64_t number)
{
    if (number == INT64_MAX)
        printf("  %-48s never\n", what);
    else if (number > 0)
        printf("  %-48s %lld\n", what, (long long)number);
    else
        printf("  %-48s kith's own choice\n", what);
}

void cli_print_tuning(kith_device device, const kith_tuning *tuning)
{
    printf("Tuning of %s\n", cli_device_name(device));
    print_number("bodies whose pairs are met once, single, from",
                 tuning->forces_least_symmetric_single);
    print_number("bodies whose pairs are met once, double, from",
                 tuning->forces_least_symmetric_double);
    if (device.kind == KITH_CPU)
        print_number("threads", tuning->threads);
    else
        print_number("threads of a tile of the matrix (tile-p)", tuning->matrix_block);
}
