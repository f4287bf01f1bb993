/* The names of the solvers of forces and of the methods of direct, for the commands that take them.
 */

#include "cli.h"
#include "names.h"

/* In the order of enum kith_forces_method, and then the solver that is called a method, too. */
static const char *const names[] = {"auto",   "direct",  "split",    "symmetric",
                                    "tile-p", "tile-p2", "reference"};
enum { count = sizeof names / sizeof names[0], of_reference = count - 1 };

static const char *name_of_method(int64_t k)
{
    return names[k];
}

kith_forces_method cli_parse_method(const char *text, const kith_solver **solver,
                                    const struct argp_state *state)
{
    const int64_t known = solver ? count : of_reference;
    const int64_t k = cli_parse_name("--method", text, known, name_of_method, state);
    if (!solver || k != of_reference)
        return (kith_forces_method)k;
    *solver = cli_parse_solver(names[of_reference], state);
    return KITH_FORCES_AUTO;
}

const char *cli_method_name(kith_forces_method method)
{
    return names[method];
}

static int64_t count_of_solvers(void)
{
    int64_t rows = 0;
    while (kith_solver_at(rows))
        rows++;
    return rows;
}

static const char *name_of_solver(int64_t k)
{
    return k == 0 ? "auto" : kith_solver_describe(kith_solver_at(k - 1)).name;
}

const kith_solver *cli_parse_solver(const char *text, const struct argp_state *state)
{
    const int64_t names_of_solvers = count_of_solvers() + 1;
    return kith_solver_at(
        cli_parse_name("--solver", text, names_of_solvers, name_of_solver, state) - 1);
}

static void solver_row(int64_t k, const char **name, const char **summary)
{
    const kith_solver_info info = kith_solver_describe(kith_solver_at(k));
    *name = info.name;
    *summary = info.summary;
}

char *cli_solver_help(void)
{
    return cli_help_table("Solvers:", count_of_solvers(), solver_row);
}

/* Two digits of seconds, minutes, hours or days. */
static void write_time(double seconds, char *text, size_t bytes)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"days", 86400}, {"h", 3600}, {"min", 60}, {"s", 1}};
    int k = 0;
    while (k < 3 && seconds < 2 * units[k].seconds)
        k++;
    const double number = seconds / units[k].seconds;
    snprintf(text, bytes, number < 99.5 ? "%.2g %s" : "%.0f %s", number, units[k].name);
}

void cli_advise(void *advice, const kith_solver_advice *solver)
{
    const struct cli_advice *to = advice;
    char all[32], approximate[32];
    write_time(solver->direct_seconds, all, sizeof all);
    write_time(solver->seconds, approximate, sizeof approximate);
    cli_note(to->quiet, to->command,
             "all pairs are expected to take %s%s; --error %g would take %s (solver %s)", all,
             to->what, solver->error, approximate, kith_solver_describe(solver->solver).name);
}
