/* The options that benchmarks share. */

#include "bench_options.h"

#include <stdlib.h>
#include <string.h>

#include "json.h"

enum { key_device = 0x7800, key_quick, key_json, key_threads, key_seconds, key_peers, key_python };

static const struct argp_option device_options[] = {
    {"device", key_device, "DEVICE", 0, "auto, cpu, cuda or cuda:K", 0},
    {"quick", key_quick, NULL, 0, "few and small sizes, a fraction of the time", 0},
    {"json", key_json, NULL, 0, "print one JSON object on standard output, nothing else there", 0},
    {"quiet", 'q', NULL, 0, "no notes", 0},
    {0}};

static const struct argp_option time_options[] = {
    {"threads", key_threads, "P", 0, "CPU threads", 0},
    {"seconds", key_seconds, "S", 0, "measure each row for about S seconds", 0},
    {0}};

static const struct argp_option peer_options[] = {
    {"peers", key_peers, NULL, 0,
     "also measure other programs, in turns with kith; ./dev bench installs them", 0},
    {"python", key_python, "PROGRAM", 0,
     "the Python that has them (default: KITH_PYTHON or python3)", 0},
    {0}};

struct bench_common bench_begin(const char *command, cJSON **result)
{
    return (struct bench_common){.command = command,
                                 .device = {KITH_CPU, 0},
                                 .threads = {1},
                                 .thread_count = 1,
                                 .result = result};
}

int bench_open(struct bench_common *common, kith_context **context)
{
    const kith_context_options on = {.device = common->device, .threads = common->threads[0]};
    if (kith_context_create(&on, context) != KITH_OK)
        return cli_fail(common->command);
    common->device = kith_context_device(*context);
    return exit_ok;
}

void bench_begin_children(const struct argp_state *state, int first, int count,
                          struct bench_common *common)
{
    for (int k = first; k < first + count; k++)
        state->child_inputs[k] = common;
}

void bench_for_each_word(char *text, struct argp_state *state,
                         void (*parse)(char *word, struct argp_state *state, void *to), void *to)
{
    char *rest = NULL;
    if (!*text || *text == ',' || text[strlen(text) - 1] == ',' || strstr(text, ",,"))
        cli_usage_error(state, "'%s' is no list; separate values by single commas", text);
    for (char *word = strtok_r(text, ",", &rest); word; word = strtok_r(NULL, ",", &rest))
        parse(word, state, to);
}

static void add_threads(char *word, struct argp_state *state, void *to)
{
    struct bench_common *common = to;
    if (common->thread_count == bench_most_threads)
        cli_usage_error(state, "--threads has more than %d numbers", bench_most_threads);
    common->threads[common->thread_count++] = cli_parse_threads(word, state);
}

static void parse_threads(struct bench_common *common, char *text, struct argp_state *state)
{
    common->thread_count = 0;
    if (common->takes_many_threads)
        bench_for_each_word(text, state, add_threads, common);
    else
        add_threads(text, state, common);
}

/* Where a list of -n goes, and what its numbers may be at most. */
struct counts {
    struct bench_common *common;
    int64_t most;
};

static void add_count(char *word, struct argp_state *state, void *to)
{
    const struct counts *counts = to;
    struct bench_common *common = counts->common;
    const int64_t n = cli_parse_count("-n", word, state);
    if (n < 1 || n > counts->most)
        cli_usage_error(state, "-n is %s; give 1 to %lld", word, (long long)counts->most);
    if (common->count_count == bench_most_numbers)
        cli_usage_error(state, "-n has more than %d numbers", bench_most_numbers);
    common->counts[common->count_count++] = n;
}

void bench_parse_counts(struct bench_common *common, char *text, int64_t most,
                        struct argp_state *state)
{
    struct counts counts = {common, most};
    bench_for_each_word(text, state, add_count, &counts);
    common->counts_given = true;
}

static error_t parse_device(int key, char *argument, struct argp_state *state)
{
    struct bench_common *common = state->input;
    switch (key) {
    case key_device:
        common->device = cli_parse_device(argument, state);
        return 0;
    case key_quick:
        common->quick = true;
        return 0;
    case key_json:
        common->json = true;
        return 0;
    case 'q':
        common->quiet = true;
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_time(int key, char *argument, struct argp_state *state)
{
    struct bench_common *common = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        state->child_inputs[0] = common;
        return 0;
    case key_threads:
        parse_threads(common, argument, state);
        return 0;
    case key_seconds:
        common->seconds = cli_parse_positive("--seconds", argument, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static error_t parse_peers(int key, char *argument, struct argp_state *state)
{
    struct bench_common *common = state->input;
    switch (key) {
    case key_peers:
        common->with_peers = true;
        return 0;
    case key_python:
        common->python = argument;
        return 0;
    case ARGP_KEY_END:
        if (!common->python)
            common->python = getenv("KITH_PYTHON");
        if (!common->python || !*common->python)
            common->python = "python3";
        if (common->with_peers && common->device.kind == KITH_CUDA)
            cli_usage_error(state, "--peers are programs of the CPU; leave out --device");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp bench_device_argp = {device_options, parse_device, NULL, NULL, NULL, NULL, NULL};
static const struct argp_child time_children[] = {{&bench_device_argp, 0, NULL, 0}, {0}};
const struct argp bench_argp = {time_options, parse_time, NULL, NULL, time_children, NULL, NULL};
const struct argp bench_peers_argp = {peer_options, parse_peers, NULL, NULL, NULL, NULL, NULL};

void bench_take_seconds(struct bench_common *common, double seconds)
{
    enum { quicker = 50 };
    if (common->seconds == 0)
        common->seconds = common->quick ? seconds / quicker : seconds;
}

void bench_take_counts(struct bench_common *common, const int64_t *counts, int32_t count)
{
    if (common->counts_given)
        return;
    memcpy(common->counts, counts, (size_t)count * sizeof *counts);
    common->count_count = count;
}

int bench_hand_over(const struct bench_common *common, const char *capability, cJSON *figures)
{
    cJSON_AddStringToObject(figures, "capability", capability);
    cJSON_AddBoolToObject(figures, "quick", common->quick);
    if (common->result) {
        *common->result = figures;
        return exit_ok;
    }
    if (common->json)
        return json_print(common->command, figures);
    cJSON_Delete(figures);
    return exit_ok;
}
