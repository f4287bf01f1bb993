#ifndef TESTS_EXPANSION_OPERATORS_H
#define TESTS_EXPANSION_OPERATORS_H

/* The operators of every instruction set that runs here, in either real type, and arrays of that
 * type. */

#include "testing.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

#include "random_numbers.h"
#include "tree/expansion.h"

/* One real type of one set of operators. */
struct operators {
    const char *name;
    const struct expansion_operators *table;
    bool single;
};

/* The reference, and the kernels of every instruction set that runs here. */
static inline const struct operators *all_operators(int64_t *count)
{
    static struct operators list[16];
    int64_t sets = 0;
    const kith_isa *isa = kith_isa_list(&sets);
    *count = 0;
    list[(*count)++] = (struct operators){"reference", &expansion_reference, false};
    for (int64_t k = 0; k < sets; k++)
        if (isa[k].supported) {
            list[(*count)++] =
                (struct operators){isa[k].name, expansion_kernels_of((int32_t)k, KITH_F64), false};
            list[(*count)++] =
                (struct operators){isa[k].name, expansion_kernels_of((int32_t)k, KITH_F32), true};
        }
    return list;
}

/* What is tested: each basis, and the other law. */
static const enum expansion_basis bases[] = {expansion_harmonic, expansion_full, expansion_plane,
                                             expansion_plane};
static const enum expansion_law laws[] = {expansion_inverse, expansion_inverse, expansion_inverse,
                                          expansion_logarithm};

static inline void for_each_operators(void (*check)(const struct operators *,
                                                    struct random_numbers *),
                                      const char *test)
{
    struct random_numbers random = random_numbers_begin(test);
    int64_t count = 0;
    const struct operators *list = all_operators(&count);
    for (int64_t k = 0; k < count; k++) {
        printf("  %s in %s\n", list[k].name, list[k].single ? "float" : "double");
        check(&list[k], &random);
    }
}

static inline double real_at(bool single, const void *array, int64_t k)
{
    return single ? (double)((const float *)array)[k] : ((const double *)array)[k];
}

static inline void set_real(bool single, void *array, int64_t k, double value)
{
    if (single)
        ((float *)array)[k] = (float)value;
    else
        ((double *)array)[k] = value;
}

static inline void *new_reals(bool single, int64_t count)
{
    void *reals = calloc((size_t)count, single ? sizeof(float) : sizeof(double));
    assert_non_null(reals);
    return reals;
}

#endif
