/* soak SECONDS [THREADS] [cpu|cuda]: calls of all public functions in random order from several
 * concurrent threads, each with a context of its own. Every result must have the bits of the first,
 * after the first minute (or the first quarter of a shorter time) the memory must not grow, and at
 * the end nothing of a GPU must be left. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "device_faults.h"
#include "scenarios.h"

enum { most_threads = 64, most_scenarios = 64, calls_with_a_context = 100, context_threads = 2 };

/* Growth that the allocator's arenas may show when threads meet in another order; that of a GPU's
 * memory, of which each context has as much as its largest call so far; and that of the host's
 * next to it, where the driver keeps what it likes. */
static const double most_growth = 1.05, most_growth_of_device = 1.5, most_growth_of_driver = 1.25,
                    most_growth_bytes = 8 << 20;

static kith_context_options of_contexts = {.device = {KITH_CPU, 0}, .threads = context_threads};
static struct scenario all[most_scenarios];
static int count;
static uint64_t expected[most_scenarios];
static atomic_bool ended, failed;
static atomic_llong calls;

struct worker {
    pthread_t thread;
    unsigned seed;
    char folder[32];
};

static void collect(const struct scenario *scenarios)
{
    for (; scenarios->name && count < most_scenarios; scenarios++)
        all[count++] = *scenarios;
}

static void complain(const struct scenario *scenario, kith_status status)
{
    fprintf(stderr, "soak: %s: %s\n", scenario->name,
            status == KITH_OK ? "other bits than the first time" : kith_error_message());
    atomic_store(&failed, true);
    atomic_store(&ended, true);
}

/* Many calls with one context. */
static void use_context(struct worker *worker)
{
    struct call call = {.folder = worker->folder};
    kith_status status = kith_context_create(&of_contexts, &call.context);
    if (status != KITH_OK)
        complain(&(struct scenario){.name = "context"}, status);
    for (int k = 0; k < calls_with_a_context && !atomic_load(&ended); k++) {
        const int chosen = rand_r(&worker->seed) % count;
        call.digest = 0xcbf29ce484222325u;
        status = all[chosen].run(&call);
        atomic_fetch_add(&calls, 1);
        if (status != KITH_OK || call.digest != expected[chosen])
            complain(&all[chosen], status);
    }
    kith_context_free(call.context);
}

static void *work(void *argument)
{
    while (!atomic_load(&ended))
        use_context(argument);
    return NULL;
}

static double resident_bytes(void)
{
    long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*d %lld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

/* Memory of one kind: now, at most in the beginning, and at most. */
struct watched {
    double now, before, most;
};

static void watch_bytes(struct watched *watched, double bytes, bool settled)
{
    watched->now = bytes;
    if (!settled && bytes > watched->before)
        watched->before = bytes;
    if (bytes > watched->most)
        watched->most = bytes;
}

static void print_watched(const char *what, const struct watched *watched)
{
    printf("  %s %.1f MB, at most %.1f, in the beginning %.1f", what, watched->now / 1e6,
           watched->most / 1e6, watched->before / 1e6);
}

/* Checks the memory each second; returns whether it kept to what it was. */
static bool watch(int seconds)
{
    const int settled = seconds >= 240 ? 60 : seconds / 4;
    const bool is_gpu = of_contexts.device.kind == KITH_CUDA;
    const double growth = is_gpu ? most_growth_of_driver : most_growth;
    struct watched resident = {0}, device = {0};
    for (int second = 1; second <= seconds && !atomic_load(&ended); second++) {
        sleep(1);
        watch_bytes(&resident, resident_bytes(), second > settled);
        watch_bytes(&device, (double)device_bytes(), second > settled);
        if (second % 60 != 0 && second != seconds)
            continue;
        printf("%5d s  %9lld calls", second, (long long)atomic_load(&calls));
        print_watched("host", &resident);
        if (is_gpu)
            print_watched("device and page-locked", &device);
        printf("\n");
        fflush(stdout);
    }
    return resident.most <= resident.before * growth + most_growth_bytes &&
           device.most <= device.before * most_growth_of_device + most_growth_bytes;
}

static bool remember_results(const char *folder)
{
    for (int k = 0; k < count; k++)
        if (scenario_run(&all[k], &of_contexts, folder, &expected[k]) != KITH_OK) {
            complain(&all[k], KITH_INTERNAL_ERROR);
            return false;
        }
    return true;
}

static bool choose_device(const char *name)
{
    collect(scenarios_of_computing);
    collect(scenarios_of_files);
    if (strcmp(name, "cpu") == 0)
        return true;
#ifdef KITH_HAS_CUDA
    kith_device_info info;
    collect(scenarios_on_device);
    of_contexts.device = (kith_device){KITH_CUDA, 0};
    return strcmp(name, "cuda") == 0 && kith_device_describe(of_contexts.device, &info);
#else
    return false;
#endif
}

int main(int argc, char **argv)
{
    const int seconds = argc > 1 ? atoi(argv[1]) : 60, threads = argc > 2 ? atoi(argv[2]) : 8;
    static struct worker workers[most_threads];
    const char *device = argc > 3 ? argv[3] : "cpu";
    if (seconds < 1 || threads < 1 || threads > most_threads || !choose_device(device)) {
        fprintf(stderr,
                "soak SECONDS [THREADS] [cpu|cuda]: at least a second, at most %d threads, and "
                "cuda only where there is one\n",
                most_threads);
        return 2;
    }
    setenv("KITH_TUNING", "off", 1);
    for (int k = 0; k < threads; k++) {
        workers[k].seed = (unsigned)k + 1;
        strcpy(workers[k].folder, "/tmp/kith-soak-XXXXXX");
        if (!mkdtemp(workers[k].folder)) {
            perror(workers[k].folder);
            return 1;
        }
    }
    bool steady = false;
    if (remember_results(workers[0].folder)) {
        for (int k = 0; k < threads; k++)
            if (pthread_create(&workers[k].thread, NULL, work, &workers[k]) != 0)
                abort();
        steady = watch(seconds);
        atomic_store(&ended, true);
        for (int k = 0; k < threads; k++)
            pthread_join(workers[k].thread, NULL);
    }
    for (int k = 0; k < threads; k++)
        rmdir(workers[k].folder);
    if (!steady && !atomic_load(&failed))
        fprintf(stderr, "soak: the memory grew\n");
    const int64_t left = device_objects();
    if (left > 0)
        fprintf(stderr, "soak: %lld things of the device are left\n", (long long)left);
    return steady && left == 0 && !atomic_load(&failed) ? 0 : 1;
}
