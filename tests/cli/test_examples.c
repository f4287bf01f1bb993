/* The examples of every page of help work as they are printed, pasted into a shell in an empty
 * folder. */

#include "testing.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program.h"

static const char *const pages[] = {
    "--help",         "make --help",         "run --help",         "plot --help",
    "forces --help",  "matrix --help",       "pairs --help",       "sum --help",
    "orbits --help",  "collisions --help",   "bench --help",       "multiply --help",
    "convert --help", "bench forces --help", "tune --help",        "bench matrix --help",
    "info --help",    "bench sparse --help", "bench pairs --help", "bench collisions --help",
    "view --help",    "help --help",         "help units",         "help formats",
    "help laws",      "help accuracy",       "help devices",       "help formulas",
    "megno --help"};
enum { page_count = sizeof pages / sizeof pages[0] };

/* Only where there is one. */
static bool has_gpu(void)
{
    return strstr(program_run("info --json")->out, "cuda:0") != NULL;
}

/* Benchmarks run for a moment, whatever the example's numbers; a view ends on request;
 * films are short, and made where ffmpeg is. */
static const char *shortened(const char *line)
{
    if (strncmp(line, "kith view", 9) == 0)
        return " & sleep 0.5; kill $!; wait $! || [ $? -eq 143 ]";
    if (strstr(line, "--what film"))
        return " --seconds 0.1 || [ -z \"$(command -v ffmpeg)\" ]";
    const bool measures =
        strncmp(line, "kith bench", 10) == 0 || strncmp(line, "kith tune", 9) == 0;
    if (!measures || strstr(line, "--forget"))
        return "";
    return strstr(line, "kith bench") ? " --quick --seconds 0.0005" : " --quick";
}

/* A new folder, with what the examples call kith in ./.bin, and a cache of its own. */
static void begin_script(FILE *script, const char *folder)
{
    fprintf(script,
            "set -e\nmkdir '%s'\ncd '%s'\nmkdir .bin\nln -s \"$KITH_PROGRAM\" .bin/kith\n"
            "PATH=$PWD/.bin:$PATH XDG_CACHE_HOME=$PWD/.cache\nexport PATH XDG_CACHE_HOME\n",
            folder, folder);
}

/* Writes the lines below each heading that ends in "xample:" or "xamples:" as a script; gives how
 * many. */
static int write_script(FILE *script, const char *help, bool gpu)
{
    int count = 0;
    bool is_example = false;
    for (const char *line = help; *line;) {
        const int length = (int)strcspn(line, "\n");
        char text[256];
        snprintf(text, sizeof text, "%.*s", length, line);
        if (is_example && strncmp(text, "  ", 2) != 0)
            is_example = false;
        if (is_example && (gpu || !strstr(text, "cuda"))) {
            fprintf(script, "%s%s\n", text + 2, shortened(text + 2));
            count++;
        }
        if (strstr(text, "xample:") || strstr(text, "xamples:"))
            is_example = true;
        line += length + (line[length] == '\n');
    }
    return count;
}

static void assert_examples_work(const char *page, int number, bool gpu)
{
    char name[32], folder[32], run[512];
    snprintf(name, sizeof name, "script%d", number);
    snprintf(folder, sizeof folder, "folder%d", number);
    snprintf(run, sizeof run, "sh '%s' > '%s.out' 2> '%s.err' < /dev/null", program_file(name),
             program_file(name), program_file(name));
    char *help = strdup(program_run("%s", page)->out);
    FILE *script = fopen(program_file(name), "w");
    assert_non_null(script);
    begin_script(script, program_file(folder));
    const int count = write_script(script, help, gpu);
    fclose(script);
    free(help);
    if (count == 0)
        fail_msg("kith %s has no examples", page);
    const int status = system(run);
    if (status != 0) {
        snprintf(name, sizeof name, "script%d.err", number);
        char *said = program_read(name);
        fail_msg("an example of kith %s fails: %s", page, said ? said : "");
    }
}

static void test_every_example_works_when_pasted(void **state)
{
    (void)state;
    const bool gpu = has_gpu();
    for (int k = 0; k < page_count; k++)
        assert_examples_work(pages[k], k, gpu);
}

static void assert_fits(const char *page)
{
    bool is_example = false;
    for (const char *line = program_run("%s", page)->out; *line;) {
        const int length = (int)strcspn(line, "\n");
        int columns = 0;
        for (int i = 0; i < length; i++)
            columns += ((unsigned char)line[i] & 0xc0) != 0x80;
        if (columns > 80)
            fail_msg("kith %s has %d columns: %.*s", page, columns, length, line);
        /* A long example would go on in a line that does not begin with blanks. */
        if (is_example && length > 0 && line[0] != ' ')
            fail_msg("kith %s breaks an example, or has no empty line after the last: %.*s", page,
                     length, line);
        if (length > 0 && line[length - 1] == ' ')
            fail_msg("kith %s has a line that ends in a blank: %.*s", page, length, line);
        is_example = length > 7 && strncmp(line, "  kith ", 7) == 0;
        line += length + (line[length] == '\n');
    }
}

static void test_every_page_of_help_fits_eighty_columns(void **state)
{
    (void)state;
    for (int k = 0; k < page_count; k++)
        assert_fits(pages[k]);
}

static bool is_a_page(const char *page)
{
    for (int k = 0; k < page_count; k++)
        if (strcmp(pages[k], page) == 0)
            return true;
    return false;
}

/* Of the names below a heading of kith --help each has a page. */
static void assert_listed(const char *heading, bool is_topic)
{
    const char *line = strstr(program_run("--help")->out, heading);
    assert_non_null(line);
    for (line = strchr(line, '\n') + 1; strncmp(line, "  ", 2) == 0;
         line = strchr(line, '\n') + 1) {
        char name[32], page[64];
        snprintf(name, sizeof name, "%.*s", (int)strcspn(line + 2, " "), line + 2);
        snprintf(page, sizeof page, is_topic ? "help %s" : "%s --help", name);
        if (!is_a_page(page))
            fail_msg("kith %s is not tried here", page);
    }
}

static void test_every_command_and_topic_is_tried(void **state)
{
    (void)state;
    assert_listed("Commands:\n", false);
    assert_listed("Topics:\n", true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_command_and_topic_is_tried),
        cmocka_unit_test(test_every_example_works_when_pasted),
        cmocka_unit_test(test_every_page_of_help_fits_eighty_columns),
    };
    return cmocka_run_group_tests_name("examples", tests, NULL, NULL);
}
