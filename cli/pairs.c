/* kith pairs: the pairs of a file's particles that are nearer to each other than a cutoff. */

#include "pairs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device_choice.h"
#include "streams.h"

static const struct choices formats = {"FORMAT", {"csv", "npy", "h5", "mtx"}, NULL};

static const char documentation[] =
    "List the pairs of FILE's particles within a cutoff, in open space or in a periodic cell of "
    "any shape.\v"
    "Particles are counted from 0. The list is sorted by i, j and S, and includes both i,j and j,i "
    "unless --half is given.\n\n"
    "Examples:\n"
    "  kith make uniform-cube -n 1000 -o cube.csv\n"
    "  kith pairs cube.csv --cutoff 0.1 --box 1,1,1 --vectors -o pairs.npy\n"
    "  kith pairs cube.csv --cutoff 0.1 --box 1,1,1 --half --count-only\n"
    "  kith pairs cube.csv --nearest 8 -o nearest.csv\n"
    "  kith pairs cube.csv --cutoff 0.2 -o graph.mtx";

static void check(void *options, const struct argp_state *state)
{
    const struct pairs_options *pairs = options;
    if (!pairs->input.path)
        cli_usage_error(state, "FILE is missing: the particles to search");
    if (!pairs->cutoff_given && !pairs->nearest_given)
        cli_usage_error(state,
                        "--cutoff is missing: the maximum distance of pairs (or --nearest K)");
    if (pairs->nearest_given && pairs->search.half)
        cli_usage_error(
            state, "--half cannot be combined with --nearest: nearest neighbors are not mutual");
    if (pairs->count_only && pairs->output)
        cli_usage_error(state, "--count-only lists nothing; leave out -o, or --count-only");
    if (pairs->vectors && pairs_is_matrix(pairs))
        cli_usage_error(
            state,
            "--vectors is given, but Matrix Market cannot store vectors; leave it out, or write "
            "CSV");
    cli_check_extension("-o", pairs->output, pairs->to, "csv txt dat npy h5 hdf5 mtx", state);
    cli_check_stdout("-o", pairs->output, &pairs->common, state);
}

static void set_memory(void *options, const char *option, const char *text,
                       const struct argp_state *state)
{
    ((struct pairs_options *)options)->search.memory_limit = cli_parse_bytes(option, text, state);
}

#define AT(member)    OPTION_AT(struct pairs_options, member)
#define GIVEN(member) OPTION_GIVEN(struct pairs_options, member)
static const struct option_row option_rows[] = {
    {"cutoff", "R", "list pairs at distances less than R", AT(search.cutoff), GIVEN(cutoff_given),
     .positive = true},
    {"half", NULL, "list each pair once", AT(search.half)},
    {"nearest", "K", "list the K nearest neighbors of each particle, by distance; no cutoff needed",
     AT(nearest), GIVEN(nearest_given), .least = 1},
    {"count-only", NULL, "print the number of pairs only", AT(count_only)},
    {"vectors", NULL, "add dx,dy,dz,sx,sy,sz: r_j - r_i + S*cell, and S", AT(vectors)},
    {"unsorted", NULL, "leave the pairs of one particle in any order", AT(search.unsorted)},
    {"memory", "BYTES", "fail if the list needs more, for example 512M or 2G", .set = set_memory},
    {"output", "FILE",
     "write i,j,distance to FILE: .csv, .npy, .h5, or .mtx, a sparse matrix of the distances "
     "(default: -, standard output, as CSV)",
     AT(output), .letter = 'o'},
    {"to", NULL, "of the output: csv, npy, h5 or mtx (default: by its extension)", AT(to),
     .choices = &formats},
    {0}};

static const struct option_group groups[] = {
    {&bodies_parser, "Particles:", 2, offsetof(struct pairs_options, input)},
    {&cell_parser, NULL, 0, offsetof(struct pairs_options, cell)},
    {&common_parser, "Common options:", 3, offsetof(struct pairs_options, common)},
    {0}};

static const struct parser parser = {option_rows, groups, check, "FILE", documentation, NULL};

static void choose_quantities(struct pairs_options *pairs)
{
    unsigned quantities = KITH_PAIRS_I | KITH_PAIRS_J;
    if (pairs->output || !pairs->common.json)
        quantities |= KITH_PAIRS_DISTANCES;
    if (pairs->vectors)
        quantities |= KITH_PAIRS_VECTORS | KITH_PAIRS_SHIFTS;
    pairs->search.quantities = pairs->count_only ? KITH_PAIRS_COUNTS : quantities;
}

/* Positions in the precision of the computation; free it with free() unless they are the bodies'
 * own. */
static void *positions_in(const kith_bodies *bodies, kith_dtype dtype)
{
    const int64_t count = bodies->count * bodies->dimensions;
    float *positions = NULL;
    if (dtype == KITH_F64)
        return bodies->position;
    positions = malloc((size_t)count * sizeof *positions + 1);
    for (int64_t k = 0; positions && k < count; k++)
        positions[k] = (float)bodies->position[k];
    return positions;
}

static kith_status compute(kith_context *context, const struct pairs_options *pairs,
                           const kith_bodies *bodies, void *positions, const kith_cell *cell,
                           kith_pairs **list, double *seconds)
{
    kith_pairs_options search = pairs->search;
    const kith_array array =
        kith_array_matrix(positions, pairs->common.precision, bodies->count, bodies->dimensions);
    if (pairs->count_only) /* all neighbors: half of the pairs are printed below */
        search.half = false;
    const double start = cli_clock();
    const kith_status status =
        pairs->nearest_given
            ? kith_pairs_nearest(context, &search, array, cell, pairs->nearest, list)
            : kith_pairs_compute(context, &search, array, cell, list);
    *seconds = cli_clock() - start;
    return status;
}

static int report(const char *command, const struct pairs_options *pairs,
                  const kith_context *context, const kith_bodies *bodies, const kith_pairs *list,
                  double seconds)
{
    const int64_t listed =
        list->row_count > 0 ? ((const int64_t *)list->offsets.data)[list->row_count] : 0;
    const int64_t count = pairs->count_only && pairs->search.half ? listed / 2 : listed;
    const bool writes = !pairs->count_only && (pairs->output || !pairs->common.json);
    if (writes && pairs_write(pairs, list, bodies->dimensions) != KITH_OK)
        return cli_fail(command);
    if (pairs->common.json)
        return pairs_print_json(command, pairs, context, list, count, seconds);
    if (pairs->count_only)
        printf("%lld\n", (long long)count);
    return exit_ok;
}

static int run_pairs(const char *command, const struct pairs_options *pairs, kith_context *context,
                     const kith_bodies *bodies)
{
    kith_cell cell;
    bool has_cell = false;
    double seconds = 0;
    int code = cell_choose(command, &pairs->cell, bodies, &cell, &has_cell);
    if (code != exit_ok)
        return code;
    void *positions = positions_in(bodies, pairs->common.precision);
    if (!positions && bodies->count > 0)
        return cli_fail_with(command, "no memory for %lld particles", (long long)bodies->count);
    kith_pairs *list = NULL;
    if (compute(context, pairs, bodies, positions, has_cell ? &cell : NULL, &list, &seconds) !=
        KITH_OK)
        code = cli_fail(command);
    else
        code = report(command, pairs, context, bodies, list, seconds);
    kith_pairs_free(list);
    if (positions != bodies->position)
        free(positions);
    return code;
}

static int choose_device(const char *command, const struct pairs_options *pairs,
                         const kith_bodies *bodies, kith_context **context)
{
    const double points = (double)bodies->count;
    const kith_work work = {.kind = KITH_WORK_PAIRS, .units = points, .rows = points};
    return cli_choose_device(command, &pairs->common, work, context);
}

int command_pairs(int argc, char **argv)
{
    struct pairs_options pairs = {.input.without_velocities = true};
    cli_parse(&parser, argc, argv, &pairs);
    choose_quantities(&pairs);

    kith_context *context = NULL;
    kith_bodies *bodies = NULL;
    int code = exit_failed;
    const kith_context_options begin = cli_context_to_begin(&pairs.common);
    if (kith_context_create(&begin, &context) != KITH_OK)
        code = cli_fail(argv[0]);
    else if ((code = load_bodies(argv[0], &pairs.input, pairs.output, true, &bodies)) == exit_ok &&
             (code = choose_device(argv[0], &pairs, bodies, &context)) == exit_ok)
        code = run_pairs(argv[0], &pairs, context, bodies);
    kith_bodies_free(bodies);
    kith_context_free(context);
    return code;
}
