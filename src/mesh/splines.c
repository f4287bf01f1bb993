#include "mesh/splines.h"

#include <string.h>

typedef long double piece[splines_most_order]; /* its powers of t */

/* The next order of spline k: ((t + p − ½ − k) before[k − 1] + (k + ½ − t) before[k]) / (p − 1). */
static void raise(int32_t p, int32_t k, const piece *before, piece next)
{
    for (int32_t m = 0; m < splines_most_order; m++) {
        long double sum = 0;
        if (k > 0)
            sum += (p - k - 0.5L) * before[k - 1][m] + (m > 0 ? before[k - 1][m - 1] : 0);
        if (k < p - 1)
            sum += (k + 0.5L) * before[k][m] - (m > 0 ? before[k][m - 1] : 0);
        next[m] = sum / (p - 1);
    }
}

void splines_make(int32_t order, struct splines *splines)
{
    piece now[splines_most_order] = {{0.5L, -1}, {0.5L, 1}};
    for (int32_t p = 3; p <= order; p++) {
        piece next[splines_most_order] = {{0}};
        for (int32_t k = 0; k < p; k++)
            raise(p, k, (const piece *)now, next[k]);
        memcpy(now, next, sizeof now);
    }
    *splines = (struct splines){.order = order};
    for (int32_t k = 0; k < order; k++)
        for (int32_t m = 0; m < order; m++) {
            splines->value[m][k] = (double)now[k][m];
            splines->slope[m][k] = m + 1 < order ? (double)((m + 1) * now[k][m + 1]) : 0;
        }
}
