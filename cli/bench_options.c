/* The options of benchmarks: one table lists which capabilities support which. */

#include <stdlib.h>
#include <string.h>

#include "bench.h"
#include "options.h"

/* The numbers, from 1 to largest, of a list with single commas; returns their count. */
static int32_t take_numbers(const char *option, const char *text, int64_t largest, int32_t most,
                            int64_t *numbers, const struct argp_state *state)
{
    char *copy = cli_copy(text, state), *rest = NULL;
    int32_t count = 0;
    if (!*text || *text == ',' || text[strlen(text) - 1] == ',' || strstr(text, ",,"))
        cli_usage_error(state, "%s is '%s'; separate values by single commas", option, text);
    for (char *word = strtok_r(copy, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        if (count == most)
            cli_usage_error(state, "%s has more than %d values; give fewer", option, (int)most);
        numbers[count++] = cli_parse_range(option, word, 1, largest, state);
    }
    free(copy);
    return count;
}

static void set_counts(void *options, const char *option, const char *text,
                       const struct argp_state *state)
{
    struct bench_options *bench = options;
    bench->count_count =
        take_numbers(option, text, 1 << 28, bench_most_numbers, bench->counts, state);
}

static void set_threads(void *options, const char *option, const char *text,
                        const struct argp_state *state)
{
    struct bench_options *bench = options;
    bench->thread_count =
        take_numbers(option, text, cli_most_threads, bench_most_threads, bench->threads, state);
}

static void set_precision(void *options, const char *option, const char *text,
                          const struct argp_state *state)
{
    struct bench_options *bench = options;
    (void)option;
    bench->precisions[0] = cli_parse_precision(text, state);
    bench->precision_count = 1;
}

static void set_method(void *options, const char *option, const char *text,
                       const struct argp_state *state)
{
    (void)option;
    ((struct bench_options *)options)->method = cli_parse_method(text, NULL, state);
}

static void set_device(void *options, const char *option, const char *text,
                       const struct argp_state *state)
{
    struct bench_options *bench = options;
    (void)option;
    cli_parse_device(text, state, &bench->chosen);
    bench->device = bench->chosen.device;
}

/* A system of the capability's, or a file. */
static void set_name(void *options, const char *option, const char *text,
                     const struct argp_state *state)
{
    struct bench_options *bench = options;
    const struct bench_capability *capability = bench->capability;
    struct nearest nearest = nearest_to(text);
    (void)option;
    bool is_known = !capability->row;
    const char *name = NULL, *description = NULL;
    for (int64_t k = 0; capability->row && capability->row(k, &name, &description); k++) {
        nearest_offer(&nearest, name);
        is_known = is_known || strcmp(name, text) == 0;
    }
    if (!is_known)
        cli_usage_error(state, "unknown name '%s'; %s", text,
                        nearest_hint(&nearest, "--help lists them"));
    if (bench->name_count == bench_most_names)
        cli_usage_error(state, "'%s' is one too many; give at most %d names", text,
                        bench_most_names);
    bench->names[bench->name_count++] = text;
}

static void check(void *options, const struct argp_state *state)
{
    const struct bench_options *bench = options;
    if (bench->law.law && bench->systems > 0)
        cli_usage_error(state, "--systems is for gravity; omit it or --law");
    if (bench->method && bench->systems > 0)
        cli_usage_error(state, "--systems measures steps, which do not take --method; omit one");
    if (bench->thread_count > 0 && bench->device.kind == KITH_CUDA)
        cli_usage_error(state, "--threads is for the CPU; omit it or --device");
}

#define AT(member) OPTION_AT(struct bench_options, member)
static const struct {
    struct option_row row;
    unsigned of; /* the capabilities that take it */
} table[] = {
    {{"number", "N,...", "numbers of bodies, particles, points, beads or rows", .set = set_counts,
      .letter = 'n'},
     of_any | of_ranks},
    {{"precision", NULL, "single or double (default: both)", .choices = &choices_of_precisions,
      .set = set_precision},
     (of_any & ~of_collisions) | of_ranks},
    {{"method", NULL, "of the forces, as of kith forces (default: auto)",
      .choices = &choices_of_methods_of_direct, .set = set_method},
     of_forces},
    {{"systems", "M", "systems of an ensemble (default: 1024; GPU: 1000000 of 6 bodies)",
      AT(systems), .least = 1, .most = 1 << 24},
     of_forces},
    {{"integrator", NULL, "of the steps (default: leapfrog)", AT(integrator),
      .choices = &choices_of_integrators},
     of_forces},
    {{"unsorted", NULL, "the pairs of one i in any order", AT(unsorted)}, of_pairs},
    {{"narrow", NULL, "i and j of 32 bits instead of 64", AT(narrow)}, of_pairs},
    {{"tune", NULL, "let kith time the best few formats", AT(tunes)}, of_sparse},
    {{"threads", "P,...", "numbers of CPU threads", .set = set_threads}, of_any | of_all_at_once},
    {{"seconds", "S", "measure each row for about S seconds", AT(seconds), .positive = true},
     of_any | of_all_at_once | of_ranks},
};
enum { table_rows = sizeof table / sizeof table[0] };

static const struct option_row device_rows[] = {
    {"device", NULL, "auto, cpu, cuda, cuda:K, cuda:0,1 or cuda:all",
     .choices = &choices_of_devices, .set = set_device},
    {"quick", NULL, "few and small sizes, a fraction of the time", AT(quick)},
    {"json", NULL, "print one JSON object on standard output, nothing else there", AT(json)},
    {"quiet", NULL, "no notes", AT(quiet), .letter = 'q'},
    {0}};

const struct parser bench_device_parser = {.rows = device_rows};

static char *solver_help(void)
{
    return cli_help_table("Solvers:", bench_of_ranks.row);
}

static char *system_help(void)
{
    return cli_help_table("Systems:", bench_of_pairs.row);
}

void bench_parse(const struct bench_capability *capability, int argc, char **argv,
                 struct bench_options *options)
{
    static const struct option_group groups[] = {
        {&bench_device_parser, "Measuring:", 3, 0},
        {&law_parser, "Law:", 2, offsetof(struct bench_options, law)},
        {0}};
    static const struct option_group others[] = {{&bench_device_parser, "Measuring:", 3, 0}, {0}};
    const struct choices names = {"NAME", {NULL}, capability ? capability->row : NULL};
    struct option_row taken[table_rows + 2] = {{0}};
    int count = 0;
    if (capability && capability->arguments)
        taken[count++] = (struct option_row){NULL, "FILE", .choices = names.row ? &names : NULL,
                                             .set = set_name};
    for (int k = 0; k < table_rows; k++)
        if (table[k].of & (capability ? capability->flag : of_all_at_once))
            taken[count++] = table[k].row;
    const struct parser parser = {taken,
                                  capability == &bench_of_forces ? groups : others,
                                  check,
                                  capability ? capability->arguments : "[CAPABILITY]",
                                  capability ? capability->documentation : bench_documentation,
                                  !capability                     ? bench_capability_help
                                  : capability == &bench_of_ranks ? solver_help
                                  : capability->row               ? system_help
                                                                  : NULL};
    options->command = argv[0];
    options->capability = capability;
    cli_parse(&parser, argc, argv, options);
}
