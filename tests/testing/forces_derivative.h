#ifndef TESTS_FORCES_DERIVATIVE_H
#define TESTS_FORCES_DERIVATIVE_H

/* Derivatives of forces along directions, for the tests of both backends. */

#include "laid_out.h"
#include "law_forces.h"

/* Bodies that do not come close to each other (laid_out.h), with charges and directions of both
 * signs; a and phi of the system are for derivatives. */
struct moving {
    struct system s;
    kith_array q, v, w; /* v of the bodies as targets, w as sources */
};

static inline struct moving moving_random(struct random_numbers *random, kith_dtype dtype,
                                          int64_t n, int64_t dimensions)
{
    struct moving made = {.s = system_random(random, dtype, n, dimensions)};
    made.q = made.s.q = random_charges(random, &made.s);
    made.v = new_matrix(dtype, n, dimensions);
    made.w = new_matrix(dtype, n, dimensions);
    for (int64_t k = 0; k < n * dimensions; k++) {
        put(made.s.x, k,
            laid_out_coordinate(random, (int32_t)dimensions, k / dimensions, k % dimensions));
        put(made.v, k, random_uniform(random, -1, 1));
        put(made.w, k, random_uniform(random, -1, 1));
    }
    return made;
}

static inline void moving_free(struct moving *made)
{
    system_free(&made->s);
    free(made->q.data);
    free(made->v.data);
    free(made->w.data);
}

/* Dφ alone where values are summed. */
static inline kith_status moving_derive(kith_context *context, const kith_forces_options *options,
                                        const struct moving *bodies, kith_array a, kith_array phi)
{
    return kith_forces_derivative(context, options, NULL, PARTICLES_OF(&bodies->s), bodies->v,
                                  bodies->w, a, phi);
}

enum { derivative_softenings = 3 };

/* No softening, one, or one per body; charges for laws that have them. */
static inline kith_forces_options derivative_options(const kith_law *law, struct moving *bodies,
                                                     int softening)
{
    kith_forces_options options = {.law = law};
    if (softening == 1)
        options.softening = 0.1;
    bodies->s.softened = softening == 2;
    if (!law)
        options.gravitational_constant = 0.7;
    return options;
}

/* What the reference finds, in the dtype of the bodies. */
static inline struct system derivative_reference(const kith_forces_options *options,
                                                 const struct moving *bodies)
{
    struct system found = system_create(bodies->s.dtype, bodies->s.n, bodies->s.dimensions);
    kith_forces_options by_reference = *options;
    kith_context *context = new_context(NULL, 1);
    by_reference.solver = solver_named("reference");
    assert_ok(moving_derive(context, &by_reference, bodies, found.a, found.phi));
    kith_context_free(context);
    return found;
}

/* Steep laws raise the rounding of distances to their powers. */
static inline void assert_derivative(const char *text, const struct system *found,
                                     const struct system *expected)
{
    const double bound = expected->dtype == KITH_F64 ? 2e-12 : 1e-3;
    const double of_a = relative_difference(found->a, expected->a);
    const double of_phi = relative_difference(found->phi, expected->phi);
    if (!(of_a < bound && of_phi < bound))
        fail_msg("%s, %lld bodies in %lldD, %s: the derivatives are off by %g and %g", text,
                 (long long)expected->n, (long long)expected->dimensions,
                 expected->dtype == KITH_F64 ? "double" : "float", of_a, of_phi);
}

#endif
