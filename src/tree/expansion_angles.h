#ifndef TREE_EXPANSION_ANGLES_H
#define TREE_EXPANSION_ANGLES_H

/* The table by which multipole powers are found (expansion_powers_kernel.h). */

#include <math.h>
#include <string.h>

#include "tree/expansion.h"

/* cos^a φ sin^b φ = Σ_m of[a][b][m] cos mφ or, for odd b, sin mφ; and what a coefficient of degree
 * n is to be multiplied by for the sum of its squares to be P_n². */
struct expansion_angles {
    double of[expansion_max_order + 1][expansion_max_order + 1][expansion_max_order + 2];
    double weight[expansion_max_order + 1][expansion_max_order + 1];
};

static inline void expansion_make_angles(int32_t order, struct expansion_angles *table)
{
    for (int32_t b = 0; b <= order; b++)
        for (int32_t a = 0; a <= order - b; a++) {
            double *to = table->of[a][b]; // cppcheck-suppress uninitvar; it is written here
            memset(to, 0, sizeof(double) * (size_t)(order + 2));
            if (a + b == 0)
                to[0] = 1;
            for (int32_t m = 0; m < a + b; m++) {
                /* times cos φ, or cos mφ and sin mφ times sin φ */
                const double half = 0.5 * (a > 0 ? table->of[a - 1][b][m] : table->of[a][b - 1][m]);
                const double up = a == 0 && b % 2 == 0 ? -half : half;
                const double down = a == 0 && b % 2 == 1 ? -half : half;
                to[m + 1] += up;
                if (m > 0)
                    to[m - 1] += down;
                else
                    to[1] += half;
            }
            if (b % 2 == 1)
                to[0] = 0;
        }
    for (int32_t n = 0; n <= order; n++)
        for (int32_t m = 0; m <= n; m++)
            table->weight[n][m] = sqrt(tgamma(n - m + 1) * tgamma(n + m + 1) / (m > 0 ? 2 : 1));
}

#endif
