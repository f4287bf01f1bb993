/* --device: its value, and of auto the device that is estimated to be faster. */

#include "device_choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "job.h"

enum { most_devices = 64 };

static int32_t count_gpus(void)
{
    kith_backend_info info;
    for (int32_t k = 0; kith_backend_describe(k, &info); k++)
        if (strcmp(info.name, "cuda") == 0)
            return info.device_count < most_devices ? info.device_count : most_devices;
    return 0;
}

/* The number of GPUs in a list as "0,2,3"; 0 if it is not one. */
static int32_t parse_list(const char *text, int32_t gpus[most_devices])
{
    for (int32_t count = 0; count < most_devices;) {
        const size_t digits = strspn(text, "0123456789");
        if (digits == 0 || digits > 4)
            return 0;
        gpus[count++] = (int32_t)strtol(text, NULL, 10);
        text += digits;
        if (!*text)
            return count;
        if (*text++ != ',')
            return 0;
    }
    return 0;
}

void cli_parse_device(const char *text, const struct argp_state *state,
                      struct chosen_device *chosen)
{
    static int32_t gpus[most_devices];
    static const struct {
        const char *name;
        kith_device_kind kind;
    } names[] = {{"auto", KITH_DEVICE_AUTO}, {"cpu", KITH_CPU}, {"cuda", KITH_CUDA}};
    int32_t count = 0;
    *chosen = (struct chosen_device){0};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++)
        if (strcmp(text, names[k].name) == 0) {
            chosen->device = (kith_device){names[k].kind, 0};
            return;
        }
    if (strcmp(text, "cuda:all") == 0)
        for (gpus[0] = 0, count = 1; count < count_gpus(); count++)
            gpus[count] = count;
    else if (strncmp(text, "cuda:", 5) == 0)
        count = parse_list(text + 5, gpus);
    if (count == 0)
        cli_usage_error(
            state, "--device is '%s'; give auto, cpu, cuda, cuda:K, cuda:0,1 or cuda:all", text);
    chosen->device = (kith_device){KITH_CUDA, gpus[0]};
    chosen->peers = gpus + 1;
    chosen->peer_count = count - 1;
}

int cli_add_peers(const char *command, const struct chosen_device *chosen, kith_context *context)
{
    const int32_t count = job_is_divided() ? 0 : chosen->peer_count;
    return kith_context_add_peers(context, chosen->peers, count) == KITH_OK ? exit_ok
                                                                            : cli_fail(command);
}

const char *cli_devices_name(const struct chosen_device *chosen, kith_device device)
{
    static char name[5 * most_devices + 8];
    int length = snprintf(name, sizeof name, "%s", cli_device_name(device));
    for (int32_t k = 0; k < chosen->peer_count && !job_is_divided(); k++)
        length +=
            snprintf(name + length, sizeof name - (size_t)length, ",%d", (int)chosen->peers[k]);
    return name;
}

kith_device cli_first_device(void)
{
    kith_backend_info info;
    for (int32_t k = 0; kith_backend_describe(k, &info); k++)
        if (info.device_count > 0)
            return (kith_device){strcmp(info.name, "cpu") == 0 ? KITH_CPU : KITH_CUDA, 0};
    return (kith_device){KITH_CPU, 0};
}

kith_device cli_device_of_rank(const struct chosen_device *chosen)
{
    kith_device device = chosen->device;
    const int32_t k = job_rank_of_machine() % (chosen->peer_count + 1);
    if (k > 0)
        device.index = chosen->peers[k - 1];
    return device;
}

kith_context_options cli_context_to_begin(const struct common_options *common)
{
    kith_context_options options = common->context;
    if (options.device.kind == KITH_DEVICE_AUTO)
        options.device.kind = KITH_CPU;
    if (job_is_divided() && options.device.kind == KITH_CUDA)
        options.device = cli_device_of_rank(&common->chosen);
    return options;
}

/* What --device auto has chosen, until it is printed: an error stays one line. */
static struct {
    char command[64], text[KITH_REASON_BYTES + 64];
} choice;

static void hold_choice(const char *command, const struct common_options *common,
                        kith_device device, const char *reason)
{
    if (common->quiet || common->json)
        return;
    snprintf(choice.command, sizeof choice.command, "%s", command);
    snprintf(choice.text, sizeof choice.text, "device %s: %s", cli_device_name(device), reason);
}

void cli_print_choice(void)
{
    if (*choice.text)
        cli_note(false, choice.command, "%s", choice.text);
    *choice.text = '\0';
}

/* Whether --device auto has a choice: there is a GPU, and one process. */
static bool device_is_open(const struct common_options *common)
{
    return common->context.device.kind == KITH_DEVICE_AUTO && !job_is_divided() &&
           cli_first_device().kind != KITH_CPU;
}

int cli_choose_device(const char *command, const struct common_options *common, kith_work work,
                      kith_context **context)
{
    char reason[KITH_REASON_BYTES];
    kith_device device = {KITH_CPU, 0};
    if (!device_is_open(common))
        return exit_ok;
    work.dtype = common->precision;
    work.threads = kith_context_threads(*context);
    if (kith_device_choose(&work, &device, reason) != KITH_OK)
        return cli_fail(command);
    hold_choice(command, common, device, reason);
    if (device.kind == KITH_CPU)
        return exit_ok;
    kith_context_options options = common->context;
    options.device = device;
    kith_context_free(*context);
    *context = NULL;
    return kith_context_create(&options, context) == KITH_OK ? exit_ok : cli_fail(command);
}

bool cli_fall_back(const char *command, const struct common_options *common, kith_status status,
                   kith_context **context)
{
    if (status != KITH_UNSUPPORTED || common->context.device.kind != KITH_DEVICE_AUTO ||
        job_is_divided() || kith_context_device(*context).kind == KITH_CPU)
        return false;
    hold_choice(command, common, (kith_device){KITH_CPU, 0}, kith_error_message());
    const kith_context_options options = cli_context_to_begin(common);
    kith_context *cpu = NULL;
    if (kith_context_create(&options, &cpu) != KITH_OK)
        return false;
    kith_context_free(*context);
    *context = cpu;
    return true;
}

/* Bodies and systems in the file of a run; none if it cannot be read, which kith_run reports. */
static void count_in_file(const char *path, int64_t *count, int64_t *systems)
{
    kith_trajectory *trajectory = NULL;
    kith_bodies *bodies = NULL;
    if (kith_trajectory_open(path, &trajectory) != KITH_OK)
        return;
    *systems = kith_trajectory_systems(trajectory);
    if (kith_trajectory_read(trajectory, 0, &bodies) == KITH_OK)
        *count = bodies->count;
    kith_bodies_free(bodies);
    kith_trajectory_close(trajectory);
}

/* The bodies of one system that attract the others: under gravity those with mass. */
static int64_t sources_of(const kith_run_options *run, const kith_bodies *bodies, int64_t each)
{
    int64_t sources = 0;
    if (!bodies || !bodies->mass || run->is_ensemble || run->simulation.forces.law)
        return each;
    for (int64_t i = 0; i < bodies->count; i++)
        sources += bodies->mass[i] != 0;
    return sources;
}

/* Of one system. A step of hermite-block moves one body in 25 of a Plummer sphere of 1024; one of
 * ias15 is 16 evaluations, which on a GPU take a hundred times as long as a small step in one
 * kernel. */
static double part_of_step(const kith_run_options *run)
{
    const char *name = run->simulation.integrator ? run->simulation.integrator : "";
    return run->is_ensemble                     ? 1
           : strcmp(name, "hermite-block") == 0 ? 1.0 / 25
           : strcmp(name, "ias15") == 0         ? 16.0 / 100
                                                : 1;
}

int cli_choose_device_of_run(const char *command, const struct common_options *common,
                             const kith_run_options *run, const kith_bodies *bodies,
                             kith_context **context)
{
    int64_t count = bodies ? bodies->count : 0;
    int64_t systems = bodies && run->is_ensemble ? run->systems : 1;
    if (!device_is_open(common))
        return exit_ok;
    if (!bodies && run->output)
        count_in_file(run->output, &count, &systems);
    const kith_forces_options *forces = &run->simulation.forces;
    const int64_t each = systems > 0 ? count / systems : 0;
    kith_work work = {.kind = KITH_WORK_NEAR_STEPS, .units = (double)count};
    if (forces->solver && kith_solver_describe(forces->solver).is_periodic) {
        work.kind = KITH_WORK_IMAGES_STEPS;
    } else if (forces->cutoff == 0) {
        work.kind = KITH_WORK_STEPS;
        work.units = part_of_step(run) * (double)systems *
                     cli_pairs_of_solver(forces->solver, &forces->accuracy, each,
                                         sources_of(run, bodies, each));
    }
    return cli_choose_device(command, common, work, context);
}

/* The solver fmm takes 9.5 ms for 10⁶ bodies on a GPU (docs/tree.md), as long as 2·10¹⁰ pairs do.
 */
double cli_pairs_of_solver(const kith_solver *solver, const kith_accuracy *accuracy,
                           int64_t targets, int64_t sources)
{
    static const double pairs_a_body = 2e4;
    const double each = (double)sources;
    const bool is_exact = solver ? strcmp(kith_solver_describe(solver).name, "direct") == 0
                                 : accuracy->error == 0 && accuracy->theta == 0;
    return (double)targets * (is_exact || each < pairs_a_body ? each : pairs_a_body);
}
