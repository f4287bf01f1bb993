/* Forces in any layout, on any instruction set, with any number of threads and method. */

#include "property.h"

#include "law_forces.h"

struct forces_case {
    kith_dtype dtype;
    int64_t n, m, dimensions; /* n < 0: the sources are the targets */
    kith_array targets, sources, masses, softening, target_softening;
    kith_forces_options options;
};

/* Spread out, at few places, or in clusters; of any size that forces are in range for. */
static void place(struct property *p, kith_array x, double scale)
{
    const int64_t way = whole(p, 0, 3);
    for (int64_t i = 0; i < x.shape[0]; i++)
        for (int64_t c = 0; c < x.shape[1]; c++) {
            double value = random_uniform(&p->random, -1, 1);
            if (way == 1)
                value = (double)whole(p, -2, 2);
            if (way == 2 && i > 0)
                value = array_get(x, i - 1 - whole(p, 0, i - 1), c) / scale + 1e-3 * value;
            array_put(x, i, c, scale * value);
        }
}

static kith_array any_lengths(struct property *p, kith_dtype dtype, int64_t n, double most)
{
    const kith_array array = any_layout(p, dtype, 1, n, 1).array;
    for (int64_t i = 0; i < n; i++)
        array_put(array, i, 0, chance(p, 0.1) ? 0 : random_uniform(&p->random, 0, most));
    return array;
}

static struct forces_case any_case(struct property *p)
{
    struct forces_case made = {.dtype = any_real(p),
                               .n = chance(p, 0.4) ? any_size(p, 300) : -1,
                               .m = any_size(p, chance(p, 0.02) ? 1100 : 300),
                               .dimensions = whole(p, 2, 3)};
    const double reach = made.dtype == KITH_F64 ? 60 : 8;
    const double scale = chance(p, 0.5) ? 1 : pow(10, random_uniform(&p->random, -reach, reach));
    made.sources = any_layout(p, made.dtype, 2, made.m, made.dimensions).array;
    place(p, made.sources, scale);
    if (made.n >= 0) {
        made.targets = any_layout(p, made.dtype, 2, made.n, made.dimensions).array;
        place(p, made.targets, scale);
    }
    if (chance(p, 0.7))
        made.masses = any_lengths(p, made.dtype, made.m, 2);
    made.options.gravitational_constant = chance(p, 0.5) ? 0 : random_uniform(&p->random, -3, 3);
    if (chance(p, 0.3)) {
        made.options.softening = random_uniform(&p->random, 0, 0.1 * scale);
    } else if (chance(p, 0.4)) {
        made.softening = any_lengths(p, made.dtype, made.m, 0.1 * scale);
        if (made.n >= 0)
            made.target_softening = any_lengths(p, made.dtype, made.n, 0.1 * scale);
    }
    return made;
}

static kith_forces_method any_method(struct property *p, const struct forces_case *c)
{
    const int64_t way = whole(p, 0, 3);
    const bool one_softening = kith_array_is_none(c->softening);
    if (way == 3 && c->n < 0 && (!p->on_gpu || one_softening))
        return KITH_FORCES_SYMMETRIC;
    return way == 2 ? KITH_FORCES_SPLIT : way == 1 ? KITH_FORCES_DIRECT : KITH_FORCES_AUTO;
}

/* By the solver reference or, if that is NULL, by a method of direct. */
static void compute(kith_context *context, const struct forces_case *c, const kith_solver *solver,
                    kith_forces_method method, kith_array a, kith_array phi)
{
    kith_forces_options options = c->options;
    options.solver = solver;
    options.method = method;
    assert_ok(counted(kith_forces_compute(
        context, &options, PARTICLES(c->targets, {"softening", c->target_softening}),
        PARTICLES(c->sources, {"m", c->masses}, {"softening", c->softening}), a, phi)));
}

static double softening_of(const struct forces_case *c, bool of_target, int64_t k)
{
    const kith_array each = of_target && c->n >= 0 ? c->target_softening : c->softening;
    return kith_array_is_none(each) ? c->options.softening : array_get(each, k, 0);
}

/* Σ_j |G| m_j / s^power of target i, in units of `unit`: what the sums are made of. */
static double magnitude(const struct forces_case *c, int64_t i, double unit, int power)
{
    const kith_array targets = c->n < 0 ? c->sources : c->targets;
    const double g = c->options.gravitational_constant, ei = softening_of(c, true, i) / unit;
    double sum = 0;
    for (int64_t j = 0; j < c->m; j++) {
        const double ej = softening_of(c, false, j) / unit;
        double s2 = (ei * ei + ej * ej) / 2;
        for (int64_t k = 0; k < c->dimensions; k++) {
            const double d = (array_get(c->sources, j, k) - array_get(targets, i, k)) / unit;
            s2 += d * d;
        }
        if (s2 > 0 && (c->n >= 0 || i != j))
            sum += (kith_array_is_none(c->masses) ? 1 : array_get(c->masses, j, 0)) /
                   pow(s2, power / 2.0);
    }
    return sum * (g == 0 ? 1 : fabs(g));
}

/* The norm over all bodies of the error is within what the header promises of the magnitudes; in
 * single precision four times that, as bodies at few places add the same number again and again,
 * and its sums are all rounded to the same side. */
static void assert_within_promise(const struct forces_case *c, const char *what, kith_array found,
                                  kith_array exact)
{
    const double bound = c->dtype == KITH_F32 ? 4e-6 : 1e-14 * sqrt((double)(c->m + 1));
    const int power = exact.ndim == 2 ? 2 : 1;
    double unit = 0, difference2 = 0, norm2 = 0;
    for (int64_t j = 0; j < c->m; j++)
        for (int64_t k = 0; k < c->dimensions; k++)
            unit = fmax(unit, fabs(array_get(c->sources, j, k)));
    unit = unit > 0 ? unit : 1;
    for (int64_t i = 0; i < exact.shape[0]; i++) {
        const double size = magnitude(c, i, unit, power);
        norm2 += size * size;
        for (int64_t k = 0; k < (exact.ndim == 2 ? exact.shape[1] : 1); k++) {
            const double d = (array_get(found, i, k) - array_get(exact, i, k)) * pow(unit, power);
            difference2 += d * d;
        }
    }
    if (!(difference2 <= bound * bound * norm2))
        fail_msg("%s: off by %g of the norm, and %g is promised", what, sqrt(difference2 / norm2),
                 bound);
}

void forces_are_those_of_the_reference(struct property *p)
{
    const struct forces_case c = any_case(p);
    const int64_t n = c.n < 0 ? c.m : c.n;
    const kith_array none = kith_array_none();
    const kith_forces_method method = any_method(p, &c);
    struct laid_array a = any_layout(p, c.dtype, 2, n, c.dimensions);
    struct laid_array phi = any_layout(p, c.dtype, 1, n, 1);
    const kith_array exact_a = any_layout(p, c.dtype, 2, n, c.dimensions).array;
    const kith_array exact_phi = any_layout(p, c.dtype, 1, n, 1).array;
    compute(plain_context(), &c, solver_named("reference"), KITH_FORCES_AUTO, exact_a, exact_phi);
    compute(p->context, &c, NULL, method, a.array, phi.array);
    assert_within_promise(&c, "acceleration", a.array, exact_a);
    assert_within_promise(&c, "potential", phi.array, exact_phi);
    assert_gaps_untouched(&a);
    assert_gaps_untouched(&phi);

    const kith_array again = any_layout(p, c.dtype, 2, n, c.dimensions).array;
    compute(p->other, &c, NULL, method, again, any_layout(p, c.dtype, 1, n, 1).array);
    assert_same_bits("acceleration, other threads and layout", a.array, again);
    compute(p->context, &c, NULL, method, again, none);
    assert_within_promise(&c, "acceleration alone", again, exact_a);
}

void forces_of_laws_are_those_of_the_reference(struct property *p)
{
    const int64_t n = any_size(p, 70);
    struct system s = system_random(&p->random, any_real(p), n, whole(p, 2, 3));
    const kith_array q = random_charges(&p->random, &s);
    kith_forces_options options = {0};
    if (chance(p, 0.6))
        options.softening = random_uniform(&p->random, 0.01, 0.3);
    check_law(p->context, force_laws[whole(p, 0, force_law_count - 1)], &s, q, &options);
    property_calls += 4;
    free(q.data);
    system_free(&s);
}
