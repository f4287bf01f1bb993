/* What a product costs on a GPU: bytes, and time from them and from where x is read. The constants
 * are those of an H200; other devices differ by much the same factor for all formats, and only the
 * order matters. Rounds of loads, one after the other, decide for small matrices: with their
 * factors 3 of 430 choices take more than 1.2 times as long as the best plan, at most 1.3 times
 * (bench_regret cuda, seeds 4242, 901, 777 large, 31337 and 271828). The times are a third to a
 * half too short, as the lines of x that a load of a warp reads are not counted. */

#include <math.h>

#include "device/cuda_state.h"
#include "sparse/own_cuda.h"
#include "sparse/product_cuda.h"

static const double seconds_a_launch = 2.2e-6;
static const double seconds_a_byte = 1 / 4.2e12;        /* from memory */
static const double seconds_a_cached_byte = 1 / 6.5e12; /* of what fits in the L2 cache */
static const double seconds_a_line = 7e-12; /* an entry's x, if it comes from the L2 cache */
static const double seconds_a_round = 0.8e-6;

/* Of matrices this small, any padding is accepted. */
static const int64_t most_slots_of_small = 1 << 22;
enum { most_filling = 3 };

/* With more padding than this, rows are sorted in windows, and all together if these have it still.
 * All together takes 0.55 to 1.1 times as long as windows with padding of 1.08 and more, 0.58 to
 * 1.25 times of 1.03 and less, and 1.2 of large matrices (H200, bench_regret). */
static const double most_padding = 1.03;

/* Compressed rows, whose lanes do not read whole lines; the merge path also through shared memory.
 * With 1.1 for both, a choice takes 1.36 times the best. */
static const double traffic_of_rows = 1.1, traffic_of_merge = 1.2;

/* A lane's entries of rows of any lengths, and a second kernel for their sums. */
static const double traffic_of_elements = 1.5;

static int64_t bytes_of_value(const struct sparse_statistics *statistics)
{
    return kith_dtype_bytes(statistics->dtype);
}

static double attribute(kith_context *context, enum cudaDeviceAttr which)
{
    int value = 0;
    const cudaError_t error = cudaDeviceGetAttribute(&value, which, cuda_state_of(context)->device);
    return error == cudaSuccess ? value : 0;
}

/* Time of the traffic of a format that reads this many bytes of the matrix, and for this many
 * entries reads x where it is. */
static double seconds_of_traffic(kith_context *context, const struct sparse_statistics *statistics,
                                 double bytes, int64_t scattered)
{
    const double vectors =
        (double)(statistics->rows + statistics->columns) * (double)bytes_of_value(statistics);
    const double each = bytes + vectors < attribute(context, cudaDevAttrL2CacheSize)
                            ? seconds_a_cached_byte
                            : seconds_a_byte;
    const double stream = (bytes + vectors) * each;
    const double lines = (double)scattered * statistics->lines_per_entry * seconds_a_line;
    return fmax(stream, lines) + 0.2 * fmin(stream, lines);
}

/* The warps that the device has room for. */
static double warps_at_once(kith_context *context)
{
    return fmax(1, cuda_multiprocessors(context) *
                       attribute(context, cudaDevAttrMaxThreadsPerMultiProcessor) / 32);
}

/* Entries of the rows that are not long. */
static int64_t entries_in_slices(const struct sparse_statistics *statistics)
{
    int64_t entries = 0;
    for (int k = 1; k <= sparse_longest_in_slices; k++)
        entries += statistics->at_least[k];
    return entries - statistics->at_least[sparse_longest_in_slices + 1] * sparse_longest_in_slices;
}

int64_t sparse_long_entries(const struct sparse_statistics *statistics)
{
    return statistics->nonzeros - entries_in_slices(statistics);
}

/* The longest row that is not. */
static int64_t longest_in_slices(const struct sparse_statistics *statistics)
{
    int64_t longest = sparse_longest_in_slices;
    while (longest > 0 &&
           statistics->at_least[longest] == statistics->at_least[sparse_longest_in_slices + 1])
        longest--;
    return longest;
}

/* Minimum entries for column blocks, in all and per row and block. H200, 2000 rows of 2048 entries:
 * with 2, 4, 6, 8 and 16 entries per row and block in double, 0.76, 1.04, 1.17, 1.28 and 1.50 times
 * as fast as without blocks; with 4, 8 and 16 in single 1.19, 1.56 and 1.76. With 32, of half a
 * million, a million and two millions in all 0.71, 0.98 and 1.40. */
enum { least_entries_in_panels = 1 << 20, least_entries_of_segments = 4 };

static bool panels_pay(const struct sparse_statistics *statistics)
{
    const int64_t long_rows = statistics->at_least[sparse_longest_in_slices + 1];
    const int64_t entries = sparse_long_entries(statistics);
    const int64_t width = sparse_panel_width(statistics->dtype);
    const int64_t panels = (statistics->columns + width - 1) / width;
    return entries >= least_entries_in_panels &&
           entries / least_entries_of_segments >= long_rows * panels;
}

/* Two kernels more; and a segment that is not long is one lane's, as a row of a slice. */
static double seconds_of_panels(const struct sparse_statistics *statistics)
{
    const int64_t width = sparse_panel_width(statistics->dtype);
    const int64_t panels = (statistics->columns + width - 1) / width;
    const int64_t segments = statistics->at_least[sparse_longest_in_slices + 1] * panels;
    const double length = (double)sparse_long_entries(statistics) / (double)segments;
    const double rounds = length > sparse_lane_entries ? 0 : length / 8;
    return 2 * seconds_a_launch + rounds * seconds_a_round / 2;
}

bool sparse_goes_by_panels(kith_context *context, const struct sparse_statistics *statistics)
{
    return panels_pay(statistics) &&
           attribute(context, cudaDevAttrMaxSharedMemoryPerBlockOptin) >= sparse_panel_memory;
}

static bool is_mostly_filling(const struct sparse_statistics *statistics, double slots)
{
    return slots > most_slots_of_small && slots > most_filling * (double)statistics->nonzeros;
}

static void set(struct sparse_plan *plan, double bytes, double seconds)
{
    plan->bytes = (int64_t)bytes;
    plan->seconds = seconds_a_launch + seconds;
}

/* Rows by this many lanes each, four entries a lane and round: warps one after the other where
 * there are more than fit, and the longest row. More lanes than it needs save nothing. */
static double seconds_of_lanes(const struct sparse_statistics *statistics, double at_once,
                               int32_t lanes)
{
    const double rows = (double)statistics->rows, a_round = 4.0 * lanes;
    const double rounds = fmax((double)statistics->nonzeros / (rows * a_round), 1);
    const double waves = ceil(rows * lanes / 32 / at_once);
    return waves * (rounds + 1) * seconds_a_round / 4 +
           fmax((double)statistics->longest / a_round, 1) * seconds_a_round * 0.4;
}

/* Columns of 16 bits, which wait for their base: of 230 products with compressed rows that allow
 * them, the median takes 1.06 times as long with them, the best 0.87 times, and slices are faster
 * than that (H200, bench_regret). */
static bool predict_rows(kith_context *context, const struct sparse_statistics *statistics,
                         struct sparse_plan *plan)
{
    if (plan->index_bytes == 2 || plan->kernel == KITH_SPARSE_ELEMENT)
        return false;
    const int64_t starts = statistics->nonzeros > INT32_MAX ? 8 : 4;
    const double bytes = (double)(starts * statistics->rows) +
                         (double)statistics->nonzeros * (double)(4 + bytes_of_value(statistics));
    const double rows = (double)statistics->rows,
                 traffic = seconds_of_traffic(context, statistics, bytes, statistics->nonzeros);
    if (plan->kernel == KITH_SPARSE_MERGE) {
        set(plan, bytes + 4 * rows, 4e-6 + traffic_of_merge * traffic);
        return true;
    }
    const bool by_thread = plan->kernel == KITH_SPARSE_ROW_THREAD;
    const double at_once = warps_at_once(context);
    double least = INFINITY;
    for (int32_t lanes = by_thread ? 1 : 2; lanes <= (by_thread ? 1 : 32); lanes *= 2) {
        const double seconds = seconds_of_lanes(statistics, at_once, lanes);
        plan->lanes = seconds < least ? lanes : plan->lanes;
        least = fmin(seconds, least);
    }
    set(plan, bytes, traffic_of_rows * traffic + least);
    return true;
}

static bool predict_sell(kith_context *context, const struct sparse_statistics *statistics,
                         struct sparse_plan *plan)
{
    const int64_t inside = entries_in_slices(statistics), outside = statistics->nonzeros - inside;
    const int64_t sorted = statistics->sell_slots[2], unsorted = statistics->sell_slots_unsorted[2];
    if (plan->height != 32 || (plan->window == 1 && outside > 0)) /* long rows drop out of a list */
        return false;
    const bool fits = plan->index_bytes == 4 || statistics->index_fits_16; /* if rows stay */
    if (fits && outside == 0 && (double)unsorted < most_padding * (double)sorted)
        plan->window = 1;
    else if (plan->index_bytes == 4 && (double)sorted > most_padding * (double)inside)
        plan->window = sparse_whole_window;
    const double slots = (double)(plan->window == 1 ? unsorted : sorted);
    const double rows = (double)statistics->rows, each = (double)bytes_of_value(statistics);
    const bool by_panels = sparse_goes_by_panels(context, statistics);
    const double bytes = slots * (plan->index_bytes + each) + (plan->window == 1 ? 0 : 4) * rows +
                         rows / 4 + (double)outside * ((by_panels ? 2 : 4) + each);
    const double rounds =
        (double)longest_in_slices(statistics) / 8 + (plan->index_bytes == 2 ? 1 : 0); /* bases */
    set(plan, bytes,
        seconds_of_traffic(context, statistics, bytes, by_panels ? inside : statistics->nonzeros) +
            rounds * seconds_a_round / 2 + (by_panels ? seconds_of_panels(statistics) : 0));
    return true;
}

static bool predict_ell(kith_context *context, const struct sparse_statistics *statistics,
                        struct sparse_plan *plan)
{
    plan->width = statistics->longest;
    const double slots = (double)plan->width * (double)statistics->rows;
    const double bytes = slots * (double)(4 + bytes_of_value(statistics));
    set(plan, bytes,
        seconds_of_traffic(context, statistics, bytes, statistics->nonzeros) +
            (double)plan->width / 8 * seconds_a_round / 2);
    return !is_mostly_filling(statistics, slots);
}

/* The seed's rule: as wide as at least a third of the rows. */
static bool predict_hybrid(kith_context *context, const struct sparse_statistics *statistics,
                           struct sparse_plan *plan)
{
    int64_t inside = 0;
    plan->width = 0;
    while (plan->width + 1 < sparse_most_lengths &&
           3 * statistics->at_least[plan->width + 1] >= statistics->rows && statistics->rows > 0)
        inside += statistics->at_least[++plan->width];
    const double each = (double)bytes_of_value(statistics);
    const double outside = (double)(statistics->nonzeros - inside);
    const double bytes =
        (double)(plan->width * statistics->rows) * (4 + each) + outside * (8 + each);
    set(plan, bytes,
        2 * seconds_a_launch +
            traffic_of_elements *
                seconds_of_traffic(context, statistics, bytes, statistics->nonzeros) +
            (double)plan->width / 8 * seconds_a_round / 2);
    return true;
}

static bool predict_coo(kith_context *context, const struct sparse_statistics *statistics,
                        struct sparse_plan *plan)
{
    const double bytes = (double)statistics->nonzeros * (double)(8 + bytes_of_value(statistics));
    set(plan, bytes,
        2 * seconds_a_launch + traffic_of_elements * seconds_of_traffic(context, statistics, bytes,
                                                                        statistics->nonzeros));
    return true;
}

static bool predict_bsr(kith_context *context, const struct sparse_statistics *statistics,
                        struct sparse_plan *plan)
{
    const double blocks = statistics->blocks[plan->block];
    const double slots = blocks * plan->block * plan->block;
    const double bytes = blocks * 4 + slots * (double)bytes_of_value(statistics);
    /* Of the longest row: each entry is in a block of its own, or blocks are as full as they are.
     */
    const double longest =
        (double)statistics->longest *
        fmin(1, slots / plan->block / (double)(statistics->nonzeros ? statistics->nonzeros : 1));
    set(plan, bytes,
        1.03 * seconds_of_traffic(context, statistics, bytes, statistics->nonzeros) +
            longest / 4 * seconds_a_round * 0.6);
    return plan->kernel == KITH_SPARSE_ROW_THREAD && !is_mostly_filling(statistics, slots) &&
           !is_mostly_filling(statistics, (double)statistics->longest * 32);
}

static bool predict_dia(kith_context *context, const struct sparse_statistics *statistics,
                        struct sparse_plan *plan)
{
    const double diagonals = plan->symmetric ? floor((double)statistics->diagonals / 2) + 1
                                             : (double)statistics->diagonals;
    const double slots = diagonals * (double)statistics->rows;
    const double bytes = slots * (double)bytes_of_value(statistics);
    set(plan, bytes,
        seconds_of_traffic(context, statistics, bytes, statistics->nonzeros) +
            (double)statistics->diagonals / 4 * seconds_a_round / 2);
    return statistics->diagonals <= sparse_most_diagonals && !is_mostly_filling(statistics, slots);
}

bool sparse_predict_cuda(kith_context *context, const struct sparse_statistics *statistics,
                         struct sparse_plan *plan)
{
    switch (plan->format) {
    case KITH_SPARSE_COO:
        return predict_coo(context, statistics, plan);
    case KITH_SPARSE_ELL:
        return predict_ell(context, statistics, plan);
    case KITH_SPARSE_HYBRID:
        return predict_hybrid(context, statistics, plan);
    case KITH_SPARSE_SELL:
        return predict_sell(context, statistics, plan);
    case KITH_SPARSE_BSR:
        return predict_bsr(context, statistics, plan);
    case KITH_SPARSE_DIA:
        return predict_dia(context, statistics, plan);
    default:
        return predict_rows(context, statistics, plan);
    }
}
