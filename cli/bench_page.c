/* The page of kith bench: machine, pictures and tables in one HTML file. */

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench_all.h"
#include "bench_chart.h"
#include "cli.h"
#include "streams.h"

static const char style[] =
    "<style>\n"
    ":root{color-scheme:light dark;--line:#8884;--soft:#777}\n"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}\n"
    "h1{margin-bottom:0}h2{margin-top:2.5rem;border-bottom:1px solid var(--line)}\n"
    "h3{margin:1.6rem 0 .3rem;font-size:1rem}h3 small{font-weight:normal;color:var(--soft)}\n"
    "table{border-collapse:collapse;font-variant-numeric:tabular-nums;font-size:13px}\n"
    "th,td{padding:.15rem .7rem;text-align:right;border-bottom:1px solid var(--line)}\n"
    "th{font-weight:600;vertical-align:bottom}th:first-child,td:first-child{text-align:left}\n"
    "td{white-space:nowrap}.machine td{text-align:left}.wide{overflow-x:auto}summary{cursor:pointer}\n"
    "svg{width:100%;max-width:46rem;height:auto;display:block}\n"
    "svg text{font:11px system-ui,sans-serif;fill:currentColor}\n"
    "svg .grid{stroke:currentColor;stroke-opacity:.15}\n"
    "p,footer{color:var(--soft)}\n"
    "</style>\n";

/* The rows of the machine's table: a key of the JSON object, and what it is. */
static const struct {
    const char *key, *name;
} machine_rows[] = {
    {"processor", "Processor"}, {"cores", "Cores"},       {"instruction_set", "Instruction set"},
    {"memory_bytes", "Memory"}, {"gpu", "GPU"},           {"architecture", "GPU architecture"},
    {"system", "System"},       {"compiler", "Compiler"}, {"version", "kith"},
    {"device", "Measured on"},  {"time", "Measured at"}};

static void write_machine(FILE *stream, const cJSON *machine)
{
    fprintf(stream, "<table class=\"machine\">\n");
    for (size_t k = 0; k < sizeof machine_rows / sizeof machine_rows[0]; k++) {
        const cJSON *item = cJSON_GetObjectItem(machine, machine_rows[k].key);
        if (!item)
            continue;
        fprintf(stream, "<tr><td>%s</td><td>", machine_rows[k].name);
        if (cJSON_IsString(item))
            bench_write_escaped(stream, item->valuestring);
        else if (strcmp(machine_rows[k].key, "memory_bytes") == 0)
            fprintf(stream, "%.1f GiB", item->valuedouble / (1 << 30));
        else
            fprintf(stream, "%.0f", item->valuedouble);
        fprintf(stream, "</td></tr>\n");
    }
    fprintf(stream, "</table>\n");
}

static const struct figure *figure_at(const struct figure *figures, int64_t count, int64_t row,
                                      int64_t series)
{
    for (int64_t k = 0; k < count; k++)
        if (figures[k].row_place == row && figures[k].series_place == series)
            return &figures[k];
    return NULL;
}

static void write_cells(FILE *stream, const struct figure *figures, int64_t count, int64_t row,
                        int64_t series)
{
    for (int64_t s = 0; s < series; s++) {
        const struct figure *figure = figure_at(figures, count, row, s);
        fprintf(stream, "<td>%s</td>", figure ? figure_text(figure->rate) : "");
    }
    fprintf(stream, "</tr>\n");
}

/* A row a size or name, a column a series. */
static void write_table(FILE *stream, const struct figure *figures, int64_t count)
{
    int64_t series = 0, rows = 0;
    fprintf(stream, "<details><summary>Table</summary><div class=\"wide\"><table>\n<tr><th></th>");
    for (int64_t k = 0; k < count; k++)
        if (figures[k].series_place == series) {
            fprintf(stream, "<th>");
            bench_write_escaped(stream, figures[k].series);
            fprintf(stream, "</th>");
            series++;
        }
    fprintf(stream, "</tr>\n");
    for (int64_t k = 0; k < count; k++)
        if (figures[k].row_place == rows) {
            fprintf(stream, "<tr><td>");
            bench_write_escaped(stream,
                                *figures[k].what ? figures[k].what : figure_size(figures[k].size));
            fprintf(stream, "</td>");
            write_cells(stream, figures, count, rows++, series);
        }
    fprintf(stream, "</table></div></details>\n");
}

/* What the sizes of a capability count. */
static const char *size_name(const char *capability)
{
    return strcmp(capability, "forces") == 0       ? "bodies"
           : strcmp(capability, "collisions") == 0 ? "beads"
           : strcmp(capability, "sparse") == 0     ? ""
                                                   : "particles";
}

static void write_panels(FILE *stream, const struct figures *figures)
{
    for (int64_t begin = 0, end = 0; begin < figures->count; begin = end) {
        const struct figure *first = &figures->at[begin];
        for (end = begin;
             end < figures->count && strcmp(first->panel, figures->at[end].panel) == 0;)
            end++;
        if (begin == 0 || strcmp(first->capability, first[-1].capability) != 0)
            fprintf(stream, "<h2>%c%s</h2>\n", first->capability[0] - 32, first->capability + 1);
        const char *against = size_name(first->capability);
        fprintf(stream, "<h3>");
        bench_write_escaped(stream, first->panel);
        fprintf(stream, " <small>%s%s%s</small></h3>\n", first->unit,
                *against && !*first->what ? " against " : "", *first->what ? "" : against);
        bench_chart_write(stream, first, end - begin);
        write_table(stream, first, end - begin);
    }
}

static void write_page(FILE *stream, const cJSON *report, const struct figures *figures)
{
    fprintf(stream,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width\">\n"
            "<title>kith bench</title>\n%s</head>\n<body>\n<h1>kith bench</h1>\n"
            "<p>How fast this machine computes with pairs of particles. The more, the faster.%s"
            "</p>\n",
            style,
            cJSON_IsTrue(cJSON_GetObjectItem(report, "quick"))
                ? " Measured with --quick: a glance, not to be quoted."
                : "");
    write_machine(stream, cJSON_GetObjectItem(report, "machine"));
    write_panels(stream, figures);
    fprintf(stream, "<footer><p>An interaction is one of the N·N pairs of a force evaluation. "
                    "Made by kith bench; kith bench --json gives the same figures, and kith bench "
                    "--compare two such files side by side.</p></footer>\n</body>\n</html>\n");
}

/* Under a temporary name first, so that an old page stays until there is a new one. */
static bool write_file(const char *path, const cJSON *report, const struct figures *figures)
{
    char *temporary = NULL;
    if (asprintf(&temporary, "%s.part", path) < 0)
        return false;
    FILE *stream = fopen(temporary, "w");
    if (stream) {
        write_page(stream, report, figures);
        const bool failed = ferror(stream) != 0;
        const bool done = fclose(stream) == 0 && !failed && rename(temporary, path) == 0;
        if (!done)
            remove(temporary);
        free(temporary);
        return done;
    }
    free(temporary);
    return false;
}

/* As a reader sees it: numbers are written as texts with all digits. */
static cJSON *read_again(const cJSON *report)
{
    char *text = cJSON_PrintUnformatted(report);
    cJSON *again = text ? cJSON_Parse(text) : NULL;
    cJSON_free(text);
    return again;
}

int bench_page_write(const char *command, const char *path, const cJSON *measured)
{
    struct figures figures;
    cJSON *report = read_again(measured);
    bool done = figures_take(report, &figures);
    figures_arrange(&figures);
    if (!done)
        cli_fail_with(command, "no memory for the figures");
    else if (cli_is_stdout(path))
        write_page(stdout, report, &figures);
    else if (!(done = write_file(path, report, &figures)))
        cli_fail_with(command, "%s: the page cannot be written: %s", path, strerror(errno));
    figures_free(&figures);
    cJSON_Delete(report);
    return done ? exit_ok : exit_failed;
}
