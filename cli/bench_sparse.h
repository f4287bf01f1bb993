#ifndef CLI_BENCH_SPARSE_H
#define CLI_BENCH_SPARSE_H

#include "bench_measure.h"
#include "bench_options.h"
#include "bench_peers.h"

enum { sparse_vectors = 8, sparse_most_matrices = 32, sparse_most_peers = 2 };

struct sparse_bench_options {
    struct bench_common common;
    const char *matrices[sparse_most_matrices]; /* names of the table, or files */
    int32_t matrix_count;
    kith_sparse_options sparse;
};

/* What was measured of a matrix. */
struct sparse_row {
    char name[64];
    kith_sparse_info info;
    char reason[320];
    double seconds;         /* of a product */
    double vectors_seconds; /* of one with eight vectors */
    double peer_seconds[sparse_most_peers];
    double peer_ratio[sparse_most_peers]; /* its time over kith's; 0: not measured */
    double peer_vectors_seconds[sparse_most_peers], peer_vectors_ratio[sparse_most_peers];
};

struct sparse_report {
    const struct sparse_bench_options *options;
    const char *peer_name[sparse_most_peers], *peer_version[sparse_most_peers];
    const char *peer_vectors_name[sparse_most_peers]; /* of its products with several */
    int32_t peer_count;
    double copy_bytes_per_second;
    struct sparse_row rows[sparse_most_matrices];
    int32_t row_count;
};

/* The heading before the first row, a row, and what comes behind the last. */
void sparse_print_heading(const struct sparse_report *report);
void sparse_print_row(const struct sparse_report *report, const struct sparse_row *row);
void sparse_print_means(const struct sparse_report *report);
cJSON *sparse_as_json(const struct sparse_report *report);

#endif
