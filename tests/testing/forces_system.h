#ifndef TESTS_FORCES_SYSTEM_H
#define TESTS_FORCES_SYSTEM_H

/* Bodies for the tests of forces, and the forces on them. */

#include "testing.h"

#include <math.h>
#include <stdlib.h>

#include "random_numbers.h"

/* Contiguous arrays of one dtype; results are made by system_create too. */
struct system {
    kith_dtype dtype;
    int64_t n, dimensions;
    kith_array x, m, softening, a, phi;
    kith_array q;  /* none unless a test sets it; not the system's own */
    bool softened; /* the column softening is part of its particles */
};

#define PARTICLES_OF(s)                                                                            \
    PARTICLES((s)->x, {"m", (s)->m}, {"q", (s)->q},                                                \
              {"softening", (s)->softened ? (s)->softening : kith_array_none()})

static inline double get(kith_array array, int64_t k)
{
    return array.dtype == KITH_F64 ? ((double *)array.data)[k] : (double)((float *)array.data)[k];
}

static inline void put(kith_array array, int64_t k, double value)
{
    if (array.dtype == KITH_F64)
        ((double *)array.data)[k] = value;
    else
        ((float *)array.data)[k] = (float)value;
}

static inline int64_t elements(kith_array array)
{
    return array.shape[0] * (array.ndim == 2 ? array.shape[1] : 1);
}

static inline kith_array new_vector(kith_dtype dtype, int64_t n)
{
    return kith_array_vector(calloc((size_t)n + 1, sizeof(double)), dtype, n);
}

static inline kith_array new_matrix(kith_dtype dtype, int64_t n, int64_t columns)
{
    return kith_array_matrix(calloc((size_t)(n * columns) + 1, sizeof(double)), dtype, n, columns);
}

static inline struct system system_create(kith_dtype dtype, int64_t n, int64_t dimensions)
{
    return (struct system){
        .dtype = dtype,
        .n = n,
        .dimensions = dimensions,
        .x = new_matrix(dtype, n, dimensions),
        .m = new_vector(dtype, n),
        .softening = new_vector(dtype, n),
        .a = new_matrix(dtype, n, dimensions),
        .phi = new_vector(dtype, n),
    };
}

/* Positions in [−1, 1], masses in [0.1, 1], softenings in [0, 0.2]. */
static inline struct system system_random(struct random_numbers *random, kith_dtype dtype,
                                          int64_t n, int64_t dimensions)
{
    struct system made = system_create(dtype, n, dimensions);
    for (int64_t k = 0; k < n * dimensions; k++)
        put(made.x, k, random_uniform(random, -1, 1));
    for (int64_t k = 0; k < n; k++) {
        put(made.m, k, random_uniform(random, 0.1, 1));
        put(made.softening, k, random_uniform(random, 0, 0.2));
    }
    return made;
}

static inline void system_free(struct system *s)
{
    free(s->x.data);
    free(s->m.data);
    free(s->softening.data);
    free(s->a.data);
    free(s->phi.data);
}

/* The k-th instruction set of the build; NULL past the last. */
static inline const kith_isa *isa_at(int64_t k)
{
    int64_t count = 0;
    const kith_isa *list = kith_isa_list(&count);
    return k < count ? &list[k] : NULL;
}

/* A CPU context for an instruction set, NULL for the best one. */
static inline kith_context *new_context(const char *isa, int32_t threads)
{
    const kith_context_options options = {.device = {KITH_CPU, 0}, .threads = threads};
    kith_context *context = NULL;
    if (isa)
        setenv("KITH_ISA", isa, 1);
    assert_ok(kith_context_create(&options, &context));
    if (isa)
        unsetenv("KITH_ISA");
    return context;
}

/* The forces of the system's bodies on each other, into its a and phi. */
static inline void system_compute(kith_context *context, const kith_forces_options *options,
                                  struct system *s)
{
    assert_ok(kith_forces_compute(context, options, NULL, PARTICLES_OF(s), s->a, s->phi));
}

/* ‖a − b‖ / ‖b‖; 0 if both are 0. */
static inline double relative_difference(kith_array a, kith_array b)
{
    double difference2 = 0, norm2 = 0;
    for (int64_t k = 0; k < elements(b); k++) {
        const double d = get(a, k) - get(b, k);
        difference2 += d * d;
        norm2 += get(b, k) * get(b, k);
    }
    return difference2 == 0 ? 0 : sqrt(difference2 / norm2);
}

static inline void assert_less(double value, double bound)
{
    if (!(value < bound))
        fail_msg("%.17g is not less than %.17g", value, bound);
}

static inline void assert_near(double value, double expected, double tolerance)
{
    if (!(fabs(value - expected) <= tolerance))
        fail_msg("%.17g is not %.17g to within %g", value, expected, tolerance);
}

#endif
