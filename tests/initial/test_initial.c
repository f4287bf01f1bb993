#include "testing.h"

#include "testing_initial.h"

/* FNV-1a, 64 bits, over the bits of numbers; bytes from the lowest on every machine. */
static uint64_t fold(uint64_t hash, const double *numbers, int64_t count)
{
    for (int64_t i = 0; numbers && i < count; i++) {
        uint64_t bits = 0;
        memcpy(&bits, &numbers[i], sizeof bits);
        for (int byte = 0; byte < 8; byte++, bits >>= 8)
            hash = (hash ^ (bits & 0xff)) * 0x100000001b3;
    }
    return hash;
}

static uint64_t checksum(const kith_bodies *bodies)
{
    const int64_t numbers = bodies->count * bodies->dimensions;
    uint64_t hash = fold(0xcbf29ce484222325, bodies->position, numbers);
    hash = fold(hash, bodies->velocity, numbers);
    return fold(hash, bodies->mass, bodies->count);
}

struct expected_bits {
    const char *kind;
    kith_initial_options options;
    uint64_t checksum;
};

/* Made once on x86-64. A change here breaks the promise that a seed gives the same bits forever. */
static const struct expected_bits known[] = {
    {"two-body", {.eccentricity = 0.9, .mass_ratio = 0.3}, 0x6a889ecc1d335ba0},
    {"two-body", {.dimensions = 2}, 0x30f6d7816227acc5},
    {"lagrange", {0}, 0x97d1fe6c216ceb69},
    {"figure-8", {0}, 0x4f44f3be0d479b8d},
    {"six", {.seed = 1}, 0x985127c8f4862f56},
    {"solar-system", {0}, 0x657d97d39c433bf1},
    {"outer-solar-system", {0}, 0xdaa1923dd7b0584f},
    {"plummer", {.count = 100, .seed = 1}, 0xf58215149136fe03},
    {"hernquist", {.count = 100, .seed = 1}, 0xba6725dd915ad2bd},
    {"uniform-cube", {.count = 100, .seed = 1}, 0x21651903e61196f6},
    {"uniform-sphere", {.count = 100, .seed = 1, .dimensions = 2}, 0x3781661ebde54b33},
    {"uniform-sphere", {.count = 100, .seed = 1}, 0xda83f27b446ec8ee},
    {"disk", {.count = 100, .seed = 1}, 0x94746a2f9f34e1d7},
    {"galaxies", {.count = 100, .seed = 1}, 0x20ba180ae6ce3782},
    {"lattice", {.count = 100}, 0xd2a41e247d90cab0},
    {"lattice-walk", {.count = 100, .seed = 1}, 0xd675898401de92d8},
    {"plummer", {.count = 100, .seed = UINT64_MAX}, 0x853409fee26edaf3},
};

static void test_initial_conditions_have_the_same_bits_for_ever(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        kith_bodies *bodies = made(known[k].kind, known[k].options);
        if (checksum(bodies) != known[k].checksum)
            fail_msg("row %zu, %s: checksum 0x%016llx", k, known[k].kind,
                     (unsigned long long)checksum(bodies));
        kith_bodies_free(bodies);
    }
}

static void test_initial_rows_are_named_described_and_make_their_default_count(void **state)
{
    (void)state;
    int64_t count = 0;
    const kith_initial *list = kith_initial_list(&count);
    assert_int_equal(count, 19);
    for (int64_t k = 0; k < count; k++) {
        for (int64_t other = 0; other < k; other++)
            assert_string_not_equal(list[k].name, list[other].name);
        assert_in_range(strlen(list[k].description), 10, 110);
        assert_true(!list[k].run_hint || strstr(list[k].run_hint, "--dt"));
        kith_bodies *bodies = made(list[k].name, (kith_initial_options){0});
        assert_int_equal(bodies->count, list[k].default_count);
        assert_int_equal(bodies->dimensions, 3);
        assert_ok(kith_bodies_check(bodies));
        kith_bodies_free(bodies);
    }
}

static bool has_seed(const char *kind)
{
    kith_bodies *first = made(kind, (kith_initial_options){.seed = 1});
    kith_bodies *second = made(kind, (kith_initial_options){.seed = 2});
    const bool differ = checksum(first) != checksum(second);
    kith_bodies_free(first);
    kith_bodies_free(second);
    return differ;
}

static void test_initial_seeds_matter_to_random_kinds_only(void **state)
{
    (void)state;
    const char *const random[] = {"six",          "plummer",        "hernquist",
                                  "uniform-cube", "uniform-sphere", "disk",
                                  "galaxies",     "lattice-walk"};
    const char *const certain[] = {"two-body",           "lagrange", "figure-8", "solar-system",
                                   "outer-solar-system", "lattice",  "planets"};
    for (size_t k = 0; k < sizeof random / sizeof random[0]; k++)
        assert_true(has_seed(random[k]));
    for (size_t k = 0; k < sizeof certain / sizeof certain[0]; k++)
        assert_false(has_seed(certain[k]));
}

static void test_initial_bodies_do_not_depend_on_how_many_follow(void **state)
{
    (void)state;
    const char *const kinds[] = {"uniform-cube", "uniform-sphere", "lattice-walk"};
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        kith_bodies *few = made(kinds[k], (kith_initial_options){.count = 33, .seed = 5});
        kith_bodies *many = made(kinds[k], (kith_initial_options){.count = 500, .seed = 5});
        assert_memory_equal(few->position, many->position, 33 * 3 * sizeof(double));
        kith_bodies_free(few);
        kith_bodies_free(many);
    }
}

static void test_initial_any_number_of_bodies_may_be_one(void **state)
{
    (void)state;
    int64_t count = 0;
    const kith_initial *list = kith_initial_list(&count);
    for (int64_t k = 0; k < count; k++) {
        static const char *const more[] = {"galaxies", "fcc", "bcc", "nacl"};
        bool needs_more = list[k].fixed_count;
        for (size_t m = 0; m < sizeof more / sizeof more[0]; m++)
            needs_more |= strcmp(list[k].name, more[m]) == 0;
        if (needs_more)
            continue;
        kith_bodies *bodies = made(list[k].name, (kith_initial_options){.count = 1, .seed = 3});
        assert_int_equal(bodies->count, 1);
        assert_ok(kith_bodies_check(bodies));
        kith_bodies_free(bodies);
    }
}

static void test_initial_flat_kinds_are_flat_and_the_others_refuse(void **state)
{
    (void)state;
    const char *const solid[] = {"six",     "solar-system", "outer-solar-system",
                                 "plummer", "hernquist",    "galaxies",
                                 "planets", "fcc",          "bcc",
                                 "nacl"};
    int64_t count = 0;
    const kith_initial *list = kith_initial_list(&count);
    for (int64_t k = 0; k < count; k++) {
        bool refuses = false;
        for (size_t s = 0; s < sizeof solid / sizeof solid[0]; s++)
            refuses |= strcmp(solid[s], list[k].name) == 0;
        const kith_initial_options flat = {.dimensions = 2};
        kith_bodies *bodies = NULL;
        if (refuses) {
            assert_fails(kith_initial_make(list[k].name, &flat, &bodies), KITH_INVALID_ARGUMENT,
                         list[k].name);
            continue;
        }
        assert_ok(kith_initial_make(list[k].name, &flat, &bodies));
        assert_int_equal(bodies->dimensions, 2);
        assert_ok(kith_bodies_check(bodies));
        kith_bodies_free(bodies);
    }
}

static void test_initial_unknown_kind_lists_the_known_ones(void **state)
{
    (void)state;
    int64_t count = 0;
    const kith_initial *list = kith_initial_list(&count);
    kith_bodies *bodies = NULL;
    for (int64_t k = 0; k < count; k++)
        assert_fails(kith_initial_make("plumber", NULL, &bodies), KITH_INVALID_ARGUMENT,
                     list[k].name);
    assert_fails(kith_initial_make("plumber", NULL, &bodies), KITH_INVALID_ARGUMENT, "'plumber'");
    assert_fails(kith_initial_make(NULL, NULL, &bodies), KITH_INVALID_ARGUMENT, "plummer");
    assert_null(bodies);
}

static void assert_refused(const char *kind, kith_initial_options options, const char *words)
{
    kith_bodies *bodies = NULL;
    assert_fails(kith_initial_make(kind, &options, &bodies), KITH_INVALID_ARGUMENT, words);
    assert_null(bodies);
}

static void test_initial_walks_are_connected_and_avoid_themselves(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 40; seed++) {
        const int32_t d = seed % 2 ? 2 : 3;
        kith_bodies *walk = NULL;
        const kith_initial_options options = {.count = 60, .dimensions = d, .seed = seed};
        assert_ok(kith_initial_make("self-avoiding-walk", &options, &walk));
        for (int64_t i = 0; i < 60; i++)
            for (int64_t j = 0; j < i; j++) {
                double distance = 0; /* in steps along the axes */
                for (int32_t c = 0; c < d; c++)
                    distance += fabs(walk->position[i * d + c] - walk->position[j * d + c]);
                assert_true(j == i - 1 ? distance == 1 : distance >= 1);
            }
        kith_bodies_free(walk);
    }
}

static void test_initial_refuses_counts_that_a_kind_cannot_have(void **state)
{
    (void)state;
    assert_refused("plummer", (kith_initial_options){.count = -1}, "count -1");
    assert_refused("six", (kith_initial_options){.count = 7}, "6");
    assert_refused("figure-8", (kith_initial_options){.count = -3}, "figure-8 3");
    assert_refused("galaxies", (kith_initial_options){.count = 1}, "2");
    assert_refused("fcc", (kith_initial_options){.count = 3}, "4");
    assert_refused("nacl", (kith_initial_options){.count = 9}, "8 64");
}

static void test_initial_refuses_options_out_of_range_or_out_of_place(void **state)
{
    (void)state;
    assert_refused("lattice", (kith_initial_options){.dimensions = 4}, "dimensions 4");
    assert_refused("two-body", (kith_initial_options){.dimensions = -2}, "dimensions -2");
    assert_refused("two-body", (kith_initial_options){.eccentricity = 1}, "eccentricity 1");
    assert_refused("two-body", (kith_initial_options){.eccentricity = -0.1}, "eccentricity -0.1");
    assert_refused("two-body", (kith_initial_options){.eccentricity = NAN}, "eccentricity");
    assert_refused("two-body", (kith_initial_options){.mass_ratio = -1}, "-1");
    assert_refused("galaxies", (kith_initial_options){.mass_ratio = INFINITY}, "inf");
    assert_refused("galaxies", (kith_initial_options){.mass_ratio = NAN}, "mass ratio");
    assert_refused("galaxies", (kith_initial_options){.eccentricity = 0.5},
                   "eccentricity galaxies");
    assert_refused("plummer", (kith_initial_options){.mass_ratio = 2}, "plummer");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_initial_conditions_have_the_same_bits_for_ever),
        cmocka_unit_test(test_initial_rows_are_named_described_and_make_their_default_count),
        cmocka_unit_test(test_initial_seeds_matter_to_random_kinds_only),
        cmocka_unit_test(test_initial_bodies_do_not_depend_on_how_many_follow),
        cmocka_unit_test(test_initial_any_number_of_bodies_may_be_one),
        cmocka_unit_test(test_initial_flat_kinds_are_flat_and_the_others_refuse),
        cmocka_unit_test(test_initial_unknown_kind_lists_the_known_ones),
        cmocka_unit_test(test_initial_walks_are_connected_and_avoid_themselves),
        cmocka_unit_test(test_initial_refuses_counts_that_a_kind_cannot_have),
        cmocka_unit_test(test_initial_refuses_options_out_of_range_or_out_of_place),
    };
    return cmocka_run_group_tests_name("initial", tests, NULL, NULL);
}
