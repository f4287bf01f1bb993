/* The names of the solvers of forces and of the methods of direct, for the commands that take them.
 */

#include "cli.h"
#include "names.h"

/* In the order of enum kith_forces_method, and then the solver that is called a method, too. */
#define OF_DIRECT "auto", "direct", "split", "symmetric", "tile-p", "tile-p2", "tensor"
const struct choices choices_of_methods_of_direct = {"METHOD", {OF_DIRECT}, NULL};
const struct choices choices_of_methods = {"METHOD", {OF_DIRECT, "reference"}, NULL};

kith_forces_method cli_parse_method(const char *text, const kith_solver **solver,
                                    const struct argp_state *state)
{
    const int64_t k = cli_parse_choice(
        "--method", text, solver ? &choices_of_methods : &choices_of_methods_of_direct, state);
    if (!solver || k <= KITH_FORCES_TENSOR)
        return (kith_forces_method)k;
    *solver = cli_parse_solver(text, state);
    return KITH_FORCES_AUTO;
}

const char *cli_method_name(kith_forces_method method)
{
    return choices_of_methods.words[method];
}

static bool solver_row(int64_t k, const char **name, const char **summary)
{
    if (!kith_solver_at(k))
        return false;
    const kith_solver_info info = kith_solver_describe(kith_solver_at(k));
    *name = info.name;
    *summary = info.summary;
    return true;
}

const struct choices choices_of_solvers = {"SOLVER", {"auto"}, solver_row};

const kith_solver *cli_parse_solver(const char *text, const struct argp_state *state)
{
    return kith_solver_at(cli_parse_choice("--solver", text, &choices_of_solvers, state) - 1);
}

char *cli_solver_help(void)
{
    return cli_help_table("Solvers:", solver_row);
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
