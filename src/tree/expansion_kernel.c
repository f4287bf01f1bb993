/* The expansion operators of one instruction set, for float and for double. */

#include "tree/expansion_kernel.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#include "core/simd.h"
#include "core/simd_gather.h"
#include "core/simd_math.h"

enum {
    max_order = expansion_max_order + 1, /* M2P and L2P take a degree more */
    max_rows = max_order + 1,
    max_count = max_rows * (max_rows + 1) * (max_rows + 2) / 6
};

/* Orders of planes of coefficients that have loops of their own. */
enum { max_fixed = 10 };
#define EACH_FIXED(ROW)                                                                            \
    ROW(0) ROW(1) ROW(2) ROW(3) ROW(4) ROW(5) ROW(6) ROW(7) ROW(8) ROW(9) ROW(10)
/* Vectors of targets that a source cell is read for. */
enum { block_vectors = 8 };

/* Rows of all orders. */
#define EACH_LAST(ROW)                                                                             \
    EACH_FIXED(ROW)                                                                                \
    ROW(11) ROW(12) ROW(13) ROW(14) ROW(15) ROW(16) ROW(17) ROW(18) ROW(19) ROW(20)
_Static_assert(expansion_max_order == 20, "EACH_LAST has a row for each order");

/* cos^a φ sin^b φ = Σ_m of[a][b][m] cos mφ or, for odd b, sin mφ; and what a coefficient of degree
 * n is to be multiplied by for the sum of its squares to be P_n². */
struct trigonometric {
    double of[max_order][max_order][max_order + 1];
    double weight[max_order][max_order];
};

static void make_trigonometric(int32_t order, struct trigonometric *table)
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

#define REAL       float
#define VREAL      vfloat
#define VINT       vint32
#define NAME(name) name##_float
#define FAR        0x1p8f
#include "tree/expansion_kernel_body.h"
#undef REAL
#undef VREAL
#undef VINT
#undef NAME
#undef FAR

#define REAL       double
#define VREAL      vdouble
#define VINT       vint64
#define NAME(name) name##_double
#define FAR        0x1p40
#include "tree/expansion_kernel_body.h"
#undef REAL
#undef VREAL
#undef VINT
#undef NAME
#undef FAR

#define OPERATORS(real)                                                                            \
    {                                                                                              \
        p2m_##real, m2m_##real, m2l_##real, l2l_##real, l2p_##real, m2p_##real, powers_##real      \
    }

const struct expansion_kernels KITH_ISA_SYMBOL(expansion) = {.in_double = OPERATORS(double),
                                                             .in_float = OPERATORS(float)};
