/* The options for the accuracy of the solvers tree, fmm, ewald and pme. */

#include "forces_command.h"

#define AT(member) OPTION_AT(kith_accuracy, member)

static void set_theta(void *options, const char *option, const char *text,
                      const struct argp_state *state)
{
    kith_accuracy *accuracy = options;
    accuracy->theta = cli_parse_positive(option, text, state);
    if (accuracy->theta >= 1)
        cli_usage_error(state, "--theta is %s; it must be less than 1", text);
}

static const struct option_row option_rows[] = {
    {"error", "E",
     "requested error for tree, fmm, ewald and pme: the rms over the bodies of the relative error "
     "of the acceleration; where contributions cancel, relative to a tenth of the sum of their "
     "magnitudes (default: 1e-4, for ewald 1e-12). Without --solver the faster of direct and fmm "
     "is used",
     AT(error), .positive = true},
    {"theta", "T", "opening angle of tree and fmm, less than 1, instead of --error",
     .set = set_theta},
    {"order", "P",
     "order of the expansions, 1 to 20, or of the splines of pme, 4 to 8 (default: the fastest "
     "for --error; 4 with --theta)",
     AT(order), .least = 1, .most = 20},
    {0}};

static void check(void *options, const struct argp_state *state)
{
    const kith_accuracy *accuracy = options;
    if (accuracy->error > 0 && accuracy->theta > 0)
        cli_usage_error(state, "--error and --theta are given; give one of them");
}

const struct parser accuracy_parser = {.rows = option_rows, .check = check};
