/* The options of solvers that sum the images of a periodic cell. */

#include "forces_command.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct choices boundaries = {"B", {"tin-foil", "vacuum"}, NULL};

#define AT(member) OPTION_AT(struct ewald_options, member)

static void set_grid(void *options, const char *option, const char *text,
                     const struct argp_state *state)
{
    int32_t *grid = ((struct ewald_options *)options)->chosen.grid;
    int used = 0;
    if (sscanf(text, "%9d,%9d,%9d%n", &grid[0], &grid[1], &grid[2], &used) != 3 || text[used] ||
        grid[0] < 1 || grid[1] < 1 || grid[2] < 1)
        cli_usage_error(state, "%s is '%s'; give three numbers of points, X,Y,Z", option, text);
}

static const struct option_row option_rows[] = {
    {"alpha", "A",
     "for ewald and pme: splits 1/r into erfc(A r)/r and a smooth remainder (default: the fastest)",
     AT(chosen.alpha), .positive = true},
    {"grid", "X,Y,Z", "for pme: points along each cell vector (default: the fastest)",
     .set = set_grid},
    {"absolute-error", "E",
     "for ewald and pme: requested error of the rms force, in units of force, instead of --error",
     AT(chosen.absolute_error), .positive = true},
    {"boundary", NULL,
     "for ewald and pme: tin-foil (default) or vacuum, which includes the field of the cell's "
     "dipole",
     AT(chosen.boundary), .choices = &boundaries},
    {"exclude", "PAIRS",
     "with --cutoff, ewald and pme: a file of rows i,j, counted from 0: pairs that do not interact "
     "at their nearest images",
     AT(exclude)},
    {0}};

const struct parser ewald_parser = {.rows = option_rows};

/* Two numbers with a comma between them; false for anything else. */
static bool parse_pair(const char *line, int64_t pair[2])
{
    char *rest = NULL;
    errno = 0;
    pair[0] = strtoll(line, &rest, 10);
    if (rest == line || *rest != ',')
        return false;
    const char *second = rest + 1;
    pair[1] = strtoll(second, &rest, 10);
    while (isspace((unsigned char)*rest))
        rest++;
    return rest != second && *rest == '\0' && errno == 0;
}

static bool is_blank(const char *line)
{
    while (isspace((unsigned char)*line))
        line++;
    return *line == '\0' || *line == '#';
}

static bool append(struct excluded_pairs *pairs, int64_t *room, const int64_t pair[2])
{
    if (pairs->count == *room) {
        *room = 2 * *room + 64;
        void *larger = realloc(pairs->rows, (size_t)*room * sizeof *pairs->rows);
        if (!larger)
            return false;
        pairs->rows = larger;
    }
    memcpy(pairs->rows[pairs->count++], pair, sizeof *pairs->rows);
    return true;
}

static int read_lines(const char *command, const char *path, FILE *stream,
                      struct excluded_pairs *pairs)
{
    char *line = NULL;
    size_t bytes = 0;
    int64_t room = 0, number = 0;
    int code = exit_ok;
    while (code == exit_ok && getline(&line, &bytes, stream) >= 0) {
        int64_t pair[2];
        number++;
        line[strcspn(line, "\r\n")] = '\0';
        const bool is_header = number == 1 && strcmp(line, "i,j") == 0;
        if (is_header || is_blank(line))
            continue;
        if (!parse_pair(line, pair))
            code = cli_fail_with(command, "%s: line %lld: expected two whole numbers i,j", path,
                                 (long long)number);
        else if (!append(pairs, &room, pair))
            code = cli_fail_with(command, "no memory for the pairs of %s", path);
    }
    if (code == exit_ok && ferror(stream))
        code = cli_fail_with(command, "cannot read '%s': %s", path, strerror(errno));
    free(line);
    return code;
}

int ewald_read_excluded(const char *command, struct ewald_options *options)
{
    const char *path = options->exclude;
    if (!path)
        return exit_ok;
    FILE *stream = fopen(path, "r");
    if (!stream)
        return cli_fail_with(command, "cannot open '%s': %s", path, strerror(errno));
    const int code = read_lines(command, path, stream, &options->excluded);
    fclose(stream);
    if (options->excluded.count > 0)
        options->exclusions =
            kith_array_matrix(options->excluded.rows, KITH_I64, options->excluded.count, 2);
    return code;
}

bool cli_has_images(const kith_solver *solver)
{
    return solver && kith_solver_describe(solver).is_periodic;
}

bool cli_is_of_cpu(const kith_solver *solver)
{
    return solver && strcmp(kith_solver_describe(solver).name, "ewald") == 0;
}

void ewald_check_unused(const struct ewald_options *options, bool has_cutoff,
                        const struct argp_state *state)
{
    const char *option = options->chosen.alpha > 0            ? "--alpha"
                         : options->chosen.absolute_error > 0 ? "--absolute-error"
                         : options->chosen.boundary           ? "--boundary"
                         : options->chosen.grid[0] > 0        ? "--grid"
                                                              : NULL;
    if (options->exclude && !has_cutoff)
        cli_usage_error(state, "--exclude is given without --cutoff; give both, or --solver ewald "
                               "or pme");
    if (option)
        cli_usage_error(state, "%s needs a solver with periodic images; give --solver ewald or pme",
                        option);
}
