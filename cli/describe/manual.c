/* Manual pages, in the macros of man(7). */

#include "describe.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { line_bytes = 72 };

/* The code point of the UTF-8 at text; *length its bytes. */
static unsigned code_point(const char *text, int *length)
{
    const unsigned char *at = (const unsigned char *)text;
    const int count = at[0] < 0x80 ? 1 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;
    unsigned code = count == 1 ? at[0] : at[0] & (0xffU >> (count + 1));
    for (int k = 1; k < count; k++)
        code = code << 6 | (at[k] & 0x3fU);
    *length = count;
    return code;
}

/* Characters that groff would take for something else. */
static const char *escaped(unsigned code)
{
    switch (code) {
    case '\\':
        return "\\e";
    case '-':
        return "\\-";
    case '\'':
        return "\\(aq";
    case '`':
        return "\\(ga";
    case '^':
        return "\\(ha";
    case '~':
        return "\\(ti";
    default:
        return NULL;
    }
}

/* Up to length bytes of text; returns the bytes written. */
static int put(FILE *stream, const char *text, size_t length)
{
    int written = 0;
    if (length > 0 && (*text == '.' || *text == '\''))
        written += fprintf(stream, "\\&"); /* no request */
    for (size_t at = 0; at < length;) {
        int bytes = 1;
        const unsigned code = code_point(text + at, &bytes);
        if (escaped(code))
            written += fprintf(stream, "%s", escaped(code));
        else if (code >= 0x80)
            written += fprintf(stream, "\\[u%04X]", code);
        else
            written += fprintf(stream, "%c", (int)code);
        at += (size_t)bytes;
    }
    return written;
}

/* Text, filled: line breaks mean nothing in it. */
static void put_text(FILE *stream, const char *text)
{
    int column = 0;
    while (*(text += strspn(text, " \n"))) {
        const size_t length = strcspn(text, " \n");
        if (column > 0 && column + (int)length >= line_bytes)
            column = 0 * fprintf(stream, "\n");
        else if (column > 0)
            column += fprintf(stream, " ");
        column += put(stream, text, length);
        text += length;
    }
    if (column > 0)
        fprintf(stream, "\n");
}

/* Paragraphs, which blank lines part. */
static void put_paragraphs(FILE *stream, const char *text, size_t length)
{
    char *all = strndup(text, length), *rest = all;
    for (int count = 0; rest && *(rest += strspn(rest, "\n")); count++) {
        char *end = strstr(rest, "\n\n");
        if (end)
            *end = '\0';
        if (count > 0)
            fprintf(stream, ".PP\n");
        put_text(stream, rest);
        rest = end ? end + 1 : NULL;
    }
    free(all);
}

static void put_bold(FILE *stream, const char *text)
{
    fprintf(stream, "\\fB");
    put(stream, text, strlen(text));
    fprintf(stream, "\\fR");
}

static void put_italic(FILE *stream, const char *text)
{
    fprintf(stream, "\\fI");
    put(stream, text, strlen(text));
    fprintf(stream, "\\fR");
}

static void put_capitals(FILE *stream, const char *text)
{
    for (; *text; text++)
        fputc(toupper((unsigned char)*text), stream);
}

/* A section, in capitals. */
static void put_section(FILE *stream, const char *title)
{
    fprintf(stream, ".SH \"");
    put_capitals(stream, title);
    fprintf(stream, "\"\n");
}

/* Where the examples are in the text after the options: lines after "Examples:" that begin with
 * blanks. */
struct parts_of_text {
    const char *examples, *notes; /* both at the end of the text if absent */
    size_t before;                /* bytes before the title */
};

static struct parts_of_text split(const char *text)
{
    const char *title = strstr(text, "Example"), *end = text + strlen(text);
    struct parts_of_text parts = {end, end, (size_t)(end - text)};
    const char *lines = title ? strchr(title, '\n') : NULL;
    if (!lines || lines[1] != ' ')
        return parts;
    parts.before = (size_t)(title - text);
    parts.examples = ++lines;
    while (*lines == ' ')
        lines += strcspn(lines, "\n"), lines += *lines == '\n';
    parts.notes = lines;
    return parts;
}

static void put_examples(FILE *stream, const char *text, const char *end)
{
    fprintf(stream, ".SH EXAMPLES\n.EX\n");
    while (text < end) {
        const char *words = text + strspn(text, " ");
        const size_t length = strcspn(words, "\n");
        for (const char *blank = text + 2; blank < words; blank++)
            fputc(' ', stream);
        put(stream, words, length);
        fputc('\n', stream);
        text = words + length + (words[length] == '\n');
    }
    fprintf(stream, ".EE\n");
}

static void put_option(FILE *stream, const struct described_option *option)
{
    fprintf(stream, ".TP\n");
    if (option->row->letter) {
        const char letter[] = {'-', (char)option->row->letter, '\0'};
        put_bold(stream, letter);
        fprintf(stream, ", ");
    }
    fprintf(stream, "\\fB\\-\\-");
    put(stream, option->row->name, strlen(option->row->name));
    fprintf(stream, "\\fR%s", option->argument ? "=" : "");
    if (option->argument)
        put_italic(stream, option->argument);
    fprintf(stream, "\n");
    put_text(stream, option->row->text);
}

static void put_options(FILE *stream, const struct description *description)
{
    const char *heading = "";
    if (description->option_count > 0)
        fprintf(stream, ".SH OPTIONS\n");
    for (int k = 0; k < description->option_count; k++) {
        const struct described_option *option = &description->options[k];
        if (*option->heading && strcmp(option->heading, heading) != 0)
            fprintf(stream, ".SS \"%s\"\n", option->heading);
        heading = option->heading;
        put_option(stream, option);
    }
}

static void put_row(FILE *stream, const char *name, const char *text)
{
    fprintf(stream, ".TP\n");
    put_bold(stream, name);
    fprintf(stream, "\n");
    put_text(stream, text);
}

static void put_commands(FILE *stream, const char *title, const struct command *table)
{
    put_section(stream, title);
    for (const struct command *command = table; command->name; command++)
        put_row(stream, command->name, command->description);
}

/* "kith bench forces" is kith-bench-forces(1). */
static void put_reference(FILE *stream, const char *name, const char *between)
{
    fprintf(stream, "\\fB");
    for (const char *at = name; *at; at++)
        fprintf(stream, "%s", *at == ' ' ? "\\-" : (const char[]){*at, '\0'});
    fprintf(stream, "\\fR(1)%s\n", between);
}

static void put_references(FILE *stream, const char *name, const struct command *parts)
{
    fprintf(stream, ".SH \"SEE ALSO\"\n");
    put_reference(stream, "kith", parts || strrchr(name, ' ') != strchr(name, ' ') ? "," : "");
    char whole[128];
    for (const struct command *part = parts; part && part->name; part++) {
        snprintf(whole, sizeof whole, "%s %s", name, part->name);
        put_reference(stream, whole, part[1].name ? "," : "");
    }
    if (!parts && strrchr(name, ' ') != strchr(name, ' ')) {
        snprintf(whole, sizeof whole, "%.*s", (int)(strrchr(name, ' ') - name), name);
        put_reference(stream, whole, "");
    }
}

static void put_title(FILE *stream, const char *name, const char *summary)
{
    char page[128];
    snprintf(page, sizeof page, "%s", name);
    for (char *blank = strchr(page, ' '); blank; blank = strchr(blank, ' '))
        *blank = '-';
    fprintf(stream, ".TH ");
    put_capitals(stream, page);
    fprintf(stream, " 1 %s \"kith %s\" \"kith\"\n.SH NAME\n", KITH_RELEASE_DATE, kith_version());
    put(stream, page, strlen(page));
    fprintf(stream, " \\-\n");
    put_text(stream, summary);
}

/* A line for each form of the command in --help. */
static void put_synopsis(FILE *stream, const struct description *description)
{
    const char *ways = description->arguments;
    fprintf(stream, ".SH SYNOPSIS\n");
    for (bool more = description->option_count > 0; more;) {
        const size_t length = strcspn(ways, "\n");
        put_bold(stream, description->name);
        fprintf(stream, " [\\fIOPTION\\fR...]%s\\fI", length > 0 ? " " : "");
        put(stream, ways, length);
        more = ways[length] == '\n';
        fprintf(stream, "\\fR\n%s", more || description->parts ? ".br\n" : "");
        ways += length + more;
    }
    if (description->parts) {
        put_bold(stream, description->name);
        fprintf(stream, " \\fICAPABILITY\\fR [\\fIOPTION\\fR...] ...\n");
    }
}

static void put_exit_codes(FILE *stream)
{
    fprintf(stream, ".SH \"EXIT STATUS\"\n");
    put_row(stream, "0", "It went well.");
    put_row(stream, "1", "It failed; one line on standard error says what, where, and what to do.");
    put_row(stream, "2", "The command line was wrong.");
    put_row(stream, "130", "SIGINT (Ctrl-C) stopped it; a run has written its checkpoint.");
    put_row(stream, "143", "SIGTERM or SIGHUP stopped it, likewise.");
}

void manual_write(const struct description *description, FILE *stream)
{
    const struct parts_of_text text = split(description->after);
    put_title(stream, description->name, description->summary);
    put_synopsis(stream, description);
    fprintf(stream, ".SH DESCRIPTION\n");
    put_text(stream, *description->before ? description->before : description->summary);
    if (strspn(description->after, "\n ") < text.before) {
        fprintf(stream, ".PP\n");
        put_paragraphs(stream, description->after, text.before);
    }
    if (description->parts && description->table_count == 0)
        put_commands(stream, "CAPABILITIES", description->parts);
    put_options(stream, description);
    for (int k = 0; k < description->table_count; k++) {
        const struct described_table *table = &description->tables[k];
        put_section(stream, table->title);
        for (int i = 0; i < table->count; i++)
            put_row(stream, table->rows[i].name, table->rows[i].text);
    }
    if (*text.examples && text.examples < text.notes)
        put_examples(stream, text.examples, text.notes);
    if (text.notes[strspn(text.notes, "\n ")]) {
        fprintf(stream, ".SH NOTES\n");
        put_paragraphs(stream, text.notes, strlen(text.notes));
    }
    put_exit_codes(stream);
    put_references(stream, description->name, description->parts);
}

static void put_environment(FILE *stream)
{
    static const struct described_row rows[] = {
        {"KITH_ISA", "The instruction set of the CPU's kernels: v4, v3, v2 or neon; the best that "
                     "the processor has if it is not set. kith info lists them."},
        {"KITH_TUNING", "off: what kith tune found is not used."},
        {"OMP_NUM_THREADS", "CPU threads, where --threads is not given."},
        {"CC", "The C compiler for laws that are formulas, which are compiled when they are used; "
               "cc, gcc or clang if it is not set."},
        {"XDG_CACHE_HOME", "The folder in which kith/ keeps compiled laws and tunings; ~/.cache if "
                           "it is not set."},
        {"TMPDIR",
         "The folder in which formulas are compiled where that folder cannot be used; /tmp "
         "if it is not set."},
        {"KITH_GNUPLOT", "The gnuplot that draws; gnuplot on the PATH if it is not set."},
        {"KITH_FFMPEG", "The ffmpeg that encodes films; ffmpeg on the PATH if it is not set."},
    };
    fprintf(stream, ".SH ENVIRONMENT\n");
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++)
        put_row(stream, rows[k].name, rows[k].text);
}

void manual_write_program(FILE *stream)
{
    put_title(stream, "kith", "interactions between pairs of particles");
    fprintf(stream, ".SH SYNOPSIS\n\\fBkith\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR...] ...\n"
                    ".br\n\\fBkith\\fR \\fICOMMAND\\fR \\fB\\-\\-help\\fR\n.SH DESCRIPTION\n");
    put_text(
        stream,
        "kith computes interactions between pairs of particles on CPUs and NVIDIA GPUs: forces "
        "and N-body simulations, interaction matrices, neighbor lists, sums of formulas over "
        "pairs, lattice collisions, and products of sparse matrices and vectors.");
    fprintf(stream, ".PP\n");
    put_text(stream, "Results have the same bits on every run and for every number of threads.");
    put_commands(stream, "COMMANDS", program_commands);
    fprintf(stream, ".PP\n");
    put_text(stream, "Each command has a manual page of its own, as kith-run(1), and --help.");
    put_environment(stream);
    put_examples(stream, program_examples, program_examples + strlen(program_examples));
    put_exit_codes(stream);
    fprintf(stream, ".SH \"SEE ALSO\"\n");
    for (const struct command *command = program_commands; command->name; command++) {
        char name[128];
        snprintf(name, sizeof name, "kith %s", command->name);
        put_reference(stream, name, command[1].name ? "," : "");
    }
}
