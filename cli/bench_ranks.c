/* kith bench ranks: steps of every solver that divides its work, by 1, 2, 4, ... of the processes
 * of a job. */

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "device_choice.h"
#include "job.h"
#include "json.h"
#include "machine.h"

enum { repetitions = 5 };

/* What each solver moves. */
static const struct subject {
    const char *solver, *description, *kind, *law;
    int64_t bodies, few, of_gpu, few_of_gpu;
    double dt, softening, error, cutoff;
} subjects[] = {
    {"direct", "a Plummer model", "plummer", NULL, 32768, 2048, 1000000, 131072, 0.001, 0.01, 0, 0},
    {"tree", "a Plummer model, error 1e-3", "plummer", NULL, 100000, 4000, 10000000, 1000000, 0.001,
     0.01, 1e-3, 0},
    {"fmm", "a Plummer model, error 1e-4", "plummer", NULL, 200000, 4000, 10000000, 1000000, 0.001,
     0.01, 1e-4, 0},
    {"cutoff", "a Lennard-Jones liquid, cutoff 2.5", "fcc", "lennard-jones", 108000, 4000, 4000000,
     600000, 0.004, 0, 0, 2.5},
};
enum { subject_count = sizeof subjects / sizeof subjects[0] };

static bool subject_row(int64_t k, const char **name, const char **description)
{
    if (k >= subject_count)
        return false;
    *name = subjects[k].solver;
    *description = subjects[k].description;
    return true;
}

/* One row: steps by the first ranks of a job. */
struct row {
    const struct bench_options *options;
    const struct subject *subject;
    bool is_weak;
    int32_t ranks;
    int64_t bodies;
    kith_dtype precision;
    double seconds[repetitions]; /* of a step; sorted in the end */
    double share;                /* of the time, in exchange: rank 0 waited for others */
    double busy;                 /* seconds of work in a step, of the rank that worked most */
    int64_t bytes;               /* of the host's memory, of the rank that took most */
    const char *passage;         /* by what they exchange, and why not by NCCL: job_passage */
    const char *why_not_nccl;
    double speedup;
};

/* Of weak scaling the pairs per rank stay. Crystals have whole cubes. */
static int64_t bodies_of(const struct row *row, int64_t bodies)
{
    const bool is_direct = strcmp(row->subject->solver, "direct") == 0;
    double wanted = (double)bodies;
    if (row->is_weak)
        wanted *= is_direct ? sqrt(row->ranks) : row->ranks;
    const double cells = round(cbrt(wanted / 4));
    return strcmp(row->subject->kind, "fcc") == 0 ? (int64_t)(4 * cells * cells * cells)
                                                  : (int64_t)wanted;
}

/* Memory of this process that is in use. */
static int64_t resident_bytes(void)
{
    long long pages = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file)
        return 0;
    const bool found = fscanf(file, "%lld %lld", &pages, &resident) == 2;
    fclose(file);
    return found ? resident * sysconf(_SC_PAGESIZE) : 0;
}

static kith_status make_bodies(const struct row *row, kith_bodies **bodies)
{
    const kith_initial_options options = {.count = row->bodies,
                                          .count_given = true,
                                          .density = row->subject->cutoff > 0 ? 0.8442 : 0,
                                          .temperature = row->subject->cutoff > 0 ? 1.44 : 0};
    return kith_initial_make(row->subject->kind, &options, bodies);
}

static kith_status make_simulation(const struct row *row, kith_context *context,
                                   const kith_bodies *bodies, kith_law **law,
                                   kith_simulation **simulation)
{
    const struct subject *subject = row->subject;
    kith_simulation_options options = {.dt = subject->dt,
                                       .precision = row->precision,
                                       .forces = {.softening = subject->softening,
                                                  .accuracy.error = subject->error,
                                                  .cutoff = subject->cutoff}};
    kith_status status = kith_solver_find(subject->solver, &options.forces.solver);
    if (status == KITH_OK && subject->law)
        status = kith_law_parse(subject->law, 0, NULL, law);
    options.forces.law = *law;
    return status == KITH_OK ? kith_simulation_create(context, &options, bodies, simulation)
                             : status;
}

/* Seconds of work until now: the processor's, or, of a GPU, those in which this rank did not wait.
 */
static double worked_until_now(const struct row *row, const kith_context *context)
{
    return row->options->device.kind == KITH_CUDA ? cli_clock() - job_waited(context)
                                                  : job_worked();
}

/* Steps of a device go on after the call: until they are done. */
static kith_status take_steps(kith_context *context, kith_simulation *simulation, int64_t count)
{
    const kith_status status = kith_simulation_step(simulation, count);
    return status == KITH_OK ? job_synchronize(context) : status;
}

/* Steps that take the time of a repetition, counted by fewer: a call has costs of its own. Timed is
 * the second of two calls, because the first may begin something that others go on with. */
static kith_status choose_steps(const struct row *row, kith_context *context,
                                kith_simulation *simulation, int64_t *steps)
{
    enum { most_growth = 8 };
    const double wanted = row->options->seconds / repetitions;
    kith_status status;
    int64_t last;
    do {
        last = *steps;
        status = take_steps(context, simulation, last);
        const double begin = cli_clock();
        if (status == KITH_OK)
            status = take_steps(context, simulation, last);
        const double fitting = (double)last * wanted / (cli_clock() - begin);
        const double most = most_growth * (double)last;
        *steps = job_largest(context, (int64_t)(fitting < most ? fitting : most));
    } while (*steps >= 2 * last && status == KITH_OK);
    *steps = *steps > 1 ? *steps : 1;
    return status;
}

/* The first steps measure the work of lists and trees, by which the next ones are divided. GPUs
 * take steps until these exchange as later ones will, as it takes a second to begin NCCL. */
static kith_status take_first_steps(const struct row *row, kith_context *context,
                                    kith_simulation *simulation)
{
    enum { first_steps = 3 };
    const bool is_gpu = row->options->device.kind == KITH_CUDA;
    const double begin = cli_clock();
    kith_status status;
    bool is_early;
    do {
        status = take_steps(context, simulation, first_steps);
        is_early = job_largest(context, cli_clock() - begin < row->options->seconds ? 1 : 0) > 0;
    } while (status == KITH_OK && is_gpu && is_early && !job_exchange_is_settled(context));
    return status;
}

static kith_status time_steps(struct row *row, kith_context *context, kith_simulation *simulation)
{
    int64_t steps = 1;
    double begin;
    kith_status status = take_first_steps(row, context, simulation);
    if (status == KITH_OK)
        status = choose_steps(row, context, simulation, &steps);
    const double waited = job_waited(context), worked = worked_until_now(row, context);
    const double start = cli_clock();
    for (int k = 0; k < repetitions && status == KITH_OK; k++) {
        begin = cli_clock();
        status = take_steps(context, simulation, steps);
        row->seconds[k] = (cli_clock() - begin) / (double)steps;
    }
    row->passage = job_passage(context, &row->why_not_nccl);
    row->share = (job_waited(context) - waited) / (cli_clock() - start);
    const double busy = (worked_until_now(row, context) - worked) / (double)(steps * repetitions);
    row->busy = 1e-9 * (double)job_largest(context, (int64_t)(1e9 * busy));
    return status;
}

static int measure_row(void *argument, kith_context *context)
{
    struct row *row = argument;
    kith_bodies *bodies = NULL;
    kith_law *law = NULL;
    kith_simulation *simulation = NULL;
#ifdef __GLIBC__
    malloc_trim(0); /* of the row before */
#endif
    const int64_t before = resident_bytes();
    kith_status status = make_bodies(row, &bodies);
    if (status == KITH_OK)
        status = make_simulation(row, context, bodies, &law, &simulation);
    if (status == KITH_OK)
        status = time_steps(row, context, simulation);
    if (status == KITH_OK)
        row->bytes = job_largest(context, resident_bytes() - before);
    const int code = status == KITH_OK ? exit_ok : cli_fail(row->options->command);
    kith_simulation_free(simulation);
    kith_law_free(law);
    kith_bodies_free(bodies);
    cli_sort(row->seconds, repetitions);
    return code;
}

static double median_of(const struct row *row)
{
    return row->seconds[repetitions / 2];
}

static void print_heading(void)
{
    printf("solver  scaling  ranks    bodies   ms/step   fastest   slowest   busy ms  speedup"
           "  efficiency  exchange  MB/rank\n");
}

static void print_row(const struct row *row)
{
    printf("%-7s %-7s %6d %9lld %9.4g %9.4g %9.4g %9.4g %8.2f %9.0f %% %7.1f %% %8.1f\n",
           row->subject->solver, row->is_weak ? "weak" : "strong", (int)row->ranks,
           (long long)row->bodies, 1e3 * median_of(row), 1e3 * row->seconds[0],
           1e3 * row->seconds[repetitions - 1], 1e3 * row->busy, row->speedup,
           100 * row->speedup / row->ranks, 100 * row->share, (double)row->bytes / 1e6);
    fflush(stdout);
    if (row->why_not_nccl && job_writes())
        cli_note(row->options->quiet, row->options->command,
                 "%d ranks exchange by %s, not NCCL: %s", (int)row->ranks, row->passage,
                 row->why_not_nccl);
}

static void add_row(const struct row *row, cJSON *rows)
{
    cJSON *object = cJSON_CreateObject();
    cJSON_AddStringToObject(object, "solver", row->subject->solver);
    cJSON_AddStringToObject(object, "scaling", row->is_weak ? "weak" : "strong");
    cJSON_AddStringToObject(object, "precision", row->precision == KITH_F64 ? "double" : "single");
    json_add_count(object, "ranks", row->ranks);
    json_add_count(object, "bodies", row->bodies);
    json_add_real(object, "seconds_per_step", median_of(row));
    json_add_real(object, "fastest", row->seconds[0]);
    json_add_real(object, "slowest", row->seconds[repetitions - 1]);
    json_add_real(object, "busy_seconds", row->busy);
    json_add_real(object, "speedup", row->speedup);
    json_add_real(object, "efficiency", row->speedup / row->ranks);
    json_add_real(object, "exchange_share", row->share);
    if (row->passage)
        cJSON_AddStringToObject(object, "exchange_by", row->passage);
    if (row->why_not_nccl)
        cJSON_AddStringToObject(object, "why_not_nccl", row->why_not_nccl);
    json_add_count(object, "bytes_per_rank", row->bytes);
    cJSON_AddItemToArray(rows, object);
}

/* Work on pairs, in any unit. */
static double work_of(const struct row *row)
{
    const double n = (double)row->bodies;
    return strcmp(row->subject->solver, "direct") == 0 ? n * n : n;
}

/* By 1, 2, 4, ... ranks, and all. The first row is what the others are compared with. */
static int measure_scaling(const struct row *like, int64_t bodies, cJSON *rows)
{
    struct row one = *like;
    for (int32_t ranks = 1, next; ranks <= job_size(); ranks = next) {
        struct row row = *like;
        next = ranks < job_size() && 2 * ranks > job_size() ? job_size() : 2 * ranks;
        row.ranks = ranks;
        row.bodies = bodies_of(&row, bodies);
        const int code =
            job_do_on_first(like->options->command, ranks,
                            cli_device_of_rank(&like->options->chosen), measure_row, &row);
        if (code != exit_ok)
            return code;
        if (ranks == 1)
            one = row;
        row.speedup = median_of(&one) * work_of(&row) / work_of(&one) / median_of(&row);
        if (!like->options->json)
            print_row(&row);
        if (rows)
            add_row(&row, rows);
    }
    return exit_ok;
}

static bool is_wanted(const struct bench_options *options, const char *solver)
{
    for (int32_t k = 0; k < options->name_count; k++)
        if (strcmp(options->names[k], solver) == 0)
            return true;
    return options->name_count == 0;
}

static int measure_subject(const struct bench_options *options, const struct subject *subject,
                           cJSON *rows)
{
    const bool is_gpu = options->device.kind == KITH_CUDA;
    const int64_t usual = options->quick ? (is_gpu ? subject->few_of_gpu : subject->few)
                                         : (is_gpu ? subject->of_gpu : subject->bodies);
    const int32_t counts = options->count_count > 0 ? options->count_count : 1;
    for (int32_t k = 0; k < counts; k++)
        for (int32_t scaling = 0; scaling < (job_size() > 1 ? 2 : 1); scaling++) {
            const struct row like = {
                .options = options,
                .subject = subject,
                .is_weak = scaling == 1,
                .precision = options->precision_count > 0 ? options->precisions[0] : KITH_F64};
            const int code =
                measure_scaling(&like, options->count_count > 0 ? options->counts[k] : usual, rows);
            if (code != exit_ok)
                return code;
        }
    return exit_ok;
}

static int do_nothing(void *argument, kith_context *context)
{
    (void)argument;
    (void)context;
    return exit_ok;
}

/* Before anything is printed: that each rank has its device. */
static int check_devices(const struct bench_options *options)
{
    return job_do_on_first(options->command, job_size(), cli_device_of_rank(&options->chosen),
                           do_nothing, NULL);
}

int command_bench_ranks(int argc, char **argv)
{
    struct bench_options options = {.device = {KITH_CPU, 0}, .chosen.device = {KITH_CPU, 0}};
    bench_parse(&bench_of_ranks, argc, argv, &options);
    if (options.device.kind == KITH_DEVICE_AUTO)
        options.device = options.chosen.device = (kith_device){KITH_CPU, 0};
    if (options.seconds == 0)
        options.seconds = options.quick ? 0.2 : 10;
    int code = check_devices(&options);
    if (code != exit_ok)
        return code;
    if (!options.json)
        machine_print(options.device);
    if (job_size() == 1 && !options.quiet)
        fprintf(stderr, "%s: one process; start it by mpirun to measure several\n", argv[0]);
    cJSON *report = options.json ? cJSON_CreateObject() : NULL;
    cJSON *rows = report ? cJSON_AddArrayToObject(report, "rows") : NULL;
    if (!options.json)
        print_heading();
    for (int32_t k = 0; k < subject_count && code == exit_ok; k++)
        if (is_wanted(&options, subjects[k].solver))
            code = measure_subject(&options, &subjects[k], rows);
    if (code == exit_ok && options.json) {
        json_add_count(report, "ranks", job_size());
        if (job_mpi_version())
            cJSON_AddStringToObject(report, "mpi", job_mpi_version());
        machine_add(report, options.device);
        return json_print(argv[0], report);
    }
    cJSON_Delete(report);
    return code;
}

const struct bench_capability bench_of_ranks = {
    .name = "ranks",
    .size = "bodies",
    .flag = of_ranks,
    .arguments = "[SOLVER...]",
    .row = subject_row,
    .documentation =
        "Measure leapfrog steps by the processes of mpirun or srun, one thread or GPU each: the time of a "
        "step by 1, 2, 4, ... of them and by all, the speedup, the share of the time that rank 0 "
        "waits for others, which is exchange and load imbalance, the processor time of the rank that "
        "works most, without waiting, and the memory of a rank on the host. On GPUs copies to and from the host count as "
        "exchange, and all other time as work.\v"
        "Strong scaling keeps the number of bodies. Weak scaling keeps the work of a rank: bodies "
        "grow with the ranks, of the solver direct with their square root. -n gives the bodies of "
        "one rank; without SOLVER, all are measured.\n\n"
        "Examples:\n"
        "  mpirun -n 8 --bind-to core kith bench ranks\n"
        "  mpirun -n 2 kith bench ranks cutoff -n 500000\n"
        "  mpirun -n 2 kith bench ranks direct fmm --device cuda:all --precision single\n"
        "  mpirun -n 8 kith bench ranks --json > scaling.json",
};
