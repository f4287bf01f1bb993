/* What kith collisions counts, and how it prints it. */

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "collisions.h"
#include "json.h"
#include "streams.h"

/* Of one conformation. */
struct counts {
    int64_t collisions, contacts;
    kith_collisions_summary summary; /* for --json */
    kith_collisions_groups *groups;  /* NULL unless pairs are listed */
    kith_collisions_method method;
    double seconds; /* of the count that is requested alone */
};

static kith_status count_asked(const struct collisions_options *collisions, kith_context *context,
                               const kith_collisions_options *chosen, kith_array beads,
                               struct counts *counts)
{
    return collisions->contacts
               ? kith_contacts_count(context, beads, collisions->sequence, &counts->contacts)
               : kith_collisions_count(context, chosen, beads, &counts->collisions);
}

/* What --json prints besides. */
static kith_status count_rest(const struct collisions_options *collisions, kith_context *context,
                              const kith_collisions_options *chosen, kith_array beads,
                              struct counts *counts)
{
    const kith_status status = kith_collisions_summarize(context, beads, &counts->summary);
    if (status == KITH_OK && collisions->contacts)
        return kith_collisions_count(context, chosen, beads, &counts->collisions);
    counts->contacts = counts->summary.contacts;
    return status;
}

static kith_status count(const struct collisions_options *collisions, kith_context *context,
                         kith_array beads, struct counts *counts)
{
    const kith_collisions_options chosen = {collisions->method};
    kith_status status = kith_collisions_choose(context, &chosen, beads, &counts->method);
    const double start = cli_clock();
    if (status == KITH_OK)
        status = count_asked(collisions, context, &chosen, beads, counts);
    counts->seconds = cli_clock() - start;
    if (status == KITH_OK && collisions->common.json)
        status = count_rest(collisions, context, &chosen, beads, counts);
    if (status == KITH_OK && collisions->list)
        status = kith_collisions_group(context, beads, &counts->groups);
    return status;
}

static kith_status write_pairs(const char *path, const int64_t *pairs, int64_t count)
{
    kith_table_column columns[2];
    for (int64_t c = 0; c < 2; c++) {
        columns[c] = (kith_table_column){c ? "j" : "i",
                                         kith_array_vector((void *)(pairs + c), KITH_I64, count)};
        columns[c].values.strides[0] = 2;
    }
    return kith_table_write(path, cli_output_format(path, NULL), 2, columns);
}

static int write_list(const char *command, const struct collisions_options *collisions,
                      const struct counts *counts)
{
    const int64_t count = counts->groups->collisions;
    char what[64];
    snprintf(what, sizeof what, "a list of %lld pairs", (long long)count);
    int64_t *pairs = cli_allocate(command, what, count, 2 * (int64_t)sizeof *pairs);
    if (!pairs)
        return exit_failed;
    const bool done = kith_collisions_pairs(counts->groups, pairs) == KITH_OK &&
                      write_pairs(cli_output_path(collisions->list), pairs, count) == KITH_OK;
    free(pairs);
    return done ? exit_ok : cli_fail(command);
}

static int print_json(const char *command, const kith_context *context, const struct counts *counts)
{
    int64_t methods = 0;
    cJSON *object = cJSON_CreateObject();
    json_add_count(object, "beads", counts->summary.beads);
    json_add_count(object, "collisions", counts->collisions);
    json_add_count(object, "sites", counts->summary.sites);
    json_add_count(object, "max_at_site", counts->summary.max_at_site);
    json_add_count(object, "contacts", counts->contacts);
    cJSON_AddStringToObject(object, "method",
                            kith_collisions_method_list(&methods)[counts->method].name);
    json_add_real(object, "seconds", counts->seconds);
    cJSON_AddStringToObject(object, "device", cli_device_name(kith_context_device(context)));
    return json_print(command, object);
}

static int tell(const char *command, const struct collisions_options *collisions,
                const kith_context *context, const struct counts *counts)
{
    if (collisions->list && write_list(command, collisions, counts) != exit_ok)
        return exit_failed;
    if (collisions->common.json)
        return print_json(command, context, counts);
    if (!cli_is_stdout(collisions->list))
        printf("%" PRId64 "\n", collisions->contacts ? counts->contacts : counts->collisions);
    return exit_ok;
}

int collisions_of_one(const char *command, const struct collisions_options *collisions,
                      kith_context *context, kith_array beads)
{
    struct counts counts = {0};
    const int code = count(collisions, context, beads, &counts) == KITH_OK
                         ? tell(command, collisions, context, &counts)
                         : cli_fail(command);
    kith_collisions_groups_free(counts.groups);
    return code;
}

static void add_list(cJSON *object, const char *key, const int64_t *values, int64_t count)
{
    cJSON *list = cJSON_AddArrayToObject(object, key);
    for (int64_t k = 0; k < count; k++) {
        char text[32];
        snprintf(text, sizeof text, "%" PRId64, values[k]);
        cJSON_AddItemToArray(list, cJSON_CreateRaw(text));
    }
}

static int print_batch(const char *command, const struct collisions_options *collisions,
                       const kith_context *context, kith_array beads, const int64_t *counts,
                       const int64_t *contacts, double seconds)
{
    const int64_t all = beads.shape[0];
    if (!collisions->common.json) {
        for (int64_t b = 0; b < all; b++)
            printf("%" PRId64 "\n", collisions->contacts ? contacts[b] : counts[b]);
        return exit_ok;
    }
    cJSON *object = cJSON_CreateObject();
    json_add_count(object, "conformations", all);
    json_add_count(object, "beads", beads.shape[1]);
    add_list(object, "collisions", counts, all);
    cJSON_AddNullToObject(object, "sites");
    cJSON_AddNullToObject(object, "max_at_site");
    add_list(object, "contacts", contacts, all);
    cJSON_AddStringToObject(object, "method", "linear");
    json_add_real(object, "seconds", seconds);
    cJSON_AddStringToObject(object, "device", cli_device_name(kith_context_device(context)));
    return json_print(command, object);
}

int collisions_of_batch(const char *command, const struct collisions_options *collisions,
                        kith_context *context, kith_array beads)
{
    const int64_t all = beads.shape[0];
    int64_t *counts = calloc((size_t)all + 1, 2 * sizeof *counts);
    if (!counts)
        return cli_fail_with(command, "no memory for %lld counts", (long long)all);
    int64_t *contacts = counts + all;
    const kith_array found = kith_array_vector(counts, KITH_I64, all);
    const kith_array touching = kith_array_vector(contacts, KITH_I64, all);
    const double start = cli_clock();
    kith_status status =
        kith_collisions_batch(context, beads, kith_array_none(), collisions->sequence, found,
                              collisions->contacts ? touching : kith_array_none());
    const double seconds = cli_clock() - start;
    if (status == KITH_OK && collisions->common.json && !collisions->contacts)
        status = kith_collisions_batch(context, beads, kith_array_none(), NULL, found, touching);
    const int code = status == KITH_OK ? print_batch(command, collisions, context, beads, counts,
                                                     contacts, seconds)
                                       : cli_fail(command);
    free(counts);
    return code;
}
