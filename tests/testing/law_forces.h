#ifndef TESTS_LAW_FORCES_H
#define TESTS_LAW_FORCES_H

/* Bodies with charges under any law, for the tests of forces. */

#include "forces_system.h"

#include <float.h>

/* Every row of the table of laws, every kind of kernel, and formulas, central and not. */
static const char *const force_laws[] = {"coulomb",
                                         "power:1",
                                         "power:2",
                                         "power:3",
                                         "power:2.5",
                                         "power:-1.5",
                                         "power:1.7",
                                         "yukawa:0.7",
                                         "lennard-jones:2,0.1",
                                         "lennard-jones:1.5,0.2",
                                         "morse:1,2,0.5",
                                         "gaussian:1",
                                         "thin-plate",
                                         "multiquadric:0.3",
                                         "distance",
                                         "distance2",
                                         "sum",
                                         "product",
                                         "gravity"};
static const char *const force_formulas[] = {
    "expr:-m_i*m_j/r",
    "expr:q_i*q_j*exp(-r/0.7)/r",
    "expr:(m_i*(1 + q_j) + m_j*(1 + q_i))*r",
    "expr:q_i*q_j*(1 - 3*dx*dx/(r2 + 0.1))/(r*r2 + 0.1)",
};
enum {
    force_law_count = sizeof force_laws / sizeof force_laws[0],
    force_formula_count = sizeof force_formulas / sizeof force_formulas[0]
};

static inline kith_law *new_law(const char *text)
{
    kith_law *law = NULL;
    assert_ok(kith_law_parse(text, 0, NULL, &law));
    return law;
}

/* Charges of both signs. */
static inline kith_array random_charges(struct random_numbers *random, const struct system *s)
{
    const kith_array q = new_vector(s->dtype, s->n);
    for (int64_t k = 0; k < s->n; k++)
        put(q, k, random_uniform(random, -1, 1));
    return q;
}

/* The largest sums of magnitudes over the pairs of a body, by which errors are measured: of values,
 * and of forces over mass. */
struct law_scale {
    double value, acceleration;
};

static inline kith_law_pair law_pair_of(const struct system *s, kith_array q, double softening,
                                        int64_t i, int64_t j)
{
    kith_law_pair pair = {.softening = softening,
                          .mass_i = get(s->m, i),
                          .mass_j = get(s->m, j),
                          .charge_i = get(q, i),
                          .charge_j = get(q, j)};
    for (int64_t c = 0; c < s->dimensions; c++)
        pair.d[c] = get(s->x, j * s->dimensions + c) - get(s->x, i * s->dimensions + c);
    return pair;
}

/* A little nearer, too: where a law's value or force passes through 0 the error is beside what is
 * subtracted there. */
static inline void add_scale_of_pair(const kith_law *law, kith_law_pair pair, double *value,
                                     double *force)
{
    double largest_value = 0, largest_force = 0;
    for (int nearer = 0; nearer < 2; nearer++) {
        double v = 0, f[3] = {0};
        assert_ok(kith_law_evaluate(law, &pair, &v, f));
        largest_value = fmax(largest_value, fabs(v));
        largest_force = fmax(largest_force, sqrt(f[0] * f[0] + f[1] * f[1] + f[2] * f[2]));
        for (int c = 0; c < 3; c++)
            pair.d[c] *= 0.95;
    }
    *value += largest_value;
    *force += largest_force;
}

static inline struct law_scale law_scale_of(const kith_law *law, const struct system *s,
                                            kith_array q, double softening)
{
    struct law_scale scale = {0};
    for (int64_t i = 0; i < s->n; i++) {
        double value = 0, force = 0;
        for (int64_t j = 0; j < s->n; j++)
            if (i != j)
                add_scale_of_pair(law, law_pair_of(s, q, softening, i, j), &value, &force);
        scale.value = fmax(scale.value, value);
        scale.acceleration = fmax(scale.acceleration, force / get(s->m, i));
    }
    return scale;
}

static inline void assert_all_near(const char *law, const char *what, kith_array found,
                                   kith_array expected, double tolerance)
{
    for (int64_t k = 0; k < elements(expected); k++) {
        /* In single precision what a sum like this is made of overflows. */
        if (expected.dtype == KITH_F32 && !(fabs(get(expected, k)) < 1e30))
            continue;
        if (!(fabs(get(found, k) - get(expected, k)) <= tolerance))
            fail_msg("%s: %s %lld of %lld is %.17g, not %.17g to within %g", law, what,
                     (long long)k, (long long)elements(expected), get(found, k), get(expected, k),
                     tolerance);
    }
}

/* The forces by a law in the context against those of the reference: force and value, and either
 * alone. */
static inline void check_law(kith_context *context, const char *text, const struct system *s,
                             kith_array q, const kith_forces_options *options)
{
    kith_law *law = new_law(text);
    kith_forces_options chosen = *options, reference = *options;
    kith_context *cpu = new_context(NULL, 1);
    struct system exact = system_create(s->dtype, s->n, s->dimensions);
    struct system found = system_create(s->dtype, s->n, s->dimensions);
    const struct law_scale scale = law_scale_of(law, s, q, options->softening);
    const double epsilon = 150 * (s->dtype == KITH_F64 ? DBL_EPSILON : (double)FLT_EPSILON);
    const bool is_gravity = strcmp(text, "gravity") == 0;
    const kith_array absent = kith_array_none();
    chosen.law = reference.law = law;
    struct system charged = *s;
    charged.q = q;
    reference.solver = solver_named("reference");
    reference.method = KITH_FORCES_AUTO;
    assert_ok(
        kith_forces_compute(cpu, &reference, NULL, PARTICLES_OF(&charged), exact.a, exact.phi));

    assert_ok(
        kith_forces_compute(context, &chosen, NULL, PARTICLES_OF(&charged), found.a, found.phi));
    const double of_value = epsilon * scale.value * (is_gravity ? 10 : 1);
    assert_all_near(text, "acceleration", found.a, exact.a, epsilon * scale.acceleration);
    assert_all_near(text, "potential", found.phi, exact.phi, of_value);
    memset(found.a.data, 1, (size_t)(s->n * s->dimensions * kith_dtype_bytes(s->dtype)));
    assert_ok(kith_forces_compute(context, &chosen, NULL, PARTICLES_OF(&charged), found.a, absent));
    assert_all_near(text, "acceleration alone", found.a, exact.a, epsilon * scale.acceleration);
    if (!is_gravity) {
        chosen.sum = KITH_FORCES_SUM_VALUE;
        assert_ok(
            kith_forces_compute(context, &chosen, NULL, PARTICLES_OF(&charged), absent, found.phi));
        assert_all_near(text, "value", found.phi, exact.phi, of_value);
    }
    system_free(&exact);
    system_free(&found);
    kith_context_free(cpu);
    kith_law_free(law);
}

#endif
