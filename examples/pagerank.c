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
 * A graph is a square matrix, with an entry in row i and column j for a link from i to j; a weight
 * of 2 is two links. Without one, the eleven pages of Wikipedia's picture of PageRank: B has 38.4
 * %, C 34.3 %, E 8.1 %. pagerank.gp draws their ranks. */

#include <math.h>

#include "example.h"

static const double damping = 0.85, tolerance = 1e-13;

enum { most_iterations = 1000, shown = 5 };

static const char pages[] = "ABCDEFGHIJK";
static int64_t from[] = {1, 2, 3, 3, 4, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 10};
static int64_t to[] = {2, 1, 0, 1, 1, 3, 5, 1, 4, 1, 4, 1, 4, 1, 4, 4, 4};

enum { page_count = sizeof pages - 1, link_count = sizeof from / sizeof from[0] };

static kith_sparse *load(kith_context *context, const char *path)
{
    kith_sparse *graph = NULL;
    if (path)
        must(kith_sparse_read(context, NULL, path, &graph));
    else
        must(kith_sparse_create_coo(
            context, NULL, page_count, page_count, kith_array_vector(from, KITH_I64, link_count),
            kith_array_vector(to, KITH_I64, link_count), kith_array_none(), &graph));
    return graph;
}

/* Iterates until the ranks stay; how often that was. */
static int64_t iterate(kith_sparse *graph, int64_t n, double *rank)
{
    double *given = room_for(3 * n, sizeof *given), *next = given + n, *links = given + 2 * n;
    for (int64_t i = 0; i < n; i++)
        given[i] = 1;
    must(kith_sparse_multiply(graph, KITH_SPARSE_AS_IS, 1, kith_array_vector(given, KITH_F64, n), 0,
                              kith_array_vector(links, KITH_F64, n)));
    for (int64_t i = 0; i < n; i++)
        rank[i] = 1 / (double)n;

    double change = 1;
    int64_t iterations = 0;
    for (; change > tolerance && iterations < most_iterations; iterations++) {
        double dangling = 0;
        for (int64_t i = 0; i < n; i++) {
            given[i] = links[i] > 0 ? rank[i] * (1 / links[i]) : 0;
            dangling += links[i] > 0 ? 0 : rank[i];
        }
        for (int64_t i = 0; i < n; i++)
            next[i] = (1 - damping + damping * dangling) / (double)n;
        must(kith_sparse_multiply(graph, KITH_SPARSE_TRANSPOSED, damping,
                                  kith_array_vector(given, KITH_F64, n), 1,
                                  kith_array_vector(next, KITH_F64, n)));
        change = 0;
        for (int64_t i = 0; i < n; i++) {
            change += fabs(next[i] - rank[i]);
            rank[i] = next[i];
        }
    }
    free(given);
    return iterations;
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
    const char *path = argc > 1 && strcmp(argv[1], "-") != 0 ? argv[1] : NULL;
    kith_context *context = NULL;
    must(kith_context_create(NULL, &context));
    kith_sparse *graph = load(context, path);
    kith_sparse_info info;
    must(kith_sparse_describe(graph, KITH_SPARSE_TRANSPOSED, &info));
    const int64_t n = info.rows;
    if (info.columns != n || n == 0) {
        fprintf(stderr, "pagerank: the graph is %lld x %lld; give a square one\n", (long long)n,
                (long long)info.columns);
        return 1;
    }

    double *rank = room_for(n, sizeof *rank), sum = 0;
    const int64_t iterations = iterate(graph, n, rank);
    for (int64_t i = 0; i < n; i++)
        sum += rank[i];
    printf("%lld pages, %lld links, %lld iterations; the ranks add up to %.12f\n", (long long)n,
           (long long)info.nonzeros, (long long)iterations, sum);
    print_highest(rank, n, path == NULL);
    const kith_table_column column = {"rank", kith_array_vector(rank, KITH_F64, n)};
    if (argc > 2)
        must(kith_table_write(argv[2], NULL, 1, &column));
    free(rank);
    kith_sparse_free(graph);
    kith_context_free(context);
    return 0;
}
