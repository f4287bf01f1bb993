/* kith bench without a capability: all of them, as a page, as JSON, or two runs compared. */

#include "bench_all.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "bench_machine.h"
#include "bench_options.h"
#include "json.h"
#include "streams.h"

struct everything {
    struct bench_common common;
    const char *output; /* the page */
    bool compares;
    const char *files[2];
    int32_t file_count;
};

enum { key_compare = 0xb000 };

static const struct argp_option options[] = {
    {"output", 'o', "FILE", 0,
     "the page (default: bench.html; with --json none); - is standard output", 0},
    {"compare", key_compare, NULL, 0,
     "measure nothing: show the figures of two files of kith bench --json side by side", 0},
    {0}};

static const struct argp_child children[] = {
    {&bench_argp, 0, "Measuring:", 2}, {&bench_peers_argp, 0, "Other programs:", 3}, {0}};

static const char documentation[] =
    "Measure the speed of this machine in all capabilities, and write a page with tables, plots "
    "and a description of the machine; or measure one CAPABILITY.\v"
    "kith bench CAPABILITY --help shows its options.\n\n"
    "All capabilities take some minutes, on the CPU unless --device is given. Higher rates are "
    "faster. Files of --json can be compared, also those of one capability; two files without a "
    "common figure are an error.\n\n"
    "Examples:\n"
    "  kith bench --quick --json -o page.html > here.json\n"
    "  kith bench --quick --json > there.json\n"
    "  kith bench --compare here.json there.json\n"
    "  kith bench forces -n 1024,4096";

static void check(const struct everything *all, const struct argp_state *state)
{
    if (all->compares && all->file_count != 2)
        cli_usage_error(state, "--compare needs two files of kith bench --json");
    if (!all->compares && all->file_count > 0)
        cli_usage_error(state, "'%s' is too much; name a capability first, or files with --compare",
                        all->files[0]);
    if (all->common.json && cli_is_stdout(all->output))
        cli_usage_error(state, "-o and --json both want standard output; give -o a file");
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct everything *all = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        bench_begin_children(state, 0, 2, &all->common);
        return 0;
    case 'o':
        all->output = argument;
        return 0;
    case key_compare:
        all->compares = true;
        return 0;
    case ARGP_KEY_ARG:
        if (all->file_count == 2)
            cli_usage_error(state, "'%s' is a third file; give two", argument);
        all->files[all->file_count++] = argument;
        return 0;
    case ARGP_KEY_END:
        check(all, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void capability_row(int64_t k, const char **name, const char **description)
{
    *name = bench_capabilities[k].name;
    *description = bench_capabilities[k].description;
}

static int64_t capability_count(void)
{
    int64_t count = 0;
    while (bench_capabilities[count].name)
        count++;
    return count;
}

static char *filter_help(int key, const char *text, void *input)
{
    if (key == ARGP_KEY_HELP_EXTRA)
        return cli_help_table("Capabilities:", capability_count(), capability_row);
    return cli_filter_help(key, text, input);
}

/* The arguments of one benchmark. */
struct arguments {
    char words[16][64];
    const char *python;
    char *list[24];
    int count;
};

static void add(struct arguments *arguments, const char *word)
{
    char *own = arguments->words[arguments->count];
    snprintf(own, sizeof arguments->words[0], "%s", word);
    arguments->list[arguments->count++] = own;
}

/* A benchmark of the table, and how it is measured here: in numbers that take not too long. */
struct part {
    const char *name, *numbers;
    bench_of_capability *measure;
    bool has_peers;
};

static const struct part parts[] = {
    {"forces", "64,256,1024,4096,16384,65536", bench_forces, true},
    {"matrix", "1000,4096,16384", bench_matrix, false},
    {"pairs", "100,1000,10000,100000,1000000", bench_pairs, true},
    {"collisions", "100,1000,10000,100000,1000000", bench_collisions, true},
    {"sparse", NULL, bench_sparse, true},
};
enum { part_count = sizeof parts / sizeof parts[0] };

/* Forces are swept over instruction sets else; here the one that kith takes is enough. */
static void add_instruction_set(struct arguments *arguments)
{
    const kith_context_options cpu = {.device = {KITH_CPU, 0}};
    kith_context *context = NULL;
    if (kith_context_create(&cpu, &context) == KITH_OK) {
        add(arguments, "--isa");
        add(arguments, kith_context_isa(context));
    }
    kith_context_free(context);
}

static void choose_arguments(const struct everything *all, const struct part *part, bool mute,
                             struct arguments *arguments)
{
    const struct bench_common *common = &all->common;
    char text[64];
    *arguments = (struct arguments){0};
    snprintf(text, sizeof text, "kith bench %s", part->name);
    add(arguments, text);
    snprintf(text, sizeof text, "--device=%s", cli_device_name(common->device));
    add(arguments, text);
    if (common->quick)
        add(arguments, "--quick");
    else if (part->numbers && common->device.kind == KITH_CPU) {
        snprintf(text, sizeof text, "-n%s", part->numbers);
        add(arguments, text);
    }
    if (common->seconds > 0) {
        snprintf(text, sizeof text, "--seconds=%.17g", common->seconds);
        add(arguments, text);
    }
    if (common->thread_count > 0) {
        snprintf(text, sizeof text, "--threads=%d", (int)common->threads[0]);
        add(arguments, text);
    }
    if (mute)
        add(arguments, "--json");
    if (common->quiet || mute)
        add(arguments, "--quiet");
    if (part->measure == bench_forces && common->device.kind == KITH_CPU)
        add_instruction_set(arguments);
    if (common->with_peers && part->has_peers) {
        add(arguments, "--peers");
        add(arguments, "--python");
        arguments->list[arguments->count++] = (char *)common->python;
    }
}

static int measure_part(const struct everything *all, int k, bool mute, cJSON *capabilities)
{
    struct arguments arguments;
    cJSON *figures = NULL;
    choose_arguments(all, &parts[k], mute, &arguments);
    if (!all->common.quiet)
        fprintf(stderr, "%s: %s, %d of %d\n", all->common.command, parts[k].name, k + 1,
                (int)part_count);
    if (!mute)
        printf("%s%s\n", k > 0 ? "\n" : "", parts[k].name);
    const int code = parts[k].measure(arguments.count, arguments.list, &figures);
    cJSON_DeleteItemFromObject(figures, "machine"); /* the report tells of it */
    if (figures)
        cJSON_AddItemToObject(capabilities, parts[k].name, figures);
    return code;
}

static int write_report(const struct everything *all, const cJSON *report)
{
    const char *path = all->output ? all->output : "bench.html";
    int code = exit_ok;
    if (all->output || !all->common.json)
        code = bench_page_write(all->common.command, path, report);
    if (code == exit_ok && all->common.json)
        return json_print(all->common.command, cJSON_Duplicate(report, true));
    if (code == exit_ok && !all->common.quiet && !cli_is_stdout(path))
        cli_print_wrote(stderr, path);
    return code;
}

static int measure_everything(const struct everything *all)
{
    const bool mute = all->common.json || all->common.quiet || cli_is_stdout(all->output);
    cJSON *report = cJSON_CreateObject();
    machine_add(report, all->common.device);
    cJSON_AddBoolToObject(report, "quick", all->common.quick);
    cJSON *capabilities = cJSON_AddObjectToObject(report, "capabilities");
    int code = exit_ok;
    if (!mute)
        machine_print(all->common.device);
    for (int k = 0; k < part_count && code == exit_ok; k++)
        code = measure_part(all, k, mute, capabilities);
    if (code == exit_ok)
        code = write_report(all, report);
    cJSON_Delete(report);
    return code;
}

int bench_all(int argc, char **argv)
{
    struct everything all = {.common = {.command = argv[0], .device = {KITH_CPU, 0}}};
    const struct argp argp = {options,       parse,    "[CAPABILITY]\n--compare A.json B.json",
                              documentation, children, filter_help,
                              NULL};
    cli_parse(&argp, argc, argv, &all);
    if (all.compares)
        return bench_compare(argv[0], all.files, all.common.json);
    kith_context *context = NULL; /* only to find the device */
    const int code = bench_open(&all.common, &context);
    kith_context_free(context);
    return code == exit_ok ? measure_everything(&all) : code;
}
