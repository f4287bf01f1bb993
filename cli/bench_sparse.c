/* kith bench sparse: products with matrices of all kinds, beside SciPy and MKL. */

#include "bench_sparse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench.h"
#include "bench_sparse_gpu.h"
#include "bench_sparse_matrices.h"
#include "core/printable.h"

enum { key_tune = 0x9000 };

static const struct argp_option option_table[] = {
    {"tune", key_tune, NULL, 0, "let kith time the best few formats", 0}, {0}};

static const struct argp_child children[] = {
    {&bench_argp, 0, "Measuring:", 2}, {&bench_peers_argp, 0, "Other programs:", 3}, {0}};

static const char documentation[] =
    "Measure products of sparse matrices with a vector, in double precision on the CPU, with one "
    "thread unless --threads says otherwise, or in both precisions on a GPU, with vectors in its memory, beside cuSPARSE.\v"
    "MATRIX is a name of the list below or a Matrix Market file; without any, the usual ones of "
    "the list. Times are medians of repetitions that take turns. A product counts 2 flop an entry; "
    "bandwidth is that of the bytes that plain CSR has, 12 an entry, beside that of a copy.\n\n"
    "Examples:\n"
    "  kith bench sparse\n"
    "  kith bench sparse band random --threads 2\n"
    "  kith bench sparse --device cuda";

static error_t parse_matrix(struct sparse_bench_options *options, char *argument,
                            const struct argp_state *state)
{
    if (options->matrix_count == sparse_most_matrices)
        cli_usage_error(state, "there are more than %d matrices", sparse_most_matrices);
    options->matrices[options->matrix_count++] = argument;
    return 0;
}

static error_t parse(int key, char *argument, struct argp_state *state)
{
    struct sparse_bench_options *options = state->input;
    switch (key) {
    case ARGP_KEY_INIT:
        bench_begin_children(state, 0, 2, &options->common);
        return 0;
    case key_tune:
        options->sparse.tune = true;
        return 0;
    case ARGP_KEY_ARG:
        return parse_matrix(options, argument, state);
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static void help_row(int64_t k, const char **name, const char **description)
{
    int64_t count = 0;
    const struct bench_matrix_kind *kind = &bench_matrix_kinds(&count)[k];
    *name = kind->name;
    *description = kind->description;
}

static char *filter_help(int key, const char *text, void *input)
{
    int64_t count = 0;
    bench_matrix_kinds(&count);
    return key == ARGP_KEY_HELP_EXTRA ? cli_help_table("Matrices:", count, help_row)
                                      : cli_filter_help(key, text, input);
}

/* kith with one or several vectors, as a contestant. */
struct product {
    const char *command;
    kith_sparse *sparse;
    kith_array x, y;
};

static double run_product(void *state, int64_t calls)
{
    const struct product *product = state;
    const double start = cli_clock();
    for (int64_t k = 0; k < calls; k++)
        if (kith_sparse_multiply(product->sparse, KITH_SPARSE_AS_IS, 1, product->x, 0,
                                 product->y) != KITH_OK) {
            cli_fail(product->command);
            return -1;
        }
    return cli_clock() - start;
}

struct peer {
    struct peers *peers;
    const char *name;
};

static double run_peer(void *state, int64_t calls)
{
    const struct peer *peer = state;
    return peers_seconds(peer->peers, peer->name, 1, calls);
}

/* For the peers: the matrix as a file. */
static bool write_matrix(const struct bench_matrix *matrix, const char *path)
{
    FILE *file = fopen(path, "wb");
    if (!file)
        return false;
    const int64_t sizes[] = {matrix->rows, matrix->columns, matrix->nonzeros};
    fwrite(sizes, sizeof sizes[0], 3, file);
    fwrite(matrix->row_start, sizeof *matrix->row_start, (size_t)matrix->rows + 1, file);
    fwrite(matrix->column, sizeof *matrix->column, (size_t)matrix->nonzeros, file);
    fwrite(matrix->value, sizeof *matrix->value, (size_t)matrix->nonzeros, file);
    const bool written = !ferror(file);
    return fclose(file) == 0 && written;
}

static bool give_to_peers(const char *command, struct peers *peers,
                          const struct bench_matrix *matrix)
{
    char path[] = "/tmp/kith-bench-XXXXXX";
    const int file = mkstemp(path);
    if (file >= 0)
        close(file);
    bool given = file >= 0 && write_matrix(matrix, path);
    if (!given)
        cli_fail_with(command, "%s cannot be written: the matrix for the other programs", path);
    given = given && peers_use_matrix(peers, path);
    if (file >= 0)
        unlink(path);
    return given;
}

/* On huge pages where Linux has them, as NumPy's arrays. */
static double *vector_for(int64_t count)
{
    const size_t page = (size_t)2 << 20, bytes = (size_t)(count + 1) * sizeof(double);
    double *vector = aligned_alloc(page, (bytes + page - 1) / page * page);
#ifdef MADV_HUGEPAGE
    if (vector)
        madvise(vector, (bytes + page - 1) / page * page, MADV_HUGEPAGE);
#endif
    for (int64_t k = 0; vector && k < count; k++)
        vector[k] = (double)(k % 7) * 0.1;
    return vector;
}

/* kith with one vector, kith with several, and the peers with one and with several, in turns. */
struct contest {
    struct product products[2];
    struct peer others[2 * sparse_most_peers];
    struct contestant contestants[2 + 2 * sparse_most_peers];
    struct contestant *all[2 + 2 * sparse_most_peers];
    int32_t count;
};

static void enter(struct contest *contest, double (*run)(void *, int64_t), void *state)
{
    const int32_t k = contest->count++;
    contest->contestants[k] = (struct contestant){.run = run, .state = state};
    contest->all[k] = &contest->contestants[k];
}

static void enter_all(struct contest *contest, const struct sparse_report *report,
                      struct peers *peers)
{
    for (int k = 0; k < 2; k++)
        enter(contest, run_product, &contest->products[k]);
    for (int32_t k = 0; k < 2 * report->peer_count; k++) {
        contest->others[k] = (struct peer){peers, k % 2 ? report->peer_vectors_name[k / 2]
                                                        : report->peer_name[k / 2]};
        enter(contest, run_peer, &contest->others[k]);
    }
}

static void take_results(struct contest *contest, int32_t peers, struct sparse_row *row)
{
    row->seconds = contestant_median(contest->all[0]);
    row->vectors_seconds = contestant_median(contest->all[1]);
    for (int32_t k = 0; k < peers; k++) {
        struct contestant *one = contest->all[2 + 2 * k], *several = contest->all[3 + 2 * k];
        row->peer_seconds[k] = contestant_median(one);
        row->peer_ratio[k] = contestant_ratio(one, contest->all[0]);
        row->peer_vectors_seconds[k] = contestant_median(several);
        row->peer_vectors_ratio[k] = contestant_ratio(several, contest->all[1]);
    }
}

static bool measure(const struct sparse_report *report, struct peers *peers, kith_sparse *sparse,
                    struct sparse_row *row)
{
    const char *command = report->options->common.command;
    const int64_t rows = row->info.rows, columns = row->info.columns;
    double *x = vector_for(columns * sparse_vectors), *y = vector_for(rows * sparse_vectors);
    struct contest contest = {
        .products = {{command, sparse, kith_array_vector(x, KITH_F64, columns),
                      kith_array_vector(y, KITH_F64, rows)},
                     {command, sparse, kith_array_matrix(x, KITH_F64, columns, sparse_vectors),
                      kith_array_matrix(y, KITH_F64, rows, sparse_vectors)}}};
    enter_all(&contest, report, peers);
    const bool measured =
        x && y && bench_measure(contest.count, contest.all, report->options->common.seconds);
    if (measured)
        take_results(&contest, report->peer_count, row);
    free(x);
    free(y);
    return measured;
}

static bool make_sparse(const struct sparse_bench_options *options, kith_context *context,
                        const char *name, struct peers *peers, kith_sparse **sparse)
{
    struct bench_matrix matrix = {0};
    bool made = bench_matrix_take(options->common.command, name, options->common.quick, &matrix);
    if (made && kith_sparse_create_csr(
                    context, &options->sparse, matrix.columns,
                    kith_array_vector(matrix.row_start, KITH_I64, matrix.rows + 1),
                    kith_array_vector(matrix.column, KITH_I32, matrix.nonzeros),
                    kith_array_vector(matrix.value, KITH_F64, matrix.nonzeros), sparse) != KITH_OK)
        made = cli_fail(options->common.command) == exit_ok;
    made = made && (!peers || give_to_peers(options->common.command, peers, &matrix));
    bench_matrix_free(&matrix);
    return made;
}

static bool measure_matrix(struct sparse_report *report, kith_context *context, struct peers *peers,
                           const char *name)
{
    struct sparse_row *row = &report->rows[report->row_count];
    kith_sparse *sparse = NULL;
    bool measured = make_sparse(report->options, context, name, peers, &sparse);
    if (measured && kith_sparse_describe(sparse, KITH_SPARSE_AS_IS, &row->info) == KITH_OK) {
        make_printable(name, row->name, sizeof row->name);
        snprintf(row->reason, sizeof row->reason, "%s", row->info.reason);
        measured = measure(report, peers, sparse, row);
    }
    kith_sparse_free(sparse);
    if (!measured)
        return false;
    if (!report->options->common.json)
        sparse_print_row(report, row);
    report->row_count++;
    return true;
}

/* Bytes read and written by a copy of memory that no cache holds, in one thread. */
static double copy_bandwidth(void)
{
    enum { bytes = 256 << 20, times = 5 };
    char *from = malloc(bytes), *to = malloc(bytes);
    double best = 0;
    if (from && to) {
        memset(from, 1, bytes);
        memset(to, 2, bytes);
    }
    for (int k = 0; from && to && k < times; k++) {
        const double start = cli_clock();
        memcpy(to, from, bytes);
        const double rate = 2.0 * bytes / (cli_clock() - start);
        best = rate > best ? rate : best;
    }
    free(from);
    free(to);
    return best;
}

static void find_peers(struct sparse_report *report, struct peers *peers)
{
    static const char *const names[sparse_most_peers] = {"scipy", "mkl"};
    static const char *const of_vectors[sparse_most_peers] = {"scipy:eight", "mkl:eight"};
    for (int32_t k = 0; k < sparse_most_peers; k++) {
        const char *version = peers_version(peers, names[k]);
        if (!version || !peers_version(peers, of_vectors[k]))
            continue;
        report->peer_vectors_name[report->peer_count] = of_vectors[k];
        report->peer_name[report->peer_count] = names[k];
        report->peer_version[report->peer_count++] = version;
    }
}

static int measure_all(struct sparse_report *report, kith_context *context, struct peers *peers)
{
    const struct sparse_bench_options *options = report->options;
    report->copy_bytes_per_second = copy_bandwidth();
    if (!options->common.json)
        sparse_print_heading(report);
    for (int32_t k = 0; k < options->matrix_count; k++)
        if (!measure_matrix(report, context, peers, options->matrices[k]))
            return exit_failed;
    if (!options->common.json)
        sparse_print_means(report);
    return bench_hand_over(&options->common, "sparse", sparse_as_json(report));
}

static void take_usual_matrices(struct sparse_bench_options *options)
{
    int64_t count = 0;
    const struct bench_matrix_kind *kinds = bench_matrix_kinds(&count);
    for (int64_t k = 0; k < count; k++)
        if (options->common.quick ? kinds[k].quick_size > 0 : kinds[k].usual)
            options->matrices[options->matrix_count++] = kinds[k].name;
}

static int bench_on_cpu(const struct sparse_bench_options *options, kith_context *context)
{
    const struct bench_common *common = &options->common;
    struct sparse_report *report = calloc(1, sizeof *report);
    struct peers *peers = NULL;
    if (!report)
        return cli_fail_with(common->command, "no memory");
    report->options = options;
    int code = exit_failed;
    if (common->with_peers)
        peers = peers_start(common->command, common->python, bench_peers_sparse, common->quiet);
    if (peers)
        find_peers(report, peers);
    if (peers || !common->with_peers)
        code = measure_all(report, context, peers);
    peers_end(peers);
    free(report);
    return code;
}

int bench_sparse(int argc, char **argv, cJSON **result)
{
    struct sparse_bench_options options = {.common = bench_begin(argv[0], result)};
    const struct argp argp = {option_table, parse,       "[MATRIX...]", documentation,
                              children,     filter_help, NULL};
    cli_parse(&argp, argc, argv, &options);

    kith_context *context = NULL;
    if (bench_open(&options.common, &context) != exit_ok)
        return exit_failed;
    bench_take_seconds(&options.common, 0.5);
    if (options.matrix_count == 0)
        take_usual_matrices(&options);
    const int code = options.common.device.kind == KITH_CUDA
                         ? bench_sparse_on_gpu(&options, context)
                         : bench_on_cpu(&options, context);
    kith_context_free(context);
    return code;
}
