/* Which page matters: PageRank by the power method on kith's sparse matrix.
 *
 *     pagerank [GRAPH.mtx|-] [RANKS.csv]
 *
 * A reader follows one of a page's links, each as likely; with probability 1 − d, or from a page
 * without links, any page. The ranks are where the reader is in the long run (Brin & Page 1998,
 * Comput. Netw. 30, 107):
 *
 *     r = d (Pᵀ r + dangling/n) + (1 − d)/n,       P[i][j] = A[i][j] / links of i,  d = 0.85
 *
 * A graph is a square matrix, with an entry in row i and column j for a link from i to j. Without
 * one, the eleven pages of Wikipedia's picture of PageRank: B has 38.4 %, C 34.3 %, E 8.1 %.
 * pagerank.gp draws their ranks. */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kith/kith.h"

static const double damping = 0.85, tolerance = 1e-13;

enum { most_iterations = 1000, shown = 5 };

static const char pages[] = "ABCDEFGHIJK";
static const int64_t from[] = {1, 2, 3, 3, 4, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 10};
static const int64_t to[] = {2, 1, 0, 1, 1, 3, 5, 1, 4, 1, 4, 1, 4, 1, 4, 4, 4};

enum { page_count = sizeof pages - 1, link_count = sizeof from / sizeof from[0] };

static int fail(void)
{
    fprintf(stderr, "pagerank: %s\n", kith_error_message());
    return 1;
}

static kith_status load(kith_context *context, const char *path, kith_sparse **graph)
{
    if (path && strcmp(path, "-") != 0)
        return kith_sparse_read(context, NULL, path, graph);
    return kith_sparse_create_coo(context, NULL, page_count, page_count,
                                  kith_array_vector((void *)from, KITH_I64, link_count),
                                  kith_array_vector((void *)to, KITH_I64, link_count),
                                  kith_array_none(), graph);
}

/* Iterates until the ranks stay; share is one over a page's links, 0 if it has none. */
static kith_status rank(kith_sparse *graph, int64_t n, const double *share, double *rank,
                        double *given, double *next, int64_t *iterations)
{
    for (int64_t i = 0; i < n; i++)
        rank[i] = 1 / (double)n;
    double change = 1;
    for (*iterations = 0; change > tolerance && *iterations < most_iterations; (*iterations)++) {
        double dangling = 0;
        for (int64_t i = 0; i < n; i++) {
            given[i] = rank[i] * share[i];
            dangling += share[i] > 0 ? 0 : rank[i];
        }
        const double everywhere = (1 - damping + damping * dangling) / (double)n;
        for (int64_t i = 0; i < n; i++)
            next[i] = everywhere;
        const kith_status status = kith_sparse_multiply(graph, KITH_SPARSE_TRANSPOSED, damping,
                                                        kith_array_vector(given, KITH_F64, n), 1,
                                                        kith_array_vector(next, KITH_F64, n));
        if (status)
            return status;
        change = 0;
        for (int64_t i = 0; i < n; i++) {
            change += fabs(next[i] - rank[i]);
            rank[i] = next[i];
        }
    }
    return KITH_OK;
}

static void print_highest(const double *rank, int64_t n, bool named)
{
    double above = INFINITY;
    for (int k = 0; k < shown && k < n; k++) {
        int64_t best = -1;
        for (int64_t i = 0; i < n; i++)
            if (rank[i] < above && (best < 0 || rank[i] > rank[best]))
                best = i;
        if (best < 0)
            return;
        above = rank[best];
        if (named)
            printf("%c  %5.1f %%\n", pages[best], 100 * above);
        else
            printf("page %lld  %.3g %%\n", (long long)best + 1, 100 * above);
    }
}

int main(int argc, char **argv)
{
    kith_context *context = NULL;
    kith_sparse *graph = NULL;
    kith_sparse_info info;
    if (kith_context_create(NULL, &context) || load(context, argc > 1 ? argv[1] : NULL, &graph) ||
        kith_sparse_describe(graph, KITH_SPARSE_TRANSPOSED, &info))
        return fail();
    if (info.rows != info.columns || info.rows == 0) {
        fprintf(stderr, "pagerank: the graph is %lld x %lld; give a square one\n",
                (long long)info.rows, (long long)info.columns);
        return 1;
    }

    const int64_t n = info.rows;
    double *room = malloc((size_t)n * 4 * sizeof *room);
    if (!room) {
        fprintf(stderr, "pagerank: no memory for %lld pages\n", (long long)n);
        return 1;
    }
    double *share = room, *ranks = room + n, *given = room + 2 * n, *next = room + 3 * n;
    for (int64_t i = 0; i < n; i++)
        given[i] = 1;
    if (kith_sparse_multiply(graph, KITH_SPARSE_AS_IS, 1, kith_array_vector(given, KITH_F64, n), 0,
                             kith_array_vector(share, KITH_F64, n)))
        return fail();
    for (int64_t i = 0; i < n; i++)
        share[i] = share[i] > 0 ? 1 / share[i] : 0;

    int64_t iterations = 0;
    if (rank(graph, n, share, ranks, given, next, &iterations))
        return fail();
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum += ranks[i];
    if (!(fabs(sum - 1) < 1e-6)) {
        fprintf(stderr, "pagerank: a link has a negative weight; give a graph without\n");
        return 1;
    }
    printf("%lld pages, %lld links, %lld iterations; the ranks add up to %.12f\n", (long long)n,
           (long long)info.nonzeros, (long long)iterations, sum);
    print_highest(ranks, n, argc < 2 || strcmp(argv[1], "-") == 0);
    const kith_table_column column = {"rank", kith_array_vector(ranks, KITH_F64, n)};
    if (argc > 2 && kith_table_write(argv[2], NULL, 1, &column))
        return fail();
    free(room);
    kith_sparse_free(graph);
    kith_context_free(context);
    return 0;
}
