/* The options that choose a law. */

#include "law_options.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool law_row(int64_t k, const char **name, const char **description)
{
    static char names[80], descriptions[400];
    int64_t count = 0;
    const kith_law_info *law = &kith_law_list(&count)[k];
    if (k >= count)
        return false;
    const char *open = *law->arguments == '[' ? "[:" : *law->arguments ? ":" : "";
    snprintf(names, sizeof names, "%s%s%s", law->name, open,
             *law->arguments == '[' ? law->arguments + 1 : law->arguments);
    snprintf(descriptions, sizeof descriptions, "%s%s%s", law->formula,
             *law->parameters ? "; " : "", law->parameters);
    *name = names;
    *description = descriptions;
    return true;
}

/* For completions: the library reads a law. */
static const struct choices laws = {"LAW", {"expr:"}, law_row};

static void set_text(struct law_options *options, const char *text, bool is_potential,
                     const struct argp_state *state)
{
    if (options->near || (options->text && !options->takes_two))
        cli_usage_error(state, "--%s and --%s are given; give one law%s",
                        options->is_potential ? "potential" : "law",
                        is_potential ? "potential" : "law",
                        options->takes_two ? ", or coulomb and one other" : "");
    if (options->text) {
        options->near = options->text;
        options->near_is_potential = options->is_potential;
    }
    options->text = text;
    options->is_potential = is_potential;
}

static bool is_coulomb(const char *text, bool is_potential)
{
    return !is_potential && strcmp(text, "coulomb") == 0;
}

/* Of two laws coulomb becomes the first: the order they are given in does not matter. */
static void order_two(struct law_options *options, const struct argp_state *state)
{
    const char *text = options->text;
    const bool is_potential = options->is_potential;
    if (!is_coulomb(text, is_potential)) {
        options->text = options->near;
        options->is_potential = options->near_is_potential;
        options->near = text;
        options->near_is_potential = is_potential;
    }
    if (!is_coulomb(options->text, options->is_potential) ||
        is_coulomb(options->near, options->near_is_potential))
        cli_usage_error(state, "two laws are given; one of them must be coulomb, and one not");
}

static void add_parameter(struct law_options *options, const char *argument,
                          const struct argp_state *state)
{
    if (options->count == law_most_options)
        cli_usage_error(state, "--param is given more than %d times; give fewer", law_most_options);
    char *word = cli_copy(argument, state), *equals = strchr(word, '=');
    if (equals) {
        *equals = '\0';
        char option[64];
        snprintf(option, sizeof option, "--param %.40s", word);
        options->words[options->count] = word;
        options->parameters[options->count++] =
            (kith_law_parameter){word, cli_parse_real(option, equals + 1, state)};
    } else {
        cli_usage_error(state, "--param is '%s'; give NAME=VALUE", argument);
    }
}

/* Of a name that is near one of the table: which; anything else the library explains. */
static void explain_law(const struct law_options *options, const struct argp_state *state)
{
    int64_t count = 0;
    const kith_law_info *list = kith_law_list(&count);
    const char *option = options->is_potential ? "potential" : "law";
    char name[64];
    const char *text = options->text ? options->text : "gravity";
    snprintf(name, sizeof name, "%.*s", (int)strcspn(text, ":"), text);
    struct nearest nearest = nearest_to(name);
    bool is_known = options->is_potential || strcmp(name, "expr") == 0;
    for (int64_t k = 0; k < count; k++) {
        nearest_offer(&nearest, list[k].name);
        is_known = is_known || strcmp(name, list[k].name) == 0;
    }
    if (!is_known && nearest.found)
        cli_usage_error(state, "--law is '%s'; %s", text, nearest_hint(&nearest, ""));
    cli_usage_error(state, "--%s: %s", option, kith_error_message());
}

static kith_law *parse_law(const struct law_options *options, int64_t count,
                           const kith_law_parameter *parameters, const struct argp_state *state)
{
    static const char prefix[] = "expr:";
    const char *text = options->text ? options->text : "gravity";
    const bool needs_prefix = options->is_potential && strncmp(text, prefix, strlen(prefix)) != 0;
    char *whole = NULL;
    kith_law *law = NULL;
    if (asprintf(&whole, "%s%s", needs_prefix ? prefix : "", text) < 0)
        exit(cli_fail_with(state->name, "no memory for the law"));
    const kith_status status = kith_law_parse(whole, count, parameters, &law);
    free(whole);
    if (status == KITH_OUT_OF_MEMORY)
        exit(cli_fail(state->name));
    if (status != KITH_OK)
        explain_law(options, state);
    return law;
}

/* Coulomb has the parameter k, the other law all others. */
static void make_two(struct law_options *options, const struct argp_state *state)
{
    kith_law_parameter parameters[2][law_most_options];
    int64_t counts[2] = {0};
    order_two(options, state);
    for (int64_t p = 0; p < options->count; p++) {
        const int of_near = strcmp(options->parameters[p].name, "k") != 0;
        parameters[of_near][counts[of_near]++] = options->parameters[p];
    }
    const struct law_options near = {.text = options->near,
                                     .is_potential = options->near_is_potential};
    options->law = parse_law(options, counts[0], parameters[0], state);
    kith_law *beside = parse_law(&near, counts[1], parameters[1], state);
    if (kith_law_add(options->law, beside) != KITH_OK)
        cli_usage_error(state, "--law: %s", kith_error_message());
}

static void make_law(struct law_options *options, const struct argp_state *state)
{
    if (options->near)
        make_two(options, state);
    else if (options->text || options->count > 0)
        options->law = parse_law(options, options->count, options->parameters, state);
}

static void set_law(void *options, const char *option, const char *text,
                    const struct argp_state *state)
{
    set_text(options, text, strcmp(option, "--potential") == 0, state);
}

static void set_parameter(void *options, const char *option, const char *text,
                          const struct argp_state *state)
{
    (void)option;
    add_parameter(options, text, state);
}

static const struct option_row option_rows[] = {
    {"law", NULL,
     "a law of the table below, or expr: and a formula in r, r2, dx, dy, dz, m_i, m_j, q_i, q_j. "
     "With pme and ewald also twice: coulomb, and one within --cutoff; with pme lennard-jones "
     "needs none",
     .choices = &laws, .set = set_law},
    {"potential", "FORMULA",
     "the energy of a pair as a formula; the force is minus its gradient. Same as --law "
     "expr:FORMULA",
     .set = set_law},
    {"param", "NAME=VALUE", "a parameter of the law; repeatable", .set = set_parameter},
    {0}};

static void check(void *options, const struct argp_state *state)
{
    make_law(options, state);
}

const struct parser law_parser = {.rows = option_rows, .check = check};

double law_options_g(const struct law_options *options, double given, const kith_bodies *bodies)
{
    bool takes_bodies = !options->text || strcmp(options->text, "gravity") == 0;
    for (int64_t k = 0; k < options->count; k++)
        takes_bodies = takes_bodies && strcmp(options->words[k], "G") != 0;
    return given == 0 && takes_bodies ? bodies->units.gravitational_constant : given;
}

bool law_options_are_electric(const struct law_options *options)
{
    return options->text && !options->is_potential && strcmp(options->text, "coulomb") == 0;
}

void law_options_free(struct law_options *options)
{
    for (int64_t k = 0; k < options->count; k++)
        free(options->words[k]);
    kith_law_free(options->law);
}

char *law_help_table(void)
{
    return cli_help_table("Laws, the energy of a pair at r = sqrt(|d|^2 + softening^2):", law_row);
}
