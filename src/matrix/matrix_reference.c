#include "matrix/matrix_reference.h"

#include <math.h>
#include <string.h>

#include "core/reals.h"
#include "device/context.h"
#include "law/law_reference.h"

static double value_of(const struct matrix_arguments *arguments,
                       const struct matrix_problem *problem, int64_t i, int64_t j)
{
    const struct matrix_side *rows = &problem->rows, *columns = &problem->columns;
    const double w_i = ((const double *)rows->weight)[i],
                 w_j = ((const double *)columns->weight)[j];
    struct law_reference_pair pair = {.s2 = problem->softening2, .m_i = w_i, .m_j = w_j};
    for (int c = 0; c < 3; c++) {
        pair.d[c] = ((const double *)columns->x[c])[j] - ((const double *)rows->x[c])[i];
        pair.s2 += pair.d[c] * pair.d[c];
    }
    for (int c = 0; c < problem->more_axes; c++) {
        const double d = ((const double *)columns->more_axes)[c * columns->stride + j] -
                         ((const double *)rows->more_axes)[c * rows->stride + i];
        pair.s2 += d * d;
    }
    pair.q_i = w_i;
    pair.q_j = w_j;
    if (arguments->view.form.kind == law_custom) {
        pair.q_i = ((const double *)rows->charge)[i];
        pair.q_j = ((const double *)columns->charge)[j];
    }
    return law_reference_value(&arguments->view, &pair);
}

/* V[i][j] with the diagonal that is requested. */
static double value_at(const struct matrix_arguments *arguments,
                       const struct matrix_problem *problem, int64_t i, int64_t j)
{
    return problem->replaces_diagonal && i == j ? problem->diagonal_value
                                                : value_of(arguments, problem, i, j);
}

kith_status matrix_reference_fill(const struct matrix_arguments *arguments,
                                  const struct matrix_problem *problem, kith_array matrix)
{
    for (int64_t i = 0; i < problem->rows.count; i++) {
        KITH_TRY(kith_context_check_cancelled(arguments->context));
        for (int64_t j = 0; j < problem->columns.count; j++)
            array_set(matrix, i, j, value_at(arguments, problem, i, j));
    }
    return KITH_OK;
}

kith_status matrix_reference_reduce(const struct matrix_arguments *arguments,
                                    const struct matrix_problem *problem,
                                    const struct matrix_reduction *reduction, const double *b,
                                    double *found, int64_t *at)
{
    const bool sums = reduction->operation == matrix_sum;
    for (int64_t i = 0; i < problem->rows.count; i++) {
        KITH_TRY(kith_context_check_cancelled(arguments->context));
        found[i] = sums ? 0 : INFINITY;
        if (at)
            at[i] = -1;
        for (int64_t j = 0; j < problem->columns.count; j++) {
            if (problem->leaves_diagonal_out && i == j)
                continue;
            const double value = value_at(arguments, problem, i, j);
            if (sums) {
                found[i] += b ? value * b[j] : value;
            } else if (reduction->sign * value < found[i]) {
                found[i] = reduction->sign * value;
                if (at)
                    at[i] = j;
            }
        }
    }
    return KITH_OK;
}

kith_status matrix_reference_histogram(const struct matrix_arguments *arguments,
                                       const struct matrix_problem *problem,
                                       const struct matrix_histogram *range, int64_t *counts)
{
    const double low = range->low, high = range->high;
    const double width = (high - low) / (double)range->bins;
    memset(counts, 0, (size_t)range->bins * sizeof *counts);
    for (int64_t i = 0; i < problem->rows.count; i++) {
        KITH_TRY(kith_context_check_cancelled(arguments->context));
        for (int64_t j = problem->same ? i + problem->leaves_diagonal_out : 0;
             j < problem->columns.count; j++) {
            const double value = value_at(arguments, problem, i, j);
            if (!(value >= low && value <= high))
                continue;
            int64_t bin = range->bins - 1;
            while (bin > 0 && value < (double)bin * width + low)
                bin--;
            counts[bin]++;
        }
    }
    return KITH_OK;
}
