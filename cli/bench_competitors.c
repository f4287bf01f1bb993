/* The programs that compute forces, kith in its configurations among them. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../bench/plain_forces.h"
#include "bench_forces.h"

static const double softening = 0.01;

/* Bodies enough to tell a program's rate, few enough not to wait for it. */
enum { probe_bodies_of_cpu = 2048, probe_bodies_of_gpu = 65536 };

/* What is measured on a GPU, in each precision. */
static const struct competitor gpu_competitors[] = {
    {.name = "kith", .measured = "host arrays"},
    {.name = "kith",
     .measured = "device arrays",
     .of_device_memory = true,
     .way = gpu_forces_of_arrays},
    {.name = "kith", .measured = "kernels", .of_device_memory = true, .way = gpu_forces_kernels},
    {.name = "GPU Gems 3", .measured = "kernels", .of_device_memory = true, .way = gpu_forces_gems},
};
enum { gpu_competitor_count = sizeof gpu_competitors / sizeof gpu_competitors[0] };

/* A column of the bodies in one precision; none if there is no memory. */
static kith_array column(kith_dtype dtype, int64_t n, int64_t columns, const double *values)
{
    void *memory = calloc((size_t)(n * columns), (size_t)kith_dtype_bytes(dtype));
    if (!memory)
        return kith_array_none();
    for (int64_t k = 0; values && k < n * columns; k++)
        if (dtype == KITH_F32)
            ((float *)memory)[k] = (float)values[k];
        else
            ((double *)memory)[k] = values[k];
    return columns == 1 ? kith_array_vector(memory, dtype, n)
                        : kith_array_matrix(memory, dtype, n, columns);
}

bool forces_system_make(const char *command, int64_t n, struct forces_system *system)
{
    const kith_initial_options options = {.count = n, .seed = 1};
    *system = (struct forces_system){0};
    if (kith_initial_make("uniform-cube", &options, &system->bodies) != KITH_OK) {
        cli_fail(command);
        return false;
    }
    bool complete = true;
    for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++) {
        system->position[dtype] = column(dtype, n, 3, system->bodies->position);
        system->mass[dtype] = column(dtype, n, 1, system->bodies->mass);
        system->acceleration[dtype] = column(dtype, n, 3, NULL);
        complete = complete && system->position[dtype].data && system->mass[dtype].data &&
                   system->acceleration[dtype].data;
    }
    if (!complete)
        cli_fail_with(command, "no memory for %lld bodies", (long long)n);
    return complete;
}

void forces_system_free(struct forces_system *system)
{
    for (kith_dtype dtype = KITH_F64; dtype <= KITH_F32; dtype++) {
        free(system->position[dtype].data);
        free(system->mass[dtype].data);
        free(system->acceleration[dtype].data);
        gpu_forces_free(system->gpu[dtype]);
    }
    kith_bodies_free(system->bodies);
}

/* With the context of kith's first competitor there. */
static bool share_with_gpu(const char *command, const struct competitor *competitor,
                           struct forces_system *system)
{
    const kith_dtype dtype = competitor->precision;
    if (!competitor->of_device_memory || system->gpu[dtype])
        return true;
    const kith_status status =
        gpu_forces_create(competitor->context, system->position[dtype], system->mass[dtype],
                          competitor->law, competitor->method, softening, &system->gpu[dtype]);
    if (status != KITH_OK)
        cli_fail(command);
    return status == KITH_OK;
}

bool forces_system_share(const char *command, const struct competitors *competitors,
                         struct forces_system *system)
{
    const double dt = 1e-5; /* REBOUND's forces are those of its steps */
    for (int64_t k = 0; k < competitors->count; k++)
        if (!share_with_gpu(command, &competitors->all[k], system))
            return false;
    return !competitors->peers || peers_use(competitors->peers, system->bodies, softening, dt);
}

static kith_status compute(const struct competitor *competitor, const struct forces_system *system)
{
    const kith_dtype dtype = competitor->precision;
    if (competitor->context) {
        const kith_forces_options options = {
            .softening = softening, .law = competitor->law, .method = competitor->method};
        const kith_particles particles = {.positions = system->position[dtype],
                                          .columns = {{"m", system->mass[dtype]}}};
        return kith_forces_compute(competitor->context, &options, NULL, &particles,
                                   system->acceleration[dtype], kith_array_none());
    }
    plain_forces(system->bodies->count, system->position[dtype].data, system->mass[dtype].data,
                 softening, system->acceleration[dtype].data);
    return KITH_OK;
}

double forces_work_run(void *state, int64_t calls)
{
    const struct forces_work *work = state;
    const struct competitor *competitor = work->competitor;
    if (competitor->peers)
        return peers_seconds(competitor->peers, competitor->name, competitor->threads, calls);
    double seconds = 0;
    kith_status status = KITH_OK;
    if (competitor->of_device_memory) {
        status = gpu_forces_time(work->system->gpu[competitor->precision], competitor->way, calls,
                                 &seconds);
    } else {
        const double start = cli_clock();
        for (int64_t k = 0; k < calls && status == KITH_OK; k++)
            status = compute(competitor, work->system);
        seconds = cli_clock() - start;
    }
    if (status != KITH_OK)
        cli_fail(work->command);
    return status == KITH_OK ? seconds : -1;
}

/* The competitor's rate by one call after another that warms it up; false after an error. */
static bool probe(const char *command, const struct forces_system *system,
                  struct competitor *competitor)
{
    struct forces_work work = {command, competitor, system};
    double seconds = 0;
    for (int k = 0; k < 2; k++)
        if ((seconds = forces_work_run(&work, 1)) < 0)
            return false;
    const double n = (double)system->bodies->count;
    competitor->rate = n * n / seconds;
    return true;
}

static struct competitor *add(struct competitors *competitors, struct competitor competitor)
{
    struct competitor *added = &competitors->all[competitors->count++];
    *added = competitor;
    return added;
}

static bool open_context(const struct bench_options *options, int32_t threads,
                         struct competitor *competitor)
{
    const kith_context_options chosen = {.device = options->common.device, .threads = threads};
    if (kith_context_create(&chosen, &competitor->context) == KITH_OK)
        return true;
    cli_fail(options->common.command);
    return false;
}

static bool add_kith(const struct bench_options *options, kith_dtype precision, const char *isa,
                     int32_t threads, struct competitors *competitors)
{
    struct competitor *added = add(competitors, (struct competitor){.name = "kith",
                                                                    .version = kith_version(),
                                                                    .precision = precision,
                                                                    .isa = isa,
                                                                    .law = options->law.law,
                                                                    .method = options->method,
                                                                    .threads = threads});
    /* The environment stays as it was: what is told of the machine is for kith without --isa. */
    const char *forced = getenv("KITH_ISA");
    char *before = forced ? strdup(forced) : NULL;
    setenv("KITH_ISA", isa, 1);
    const bool opened = open_context(options, threads, added);
    if (before)
        setenv("KITH_ISA", before, 1);
    else
        unsetenv("KITH_ISA");
    free(before);
    return opened;
}

static bool add_all_kith(const struct bench_options *options, struct competitors *competitors)
{
    for (int32_t p = 0; p < options->precision_count; p++)
        for (int32_t i = 0; i < options->isa_count; i++)
            for (int32_t t = 0; t < options->common.thread_count; t++)
                if (!add_kith(options, options->precisions[p], options->isas[i],
                              options->common.threads[t], competitors))
                    return false;
    return true;
}

/* The GPU Gems kernel has no context of its own, as no other program has. */
static bool add_all_of_gpu(const struct bench_options *options, struct competitors *competitors)
{
    for (int32_t p = 0; p < options->precision_count; p++)
        for (int k = 0; k < gpu_competitor_count; k++) {
            if (options->law.law && gpu_competitors[k].way == gpu_forces_gems)
                continue;
            struct competitor *added = add(competitors, gpu_competitors[k]);
            const bool is_kith = strcmp(added->name, "kith") == 0;
            added->precision = options->precisions[p];
            added->law = options->law.law;
            added->method = options->method;
            added->version = is_kith ? kith_version() : "chapter 31";
            if (is_kith && !open_context(options, 0, added))
                return false;
        }
    return true;
}

/* Both compute in double precision. */
static bool add_others(const struct bench_options *options, struct competitors *competitors)
{
    static const char *const names[] = {"rebound", "pytreegrav"};
    add(competitors, (struct competitor){.name = "plain C loop", .version = "", .threads = 1});
    competitors->peers = peers_start(options->common.command, options->common.python,
                                     bench_peers_forces, options->common.quiet);
    if (!competitors->peers)
        return false;
    for (int k = 0; k < 2; k++) {
        struct competitor peer = {.name = names[k], .threads = 1, .peers = competitors->peers};
        peer.version = peers_version(competitors->peers, names[k]);
        if (!peer.version)
            continue;
        add(competitors, peer);
        /* REBOUND as PyPI has it was built without OpenMP. */
        for (int32_t t = 0; k == 1 && t < options->common.thread_count; t++) {
            peer.threads = options->common.threads[t];
            if (peer.threads > 1)
                add(competitors, peer);
        }
    }
    return true;
}

bool competitors_make(const struct bench_options *options, struct competitors *competitors)
{
    const bool on_gpu = options->common.device.kind == KITH_CUDA;
    /* kith's, one peer by several threads, and three by one. */
    const int64_t kinds = options->precision_count * options->isa_count + 1;
    const int64_t most_on_cpu = kinds * options->common.thread_count + 3;
    const int64_t most = on_gpu ? options->precision_count * gpu_competitor_count : most_on_cpu;
    competitors->all = calloc((size_t)most, sizeof *competitors->all);
    if (!competitors->all) {
        cli_fail_with(options->common.command, "no memory");
        return false;
    }
    if (!(on_gpu ? add_all_of_gpu : add_all_kith)(options, competitors) ||
        (options->common.with_peers && !add_others(options, competitors)))
        return false;

    const int64_t probe_bodies = on_gpu ? probe_bodies_of_gpu : probe_bodies_of_cpu;
    struct forces_system system;
    bool done = forces_system_make(options->common.command, probe_bodies, &system) &&
                forces_system_share(options->common.command, competitors, &system);
    for (int64_t k = 0; k < competitors->count && done; k++)
        done = probe(options->common.command, &system, &competitors->all[k]);
    forces_system_free(&system);
    return done;
}

void competitors_free(struct competitors *competitors)
{
    for (int64_t k = 0; k < competitors->count; k++)
        kith_context_free(competitors->all[k].context);
    free(competitors->all);
    peers_end(competitors->peers);
}
