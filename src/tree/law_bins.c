#include "tree/law_bins.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/memory.h"
#include "law/series.h"

/* Bins of distances down to 2^−22 of the extent, nearer than which no cells meet that are not one
 * cell of the Morton grid. */
enum {
    octaves = 45,
    bins_of_octave = 1 << expansion_bin_bits,
    most_bins = octaves * bins_of_octave
};

/* How well the series of two bins must agree where these meet, relative to the largest value from
 * half of the distance on: what falls faster is negligible, but where there is nothing else. */
static const double greatest_step = 1e-8;

/* The first number of bin k, from 2^−44 on, in units of the bins. */
static double edge_of(int32_t k)
{
    return ldexp(1 + (double)(k % bins_of_octave) / bins_of_octave,
                 k / bins_of_octave - octaves + 1);
}

static double middle_of(int32_t k)
{
    return 0.5 * (edge_of(k) + edge_of(k + 1));
}

static int64_t number_of_float(double x)
{
    const float narrow = (float)x;
    int32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    return bits >> (FLT_MANT_DIG - 1 - expansion_bin_bits);
}

/* 1 over a power of two from the length on. */
static double unit_for(double length)
{
    int exponent = 0;
    frexp(length > 0 ? length : 1, &exponent);
    return ldexp(1, -exponent);
}

/* Rows that are not numbers of the precision are never used (fill_decay), and made 0, as what fills
 * up vectors reads them. */
static bool is_usable(const double *row, int32_t terms, kith_dtype dtype)
{
    const double greatest = dtype == KITH_F64 ? 1e250 : 1e30;
    for (int32_t k = 0; k < terms; k++)
        if (!(fabs(row[k]) <= greatest))
            return false;
    return true;
}

static kith_status make_series(const struct tree_problem *problem, int32_t order, double longest,
                               struct tree_law_bins *bins)
{
    struct law_view view;
    struct expansion_bins *all = &bins->bins;
    double s2[most_bins];
    law_look(problem->pair_law, &view);
    all->per_unit = unit_for(longest);
    all->terms = expansion_terms_of(order);
    const double unit2 = all->per_unit * all->per_unit;
    int32_t first = 0;
    while (first + 1 < most_bins && edge_of(first + 1) <= problem->softening2 * unit2)
        first++;
    all->count = most_bins - first;
    all->first_double = expansion_bin_of(edge_of(first));
    all->first_float = number_of_float(edge_of(first));
    for (int32_t k = 0; k < all->count; k++)
        s2[k] = middle_of(first + k) / unit2;
    KITH_TRY(kith_allocate((int64_t)all->count * all->terms, sizeof *bins->series,
                           "the series of a law", &bins->series));
    KITH_TRY(law_series(&view, all->count, s2, all->terms, bins->series));
    for (int32_t k = 0; k < all->count; k++) {
        double *row = bins->series + (int64_t)k * all->terms;
        if (!is_usable(row, all->terms, problem->dtype))
            memset(row, 0, (size_t)all->terms * sizeof *row);
    }
    all->rows = bins->series;
    if (problem->dtype == KITH_F64)
        return KITH_OK;
    const int64_t numbers = (int64_t)all->count * all->terms;
    KITH_TRY(kith_allocate(numbers, sizeof *bins->narrow, "the series of a law", &bins->narrow));
    for (int64_t k = 0; k < numbers; k++)
        bins->narrow[k] = (float)bins->series[k];
    all->rows = bins->narrow;
    return KITH_OK;
}

static bool is_zero(const double *row, int32_t terms)
{
    for (int32_t k = 0; k < terms; k++)
        if (row[k] != 0)
            return false;
    return true;
}

/* By how much bins k and k + 1 differ where they meet, in value and in slope. */
static double difference_after(const struct tree_law_bins *bins, int32_t k)
{
    const struct expansion_bins *all = &bins->bins;
    const double *row = bins->series + (int64_t)k * all->terms, *next = row + all->terms;
    const int32_t first = most_bins - all->count + k;
    const double edge = edge_of(first + 1), middle = middle_of(first), other = middle_of(first + 1);
    double slope[2];
    if (is_zero(row, all->terms) || is_zero(next, all->terms))
        return 0;
    const double value = tree_sum_of_series(row, all->terms, edge / middle - 1, &slope[0]) -
                         tree_sum_of_series(next, all->terms, edge / other - 1, &slope[1]);
    return fmax(fabs(value), fabs(slope[0] * edge / middle - slope[1] * edge / other));
}

/* Finds the noise, and that it is small. Half of the distance is a quarter of s²: two octaves. */
static kith_status check_convergence(struct tree_law_bins *bins)
{
    const struct expansion_bins *all = &bins->bins;
    KITH_TRY(kith_allocate(all->count, sizeof *bins->noise, "the series of a law", &bins->noise));
    for (int32_t k = 0; k < all->count; k++)
        bins->noise[k] = 0;
    for (int32_t k = 0; k + 1 < all->count; k++) {
        const double difference = difference_after(bins, k);
        double largest = 0;
        for (int32_t j = k < 2 * bins_of_octave ? 0 : k - 2 * bins_of_octave; j <= k + 1; j++) {
            const double *row = bins->series + (int64_t)j * all->terms;
            largest = fmax(largest, fmax(fabs(row[0]), fabs(row[1])));
        }
        bins->noise[k] = fmax(bins->noise[k], difference);
        bins->noise[k + 1] = difference;
        if (!(difference <= greatest_step * largest))
            return kith_fail(KITH_UNSUPPORTED,
                             "the law has no converging series about the distance %.3g: it is not "
                             "smooth there, or oscillates; use the solver direct",
                             sqrt(edge_of(most_bins - all->count + k + 1)) / all->per_unit);
    }
    return KITH_OK;
}

/* C(k, j) for k below terms. */
struct binomials {
    double of[expansion_most_terms][expansion_most_terms];
};

static void fill_binomials(struct binomials *table)
{
    memset(table, 0, sizeof *table);
    for (int32_t k = 0; k < expansion_most_terms; k++) {
        table->of[k][0] = 1;
        for (int32_t j = 1; j <= k; j++)
            table->of[k][j] = table->of[k - 1][j - 1] + (j < k ? table->of[k - 1][j] : 0);
    }
}

/* T_n(μ). */
static double turned(const struct binomials *table, const double *row, int32_t n, double w,
                     double mu)
{
    double sum = 0;
    for (int32_t k = (n + 1) / 2; k <= n; k++)
        sum += row[k] * table->of[k][n - k] * pow(2 * mu, 2 * k - n) * pow(w, k);
    return sum;
}

/* What is left of V toward the source, at (1 − u) r, by the terms of μ = 1. */
static double rest_toward_source(const double *toward, int32_t terms, double value, double u)
{
    double sum = 0;
    for (int32_t n = terms - 1; n >= 0; n--)
        sum = toward[n] - u * sum;
    return fabs(value - sum);
}

enum { half = tree_decay_angles / 2 }; /* the first of angles ≥ ½ */

static double angle_of(int32_t k)
{
    return (k + 1) / (double)tree_decay_scale;
}

/* r A(u) and r |dV/dr| at the distance r of an edge; values are V at (1 − u) r for each u ≥ ½. */
static void find_decay(const struct binomials *table, int32_t order, int32_t terms,
                       const double *row, double w, const double *values,
                       struct tree_decay_row *decay)
{
    static const double directions[] = {1, 0.75, 0.5, 0.25, 0};
    double toward[expansion_most_terms] = {0}, largest[expansion_most_terms] = {0};
    for (int32_t n = 0; n < terms; n++) {
        largest[n] = 0;
        for (size_t k = 0; k < sizeof directions / sizeof *directions; k++) {
            const double t = turned(table, row, n, w, directions[k]);
            largest[n] = fmax(largest[n], fabs(t));
            if (k == 0)
                toward[n] = t;
        }
    }
    const double rest_of_half = rest_toward_source(toward, terms, values[0], angle_of(half - 1));
    for (int32_t k = 0; k < tree_decay_angles; k++) {
        const double u = angle_of(k);
        const double rest = k < half ? rest_of_half * pow(u / angle_of(half - 1), terms)
                                     : rest_toward_source(toward, terms, values[k - half + 1], u);
        double sum = 0;
        for (int32_t n = terms - 1; n > order; n--)
            sum = sum * u + largest[n];
        sum += rest / pow(u, order + 1);
        decay->field[k] = fmax(largest[order + 1], 0.5 * sum);
    }
    decay->slope = fabs(2 * row[1] * w);
}

struct decay_run {
    const struct tree_problem *problem;
    int32_t order, terms;
    double unit2;
    double *r2, *s2, *near, *series, *values;
};

/* The noise at s². The derivatives from the second on are worse than what is known of it. */
static double noise_at(const struct tree_law_bins *bins, double s2)
{
    const double worse = 10;
    const struct expansion_bins *all = &bins->bins;
    const int64_t bin = expansion_bin_of(s2 * all->per_unit * all->per_unit) - all->first_double;
    return worse * bins->noise[bin < 0 ? 0 : bin < all->count ? bin : all->count - 1];
}

/* The larger of two neighbors, for what lies between, per length; the slope is that of the
 * neighborhood, a quarter of an octave on both sides. */
static void fill_rows(const struct decay_run *run, const struct tree_decay_row *edges,
                      const struct tree_law_bins *bins, struct tree_decay_row *rows)
{
    for (int32_t k = 0; k < most_bins; k++) {
        const double r = sqrt(run->r2[k]);
        for (int32_t j = 0; j < tree_decay_angles; j++) {
            const double a = edges[k].field[j], b = edges[k + 1].field[j];
            rows[k].field[j] = isfinite(a) && isfinite(b) ? fmax(a, b) / r : INFINITY;
        }
        rows[k].noise = fmax(noise_at(bins, run->s2[k]), noise_at(bins, run->s2[k + 1])) / r;
        rows[k].slope = 0;
        for (int32_t j = k - 4 > 0 ? k - 4 : 0; j <= k + 5 && j <= most_bins; j++)
            rows[k].slope = fmax(rows[k].slope, edges[j].slope / r);
    }
}

static kith_status find_edges(const struct decay_run *run, struct tree_decay_row *edges)
{
    const int32_t near_each = half + 1;
    struct law_view view;
    struct binomials table;
    law_look(run->problem->pair_law, &view);
    fill_binomials(&table);
    for (int32_t k = 0; k <= most_bins; k++) {
        run->r2[k] = edge_of(k) / run->unit2;
        run->s2[k] = run->r2[k] + run->problem->softening2;
        for (int32_t j = 0; j < near_each; j++) {
            const double part = 1 - angle_of(half - 1 + j);
            run->near[k * near_each + j] = run->r2[k] * part * part + run->problem->softening2;
        }
    }
    KITH_TRY(law_series(&view, most_bins + 1, run->s2, run->terms, run->series));
    KITH_TRY(law_series(&view, (most_bins + 1) * near_each, run->near, 1, run->values));
    for (int32_t k = 0; k <= most_bins; k++) {
        const double *row = run->series + (int64_t)k * run->terms;
        find_decay(&table, run->order, run->terms, row, run->r2[k] / run->s2[k],
                   run->values + (int64_t)k * near_each, &edges[k]);
        if (!is_usable(row, run->terms, run->problem->dtype))
            edges[k].field[0] = NAN;
        for (int32_t j = 1; j < tree_decay_angles && !isfinite(edges[k].field[0]); j++)
            edges[k].field[j] = NAN;
    }
    return KITH_OK;
}

static kith_status make_decay(const struct tree_problem *problem, int32_t order, double extent,
                              struct tree_law_bins *bins)
{
    struct decay_run run = {.problem = problem, .order = order, .terms = bins->bins.terms};
    struct tree_decay_row *edges = NULL;
    const int64_t numbers = (int64_t)(most_bins + 1) * (2 + 2 * (half + 1) + run.terms);
    bins->decay.per_unit = unit_for(extent);
    bins->decay.first = expansion_bin_of(edge_of(0));
    bins->decay.count = most_bins;
    run.unit2 = bins->decay.per_unit * bins->decay.per_unit;
    KITH_TRY(kith_allocate(most_bins, sizeof *bins->rows, "the series of a law", &bins->rows));
    kith_status status = kith_allocate(most_bins + 1, sizeof *edges, "the series of a law", &edges);
    if (status == KITH_OK)
        status = kith_allocate(numbers, sizeof *run.r2, "the series of a law", &run.r2);
    if (status == KITH_OK) {
        run.s2 = run.r2 + most_bins + 1;
        run.near = run.s2 + most_bins + 1;
        run.values = run.near + (int64_t)(most_bins + 1) * (half + 1);
        run.series = run.values + (int64_t)(most_bins + 1) * (half + 1);
        status = find_edges(&run, edges);
    }
    if (status == KITH_OK)
        fill_rows(&run, edges, bins, bins->rows);
    bins->decay.rows = bins->rows;
    free(run.r2);
    free(edges);
    return status;
}

kith_status tree_law_bins_create(const struct tree_problem *problem, int32_t order, double extent,
                                 struct tree_law_bins *bins)
{
    KITH_TRY(make_series(problem, order, hypot(extent, sqrt(problem->softening2)), bins));
    KITH_TRY(check_convergence(bins));
    return make_decay(problem, order, extent, bins);
}

void tree_law_bins_free(struct tree_law_bins *bins)
{
    free(bins->series);
    free(bins->narrow);
    free(bins->noise);
    free(bins->rows);
    *bins = (struct tree_law_bins){0};
}
