/* Laws and formulas by the symmetric loops, which evaluate each pair once. */

#include "law_forces.h"

#include <unistd.h>

/* Below, at and beyond blocks of 64 bodies; several rounds of the ring. */
static const int64_t counts[] = {1, 2, 63, 64, 65, 129, 200, 330};
enum { count_count = sizeof counts / sizeof counts[0] };

/* With no softening, one, or one per body. */
static void check_symmetric(kith_context *context, struct random_numbers *random, const char *law,
                            kith_dtype dtype, int64_t n, int softening)
{
    struct system s = system_random(random, dtype, n, 2 + n % 2);
    const kith_array q = random_charges(random, &s);
    const kith_forces_options options = {.method = KITH_FORCES_SYMMETRIC,
                                         .softening = softening == 1 ? 0.05 : 0};
    s.softened = softening == 2;
    check_law(context, law, &s, q, &options);
    free(q.data);
    system_free(&s);
}

static void test_forces_of_symmetric_laws_agree_with_the_reference(void **state)
{
    int64_t isas = 0;
    const kith_isa *isa = kith_isa_list(&isas);
    for (int64_t k = 0; k < isas; k++) {
        if (!isa[k].supported)
            continue;
        kith_context *context = new_context(isa[k].name, 2);
        for (int law = 0; law < force_law_count; law++)
            for (int c = 0; c < count_count; c++)
                for (int single = 0; single < 2; single++)
                    check_symmetric(context, *state, force_laws[law], single ? KITH_F32 : KITH_F64,
                                    counts[c], (law + c) % 3);
        kith_context_free(context);
    }
}

static void test_forces_of_symmetric_formulas_agree_with_the_reference(void **state)
{
    kith_context *context = new_context(NULL, 2);
    for (int law = 0; law < force_formula_count; law++)
        for (int c = 3; c < count_count; c++)
            for (int single = 0; single < 2; single++)
                check_symmetric(context, *state, force_formulas[law], single ? KITH_F32 : KITH_F64,
                                counts[c], (law + c) % 3);
    kith_context_free(context);
}

/* Each pair adds F to one body and −F to the other. */
static void test_forces_of_symmetric_laws_have_no_net_force(void **state)
{
    enum { n = 1000 };
    kith_context *context = new_context(NULL, 2);
    for (int k = 0; k < force_law_count + force_formula_count; k++) {
        const char *text =
            k < force_law_count ? force_laws[k] : force_formulas[k - force_law_count];
        kith_law *law = new_law(text);
        struct system s = system_random(*state, KITH_F64, n, 3);
        const kith_array q = random_charges(*state, &s);
        const kith_forces_options options = {
            .law = law, .softening = 0.02, .method = KITH_FORCES_SYMMETRIC};
        s.q = q;
        system_compute(context, &options, &s);
        for (int64_t c = 0; c < 3; c++) {
            double net = 0, size = 0;
            for (int64_t i = 0; i < n; i++) {
                net += get(s.m, i) * get(s.a, 3 * i + c);
                size += fabs(get(s.m, i) * get(s.a, 3 * i + c));
            }
            if (!(fabs(net) <= 1e-12 * size))
                fail_msg("%s: net force %g of %g", text, net, size);
        }
        free(q.data);
        system_free(&s);
        kith_law_free(law);
    }
    kith_context_free(context);
}

static bool is_same_force(const struct system *a, const struct system *b)
{
    return memcmp(a->a.data, b->a.data,
                  (size_t)(a->n * a->dimensions * kith_dtype_bytes(a->dtype))) == 0;
}

/* auto: from 192 bodies on, with a formula from 1024 on. */
static void test_forces_auto_evaluates_each_pair_once_where_that_is_faster(void **state)
{
    static const struct {
        const char *law;
        int64_t n;
        bool is_symmetric;
    } cases[] = {{"coulomb", 191, false},
                 {"coulomb", 192, true},
                 {"expr:q_i*q_j/r", 1023, false},
                 {"expr:q_i*q_j/r", 1024, true}};
    kith_context *context = new_context(NULL, 2);
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        kith_law *law = new_law(cases[k].law);
        struct system s = system_random(*state, KITH_F64, cases[k].n, 3), split, symmetric;
        const kith_array q = random_charges(*state, &s);
        s.q = q;
        split = symmetric = s;
        split.a = new_matrix(KITH_F64, s.n, 3);
        symmetric.a = new_matrix(KITH_F64, s.n, 3);
        kith_forces_options options = {.law = law};
        system_compute(context, &options, &s);
        options.method = KITH_FORCES_SPLIT;
        system_compute(context, &options, &split);
        options.method = KITH_FORCES_SYMMETRIC;
        system_compute(context, &options, &symmetric);
        assert_false(is_same_force(&split, &symmetric)); /* or this test would see nothing */
        assert_true(is_same_force(&s, cases[k].is_symmetric ? &symmetric : &split));
        free(q.data);
        free(split.a.data);
        free(symmetric.a.data);
        system_free(&s);
        kith_law_free(law);
    }
    kith_context_free(context);
}

/* V(i, j) is not V(j, i): the pairs i, j and j, i are two. */
static void test_forces_of_formulas_that_are_not_symmetric_are_one_sided(void **state)
{
    const char *const text = "expr:m_i*q_j/r";
    kith_context *context = new_context(NULL, 2);
    kith_law *law = new_law(text);
    struct system s = system_random(*state, KITH_F64, 1100, 3);
    const kith_array q = random_charges(*state, &s);
    kith_forces_options options = {0};
    check_law(context, text, &s, q, &options);
    options = (kith_forces_options){.law = law, .method = KITH_FORCES_SYMMETRIC};
    s.q = q;
    assert_fails(kith_forces_compute(context, &options, NULL, PARTICLES_OF(&s), s.a, s.phi),
                 KITH_UNSUPPORTED, "");
    free(q.data);
    system_free(&s);
    kith_law_free(law);
    kith_context_free(context);
}

int main(void)
{
    char folder[] = "/tmp/kith-test-XXXXXX";
    if (mkdtemp(folder))
        setenv("XDG_CACHE_HOME", folder, 1);
    struct random_numbers random = random_numbers_begin("forces_symmetric");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_forces_of_symmetric_laws_agree_with_the_reference, &random),
        cmocka_unit_test_prestate(test_forces_of_symmetric_formulas_agree_with_the_reference,
                                  &random),
        cmocka_unit_test_prestate(test_forces_of_symmetric_laws_have_no_net_force, &random),
        cmocka_unit_test_prestate(test_forces_auto_evaluates_each_pair_once_where_that_is_faster,
                                  &random),
        cmocka_unit_test_prestate(test_forces_of_formulas_that_are_not_symmetric_are_one_sided,
                                  &random),
    };
    return cmocka_run_group_tests_name("forces_symmetric", tests, NULL, NULL);
}
