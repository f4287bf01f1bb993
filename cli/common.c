/* What all commands share: options, errors, numbers. */

#include "cli.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/printable.h"
#include "job.h"
#include "options.h"
#include "progress.h"

const struct choices choices_of_devices = {
    "DEVICE", {"auto", "cpu", "cuda", "cuda:K", "cuda:all"}, NULL};
const struct choices choices_of_precisions = {"P", {"single", "double"}, NULL};

kith_dtype cli_parse_precision(const char *text, const struct argp_state *state)
{
    const int64_t k = cli_parse_choice("--precision", text, &choices_of_precisions, state);
    return k == 0 ? KITH_F32 : KITH_F64;
}

static void set_device(void *options, const char *option, const char *text,
                       const struct argp_state *state)
{
    struct common_options *common = options;
    (void)option;
    cli_parse_device(text, state, &common->chosen);
    common->context.device = common->chosen.device;
}

static void set_precision(void *options, const char *option, const char *text,
                          const struct argp_state *state)
{
    struct common_options *common = options;
    (void)option;
    common->precision = cli_parse_precision(text, state);
}

#define AT(member) OPTION_AT(struct common_options, member)
static const struct option_row option_rows[] = {
    {"device", NULL,
     "auto, cpu, cuda, cuda:K, several GPUs as cuda:0,1, or all by cuda:all (default: auto, by "
     "the size of the problem)",
     .choices = &choices_of_devices, .set = set_device},
    {"threads", "N", "CPU threads (default: one per core)", AT(context.threads), .least = 1,
     .most = cli_most_threads},
    {"precision", NULL, "single or double (default: double)", .choices = &choices_of_precisions,
     .set = set_precision},
    {"json", NULL, "print one JSON object on standard output, nothing else there", AT(json)},
    {"quiet", NULL, "no progress, notes or summary", AT(quiet), .letter = 'q'},
    {0}};

const struct parser common_parser = {.rows = option_rows};

/* "COMMAND: KIND…" on one line of stderr, escaped: what it quotes may hold anything. No message
 * needs memory, which may be what is missing. */
__attribute__((format(printf, 3, 0))) static void say(const char *command, const char *kind,
                                                      const char *format, va_list arguments)
{
    char text[4096 + 1024], printable[2 * sizeof text]; /* a path and a sentence */
    const int length = snprintf(text, sizeof text, "%.100s: %s", command, kind);
    vsnprintf(text + length, sizeof text - (size_t)length, format, arguments);
    make_printable(text, printable, sizeof printable);
    fprintf(stderr, "%s\n", printable);
}

_Noreturn void cli_usage_error(const struct argp_state *state, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(state->name, "", format, arguments);
    va_end(arguments);
    exit(exit_usage);
}

char *cli_copy(const char *text, const struct argp_state *state)
{
    char *copy = strdup(text);
    if (!copy)
        exit(cli_fail_with(state->name, "no memory for the command line"));
    return copy;
}

void *cli_allocate(const char *command, const char *what, int64_t count, int64_t bytes_each)
{
    const double bytes = (double)count * (double)bytes_each;
    const int64_t available = kith_memory_available();
    void *memory =
        bytes <= (double)available ? calloc((size_t)count + 1, (size_t)bytes_each) : NULL;
    if (!memory)
        cli_fail_with(command, "%s: %.0f bytes are needed and %lld are available", what, bytes,
                      (long long)available);
    return memory;
}

/* The library's names of arguments where the command's are others. */
static const struct {
    const char *name, *option;
    bool begins; /* only where the message begins so: files have such names, too */
} names[] = {{"count is ", "--number is ", true},
             {"gravitational_constant is ", "--g is ", true},
             {"memory_limit is ", "--memory is ", false},
             {"absolute_error is ", "--absolute-error is ", false},
             {" of sources.", " of ", false},
             {" of rows.", " of ", false}};

int cli_fail(const char *command)
{
    if (job_failed_elsewhere())
        return exit_failed;
    const char *message = kith_error_message();
    const char *begin = NULL, *option = NULL, *end = message;
    for (size_t k = 0; !option && k < sizeof names / sizeof names[0]; k++) {
        begin = strstr(message, names[k].name);
        if (begin && (!names[k].begins || begin == message)) {
            option = names[k].option;
            end = begin + strlen(names[k].name);
        }
    }
    cli_fail_with(command, "%.*s%s%s", option ? (int)(begin - message) : 0, message,
                  option ? option : "", end);
    return progress_exit_code();
}

int cli_fail_with(const char *command, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    say(command, "", format, arguments);
    va_end(arguments);
    return exit_failed;
}

static int compare(const void *first, const void *second)
{
    const double a = *(const double *)first, b = *(const double *)second;
    return (a > b) - (a < b);
}

double cli_sort(double *numbers, int64_t count)
{
    qsort(numbers, (size_t)count, sizeof *numbers, compare);
    return count > 0 ? 0.5 * (numbers[(count - 1) / 2] + numbers[count / 2]) : 0;
}

void *cli_in_precision(const double *values, int64_t count, kith_dtype dtype, bool *failed)
{
    if (!values && count > 0)
        return NULL;
    void *memory = calloc((size_t)count + 1, (size_t)kith_dtype_bytes(dtype));
    *failed |= !memory;
    for (int64_t k = 0; memory && k < count; k++)
        if (dtype == KITH_F32)
            ((float *)memory)[k] = (float)values[k];
        else
            ((double *)memory)[k] = values[k];
    return memory;
}

double cli_clock(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void cli_note(bool quiet, const char *command, const char *format, ...)
{
    if (quiet)
        return;
    va_list arguments;
    va_start(arguments, format);
    say(command, "note: ", format, arguments);
    va_end(arguments);
}

void cli_print_wrote(FILE *stream, const char *path)
{
    char printable[2 * 4096];
    make_printable(path, printable, sizeof printable);
    fprintf(stream, "wrote %s\n", printable);
}

bool cli_read_real(const char *text, double *value)
{
    char *end = NULL;
    *value = strtod(text, &end);
    return end != text && !*end && isfinite(*value);
}

double cli_parse_real(const char *option, const char *text, const struct argp_state *state)
{
    double value = 0;
    if (!cli_read_real(text, &value))
        cli_usage_error(state, "%s is '%s'; give a finite number", option, text);
    return value;
}

double cli_parse_positive(const char *option, const char *text, const struct argp_state *state)
{
    const double value = cli_parse_real(option, text, state);
    if (!(value > 0))
        cli_usage_error(state, "%s is %s; give a number greater than 0", option, text);
    return value;
}

/* Of "1e6" and "2.5e3"; false of "1.5" and "1e99". A long double has all digits of 64 bits; where
 * it is a double, a number that has more than its 53 may be rounded, and is refused. */
static bool is_whole_decimal(const char *text, int64_t *value)
{
    char *end = NULL;
    if (!*text || text[strspn(text, "0123456789+-.eE")])
        return false;
    const long double number = strtold(text, &end);
    const long double most = LDBL_MANT_DIG < 63 ? 0x1p53L : 0x1p63L;
    if (*end || !(fabsl(number) < most) || number != floorl(number))
        return false;
    *value = (int64_t)number;
    return true;
}

bool cli_read_integer(const char *text, int64_t *value)
{
    char *end = NULL;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return (end != text && !*end && errno != ERANGE) || is_whole_decimal(text, value);
}

int64_t cli_parse_integer(const char *option, const char *text, const struct argp_state *state)
{
    int64_t value = 0;
    if (!cli_read_integer(text, &value))
        cli_usage_error(state, "%s is '%s'; give an integer, for example 1000000 or 1e6", option,
                        text);
    return value;
}

int64_t cli_parse_count(const char *option, const char *text, const struct argp_state *state)
{
    const int64_t value = cli_parse_integer(option, text, state);
    if (value < 0)
        cli_usage_error(state, "%s is %s; give a whole number of at least 0", option, text);
    return value;
}

int64_t cli_parse_range(const char *option, const char *text, int64_t least, int64_t most,
                        const struct argp_state *state)
{
    const int64_t value = cli_parse_integer(option, text, state);
    if (value < least && most == INT64_MAX)
        cli_usage_error(state, "%s is %s; give at least %lld", option, text, (long long)least);
    if (value < least || value > most)
        cli_usage_error(state, "%s is %s; give %lld to %lld", option, text, (long long)least,
                        (long long)most);
    return value;
}

int64_t cli_parse_bytes(const char *option, const char *text, const struct argp_state *state)
{
    static const char units[] = "KMGT";
    char *end = NULL;
    double bytes = strtod(text, &end);
    const char *unit = *end ? strchr(units, *end) : NULL;
    for (const char *k = units; unit && k <= unit; k++)
        bytes *= 1024;
    if (end == text || (*end && (!unit || end[1])) || !(bytes > 0 && bytes < 0x1p62))
        cli_usage_error(state, "%s is '%s'; give bytes, for example 2000000 or 2G", option, text);
    return (int64_t)bytes;
}

void cli_parse_frames(const char *text, int64_t *first, int64_t *last,
                      const struct argp_state *state)
{
    *first = 1;
    *last = 0;
    if (strcmp(text, "all") == 0)
        return;
    char *copy = cli_copy(text, state), *colon = strchr(copy, ':');
    if (!colon)
        cli_usage_error(state, "--frames is '%s'; give A:B, for example 1:100, or all", text);
    *colon = 0;
    if ((*copy && !cli_read_integer(copy, first)) ||
        (colon[1] && !cli_read_integer(colon + 1, last)) || *first < 1 ||
        (colon[1] && *last < *first))
        cli_usage_error(state, "--frames is '%s'; give A:B with whole numbers 1 <= A <= B", text);
    free(copy);
}

/* Prints words from text, breaking lines before the screen's edge; argp counts bytes, so do we. */
static void print_wrapped(FILE *stream, const char *text, int indent)
{
    enum { screen = 78 };
    int column = indent;
    while (*text) {
        const int length = (int)strcspn(text, " ");
        if (column > indent && column + 1 + length > screen) {
            fprintf(stream, "\n%*s", indent, "");
            column = indent;
        }
        column += fprintf(stream, "%s%.*s", column > indent ? " " : "", length, text);
        text += length + (text[length] == ' ');
    }
}

char *cli_join_help(char *first, char *second)
{
    char *both = NULL;
    if (!first || !second || asprintf(&both, "%s\n\n%s", first, second) < 0)
        both = NULL;
    free(second);
    if (!both)
        return first;
    free(first);
    return both;
}

char *cli_help_table(const char *title, table_row *row)
{
    enum { name_width = 19, indent = name_width + 3 };
    char *text = NULL;
    size_t bytes = 0;
    FILE *stream = open_memstream(&text, &bytes);
    if (!stream)
        return NULL;
    fprintf(stream, "%s", title);
    const char *name = NULL, *description = NULL;
    for (int64_t k = 0; row(k, &name, &description); k++) {
        if ((int)strlen(name) > name_width)
            fprintf(stream, "\n  %s\n%*s", name, indent, "");
        else
            fprintf(stream, "\n  %-*s ", name_width, name);
        print_wrapped(stream, description, indent);
    }
    fclose(stream);
    return text;
}

const char *cli_device_name(kith_device device)
{
    static char name[32];
    if (device.kind == KITH_CPU)
        return "cpu";
    snprintf(name, sizeof name, "cuda:%d", (int)device.index);
    return name;
}

const char *cli_precision_name(kith_dtype precision)
{
    return precision == KITH_F32 ? "single" : "double";
}
