/* kith bench: how fast a capability is on this machine, or all of them, compared with the machine's
 * limits. */

#include "bench.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "json.h"
#include "machine.h"

static const struct bench_capability *const all[] = {
    &bench_of_forces, &bench_of_matrix, &bench_of_pairs, &bench_of_collisions, &bench_of_sparse};
enum { all_count = sizeof all / sizeof all[0] };

const char bench_documentation[] =
    "Measure how fast kith is on this machine, in figures and as a fraction of the machine's "
    "limits; or measure one CAPABILITY.\v"
    "kith bench CAPABILITY --help shows its options.\n\n"
    "All capabilities take some minutes, on the CPU unless --device is given. M/s counts millions "
    "of interactions, steps, pairs, beads or entries per second; us/call is the median of "
    "interleaved repetitions. Scripts in bench/ of the sources compare with other programs, "
    "compare machines and draw pages.\n\n"
    "Examples:\n"
    "  kith bench --quick\n"
    "  kith bench --quick --json > here.json\n"
    "  kith bench forces -n 1024,4096";

static bool help_row(int64_t k, const char **name, const char **description)
{
    *name = bench_capabilities[k].name;
    *description = bench_capabilities[k].description;
    return *name;
}

char *bench_capability_help(void)
{
    return cli_help_table("Capabilities:", help_row);
}

/* The defaults. Numbers of threads: 1, and all where the capability says so. */
static bool choose_defaults(const struct bench_capability *capability,
                            struct bench_options *options)
{
    enum { quicker = 50 };
    const kith_context_options wanted = {.device = options->device};
    kith_context *context = NULL;
    if (kith_context_create(&wanted, &context) != KITH_OK)
        return false;
    options->device = kith_context_device(context);
    if (options->thread_count == 0) {
        options->threads[options->thread_count++] = 1;
        if (capability->all_threads && kith_context_threads(context) > 1)
            options->threads[options->thread_count++] = kith_context_threads(context);
    }
    kith_context_free(context);
    const int64_t *counts = options->quick ? capability->quick_counts : capability->counts;
    const bool has_counts = options->count_count > 0, has_names = options->name_count > 0;
    for (int k = 0; !has_counts && k < 8 && counts[k]; k++)
        options->counts[options->count_count++] = counts[k];
    if (options->precision_count == 0) {
        memcpy(options->precisions, capability->precisions, sizeof capability->precisions);
        options->precision_count = capability->precision_count;
    }
    const char *name = NULL, *description = NULL;
    for (int64_t k = 0; !has_names && capability->row && capability->row(k, &name, &description);
         k++)
        options->names[options->name_count++] = name;
    if (options->seconds == 0)
        options->seconds = capability->seconds / (options->quick ? quicker : 1);
    return true;
}

static bool open_contexts(struct bench *bench)
{
    const struct bench_options *options = bench->options;
    const bool on_gpu = options->device.kind == KITH_CUDA;
    kith_status status = KITH_OK;
    for (int32_t k = 0; k < (on_gpu ? 1 : options->thread_count) && status == KITH_OK; k++) {
        struct bench_context *on = &bench->contexts[bench->context_count++];
        on->threads = on_gpu ? 0 : (int32_t)options->threads[k];
        const kith_context_options chosen = {.device = options->device, .threads = on->threads};
        status = kith_context_create(&chosen, &on->context);
        if (status == KITH_OK)
            status = kith_context_add_peers(on->context, options->chosen.peers,
                                            options->chosen.peer_count);
    }
    return status == KITH_OK || cli_fail(options->command) == exit_ok;
}

/* The parts of one size, by each context in each precision. */
static bool measure_size(struct bench *bench, const char *name, int64_t n)
{
    const struct bench_options *options = bench->options;
    const int32_t kinds = options->precision_count > 0 ? options->precision_count : 1;
    const int32_t count = kinds * bench->context_count;
    struct bench_part *parts =
        cli_allocate(options->command, "what is measured", count, sizeof *parts);
    bool done = parts;
    int32_t begun = 0;
    for (; begun < count && done; begun++) {
        struct bench_part *part = &parts[begun];
        part->bench = bench;
        part->on = &bench->contexts[begun / kinds];
        part->context = part->on->context;
        part->dtype = options->precisions[begun % kinds];
        part->n = n;
        part->name = name;
        part->state = cli_allocate(options->command, "what is measured", 1,
                                   (int64_t)bench->capability->state_bytes);
        done = part->state &&
               (bench->capability->begin(part) == KITH_OK || cli_fail(options->command) == exit_ok);
    }
    done = done && bench_measure(bench);
    while (begun > 0)
        bench_part_free(&parts[--begun]);
    free(parts);
    return done;
}

static bool measure_all(struct bench *bench)
{
    const struct bench_options *options = bench->options;
    const int32_t names = options->name_count > 0 ? options->name_count : 1;
    const bool is_file = options->name_count > 0 && !bench->capability->row;
    if (!options->json)
        bench_print_heading(bench);
    for (int32_t k = 0; k < names; k++)
        for (int32_t n = 0; n < (is_file ? 1 : options->count_count); n++)
            if (!measure_size(bench, options->name_count > 0 ? options->names[k] : NULL,
                              options->counts[n]))
                return false;
    return true;
}

/* Seconds that the cores have worked for other programs so far. */
static double work_of_others(void)
{
    struct timespec own;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &own);
    return machine_work() - (double)own.tv_sec - 1e-9 * (double)own.tv_nsec;
}

/* Adds one capability's figures to the report; false after an error. */
static bool measure(const struct bench_capability *capability, struct bench_options *options,
                    cJSON *report)
{
    struct bench bench = {.options = options, .capability = capability};
    if (!choose_defaults(capability, options)) {
        cli_fail(options->command);
        return false;
    }
    bench.rows = cli_allocate(options->command, "rows", bench_most_rows, sizeof *bench.rows);
    if (!bench.rows)
        return false;
    cJSON *figures = cJSON_AddObjectToObject(report, capability->name);
    cJSON_AddStringToObject(figures, "capability", capability->name);
    bench.report = cJSON_AddArrayToObject(figures, "rows");
    const double start = cli_clock(), before = work_of_others();
    const bool done = open_contexts(&bench) && measure_all(&bench);
    const double busy = (work_of_others() - before) / (cli_clock() - start);
    json_add_real(figures, "cores_busy_with_other_programs", busy);
    if (done && busy > 0.1 && !options->json)
        printf("\nOther programs kept %.1f cores busy meanwhile.\n", busy);
    for (int32_t k = 0; k < bench.context_count; k++)
        kith_context_free(bench.contexts[k].context);
    free(bench.rows);
    return done;
}

/* Measures a capability, or all of them (NULL). */
static int command_of(const struct bench_capability *only, int argc, char **argv)
{
    struct bench_options options = {.device = {KITH_CPU, 0}, .integrator = "leapfrog"};
    bench_parse(only, argc, argv, &options);
    if (!options.json)
        machine_print(options.device);
    cJSON *report = cJSON_CreateObject();
    cJSON *capabilities = cJSON_AddObjectToObject(report, "capabilities");
    bool done = true;
    for (int k = 0; k < all_count && done; k++) {
        struct bench_options own = options;
        if (only && only != all[k])
            continue;
        if (!only && !options.quiet)
            fprintf(stderr, "%s: %s, %d of %d\n", argv[0], all[k]->name, k + 1, (int)all_count);
        done = measure(all[k], &own, capabilities);
        options.device = own.device; /* of "auto" */
    }
    law_options_free(&options.law);
    if (only && done) { /* its figures are the report */
        cJSON *figures = cJSON_DetachItemFromObject(capabilities, only->name);
        cJSON_Delete(report);
        report = figures;
    }
    cJSON_AddBoolToObject(report, "quick", options.quick);
    machine_add(report, options.device);
    if (done && options.json)
        return json_print(argv[0], report);
    cJSON_Delete(report);
    return done ? exit_ok : exit_failed;
}

/* argv[0] is "kith bench forces". */
static int command_of_one(int argc, char **argv)
{
    const char *name = strrchr(argv[0], ' ') + 1;
    int k = 0;
    while (strcmp(all[k]->name, name) != 0)
        k++;
    return command_of(all[k], argc, argv);
}

const struct command bench_capabilities[] = {
    {"forces", "all-pairs forces, leapfrog steps, ensembles", command_of_one, NULL},
    {"matrix", "interaction matrices, and their products with a vector", command_of_one, NULL},
    {"pairs", "neighbor lists within a cutoff, and nearest points", command_of_one, NULL},
    {"collisions", "collisions of lattice beads, by every method; batches", command_of_one, NULL},
    {"sparse", "sparse matrix times one vector and eight, in the format chosen", command_of_one,
     NULL},
    {"ranks", "steps by several processes: strong and weak scaling, and exchange",
     command_bench_ranks, NULL},
    {0}};

int command_bench(int argc, char **argv)
{
    const char *word = argc > 1 ? argv[1] : "--";
    if (word[0] == '-')
        return command_of(NULL, argc, argv);
    const struct command *part = command_named(bench_capabilities, word);
    if (!part)
        return command_fail_unknown(argv[0], bench_capabilities, "capability", word);
    char name[64];
    snprintf(name, sizeof name, "%s %s", argv[0], word);
    argv[1] = name;
    return part->run(argc - 1, argv + 1);
}
