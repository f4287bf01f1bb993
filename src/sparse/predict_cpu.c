/* Seconds of a product on one core: the sum of its bytes, the work of its kernel, rows whose length
 * the processor guesses wrong, and elements of x that are not in the caches. The number of threads
 * does not count: the choice, and with it the bits of a product, must not depend on it.
 *
 * Constants are nanoseconds on a Zen 5 core (EPYC, 4.1 GHz, AVX-512, 32 MB of L3), by least squares
 * over the times of the plans of bench/regret_sparse.py's matrices, seeds 1001 to 1003, in both
 * precisions, by one thread and by two: of those that take at most twice the best one's time. Those
 * of far lines are rounded to bench/sparse.py's random, R-MAT and dense row, 300 000 rows. */
#include <math.h>

#include "core/memory.h"
#include "sparse/sparse_cpu.h"

/* A byte costs the first where matrix and vectors are small against the L3 cache, up to the second
 * where they are read from memory. */
static const double cached_byte = 0.0026, far_byte = 0.0118;
static const double far_bytes = 37e6;

/* And at least this, whatever the work: 95 GB/s from caches, 44 from memory, in between where they
 * hold a part. */
static const double least_cached_byte = 0.0105, least_far_byte = 0.0225;
static const double least_cached_bytes = 10e6, least_far_bytes = 25e6;

/* A row whose length is not the one before's costs a wrong guess of the end of its loop, unless the
 * lengths repeat, or the processor remembers those of all rows from the product before: of about
 * this many. */
static const double wrong_guess = 6.7;
static const double remembered_guesses = 11300;

/* An element of x that is not in the first level of the cache; one that is not in the second, in so
 * far as the matrix leaves it no room in the third: by scalar loads, prefetched, gathered by
 * slices or along rows, gathered by rows that are one slice. */
static const double near_line = 0.08;
static const double far_line_scalar = 1.0, far_line_ahead = 1.0, least_line_ahead = 0.33;
static const double far_line_gathered = 0.5, far_line_strided = 1.8;

/* More, by slices or along rows, where x does not stay in the third level: of 8 MB nothing, of 16
 * all. */
static const double lost_line_gathered = 0.8, least_lost_bytes = 8e6, most_kept_bytes = 16e6;

/* Rows one entry or one vector after the other, by 30 000 entries in rows of 2 to 256 and x in the
 * first level: gathers along a row are never faster than scalar loads, and a row costs more. */
static const double csr_row = 0.48, csr_entry = 0.27;
static const double lanes_row = 2.0, lanes_rest = 0.24; /* what is left over of a row's vectors */
static const double lanes_entry_double = 0.29, lanes_entry_single = 0.27;
static const double coo_row = 0.95, coo_entry = 0.346;
static const double slot_double = 0.39, slot_single = 0.289; /* gathered */
static const double strided_slot = 0.02;                     /* more, where rows are one slice */
static const double ell_vector = 1.84, sell_vector = 1.56, sell_slice = 2.1; /* of rows */
static const double sorted_row = 1.05;                 /* written to a place of its own */
static const double hybrid_row = 1.2;                  /* that has entries besides */
static const double bsr_block = 0.76, bsr_row = 3.2;   /* of blocks, whatever their size */
static const double dia_vector = 0.52, dia_row = 1.7;  /* of a diagonal; of all, a vector of rows */
static const double half_vector = 0.8, half_row = 0.9; /* the same, half of them stored */

/* Half of the diagonals are read in short runs of many streams, which saves time where all of them
 * are far larger than the caches: of 5 to 50 MB it takes 1.1 to 4 times as long, of 67 MB and more
 * 0.3 to 0.8 times. */
static const double least_halved_bytes = 60e6;

/* Formats that would be mostly padding are not even tried. */
enum { always_allowed_slots = 1 << 20, most_slots_an_entry = 64, bytes_of_a_vector = 64 };

static bool is_sensible(const struct sparse_statistics *statistics, double slots)
{
    return slots <= always_allowed_slots ||
           slots <= (double)most_slots_an_entry * (double)(statistics->nonzeros + statistics->rows);
}

static double bytes_each(const struct sparse_statistics *statistics)
{
    return (double)kith_dtype_bytes(statistics->dtype);
}

static double vectors_of(const struct sparse_statistics *statistics, double rows)
{
    return rows * bytes_each(statistics) / bytes_of_a_vector;
}

static double slot_of(const struct sparse_statistics *statistics)
{
    return statistics->dtype == KITH_F64 ? slot_double : slot_single;
}

/* Nanoseconds that wrong guesses take in a product with `loops` loops whose lengths change. */
static double guesses(double wrong, double loops)
{
    const double known = pow(loops / remembered_guesses, 4);
    return wrong_guess * wrong * known / (1 + known);
}

/* Whether the kernel of a plan prefetches x. */
static bool asks_ahead(const struct sparse_statistics *statistics, const struct sparse_plan *plan)
{
    return plan->format == KITH_SPARSE_CSR && plan->index_bytes == 4 &&
           plan->kernel != KITH_SPARSE_ROW_VECTOR &&
           sparse_is_scattered(statistics->lines_per_entry,
                               statistics->columns * kith_dtype_bytes(statistics->dtype));
}

static double line_gathered(const struct sparse_statistics *statistics)
{
    const double bytes = (double)statistics->columns * bytes_each(statistics);
    const double lost = (bytes - least_lost_bytes) / (most_kept_bytes - least_lost_bytes);
    return far_line_gathered + lost_line_gathered * fmax(0, fmin(lost, 1));
}

/* Entries that are left over when rows are cut into vectors; of long rows half a vector. */
static double left_over(const struct sparse_statistics *statistics)
{
    const int64_t lanes = bytes_of_a_vector / kith_dtype_bytes(statistics->dtype);
    const int64_t counted = sparse_most_lengths - 1;
    double rest = 0.5 * (double)(lanes * statistics->at_least[counted]);
    for (int64_t k = 1; k < counted; k++)
        rest += (double)((k % lanes) * (statistics->at_least[k] - statistics->at_least[k + 1]));
    return rest;
}

/* Along rows by vectors, what is left over is read by scalar loads. */
static double line_of_csr(const struct sparse_statistics *statistics,
                          const struct sparse_plan *plan)
{
    const double rest =
        statistics->nonzeros > 0 ? left_over(statistics) / (double)statistics->nonzeros : 0;
    return plan->kernel == KITH_SPARSE_ROW_THREAD
               ? far_line_scalar
               : rest * far_line_scalar + (1 - rest) * line_gathered(statistics);
}

static double waiting_for_x(const struct sparse_statistics *statistics,
                            const struct sparse_plan *plan, double far)
{
    const bool strided = plan->format == KITH_SPARSE_ELL || plan->format == KITH_SPARSE_HYBRID;
    const double far_line = asks_ahead(statistics, plan)
                                ? least_line_ahead + (far_line_ahead - least_line_ahead) * far
                            : strided                          ? far_line_strided * far
                            : plan->format == KITH_SPARSE_SELL ? line_gathered(statistics) * far
                            : plan->format == KITH_SPARSE_CSR  ? line_of_csr(statistics, plan) * far
                                                               : far_line_scalar * far;
    return (double)statistics->nonzeros *
           (near_line * statistics->near_lines_per_entry + far_line * statistics->lines_per_entry);
}

/* Nanoseconds, at least. */
static double nanoseconds_of_bytes(double bytes)
{
    const double part = (bytes - least_cached_bytes) / (least_far_bytes - least_cached_bytes);
    return bytes *
           (least_cached_byte + (least_far_byte - least_cached_byte) * fmax(0, fmin(part, 1)));
}

/* Completes a plan whose nanoseconds of work and bytes of the matrix are known. */
static bool finish(const struct sparse_statistics *statistics, double work, double bytes,
                   struct sparse_plan *plan)
{
    const double vectors =
        (double)(2 * statistics->rows + statistics->columns) * bytes_each(statistics);
    const double all = bytes + vectors, far = fmin(all / far_bytes, 1);
    const double a_byte = cached_byte + (far_byte - cached_byte) * far;
    const double waiting =
        plan->format == KITH_SPARSE_DIA ? 0 : waiting_for_x(statistics, plan, far);
    plan->bytes = (int64_t)bytes;
    plan->seconds = 1e-9 * fmax(work + all * a_byte + waiting, nanoseconds_of_bytes(all));
    return true;
}

static bool predict_csr(const struct sparse_statistics *statistics, struct sparse_plan *plan)
{
    const double rows = (double)statistics->rows, entries = (double)statistics->nonzeros;
    const double start =
        plan->kernel == KITH_SPARSE_ROW_THREAD ? sparse_start_bytes(statistics->nonzeros) : 8;
    const double bytes = start * rows + entries * (plan->index_bytes + bytes_each(statistics));
    const double rest = left_over(statistics), changes = (double)statistics->length_changes;
    const double in_vectors =
        statistics->dtype == KITH_F64 ? lanes_entry_double : lanes_entry_single;
    const bool by_lanes = plan->kernel != KITH_SPARSE_ROW_THREAD && !asks_ahead(statistics, plan);
    const double work = by_lanes
                            ? rows * lanes_row + rest * lanes_rest + (entries - rest) * in_vectors
                            : rows * csr_row + entries * csr_entry;
    return plan->kernel != KITH_SPARSE_ELEMENT &&
           finish(statistics, work + guesses(changes, changes), bytes, plan);
}

static bool predict_coo(const struct sparse_statistics *statistics, struct sparse_plan *plan)
{
    const double entries = (double)statistics->nonzeros, rows = (double)statistics->rows;
    const double changes = (double)statistics->length_changes;
    return finish(statistics, entries * coo_entry + rows * coo_row + guesses(changes, changes),
                  entries * (8 + bytes_each(statistics)), plan);
}

/* Rows padded to a width. */
static double work_of_ell(const struct sparse_statistics *statistics, double slots)
{
    return slots * (slot_of(statistics) + strided_slot) +
           vectors_of(statistics, (double)statistics->rows) * ell_vector;
}

static bool predict_ell(const struct sparse_statistics *statistics, struct sparse_plan *plan)
{
    const double slots = (double)statistics->longest * (double)statistics->rows;
    return is_sensible(statistics, slots) && finish(statistics, work_of_ell(statistics, slots),
                                                    slots * (4 + bytes_each(statistics)), plan);
}

/* The seed's rule: as wide as a third of the rows. */
static int64_t width_of_third(const struct sparse_statistics *statistics)
{
    int64_t width = 0;
    while (width + 3 < sparse_most_lengths && /* predict_hybrid looks two further */
           3 * statistics->at_least[width + 1] >= statistics->rows &&
           statistics->at_least[width + 1] > 0)
        width++;
    return width;
}

static bool predict_hybrid(const struct sparse_statistics *statistics, struct sparse_plan *plan)
{
    if (plan->width == 0)
        plan->width = width_of_third(statistics);
    double rest = (double)statistics->nonzeros;
    for (int64_t k = 1; k <= plan->width; k++)
        rest -= (double)statistics->at_least[k];
    const double slots = (double)(plan->width * statistics->rows);
    const double value = bytes_each(statistics);
    const double longer = (double)statistics->at_least[plan->width + 1];
    /* The loop by four and the one that is left over. */
    const double wrong = 2 * (double)statistics->at_least[plan->width + 2];
    const double work = work_of_ell(statistics, slots) + rest * coo_entry + longer * hybrid_row +
                        guesses(wrong, longer);
    return finish(statistics, work,
                  slots * (4 + value) + rest * (8 + 2 * value), /* they read x once more */
                  plan);
}

/* How often a slice is not as wide as the one before it, if rows of all lengths are mixed: the
 * longest of its rows has at least k entries with probability 1 - (1 - p)^height, where p is the
 * part of all rows that do. */
static double width_changes(const struct sparse_statistics *statistics, int32_t height)
{
    double same = 0, wider = 1;
    for (int64_t k = 1; k < sparse_most_lengths && statistics->at_least[k] > 0; k++) {
        const double part = (double)statistics->at_least[k] / (double)statistics->rows;
        const double as_wide = 1 - pow(1 - part, height);
        same += (wider - as_wide) * (wider - as_wide);
        wider = as_wide;
    }
    return 1 - same - wider * wider;
}

/* A slice is as high as a vector has lanes, or a multiple. */
static bool predict_sell(const struct sparse_statistics *statistics, struct sparse_plan *plan)
{
    int32_t k = 0;
    while (k < sparse_sell_heights && sparse_sell_height[k] != plan->height)
        k++;
    const double value = bytes_each(statistics), rows = (double)statistics->rows;
    if (k == sparse_sell_heights || plan->height * value < bytes_of_a_vector)
        return false;
    const bool sorted = plan->window > 1;
    const double slots =
        (double)(sorted ? statistics->sell_slots[k] : statistics->sell_slots_unsorted[k]);
    const double slices = rows / plan->height;
    const double changes =
        fmin(slices * width_changes(statistics, plan->height), (double)statistics->length_changes);
    const double work = slots * slot_of(statistics) + slices * sell_slice +
                        vectors_of(statistics, rows) * sell_vector +
                        (sorted ? rows * sorted_row : guesses(changes, changes));
    return is_sensible(statistics, slots) &&
           finish(statistics, work,
                  slots * (plan->index_bytes + value) + slices * 8 + (sorted ? 4 * rows : 0), plan);
}

static bool predict_bsr(const struct sparse_statistics *statistics, struct sparse_plan *plan)
{
    if (plan->kernel != KITH_SPARSE_ROW_THREAD)
        return false;
    const double blocks = statistics->blocks[plan->block], size = plan->block;
    const double slots = blocks * size * size, rows = (double)statistics->rows / size;
    const double changes = fmin(rows, (double)statistics->length_changes);
    return is_sensible(statistics, slots) &&
           finish(statistics, blocks * bsr_block + rows * bsr_row + guesses(changes, changes),
                  blocks * 4 + slots * bytes_each(statistics) + 8 * rows, plan);
}

static bool predict_dia(const struct sparse_statistics *statistics, struct sparse_plan *plan)
{
    const double rows = (double)kith_padded(statistics->rows); /* of whole tiles */
    /* Those that were not counted lie in the band. */
    const double diagonals = statistics->diagonals > sparse_most_diagonals
                                 ? (double)(statistics->lower + statistics->upper + 1)
                                 : (double)statistics->diagonals;
    const double slots = diagonals * rows, bytes = slots * bytes_each(statistics);
    const double stored = plan->symmetric ? 0.5 * (bytes + rows * bytes_each(statistics)) : bytes;
    const double a_slot = plan->symmetric ? half_vector : dia_vector;
    const double a_row = plan->symmetric ? half_row : dia_row;
    finish(statistics,
           vectors_of(statistics, slots) * a_slot + vectors_of(statistics, rows) * a_row,
           bytes > least_halved_bytes ? stored : bytes, plan);
    plan->bytes = (int64_t)stored;
    return is_sensible(statistics, slots);
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
