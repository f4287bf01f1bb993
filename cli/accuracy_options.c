/* The options for the accuracy of the solvers tree, fmm, ewald and pme. */

#include "forces_command.h"

enum { key_error = 0x7180, key_theta, key_order };

static const struct argp_option option_table[] = {
    {"error", key_error, "E", 0,
     "requested error for tree, fmm, ewald and pme: the rms over the bodies of the relative error "
     "of the acceleration; where contributions cancel, relative to a tenth of the sum of their "
     "magnitudes (default: "
     "1e-4, for ewald 1e-12). Without --solver the faster of direct and fmm is used",
     0},
    {"theta", key_theta, "T", 0, "opening angle of tree and fmm, less than 1, instead of --error",
     0},
    {"order", key_order, "P", 0,
     "order of the expansions, 1 to 20, or of the splines of pme, 4 to 8 (default: the fastest "
     "for --error; 4 with --theta)",
     0},
    {0}};

static error_t parse(int key, char *argument, struct argp_state *state)
{
    kith_accuracy *accuracy = state->input;
    switch (key) {
    case key_error:
        accuracy->error = cli_parse_positive("--error", argument, state);
        return 0;
    case key_theta:
        accuracy->theta = cli_parse_positive("--theta", argument, state);
        if (accuracy->theta >= 1)
            cli_usage_error(state, "--theta is %s; it must be less than 1", argument);
        return 0;
    case key_order:
        accuracy->order = (int32_t)cli_parse_range("--order", argument, 1, 20, state);
        return 0;
    case ARGP_KEY_END:
        if (accuracy->error > 0 && accuracy->theta > 0)
            cli_usage_error(state, "--error and --theta are given; give one of them");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

const struct argp accuracy_argp = {option_table, parse, NULL, NULL, NULL, NULL, NULL};
