/* kith bench forces: the speed of all-pairs forces and of the simulations that stand on them. */

#include "bench_forces.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "bench_machine.h"
#include "names.h"

enum { key_precision = 0x7000, key_isa, key_systems, key_method, key_integrator };

static const struct argp_option option_table[] = {
    {"number", 'n', "N,...", 0, "numbers of bodies (default: 6 to 262144; GPU: 4194304)", 0},
    {"precision", key_precision, "P", 0, "single or double (default: both)", 0},
    {"isa", key_isa, "ISA,...", 0,
     "instruction sets, as kith info lists them (default: all, or KITH_ISA)", 0},
    {"method", key_method, "METHOD", 0, "of the forces, as of kith forces (default: auto)", 0},
    {"systems", key_systems, "M", 0,
     "systems of an ensemble (default: 1024; GPU: 1000000 of 6 bodies)", 0},
    {"integrator", key_integrator, "NAME", 0, "of the steps (default: leapfrog)", 0},
    {0}};

static const struct argp_child children[] = {{&law_argp, 0, "Law:", 2},
                                             {&bench_argp, 0, "Measuring:", 3},
                                             {&bench_peers_argp, 0, "Other programs:", 4},
                                             {0}};

static const char documentation[] =
    "Measure the speed of all-pairs forces, of steps of few bodies, and of ensembles of "
    "such systems; on the CPU, with one thread and with all, unless --device or --threads P,... say "
    "otherwise.\v"
    "An interaction is one of the N*N pairs and counts 20 flop. Times are medians of "
    "repetitions that take turns; ratios are medians within the turns. The limit is what the "
    "arithmetic of the kernel alone allows on this machine.\n\n"
    "On a GPU: calls with arrays on the host, calls with arrays on the device, one after another, "
    "and the kernels alone; beside them the kernel of GPU Gems 3, chapter 31, with its best block. "
    "The limit is the highest clock times the lanes over the instructions of a pair that is "
    "evaluated once for both bodies: 18, in double 20.\n\n"
    "Examples:\n"
    "  kith bench forces\n"
    "  kith bench forces -n 4096 --precision double --threads 1,2\n"
    "  kith bench forces -n 64 --integrator hermite4\n"
    "  kith bench forces --law yukawa:1 -n 4096\n"
    "  kith bench forces --quick --json\n"
    "  kith bench forces --device cuda --seconds 5\n"
    "  kith bench forces --device cuda -n 32 --systems 100000 --integrator hermite4\n"
    "  kith bench forces --device cuda --method tile-p -n 16384,65536\n\n"
    "With a law or a method, forces alone are measured; the limit on the CPU is then that of its arithmetic.";

#define ROOM(list) ((int)(sizeof(list) / sizeof(list)[0]))

static void parse_isa(char *word, struct argp_state *state, void *to)
{
    struct bench_options *options = to;
    if (options->isa_count == ROOM(options->isas))
        cli_usage_error(state, "--isa has more than %d names", ROOM(options->isas));
    options->isas[options->isa_count++] =
        name_of_isa(cli_parse_name("--isa", word, count_of_isas(), name_of_isa, state));
    options->isas_given = true;
}

static void check_choices(const struct bench_options *options, const struct argp_state *state)
{
    const char *of_cpu = options->isas_given                ? "--isa"
                         : options->common.thread_count > 0 ? "--threads"
                                                            : NULL;
    if (options->law.law && (options->common.with_peers || options->systems > 0))
        cli_usage_error(state, "%s is for gravity; leave it or --law out",
                        options->common.with_peers ? "--peers" : "--systems");
    if (options->method && options->systems > 0)
        cli_usage_error(state, "--systems are steps, which --method is not for; leave one out");
    if (of_cpu && options->common.device.kind != KITH_CPU)
        cli_usage_error(state, "%s is for the CPU; leave it or --device out", of_cpu);
    if (options->common.with_peers && strcmp(options->integrator, "leapfrog") != 0)
        cli_usage_error(state, "--peers do leapfrog steps; leave them or --integrator out");
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct bench_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = &options->law;
        bench_begin_children(state, 1, 2, &options->common);
        return 0;
    case 'n':
        bench_parse_counts(&options->common, argument, 1 << 24, state);
        return 0;
    case key_isa:
        bench_for_each_word(argument, state, parse_isa, options);
        return 0;
    case key_precision:
        options->precisions[0] = cli_parse_precision(argument, state);
        options->precision_count = 1;
        return 0;
    case key_method:
        options->method = cli_parse_method(argument, NULL, state);
        return 0;
    case key_systems:
        options->systems = cli_parse_count("--systems", argument, state);
        if (options->systems < 1 || options->systems > 1 << 24)
            cli_usage_error(state, "--systems is %s; give 1 to %d", argument, 1 << 24);
        return 0;
    case key_integrator:
        options->integrator = name_of_integrator(cli_parse_name(
            "--integrator", argument, count_of_integrators(), name_of_integrator, state));
        return 0;
    case ARGP_KEY_ARG:
        cli_usage_error(state, "'%s' is too much; bench forces takes no file", argument);
        return 0;
    case ARGP_KEY_END:
        check_choices(options, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void choose_body_counts(struct bench_common *common)
{
    static const int64_t on_cpu[] = {6,    32,   64,   128,   256,   512,   1024,
                                     2048, 4096, 8192, 16384, 65536, 262144};
    static const int64_t on_gpu[] = {6,     64,    256,    1024,   2048,    4096,   8192,
                                     16384, 65536, 131072, 262144, 1048576, 4194304};
    static const int64_t quick[] = {64, 256, 1024};
    if (common->quick)
        bench_take_counts(common, quick, ROOM(quick));
    else if (common->device.kind == KITH_CUDA)
        bench_take_counts(common, on_gpu, ROOM(on_gpu));
    else
        bench_take_counts(common, on_cpu, ROOM(on_cpu));
}

static void choose_isas(struct bench_options *options)
{
    const char *forced = getenv("KITH_ISA");
    int64_t isa_count = 0;
    const kith_isa *isas = kith_isa_list(&isa_count);
    if (forced && *forced)
        options->isas[options->isa_count++] = forced;
    for (int64_t k = 0; k < isa_count && !(forced && *forced); k++)
        if (isas[k].supported)
            options->isas[options->isa_count++] = isas[k].name;
}

/* What was not asked for otherwise; false after an error. */
static bool choose_defaults(struct bench_options *options)
{
    const kith_context_options wanted = {.device = options->common.device};
    kith_context *context = NULL;
    if (kith_context_create(&wanted, &context) != KITH_OK)
        return false;
    const int32_t all_threads = kith_context_threads(context);
    options->common.device = kith_context_device(context);
    kith_context_free(context);

    choose_body_counts(&options->common);
    bench_take_seconds(&options->common, 0.5);
    if (options->precision_count == 0) {
        options->precisions[options->precision_count++] = KITH_F32;
        options->precisions[options->precision_count++] = KITH_F64;
    }
    if (!options->isas_given)
        choose_isas(options);
    if (options->common.thread_count == 0) {
        options->common.threads[options->common.thread_count++] = 1;
        if (all_threads > 1)
            options->common.threads[options->common.thread_count++] = all_threads;
    }
    return true;
}

typedef bool bench_of(const struct bench_options *options, const struct competitors *competitors,
                      int64_t n, struct bench_rows *rows);

/* A table of a row or more for each number of bodies, printed as it is measured. */
static bool bench_table(const struct bench_options *options, const struct competitors *competitors,
                        int32_t count, const int64_t *body_counts, bench_of *bench,
                        struct bench_rows *rows)
{
    if (!options->common.json && count > 0)
        bench_print_heading(options, bench == bench_steps_of);
    for (int32_t k = 0; k < count; k++) {
        const int64_t first = rows->count;
        if (!bench(options, competitors, body_counts[k], rows))
            return false;
        if (!options->common.json)
            bench_print_rows(rows, first);
    }
    return true;
}

/* Numbers of bodies whose steps are measured: of those the user chose, on the CPU the few. */
static int32_t choose_of_steps(const struct bench_options *options, int64_t *chosen)
{
    static const int64_t on_cpu[] = {6, 9, 16, 64}, on_gpu[] = {6, 64, 1024, 65536};
    _Static_assert(sizeof on_cpu == sizeof on_gpu, "as many");
    const bool is_gpu = options->common.device.kind == KITH_CUDA;
    int32_t count = 0;
    const int32_t most = options->common.quick ? 1 : ROOM(on_cpu);
    if (!options->common.counts_given)
        for (; count < most; count++)
            chosen[count] = is_gpu ? on_gpu[count] : on_cpu[count];
    for (int32_t k = 0; options->common.counts_given && k < options->common.count_count; k++)
        if (is_gpu || options->common.counts[k] <= kith_most_bodies_of_system)
            chosen[count++] = options->common.counts[k];
    return count;
}

static bool bench_tables(const struct bench_options *options, const struct competitors *competitors,
                         struct bench_rows *rows)
{
    int64_t of_steps[ROOM(options->common.counts)];
    const int32_t steps_count =
        options->law.law || options->method ? 0 : choose_of_steps(options, of_steps);
    /* Steps have up to two rows a competitor: one system and many. */
    const int64_t most = (options->common.count_count + 2 * steps_count) * competitors->count;
    rows->at = calloc((size_t)most, sizeof *rows->at);
    if (!rows->at) {
        cli_fail_with(options->common.command, "no memory for %lld rows", (long long)most);
        return false;
    }
    return bench_table(options, competitors, options->common.count_count, options->common.counts,
                       bench_forces_of, rows) &&
           bench_table(options, competitors, steps_count, of_steps, bench_steps_of, rows);
}

/* Seconds that the cores have worked so far, but for kith and its peers. */
static double work_of_others(const struct competitors *competitors)
{
    struct timespec own;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
    return machine_work() - (double)own.tv_sec - 1e-9 * (double)own.tv_nsec -
           peers_work(competitors->peers);
}

static bool bench_all(const struct bench_options *options, struct competitors *competitors,
                      struct bench_rows *rows)
{
    if (!competitors_make(options, competitors))
        return false;
    const double start = cli_clock(), before = work_of_others(competitors);
    if (!bench_tables(options, competitors, rows))
        return false;
    rows->busy_cores = (work_of_others(competitors) - before) / (cli_clock() - start);
    return true;
}

/* Tells what was measured: the exit code. */
static int tell(const struct bench_options *options, const struct bench_rows *rows)
{
    if (!options->common.json)
        bench_print_summary(rows);
    return bench_hand_over(&options->common, "forces", bench_as_json(options, rows));
}

int bench_forces(int argc, char **argv, cJSON **result)
{
    struct bench_options options = {.common = {.command = argv[0],
                                               .device = {KITH_CPU, 0},
                                               .takes_many_threads = true,
                                               .result = result},
                                    .integrator = "leapfrog"};
    const struct argp argp = {option_table, parse,           NULL, documentation,
                              children,     cli_filter_help, NULL};
    cli_parse(&argp, argc, argv, &options);
    if (!choose_defaults(&options))
        return cli_fail(argv[0]);

    struct competitors competitors = {0};
    struct bench_rows rows = {0};
    if (!options.common.json && !result)
        machine_print(options.common.device);
    const int code = bench_all(&options, &competitors, &rows) ? tell(&options, &rows) : exit_failed;
    free(rows.at);
    competitors_free(&competitors);
    law_options_free(&options.law);
    return code;
}
