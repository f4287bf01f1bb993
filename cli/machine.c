#include "machine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "json.h"

#if defined(__clang__)
#define COMPILER __VERSION__ /* begins with its name */
#else
#define COMPILER "GCC " __VERSION__
#endif

/* The processor's name as Linux reports it, or the kind of machine. */
static const char *processor(void)
{
    static char name[128];
    FILE *file = fopen("/proc/cpuinfo", "r");
    char line[256];
    while (file && !name[0] && fgets(line, sizeof line, file)) {
        const char *value = strstr(line, ": ");
        if (strncmp(line, "model name", 10) == 0 && value)
            snprintf(name, sizeof name, "%.*s", (int)strcspn(value + 2, "\n"), value + 2);
    }
    if (file)
        fclose(file);
    struct utsname system;
    if (!name[0] && uname(&system) == 0)
        snprintf(name, sizeof name, "%s", system.machine);
    return name;
}

static void add_system(cJSON *machine)
{
    char text[256];
    struct utsname system;
    if (uname(&system) == 0) {
        snprintf(text, sizeof text, "%.60s %.60s, %.30s", system.sysname, system.release,
                 system.machine);
        cJSON_AddStringToObject(machine, "system", text);
    }
    const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
    if (pages > 0 && bytes > 0)
        json_add_count(machine, "memory_bytes", (int64_t)pages * bytes);
    const time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc) && strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &utc) > 0)
        cJSON_AddStringToObject(machine, "time", text);
}

/* The one that kith takes on this processor, or KITH_ISA. */
static void add_instruction_set(cJSON *machine)
{
    const kith_context_options cpu = {.device = {KITH_CPU, 0}};
    kith_context *context = NULL;
    if (kith_context_create(&cpu, &context) == KITH_OK)
        cJSON_AddStringToObject(machine, "instruction_set", kith_context_isa(context));
    kith_context_free(context);
}

static long cores(void)
{
    return sysconf(_SC_NPROCESSORS_ONLN);
}

void machine_print(kith_device device)
{
    kith_device_info gpu;
    printf("kith %s, compiled by %s\n%s, %ld core%s\n", kith_version(), COMPILER, processor(),
           cores(), cores() == 1 ? "" : "s");
    if (kith_device_describe(device, &gpu))
        printf("%s: %s, %s, %d multiprocessors\n", cli_device_name(device), gpu.name,
               gpu.architecture, (int)gpu.multiprocessors);
}

void machine_add(cJSON *object, kith_device device)
{
    kith_device_info gpu;
    cJSON *machine = cJSON_AddObjectToObject(object, "machine");
    cJSON_AddStringToObject(machine, "version", kith_version());
    cJSON_AddStringToObject(machine, "compiler", COMPILER);
    cJSON_AddStringToObject(machine, "processor", processor());
    json_add_count(machine, "cores", cores());
    add_instruction_set(machine);
    add_system(machine);
    cJSON_AddStringToObject(machine, "device", cli_device_name(device));
    const kith_device first = {KITH_CUDA, 0};
    if (!kith_device_describe(device.kind == KITH_CUDA ? device : first, &gpu))
        return;
    cJSON_AddStringToObject(machine, "gpu", gpu.name);
    cJSON_AddStringToObject(machine, "architecture", gpu.architecture);
    json_add_count(machine, "multiprocessors", gpu.multiprocessors);
}

double machine_work(void)
{
    /* proc(5): the idle times are the fourth and the fifth. */
    enum { user, niced, system, idle, waiting, interrupts, soft_interrupts, stolen, kinds };
    long long ticks[kinds] = {0};
    FILE *file = fopen("/proc/stat", "r");
    const int read =
        file ? fscanf(file, "cpu %lld %lld %lld %lld %lld %lld %lld %lld", &ticks[0], &ticks[1],
                      &ticks[2], &ticks[3], &ticks[4], &ticks[5], &ticks[6], &ticks[7])
             : 0;
    if (file)
        fclose(file);
    if (read != kinds)
        return NAN;
    const long long work = ticks[user] + ticks[niced] + ticks[system] + ticks[interrupts] +
                           ticks[soft_interrupts] + ticks[stolen];
    return (double)work / (double)sysconf(_SC_CLK_TCK);
}
