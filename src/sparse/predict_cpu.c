/* What a product costs on a core: bytes from memory, work on each entry, and lines of x that are
 * not near by. Constants are of a Zen 4 core at 3.5 GHz; only their ratios decide. */
#include <math.h>

#include "sparse/sparse_cpu.h"

static const double bytes_a_second = 22e9;
static const double many_streams = 0.6;            /* of that, for more than some arrays together */
static const double seconds_a_row = 1.5e-9;        /* to begin and end a row */
static const double seconds_an_entry = 0.45e-9;    /* one after the other */
static const double seconds_a_row_by_lanes = 4e-9; /* with the sum over the lanes */
static const double seconds_a_slot = 0.25e-9;      /* that is gathered with others */
static const double seconds_a_block = 1.2e-9;      /* and for each of its elements: */
static const double seconds_an_element = 0.12e-9;
static const double seconds_on_diagonal = 0.06e-9;
/* Of x, in L2, in L3, in memory; and where it is prefetched. */
static const double seconds_a_line[] = {0, 1.8e-9, 5e-9};
static const double seconds_a_line_ahead[] = {0, 0.8e-9, 1.2e-9};
static const double scattered_lines = 0.2; /* per entry, from which on kernels prefetch */

enum { in_l2 = 512 << 10, in_l3 = 16 << 20, few_streams = 10 };

/* Formats that would be mostly padding are not even tried. */
enum { always_allowed_slots = 1 << 20, most_slots_an_entry = 64 };

static bool is_sensible(const struct sparse_statistics *statistics, double slots)
{
    return slots <= always_allowed_slots ||
           slots <= (double)most_slots_an_entry * (double)(statistics->nonzeros + statistics->rows);
}

/* Whether the kernel of a plan prefetches x. */
static bool asks_ahead(const struct sparse_statistics *statistics, const struct sparse_plan *plan)
{
    return plan->format == KITH_SPARSE_CSR && plan->index_bytes == 4 &&
           plan->kernel != KITH_SPARSE_ROW_VECTOR && statistics->lines_per_entry > scattered_lines;
}

/* Waiting for x, entries and padding alike. */
static double scatter_seconds(const struct sparse_statistics *statistics,
                              const struct sparse_plan *plan)
{
    const int64_t x_bytes = statistics->columns * kith_dtype_bytes(statistics->dtype);
    const int level = x_bytes <= in_l2 ? 0 : x_bytes <= in_l3 ? 1 : 2;
    const double *of_line = asks_ahead(statistics, plan) ? seconds_a_line_ahead : seconds_a_line;
    return of_line[level] * statistics->lines_per_entry * (double)statistics->nonzeros;
}

/* Completes a plan whose work and matrix' bytes are known. */
static bool finish(const struct sparse_statistics *statistics, double work, double bytes,
                   double of_bandwidth, bool gathers, struct sparse_plan *plan)
{
    const double vectors = (double)(2 * statistics->rows + statistics->columns) *
                           (double)kith_dtype_bytes(statistics->dtype);
    const double streaming = (bytes + vectors) / (bytes_a_second * of_bandwidth);
    plan->bytes = (int64_t)bytes;
    plan->seconds = fmax(work, streaming) + (gathers ? scatter_seconds(statistics, plan) : 0);
    return true;
}

static bool predict_csr(const struct sparse_statistics *statistics, struct sparse_plan *plan)
{
    const double rows = (double)statistics->rows, entries = (double)statistics->nonzeros;
    const double start =
        plan->kernel == KITH_SPARSE_ROW_THREAD ? sparse_start_bytes(statistics->nonzeros) : 8;
    const double bytes =
        start * rows + entries * (double)(plan->index_bytes + kith_dtype_bytes(statistics->dtype));
    /* Half a vector of each row is left over for the end. */
    const double by_lanes = rows * seconds_a_row_by_lanes + entries * seconds_a_slot +
                            fmin(4 * rows, entries) * (seconds_an_entry - seconds_a_slot);
    const double one_by_one = rows * seconds_a_row + entries * seconds_an_entry;
    /* A row that is a large part of everything keeps other threads waiting, unless it is shared. */
    const double waiting = 0.1e-9 * (double)statistics->longest;
    switch (plan->kernel) {
    case KITH_SPARSE_ROW_THREAD:
        return finish(statistics, one_by_one + waiting, bytes, 1, true, plan);
    case KITH_SPARSE_ROW_VECTOR:
        return finish(statistics, by_lanes + waiting, bytes, 1, true, plan);
    case KITH_SPARSE_MERGE:
        return finish(statistics, 1.02 * (asks_ahead(statistics, plan) ? one_by_one : by_lanes),
                      bytes, 1, true, plan);
    default:
        return false;
    }
}

static bool predict_coo(const struct sparse_statistics *statistics, struct sparse_plan *plan)
{
    const double entries = (double)statistics->nonzeros, rows = (double)statistics->rows;
    return finish(statistics, entries * 2 * seconds_an_entry + rows * seconds_a_row,
                  entries * (double)(8 + kith_dtype_bytes(statistics->dtype)), 1, true, plan);
}

static bool predict_ell(const struct sparse_statistics *statistics, struct sparse_plan *plan)
{
    const double slots = (double)statistics->longest * (double)statistics->rows;
    const double each = (double)(4 + kith_dtype_bytes(statistics->dtype));
    return is_sensible(statistics, slots) &&
           finish(statistics, slots * seconds_a_slot, slots * each,
                  2 * statistics->longest > few_streams ? many_streams : 1, true, plan);
}

/* The seed's rule: as wide as a third of the rows. */
static int64_t width_of_third(const struct sparse_statistics *statistics)
{
    int64_t width = 0;
    while (width + 1 < sparse_most_lengths &&
           3 * statistics->at_least[width + 1] >= statistics->rows &&
           statistics->at_least[width + 1] > 0)
        width++;
    return width;
}

static bool predict_hybrid(const struct sparse_statistics *statistics, struct sparse_plan *plan)
{
    const double value = (double)kith_dtype_bytes(statistics->dtype);
    if (plan->width == 0)
        plan->width = width_of_third(statistics);
    double rest = (double)statistics->nonzeros;
    for (int64_t k = 1; k <= plan->width; k++)
        rest -= (double)statistics->at_least[k];
    const double slots = (double)plan->width * (double)statistics->rows;
    return finish(statistics, slots * seconds_a_slot + rest * 2 * seconds_an_entry,
                  slots * (4 + value) + rest * (8 + 2 * value), /* they read x once more */
                  2 * plan->width > few_streams ? many_streams : 1, true, plan);
}

/* A slice is as high as a vector has lanes, or a multiple. */
static bool predict_sell(const struct sparse_statistics *statistics, struct sparse_plan *plan)
{
    int32_t k = 0;
    while (k < sparse_sell_heights && sparse_sell_height[k] != plan->height)
        k++;
    const int64_t bytes_each = kith_dtype_bytes(statistics->dtype);
    if (k == sparse_sell_heights || plan->height * bytes_each < 64)
        return false;
    const bool sorted = plan->window > 1;
    const double slots =
        (double)(sorted ? statistics->sell_slots[k] : statistics->sell_slots_unsorted[k]);
    const double slices = (double)statistics->rows / plan->height;
    const double per_slice = 2e-9 + (sorted ? plan->height * 0.6e-9 : 0);
    /* One vector's sum waits for itself. */
    const double waits = plan->height * bytes_each == 64 ? 1.3 : 1;
    return is_sensible(statistics, slots) &&
           finish(statistics, waits * slots * seconds_a_slot + slices * per_slice,
                  slots * (double)(plan->index_bytes + bytes_each) + slices * 8 +
                      (sorted ? 4 * (double)statistics->rows : 0),
                  1, true, plan);
}

static bool predict_bsr(const struct sparse_statistics *statistics, struct sparse_plan *plan)
{
    if (plan->kernel != KITH_SPARSE_ROW_THREAD)
        return false;
    const double blocks = statistics->blocks[plan->block], size = plan->block;
    const double elements = blocks * size * size;
    return is_sensible(statistics, elements) &&
           finish(statistics, blocks * seconds_a_block + elements * seconds_an_element,
                  blocks * 4 + elements * (double)kith_dtype_bytes(statistics->dtype) +
                      8 * (double)statistics->rows / size,
                  1, true, plan);
}

static bool predict_dia(const struct sparse_statistics *statistics, struct sparse_plan *plan)
{
    const double rows = (double)statistics->rows;
    /* Those that were not counted lie in the band. */
    const double diagonals = statistics->diagonals > sparse_most_diagonals
                                 ? (double)(statistics->lower + statistics->upper + 1)
                                 : (double)statistics->diagonals;
    const double slots = diagonals * rows;
    const double stored = plan->symmetric ? 0.5 * (slots + rows) : slots;
    return is_sensible(statistics, slots) &&
           finish(statistics, slots * seconds_on_diagonal,
                  stored * (double)kith_dtype_bytes(statistics->dtype), 1, false, plan);
}

bool sparse_predict_cpu(kith_context *context, const struct sparse_statistics *statistics,
                        struct sparse_plan *plan)
{
    (void)context;
    switch (plan->format) {
    case KITH_SPARSE_CSR:
        return predict_csr(statistics, plan);
    case KITH_SPARSE_COO:
        return predict_coo(statistics, plan);
    case KITH_SPARSE_ELL:
        return predict_ell(statistics, plan);
    case KITH_SPARSE_HYBRID:
        return predict_hybrid(statistics, plan);
    case KITH_SPARSE_SELL:
        return predict_sell(statistics, plan);
    case KITH_SPARSE_BSR:
        return predict_bsr(statistics, plan);
    case KITH_SPARSE_DIA:
        return predict_dia(statistics, plan);
    default:
        return false;
    }
}
