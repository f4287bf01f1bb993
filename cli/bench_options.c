/* The options of benchmarks: one table lists which capabilities support which. */

#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "names.h"

enum {
    key_device = 0x7800,
    key_quick,
    key_json,
    key_threads,
    key_seconds,
    key_precision,
    key_method,
    key_systems,
    key_integrator,
    key_unsorted,
    key_narrow,
    key_tune,
};

struct bench_option {
    struct argp_option option;
    unsigned of; /* the capabilities that take it */
};

static const struct bench_option table[] = {
    {{"number", 'n', "N,...", 0, "numbers of bodies, particles, points, beads or rows", 0},
     of_any | of_ranks},
    {{"precision", key_precision, CHOICES(choices_of_precisions),
      "single or double (default: both)", 0},
     (of_any & ~of_collisions) | of_ranks},
    {{"method", key_method, CHOICES(choices_of_methods_of_direct),
      "of the forces, as of kith forces (default: auto)", 0},
     of_forces},
    {{"systems", key_systems, "M", 0,
      "systems of an ensemble (default: 1024; GPU: 1000000 of 6 bodies)", 0},
     of_forces},
    {{"integrator", key_integrator, CHOICES(choices_of_integrators),
      "of the steps (default: leapfrog)", 0},
     of_forces},
    {{"unsorted", key_unsorted, NULL, 0, "the pairs of one i in any order", 0}, of_pairs},
    {{"narrow", key_narrow, NULL, 0, "i and j of 32 bits instead of 64", 0}, of_pairs},
    {{"tune", key_tune, NULL, 0, "let kith time the best few formats", 0}, of_sparse},
    {{"threads", key_threads, "P,...", 0, "numbers of CPU threads", 0}, of_any | of_all_at_once},
    {{"seconds", key_seconds, "S", 0, "measure each row for about S seconds", 0},
     of_any | of_all_at_once | of_ranks},
};
enum { table_rows = sizeof table / sizeof table[0] };

static const struct argp_option device_options[] = {
    {"device", key_device, CHOICES(choices_of_devices),
     "auto, cpu, cuda, cuda:K, cuda:0,1 or cuda:all", 0},
    {"quick", key_quick, NULL, 0, "few and small sizes, a fraction of the time", 0},
    {"json", key_json, NULL, 0, "print one JSON object on standard output, nothing else there", 0},
    {"quiet", 'q', NULL, 0, "no notes", 0},
    {0}};

/* The parser's input: the options, and their capability. */
struct input {
    const struct bench_capability *capability;
    struct bench_options *options;
};

/* The words of a list with single commas, one after the other; the words stay in the text. */
static void for_each_word(const char *option, char *text, int32_t most, struct argp_state *state,
                          void (*take)(char *word, struct argp_state *state))
{
    char *rest = NULL;
    int32_t count = 0;
    if (!*text || *text == ',' || text[strlen(text) - 1] == ',' || strstr(text, ",,"))
        cli_usage_error(state, "%s is '%s'; separate values by single commas", option, text);
    for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (count++ == most)
            cli_usage_error(state, "%s has more than %d values; give fewer", option, (int)most);
        take(word, state);
    }
}

static struct bench_options *options_of(const struct argp_state *state)
{
    return ((const struct input *)state->input)->options;
}

static void take_count(char *word, struct argp_state *state)
{
    struct bench_options *options = options_of(state);
    options->counts[options->count_count++] = cli_parse_range("-n", word, 1, 1 << 28, state);
}

static void take_threads(char *word, struct argp_state *state)
{
    struct bench_options *options = options_of(state);
    options->threads[options->thread_count++] = cli_parse_threads(word, state);
}

/* A system of the capability's, or a file. */
static void take_name(const struct bench_capability *capability, const char *word,
                      struct argp_state *state)
{
    struct bench_options *options = options_of(state);
    struct nearest nearest = nearest_to(word);
    const char *arguments = capability ? capability->arguments : NULL;
    if (!arguments)
        cli_usage_error(state, "unexpected argument '%s'; this benchmark takes no file", word);
    const bool has_names = capability && capability->row;
    bool is_known = !has_names;
    const char *name = NULL, *description = NULL;
    for (int64_t k = 0; has_names && capability->row(k, &name, &description); k++) {
        nearest_offer(&nearest, name);
        is_known = is_known || strcmp(name, word) == 0;
    }
    if (!is_known)
        cli_usage_error(state, "unknown name '%s'; %s", word,
                        nearest_hint(&nearest, "--help lists them"));
    if (options->name_count == bench_most_names)
        cli_usage_error(state, "'%s' is one too many; give at most %d names", word,
                        bench_most_names);
    options->names[options->name_count++] = word;
}

static void check(const struct bench_options *options, const struct argp_state *state)
{
    if (options->law.law && options->systems > 0)
        cli_usage_error(state, "--systems is for gravity; omit it or --law");
    if (options->method && options->systems > 0)
        cli_usage_error(state, "--systems measures steps, which do not take --method; omit one");
    if (options->thread_count > 0 && options->device.kind == KITH_CUDA)
        cli_usage_error(state, "--threads is for the CPU; omit it or --device");
}

/* The switches: what each sets. */
static bool set_flag(struct bench_options *options, int key)
{
    bool *const flag = key == key_quick      ? &options->quick
                       : key == key_json     ? &options->json
                       : key == 'q'          ? &options->quiet
                       : key == key_unsorted ? &options->unsorted
                       : key == key_narrow   ? &options->narrow
                       : key == key_tune     ? &options->tunes
                                             : NULL;
    if (flag)
        *flag = true;
    return flag != NULL;
}

static void take_device(const char *text, const struct argp_state *state,
                        struct bench_options *options)
{
    cli_parse_device(text, state, &options->chosen);
    options->device = options->chosen.device;
}

static error_t parse_device(int key, char *argument, struct argp_state *state)
{
    struct bench_options *options = state->input;
    if (key == key_device)
        take_device(argument, state, options);
    else if (!set_flag(options, key))
        return ARGP_ERR_UNKNOWN;
    return 0;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    const struct input *input = state->input;
    struct bench_options *options = input->options;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = options;
        if (input->capability == &bench_of_forces)
            state->child_inputs[1] = &options->law;
        return 0;
    case 'n':
        for_each_word("-n", argument, bench_most_numbers, state, take_count);
        return 0;
    case key_precision:
        options->precisions[0] = cli_parse_precision(argument, state);
        options->precision_count = 1;
        return 0;
    case key_method:
        options->method = cli_parse_method(argument, NULL, state);
        return 0;
    case key_systems:
        options->systems = cli_parse_range("--systems", argument, 1, 1 << 24, state);
        return 0;
    case key_integrator:
        options->integrator =
            cli_parse_word("--integrator", argument, &choices_of_integrators, state);
        return 0;
    case key_threads:
        for_each_word("--threads", argument, bench_most_threads, state, take_threads);
        return 0;
    case key_seconds:
        options->seconds = cli_parse_positive("--seconds", argument, state);
        return 0;
    case ARGP_KEY_ARG:
        take_name(input->capability, argument, state);
        return 0;
    case ARGP_KEY_END:
        check(options, state);
        return 0;
    default:
        return set_flag(options, key) ? 0 : ARGP_ERR_UNKNOWN;
    }
}

const struct argp bench_device_argp = {device_options, parse_device, NULL, NULL, NULL, NULL, NULL};

static char *capability_help(int key, const char *text, void *input)
{
    return key == ARGP_KEY_HELP_EXTRA ? bench_capability_help() : cli_filter_help(key, text, input);
}

static char *solver_help(int key, const char *text, void *input)
{
    return key == ARGP_KEY_HELP_EXTRA ? cli_help_table("Solvers:", bench_of_ranks.row)
                                      : cli_filter_help(key, text, input);
}

static char *system_help(int key, const char *text, void *input)
{
    return key == ARGP_KEY_HELP_EXTRA ? cli_help_table("Systems:", bench_of_pairs.row)
                                      : cli_filter_help(key, text, input);
}

void bench_parse(const struct bench_capability *capability, int argc, char **argv,
                 struct bench_options *options)
{
    static const struct argp_child children[] = {
        {&bench_device_argp, 0, "Measuring:", 3}, {&law_argp, 0, "Law:", 2}, {0}};
    static const struct argp_child others[] = {{&bench_device_argp, 0, "Measuring:", 3}, {0}};
    struct argp_option taken[table_rows + 1] = {{0}};
    struct input input = {capability, options};
    int count = 0;
    for (int k = 0; k < table_rows; k++)
        if (table[k].of & (capability ? capability->flag : of_all_at_once))
            taken[count++] = table[k].option;
    const struct argp argp = {taken,
                              parse,
                              capability ? capability->arguments : "[CAPABILITY]",
                              capability ? capability->documentation : bench_documentation,
                              capability == &bench_of_forces ? children : others,
                              !capability                     ? capability_help
                              : capability == &bench_of_ranks ? solver_help
                              : capability->row               ? system_help
                                                              : cli_filter_help,
                              NULL};
    options->command = argv[0];
    cli_parse(&argp, argc, argv, &input);
}
