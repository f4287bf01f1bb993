/* Forces by laws other than gravity, against the reference and against physics. */

#include "law_forces.h"

#include <unistd.h>

/* Of n bodies, with no softening, one, or one per body, in 2D or 3D. */
static void check_random(kith_context *context, struct random_numbers *random, const char *law,
                         kith_dtype dtype, int64_t n)
{
    struct system s = system_random(random, dtype, n, random_uniform(random, 2, 4) < 3 ? 2 : 3);
    const kith_array q = random_charges(random, &s);
    kith_forces_options options = {0};
    const int softening = (int)random_uniform(random, 0, 3);
    if (softening == 1)
        options.softening = random_uniform(random, 0.01, 0.3);
    s.softened = softening == 2;
    check_law(context, law, &s, q, &options);
    free(q.data);
    system_free(&s);
}

static void test_forces_of_every_law_agree_with_the_reference(void **state)
{
    (void)state;
    static const int64_t counts[] = {1, 2, 31, 33, 64, 127, 300};
    struct random_numbers random = random_numbers_begin("laws");
    int64_t isas = 0;
    const kith_isa *isa = kith_isa_list(&isas);
    for (int64_t k = 0; k < isas; k++) {
        if (!isa[k].supported)
            continue;
        kith_context *context = new_context(isa[k].name, 2);
        for (int law = 0; law < force_law_count; law++)
            for (int c = 0; c < 7; c++)
                for (int single = 0; single < 2; single++)
                    check_random(context, &random, force_laws[law], single ? KITH_F32 : KITH_F64,
                                 counts[c]);
        kith_context_free(context);
    }
}

static void test_forces_of_formulas_agree_with_the_reference(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin("formulas");
    kith_context *context = new_context(NULL, 2);
    for (int law = 0; law < force_formula_count; law++)
        for (int single = 0; single < 2; single++)
            for (int64_t n = 33; n < 500; n += 130)
                check_random(context, &random, force_formulas[law], single ? KITH_F32 : KITH_F64,
                             n);
    kith_context_free(context);
}

/* Most sums of forces do not search for coincident particles: only where they matter. */
static void test_forces_of_bodies_at_the_same_place_are_none(void **state)
{
    (void)state;
    enum { n = 450, twins = 40 };
    static const char *const laws[] = {"coulomb", "yukawa:0.7", "power:3", "expr:-m_i*m_j/r",
                                       "expr:m_i*q_i/r"};
    struct random_numbers random = random_numbers_begin("twins");
    int64_t isas = 0;
    const kith_isa *isa = kith_isa_list(&isas);
    for (int64_t k = 0; k < isas; k++)
        for (int law = 0; isa[k].supported && law < (k == 0 ? 5 : 3); law++)
            for (int single = 0; single < 2; single++) {
                kith_context *context = new_context(isa[k].name, 2);
                struct system s = system_random(&random, single ? KITH_F32 : KITH_F64, n, 3);
                const kith_array q = random_charges(&random, &s);
                const kith_forces_options options = {0};
                for (int64_t i = 0; i < twins * 3; i++)
                    put(s.x, (n - twins) * 3 + i, get(s.x, i));
                check_law(context, laws[law], &s, q, &options);
                free(q.data);
                system_free(&s);
                kith_context_free(context);
            }
}

/* m_i a_i = −∂/∂x_i of the energy ½ Σ φ, by differences. */
static void test_forces_are_the_slope_of_the_energy(void **state)
{
    (void)state;
    const double h = 1e-5;
    struct random_numbers random = random_numbers_begin("slope");
    kith_context *context = new_context(NULL, 1);
    for (int k = 0; k < force_law_count + force_formula_count; k++) {
        const char *text =
            k < force_law_count ? force_laws[k] : force_formulas[k - force_law_count];
        if (strcmp(text, "gravity") == 0)
            continue; /* its potential is per unit mass; test_physics has it */
        kith_law *law = new_law(text);
        struct system s = system_random(&random, KITH_F64, 20, 3);
        const kith_array q = random_charges(&random, &s);
        const kith_forces_options options = {.softening = 0.3, .law = law};
        struct system there = system_random(&random, KITH_F64, 20, 3);
        s.q = there.q = q;
        system_compute(context, &options, &s);
        const struct law_scale scale = law_scale_of(law, &s, q, 0.3);
        for (int64_t at = 0; at < 60; at++) {
            double energy[2] = {0};
            for (int side = 0; side < 2; side++) {
                memcpy(there.x.data, s.x.data, 60 * sizeof(double));
                memcpy(there.m.data, s.m.data, 20 * sizeof(double));
                put(there.x, at, get(s.x, at) + (side ? h : -h));
                system_compute(context, &options, &there);
                for (int64_t i = 0; i < 20; i++)
                    energy[side] += get(there.phi, i) / 2;
            }
            const double force = -(energy[1] - energy[0]) / (2 * h);
            const double found = get(s.a, at) * get(s.m, at / 3);
            if (!(fabs(found - force) <= 1e-6 * (scale.value + scale.acceleration)))
                fail_msg("%s: force %lld is %.12g, and the energy's slope %.12g", text,
                         (long long)at, found, force);
        }
        free(q.data);
        system_free(&s);
        system_free(&there);
        kith_law_free(law);
    }
    kith_context_free(context);
}

static void test_forces_of_all_laws_add_up_to_nothing(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin("third law");
    kith_context *context = new_context(NULL, 1);
    for (int k = 0; k < force_law_count; k++) {
        kith_law *law = new_law(force_laws[k]);
        struct system s = system_random(&random, KITH_F64, 100, 3);
        const kith_array q = random_charges(&random, &s);
        const kith_forces_options options = {.softening = 0.05, .law = law};
        s.q = q;
        const struct law_scale scale = law_scale_of(law, &s, q, 0.05);
        system_compute(context, &options, &s);
        for (int64_t c = 0; c < 3; c++) {
            double sum = 0;
            for (int64_t i = 0; i < 100; i++)
                sum += get(s.m, i) * get(s.a, 3 * i + c);
            assert_near(sum, 0, 1e-13 * (scale.acceleration * 100 + 1));
        }
        free(q.data);
        system_free(&s);
        kith_law_free(law);
    }
    kith_context_free(context);
}

/* Two bodies of charges +1 and −1, masses 2 and 4, at a distance of 2. */
static void test_forces_of_opposite_charges_attract(void **state)
{
    (void)state;
    double x[] = {0, 0, 0, 2, 0, 0}, m[] = {2, 4}, q[] = {1, -1}, a[6], phi[2];
    kith_context *context = new_context(NULL, 1);
    kith_law *law = new_law("coulomb");
    const kith_forces_options options = {.law = law};
    assert_ok(kith_forces_compute(
        context, &options, NULL,
        PARTICLES(kith_array_matrix(x, KITH_F64, 2, 3), {"m", kith_array_vector(m, KITH_F64, 2)},
                  {"q", kith_array_vector(q, KITH_F64, 2)}),
        kith_array_matrix(a, KITH_F64, 2, 3), kith_array_vector(phi, KITH_F64, 2)));
    assert_near(a[0], 0.25 / 2, 1e-15);
    assert_near(a[3], -0.25 / 4, 1e-15);
    assert_near(phi[0], -0.5, 1e-15);
    assert_near(phi[1], -0.5, 1e-15);
    kith_law_free(law);
    kith_context_free(context);
}

static void test_forces_at_the_same_place_are_finite(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin("same place");
    kith_context *context = new_context(NULL, 1);
    for (int k = 0; k < force_law_count; k++)
        for (int single = 0; single < 2; single++) {
            const kith_dtype dtype = single ? KITH_F32 : KITH_F64;
            struct system s = system_random(&random, dtype, 70, 3);
            const kith_array q = random_charges(&random, &s);
            for (int64_t c = 0; c < 3; c++)
                put(s.x, 3 * 65 + c, get(s.x, 3 * 7 + c));
            check_law(context, force_laws[k], &s, q, &(kith_forces_options){0});
            free(q.data);
            system_free(&s);
        }
    kith_context_free(context);
}

static void test_forces_of_laws_have_the_same_bits_for_every_number_of_threads(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin("threads");
    kith_context *one = new_context(NULL, 1), *many = new_context(NULL, 7);
    for (int k = 0; k < force_law_count; k++) {
        kith_law *law = new_law(force_laws[k]);
        struct system s = system_random(&random, k % 2 ? KITH_F32 : KITH_F64, 2000, 3);
        const kith_array q = random_charges(&random, &s);
        const kith_forces_options options = {.law = law};
        s.q = q;
        const size_t bytes = (size_t)(2000 * kith_dtype_bytes(s.dtype));
        system_compute(one, &options, &s);
        void *a = malloc(3 * bytes), *phi = malloc(bytes);
        memcpy(a, s.a.data, 3 * bytes);
        memcpy(phi, s.phi.data, bytes);
        system_compute(many, &options, &s);
        assert_memory_equal(a, s.a.data, 3 * bytes);
        assert_memory_equal(phi, s.phi.data, bytes);
        free(a);
        free(phi);
        free(q.data);
        system_free(&s);
        kith_law_free(law);
    }
    kith_context_free(one);
    kith_context_free(many);
}

/* Targets that are the sources, as arrays of their own, get the pair i = j too: nothing, for a law
 * that is 0 at the same position. */
static void test_forces_at_targets_of_their_own(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin("targets");
    kith_context *context = new_context(NULL, 2);
    static const char *const laws[] = {"coulomb", "yukawa:2", "lennard-jones:1,0.3", "distance2",
                                       "expr:q_i*m_j/r"};
    for (int k = 0; k < 5; k++)
        for (int single = 0; single < 2; single++) {
            kith_law *law = new_law(laws[k]);
            struct system s = system_random(&random, single ? KITH_F32 : KITH_F64, 131, 3);
            struct system copy = system_random(&random, s.dtype, 131, 3);
            const kith_array q = random_charges(&random, &s);
            memcpy(copy.x.data, s.x.data, (size_t)(131 * 3 * kith_dtype_bytes(s.dtype)));
            const kith_forces_options options = {.law = law};
            s.q = q;
            system_compute(context, &options, &s);
            assert_ok(kith_forces_compute(context, &options,
                                          PARTICLES(copy.x, {"m", s.m}, {"q", q}), PARTICLES_OF(&s),
                                          copy.a, copy.phi));
            const struct law_scale scale = law_scale_of(law, &s, q, 0);
            const double epsilon = 8 * (single ? (double)FLT_EPSILON : DBL_EPSILON);
            assert_all_near(laws[k], "acceleration", copy.a, s.a, epsilon * scale.acceleration);
            assert_all_near(laws[k], "potential", copy.phi, s.phi, epsilon * scale.value);
            free(q.data);
            system_free(&s);
            system_free(&copy);
            kith_law_free(law);
        }
    kith_context_free(context);
}

static void test_forces_of_the_law_gravity_are_those_without_a_law(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin("gravity");
    kith_context *context = new_context(NULL, 2);
    struct system s = system_random(&random, KITH_F64, 200, 3), same = s;
    kith_law *law = new_law("gravity");
    same.a = new_matrix(KITH_F64, 200, 3);
    same.phi = new_vector(KITH_F64, 200);
    kith_forces_options options = {.softening = 0.1, .gravitational_constant = 3};
    system_compute(context, &options, &s);
    options.law = law;
    system_compute(context, &options, &same);
    assert_memory_equal(same.a.data, s.a.data, 600 * sizeof(double));
    assert_memory_equal(same.phi.data, s.phi.data, 200 * sizeof(double));
    assert_ok(kith_law_set(law, "G", 3));
    options.gravitational_constant = 0;
    system_compute(context, &options, &same);
    assert_memory_equal(same.a.data, s.a.data, 600 * sizeof(double));

    options.sum = KITH_FORCES_SUM_VALUE;
    for (int k = 0; k < 2; k++) {
        assert_ok(kith_forces_compute(context, &options, NULL, PARTICLES(s.x, {"m", s.m}),
                                      kith_array_none(), same.phi));
        for (int64_t i = 0; i < 200; i++)
            assert_near(get(same.phi, i), get(s.m, i) * get(s.phi, i), 1e-14 * fabs(get(s.phi, i)));
        options.law = NULL;
        options.gravitational_constant = 3;
    }
    kith_law_free(law);
    free(same.a.data);
    free(same.phi.data);
    system_free(&s);
    kith_context_free(context);
}

static void test_forces_of_a_law_refuse_what_makes_no_sense(void **state)
{
    (void)state;
    struct random_numbers random = random_numbers_begin("refuse");
    kith_context *context = new_context(NULL, 1);
    struct system s = system_random(&random, KITH_F64, 5, 3);
    const kith_array none = kith_array_none(), few = new_vector(KITH_F64, 4);
    kith_law *law = new_law("yukawa:1");
    kith_forces_options options = {.law = law, .gravitational_constant = 2};
    assert_fails(
        kith_forces_compute(context, &options, NULL, PARTICLES(s.x, {"m", s.m}), s.a, s.phi),
        KITH_INVALID_ARGUMENT, "law yukawa:1");
    options = (kith_forces_options){.law = law};
    assert_fails(kith_forces_compute(context, &options, NULL,
                                     PARTICLES(s.x, {"m", s.m}, {"q", few}), s.a, s.phi),
                 KITH_INVALID_ARGUMENT, "sources.q 4 5");
    assert_fails(kith_forces_compute(context, &options, PARTICLES(s.x, {"m", s.softening}),
                                     PARTICLES(s.x, {"m", s.m}), s.a, s.phi),
                 KITH_INVALID_ARGUMENT, "targets targets.m");
    options = (kith_forces_options){.law = law, .sum = KITH_FORCES_SUM_VALUE};
    assert_fails(
        kith_forces_compute(context, &options, NULL, PARTICLES(s.x, {"m", s.m}), s.a, s.phi),
        KITH_INVALID_ARGUMENT, "acceleration");
    put(s.m, 3, 0);
    options = (kith_forces_options){.law = law};
    assert_fails(
        kith_forces_compute(context, &options, NULL, PARTICLES(s.x, {"m", s.m}), s.a, s.phi),
        KITH_INVALID_ARGUMENT, "row 3 sources.m 0 0");
    assert_ok(
        kith_forces_compute(context, &options, NULL, PARTICLES(s.x, {"m", s.m}), none, s.phi));
    put(few, 2, NAN);
    free(few.data);
    kith_law_free(law);
    system_free(&s);
    kith_context_free(context);
}

static void test_forces_of_no_bodies_by_a_law_are_none(void **state)
{
    (void)state;
    kith_context *context = new_context(NULL, 2);
    kith_law *law = new_law("coulomb");
    struct system s = system_create(KITH_F64, 0, 3);
    const kith_forces_options options = {.law = law};
    system_compute(context, &options, &s);
    system_free(&s);
    kith_law_free(law);
    kith_context_free(context);
}

int main(void)
{
    char folder[] = "/tmp/kith-test-XXXXXX";
    if (mkdtemp(folder))
        setenv("XDG_CACHE_HOME", folder, 1);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forces_of_every_law_agree_with_the_reference),
        cmocka_unit_test(test_forces_of_formulas_agree_with_the_reference),
        cmocka_unit_test(test_forces_of_bodies_at_the_same_place_are_none),
        cmocka_unit_test(test_forces_are_the_slope_of_the_energy),
        cmocka_unit_test(test_forces_of_all_laws_add_up_to_nothing),
        cmocka_unit_test(test_forces_of_opposite_charges_attract),
        cmocka_unit_test(test_forces_at_the_same_place_are_finite),
        cmocka_unit_test(test_forces_of_laws_have_the_same_bits_for_every_number_of_threads),
        cmocka_unit_test(test_forces_at_targets_of_their_own),
        cmocka_unit_test(test_forces_of_the_law_gravity_are_those_without_a_law),
        cmocka_unit_test(test_forces_of_a_law_refuse_what_makes_no_sense),
        cmocka_unit_test(test_forces_of_no_bodies_by_a_law_are_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
