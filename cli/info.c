/* kith info: print the features of this build and this machine. */

#include "cli.h"
#include "device_choice.h"

#include <stdio.h>
#include <string.h>

#include "job.h"
#include "json.h"

struct info_options {
    bool json;
};

static const struct option_row option_rows[] = {
    {"json", NULL, "print one JSON object on standard output", OPTION_AT(struct info_options, json),
     .letter = 'j'},
    {0}};

static const char documentation[] =
    "Print the version, instruction sets, threads, devices and file formats.\v"
    "The environment variable KITH_ISA (v4, v3, v2, neon) forces an instruction set.\n\n"
    "Examples:\n"
    "  kith info\n"
    "  kith info --json";

/* Of every device of this machine. */
static void for_each_device(cJSON *object, void (*tell)(cJSON *object, kith_device device))
{
    kith_backend_info info;
    for (int32_t k = 0; kith_backend_describe(k, &info); k++)
        for (int32_t i = 0; i < info.device_count; i++)
            tell(object, (kith_device){strcmp(info.name, "cpu") == 0 ? KITH_CPU : KITH_CUDA, i});
}

/* What kith tune has found, or why that cannot be used. */
static void add_tuning(cJSON *object, kith_device device)
{
    kith_tuning tuning;
    const bool fine = kith_tuning_read(device, &tuning) == KITH_OK;
    cJSON *found = json_of_tuning(&tuning);
    if (!fine)
        cJSON_AddStringToObject(found, "warning", kith_error_message());
    cJSON_AddItemToObject(object, cli_device_name(device), found);
}

static void print_tuning(cJSON *object, kith_device device)
{
    (void)object;
    static const kith_tuning nothing;
    kith_tuning tuning;
    if (kith_tuning_read(device, &tuning) != KITH_OK) {
        printf("\nWarning: %s\n", kith_error_message());
    } else if (memcmp(&tuning, &nothing, sizeof tuning) != 0) {
        printf("\n");
        cli_print_tuning(device, &tuning);
    }
}

static void add_description(cJSON *list, kith_device device)
{
    kith_device_info info;
    if (!kith_device_describe(device, &info))
        return;
    cJSON *object = cJSON_CreateObject();
    cJSON_AddItemToArray(list, object);
    cJSON_AddStringToObject(object, "device", cli_device_name(device));
    cJSON_AddStringToObject(object, "name", info.name);
    cJSON_AddStringToObject(object, "architecture", info.architecture);
    json_add_count(object, "multiprocessors", info.multiprocessors);
    json_add_count(object, "memory_bytes", info.memory_bytes);
}

static void add_devices(cJSON *object)
{
    cJSON *devices = cJSON_AddArrayToObject(object, "devices");
    cJSON *gpus = cJSON_AddArrayToObject(object, "gpus");
    cJSON *backends = cJSON_AddObjectToObject(object, "backends");
    cJSON_AddStringToObject(object, "device_auto", cli_device_name(cli_first_device()));
    kith_backend_info info;
    for (int32_t k = 0; kith_backend_describe(k, &info); k++) {
        cJSON *backend = cJSON_AddObjectToObject(backends, info.name);
        cJSON_AddBoolToObject(backend, "built", info.built);
        json_add_count(backend, "devices", info.device_count);
        if (info.note)
            cJSON_AddStringToObject(backend, "note", info.note);
        for (int32_t i = 0; i < info.device_count; i++) {
            const kith_device device = {strcmp(info.name, "cpu") == 0 ? KITH_CPU : KITH_CUDA, i};
            cJSON_AddItemToArray(devices, cJSON_CreateString(cli_device_name(device)));
            add_description(gpus, device);
        }
    }
}

static void add_formats(cJSON *object)
{
    int64_t count = 0;
    const kith_format *formats = kith_format_list(&count);
    cJSON *list = cJSON_AddObjectToObject(object, "formats");
    for (int64_t k = 0; k < count; k++) {
        cJSON *format = cJSON_AddObjectToObject(list, formats[k].name);
        cJSON_AddBoolToObject(format, "reads", formats[k].reads);
        cJSON_AddBoolToObject(format, "writes", formats[k].writes);
        cJSON_AddStringToObject(format, "extensions", formats[k].extensions);
    }
}

static int print_json(const char *command, const kith_context *context)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "version", kith_version());
    cJSON_AddStringToObject(object, "instruction_set", kith_context_isa(context));
    cJSON *sets = cJSON_AddArrayToObject(object, "instruction_sets");
    int64_t count = 0;
    const kith_isa *list = kith_isa_list(&count);
    for (int64_t k = 0; k < count; k++)
        if (list[k].supported)
            cJSON_AddItemToArray(sets, cJSON_CreateString(list[k].name));
    json_add_count(object, "threads", kith_context_threads(context));
    add_devices(object);
    for_each_device(cJSON_AddObjectToObject(object, "tuning"), add_tuning);
    cJSON *solvers = cJSON_AddObjectToObject(object, "solvers");
    for (int64_t k = 0; kith_solver_at(k); k++) {
        const kith_solver_info info = kith_solver_describe(kith_solver_at(k));
        cJSON_AddStringToObject(solvers, info.name, info.summary);
    }
    add_formats(object);
    cJSON_AddBoolToObject(object, "hdf5", kith_build_has_hdf5());
    cJSON_AddItemToObject(object, "mpi",
                          job_mpi_version() ? cJSON_CreateString(job_mpi_version())
                                            : cJSON_CreateFalse());
    return json_print(command, object);
}

static void print_gpu(int32_t k)
{
    const kith_device device = {KITH_CUDA, k};
    kith_device_info info;
    if (kith_device_describe(device, &info))
        printf("  %-8s %s, %s, %d multiprocessors, %.1f GiB\n", cli_device_name(device), info.name,
               info.architecture, (int)info.multiprocessors, (double)info.memory_bytes / (1 << 30));
    else
        printf("  %-8s cannot be asked what it is\n", cli_device_name(device));
}

static void print_devices(const kith_context *context)
{
    printf("\nDevices\n");
    kith_backend_info info;
    for (int32_t k = 0; kith_backend_describe(k, &info); k++) {
        if (info.device_count == 0)
            printf("  %-8s none: %s\n", info.name, info.note ? info.note : "not found");
        else if (strcmp(info.name, "cpu") == 0)
            printf("  %-8s %d threads\n", info.name, (int)kith_context_threads(context));
        else
            for (int32_t i = 0; i < info.device_count; i++)
                print_gpu(i);
    }
    if (cli_first_device().kind == KITH_CPU)
        printf("  %-8s is cpu\n", "auto");
    else
        printf("  %-8s is cpu or %s, by the size of the problem\n", "auto",
               cli_device_name(cli_first_device()));
}

static int print_text(const kith_context *context)
{
    printf("kith %s\n\nInstruction sets\n", kith_version());
    int64_t count = 0;
    const kith_isa *list = kith_isa_list(&count);
    for (int64_t k = 0; k < count; k++)
        printf("  %-8s %-24s %s\n", list[k].name, list[k].description,
               !list[k].supported                                     ? "not on this processor"
               : strcmp(list[k].name, kith_context_isa(context)) == 0 ? "in use"
                                                                      : "supported");
    print_devices(context);
    for_each_device(NULL, print_tuning);
    printf("\nForce solvers\n");
    for (int64_t k = 0; kith_solver_at(k); k++) {
        const kith_solver_info info = kith_solver_describe(kith_solver_at(k));
        printf("  %-12s %s\n", info.name, info.summary);
    }
    printf("\nFile formats\n");
    const kith_format *formats = kith_format_list(&count);
    for (int64_t k = 0; k < count; k++)
        printf("  %-8s %-12s %s%s%s\n", formats[k].name, formats[k].extensions,
               formats[k].description, formats[k].lacks ? "; " : "",
               formats[k].lacks ? formats[k].lacks : "");
    printf("\nMPI\n  %s\n", job_mpi_version() ? job_mpi_version() : "not in this build");
    return exit_ok;
}

int command_info(int argc, char **argv)
{
    static const struct parser parser = {.rows = option_rows, .documentation = documentation};
    struct info_options info = {0};
    cli_parse(&parser, argc, argv, &info);

    /* One on the CPU: a GPU that does not work must not keep this from telling of it. */
    const kith_context_options cpu = {.device = {KITH_CPU, 0}};
    kith_context *context = NULL;
    if (kith_context_create(&cpu, &context) != KITH_OK)
        return cli_fail(argv[0]);
    const int code = info.json ? print_json(argv[0], context) : print_text(context);
    kith_context_free(context);
    return code;
}
