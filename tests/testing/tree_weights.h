#ifndef TESTS_TREE_WEIGHTS_H
#define TESTS_TREE_WEIGHTS_H

/* Sums by trees of bodies some of which are at one place: weights may have any size. */

#include "forces_system.h"

struct weighed_law {
    const char *text;        /* NULL: gravity */
    int of_a, of_phi;        /* which power of the unit of weights they are proportional to */
    bool has_charges, plane; /* charges are the weights, not masses; for 2D */
};

static const struct weighed_law weighed_laws[] = {{"coulomb", 2, 2, true, false},
                                                  {NULL, 1, 1, false, false},
                                                  {"gravity", 1, 1, false, false},
                                                  {"log2d", 2, 2, true, true},
                                                  {"yukawa:0.5", 2, 2, true, false},
                                                  {"expr:q_i * q_j / r", 2, 2, true, false},
                                                  {"expr:m_i * m_j / r2", 1, 2, false, false}};

enum { weighed_law_count = sizeof weighed_laws / sizeof *weighed_laws };

/* Bodies, the first of which are at one place by fives, with charges of both signs. */
static inline struct system system_at_few_places(struct random_numbers *random, kith_dtype dtype,
                                                 int64_t n, int64_t dimensions)
{
    const int64_t at_few_places = 100;
    struct system s = system_random(random, dtype, n, dimensions);
    s.q = new_vector(dtype, n);
    for (int64_t i = 0; i < n; i++)
        put(s.q, i, (i % 2 ? 1 : -1) * random_uniform(random, 0.1, 1.9));
    for (int64_t i = 0; i < at_few_places; i++)
        for (int64_t c = 0; c < dimensions; c++)
            put(s.x, i * dimensions + c, get(s.x, (i - i % 5) * dimensions + c));
    return s;
}

/* targets: NULL: the bodies. */
static inline void compute_at(kith_context *context, const kith_forces_options *options,
                              const struct system *s, const struct system *targets, kith_array a,
                              kith_array phi)
{
    assert_ok(targets ? kith_forces_compute(context, options, PARTICLES_OF(targets),
                                            PARTICLES_OF(s), a, phi)
                      : kith_forces_compute(context, options, NULL, PARTICLES_OF(s), a, phi));
}

static inline void assert_in_unit(const char *law, kith_array found, kith_array expected,
                                  int exponent)
{
    for (int64_t k = 0; k < elements(expected); k++)
        if (!(get(found, k) == ldexp(get(expected, k), exponent)))
            fail_msg("%s: element %lld is %.17g instead of %.17g times 2^%d", law ? law : "",
                     (long long)k, get(found, k), get(expected, k), exponent);
}

/* The error of a law's sums, and that they have the same bits in every unit of the weights. */
static inline void check_weighed_law(kith_context *context, struct random_numbers *random,
                                     const struct weighed_law *of, int turn)
{
    static const int exponents[] = {7, 40, -40};
    const kith_dtype dtype = turn % 2 ? KITH_F32 : KITH_F64;
    const int64_t n = 1000, m = turn / 4 % 2 ? 150 : n, dimensions = of->plane ? 2 : 3;
    struct system s = system_at_few_places(random, dtype, n, dimensions), first = s;
    first.x.shape[0] = first.m.shape[0] = first.q.shape[0] = m;
    const struct system *targets = m < n ? &first : NULL;
    kith_array a = new_matrix(dtype, m, dimensions), phi = new_vector(dtype, m);
    kith_array scaled_a = new_matrix(dtype, m, dimensions), scaled_phi = new_vector(dtype, m);
    kith_law *law = NULL;
    if (of->text)
        assert_ok(kith_law_parse(of->text, 0, NULL, &law));
    kith_forces_options options = {.law = law, .softening = turn % 3 == 2 ? 1e-3 : 0};
    compute_at(context, &options, &s, targets, scaled_a, scaled_phi);
    options.solver = solver_named(turn / 2 % 2 ? "tree" : "fmm");
    options.accuracy.error = 1e-4;
    compute_at(context, &options, &s, targets, a, phi);
    assert_less(relative_difference(a, scaled_a), 1e-3);
    assert_less(relative_difference(phi, scaled_phi), 1e-3);
    for (size_t k = 0; k < sizeof exponents / sizeof *exponents; k++) {
        const int before = k > 0 ? exponents[k - 1] : 0;
        for (int64_t i = 0; i < n; i++)
            put(of->has_charges ? s.q : s.m, i,
                ldexp(get(of->has_charges ? s.q : s.m, i), exponents[k] - before));
        compute_at(context, &options, &s, targets, scaled_a, scaled_phi);
        assert_in_unit(of->text, scaled_a, a, of->of_a * exponents[k]);
        assert_in_unit(of->text, scaled_phi, phi, of->of_phi * exponents[k]);
    }
    kith_law_free(law);
    free(a.data);
    free(phi.data);
    free(scaled_a.data);
    free(scaled_phi.data);
    free(s.q.data);
    system_free(&s);
}

/* Every law by both solvers in both precisions; softened and with targets of their own at times. */
static inline void check_weights_of_any_size(kith_context *context, struct random_numbers *random)
{
    for (int turn = 0; turn < 8; turn++)
        for (int k = 0; k < weighed_law_count; k++)
            check_weighed_law(context, random, &weighed_laws[k], turn);
}

#endif
