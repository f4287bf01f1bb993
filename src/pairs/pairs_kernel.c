/* The kernels of one instruction set: pairs_kernel_body.h for float and for double, and sorting. */

#include "pairs/pairs_kernel.h"

#include "pairs/lanes.h"
#include "pairs/sort.h"

/* What a loop over candidates is compiled for; constants once inlined. */
struct variant {
    int32_t dimensions;
    enum pairs_admission admission;
    bool moved, radii, places;
};

/* Without a translation only where i itself is to be left out: the loop of most candidates. */
#define DISPATCH_ADMISSION(wanted, variant, statement)                                             \
    do {                                                                                           \
        if ((wanted) == pairs_admit_others) {                                                      \
            (variant).admission = pairs_admit_others;                                              \
            (variant).moved = false;                                                               \
            statement;                                                                             \
        } else if ((wanted) == pairs_admit_all) {                                                  \
            (variant).admission = pairs_admit_all;                                                 \
            (variant).moved = true;                                                                \
            statement;                                                                             \
        } else {                                                                                   \
            (variant).admission = pairs_admit_after;                                               \
            (variant).moved = true;                                                                \
            statement;                                                                             \
        }                                                                                          \
    } while (0)

static const vindex_float lane_numbers_float = {
#if LANES_FLOAT == 16
    0, 1,  2,  3,  4,  5,  6, 7, 8,
    9, 10, 11, 12, 13, 14, 15
#elif LANES_FLOAT == 8
    0, 1, 2, 3, 4,
    5, 6, 7
#else
    0, 1, 2, 3
#endif
};

static const vindex_double lane_numbers_double = {
#if LANES_DOUBLE == 8
    0, 1, 2, 3, 4,
    5, 6, 7
#elif LANES_DOUBLE == 4
    0, 1, 2, 3
#else
    0, 1
#endif
};

#define REAL       float
#define VREAL      vfloat
#define VINDEX     vindex_float
#define LANES      LANES_FLOAT
#define NAME(name) name##_float
#include "pairs/pairs_kernel_body.h"
#undef REAL
#undef VREAL
#undef VINDEX
#undef LANES
#undef NAME

#define REAL       double
#define VREAL      vdouble
#define VINDEX     vindex_double
#define LANES      LANES_DOUBLE
#define NAME(name) name##_double
#include "pairs/pairs_kernel_body.h"

const struct pairs_kernels KITH_ISA_SYMBOL(pairs_kernels) = {
    .count = {count_double, count_float},
    .find = {find_double, find_float},
    .sort_narrow = sort_narrow,
    .sort_wide = sort_wide,
};
