/* Counting collisions: every method is the double loop. */

#include "beads.h"

#include "lattice/box.h"
#include "lattice/collisions_reference.h"

static const kith_dtype dtypes[] = {KITH_I32, KITH_I64};

static void assert_all_methods_agree(kith_context *context, kith_array beads)
{
    int64_t methods = 0;
    kith_collisions_method_list(&methods);
    const int64_t expected = count_by(context, KITH_COLLISIONS_REFERENCE, beads);
    for (int64_t method = 0; method < methods; method++) {
        const int64_t count = count_by(context, (kith_collisions_method)method, beads);
        if (count != expected)
            fail_msg("%s: %lld instead of %lld for %lld beads",
                     kith_collisions_method_list(&methods)[method].name, (long long)count,
                     (long long)expected, (long long)beads.shape[0]);
    }
}

/* Beads of every kind: walks, dense and thin clouds, the ends of the type. */
static void fill_any(struct random_numbers *random, int64_t kind, kith_array beads)
{
    static const int64_t sides[] = {1, 3, 10, 1000, 1 << 30};
    switch (kind % 7) {
    case 0:
        fill_walk(random, beads);
        return;
    case 6:
        fill_extremes(random, beads);
        return;
    default:
        fill_cube(random, beads, kind % 2 ? -5 : INT32_MIN, sides[kind % 7 - 1]);
        return;
    }
}

static void test_all_methods_count_every_size_alike(void **state)
{
    kith_context *context = cpu_context(2);
    for (int64_t n = 0; n <= 300; n++) {
        kith_array beads = new_beads(dtypes[n % 2], n, 2 + n / 2 % 2);
        fill_any(*state, n, beads);
        assert_all_methods_agree(context, beads);
        free(beads.data);
    }
    kith_context_free(context);
}

static void test_all_methods_count_odd_sizes_alike(void **state)
{
    static const int64_t sizes[] = {1023, 1024, 1025, 2047, 2049};
    kith_context *context = cpu_context(3);
    for (int64_t k = 0; k < 5; k++)
        for (int64_t kind = 0; kind < 7; kind++) {
            kith_array beads = new_beads(dtypes[(k + kind) % 2], sizes[k], 2 + kind % 2);
            fill_any(*state, kind, beads);
            assert_all_methods_agree(context, beads);
            free(beads.data);
        }
    kith_context_free(context);
}

static void test_fast_methods_agree_on_many_beads(void **state)
{
    static const kith_collisions_method fast[] = {KITH_COLLISIONS_AUTO, KITH_COLLISIONS_LINEAR,
                                                  KITH_COLLISIONS_HASH, KITH_COLLISIONS_ALL_PAIRS};
    for (int64_t kind = 0; kind < 7; kind++) {
        kith_context *context = cpu_context(1 + (int32_t)kind);
        kith_array beads = new_beads(dtypes[kind % 2], 65537, 3);
        fill_any(*state, kind, beads);
        const int64_t expected = count_by(context, KITH_COLLISIONS_SORT, beads);
        for (int64_t k = 0; k < 4; k++)
            assert_int_equal(count_by(context, fast[k], beads), expected);
        free(beads.data);
        kith_context_free(context);
    }
}

static void test_all_beads_at_one_site_make_all_pairs(void **state)
{
    (void)state;
    kith_context *context = cpu_context(2);
    static const kith_collisions_method methods[] = {KITH_COLLISIONS_AUTO, KITH_COLLISIONS_LINEAR,
                                                     KITH_COLLISIONS_HASH, KITH_COLLISIONS_SORT,
                                                     KITH_COLLISIONS_ALL_PAIRS};
    kith_array beads = new_beads(KITH_I32, 100000, 3);
    for (int64_t k = 0; k < 5; k++)
        assert_int_equal(count_by(context, methods[k], beads), 4999950000);
    /* With one far away, in the table of blocks: its counters of a byte are full many times. */
    put_bead(beads, 0, 0, 1000000000);
    put_bead(beads, 7, 1, -5);
    for (int64_t k = 0; k < 5; k++)
        assert_int_equal(count_by(context, methods[k], beads), (int64_t)99998 * 99997 / 2);
    free(beads.data);
    kith_context_free(context);
}

/* Counters of a byte are full at 256 beads, and not before; one bead far away makes a table. */
static void test_counters_that_are_just_full_are_seen(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    for (int64_t n = 250; n < 520; n = n == 260 ? 505 : n + 1) {
        kith_array beads = new_beads(KITH_I32, n + 1, 3);
        put_bead(beads, n, 0, 1);
        assert_int_equal(count_by(context, KITH_COLLISIONS_LINEAR, beads), n * (n - 1) / 2);
        put_bead(beads, n, 0, 1000000000);
        assert_int_equal(count_by(context, KITH_COLLISIONS_LINEAR, beads), n * (n - 1) / 2);
        free(beads.data);
    }
    kith_context_free(context);
}

static void test_a_chain_that_comes_back_fills_its_counters(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    const int64_t n = 300000;
    kith_array beads = new_beads(KITH_I32, n, 3);
    for (int64_t i = 0; i < n; i++) /* back and forth over 97 sites */
        put_bead(beads, i, 0, i % 97);
    assert_int_equal(count_by(context, KITH_COLLISIONS_LINEAR, beads),
                     count_by(context, KITH_COLLISIONS_SORT, beads));
    put_bead(beads, n - 1, 0, 2000000000);
    assert_int_equal(count_by(context, KITH_COLLISIONS_LINEAR, beads),
                     count_by(context, KITH_COLLISIONS_SORT, beads));
    free(beads.data);
    kith_context_free(context);
}

static void test_threads_and_instruction_sets_do_not_matter(void **state)
{
    kith_array beads = new_beads(KITH_I32, 20000, 3);
    fill_cube(*state, beads, 0, 20);
    int64_t sets = 0, methods = 0;
    const kith_isa *isa = kith_isa_list(&sets);
    kith_collisions_method_list(&methods);
    kith_context *context = cpu_context(1);
    const int64_t expected = count_by(context, KITH_COLLISIONS_SORT, beads);
    kith_context_free(context);
    for (int64_t k = 0; k < sets; k++) {
        if (!isa[k].supported)
            continue;
        setenv("KITH_ISA", isa[k].name, 1);
        context = cpu_context(1 + (int32_t)k * 2);
        for (int64_t method = 0; method < methods; method++)
            if (method < KITH_COLLISIONS_N_STEPS_SINGLE_ROW || method >= KITH_COLLISIONS_ALL_PAIRS)
                assert_int_equal(count_by(context, (kith_collisions_method)method, beads),
                                 expected);
        kith_context_free(context);
        unsetenv("KITH_ISA");
    }
    free(beads.data);
}

static void test_strides_are_followed(void **state)
{
    kith_context *context = cpu_context(1);
    kith_array wide = new_beads(KITH_I32, 500, 3);
    fill_cube(*state, wide, 0, 4);
    kith_array part = wide; /* every second row, columns backwards */
    part.shape[0] = 250;
    part.strides[0] = 6;
    part.strides[1] = -1;
    part.data = (int32_t *)wide.data + 2;
    kith_array dense = new_beads(KITH_I32, 250, 3);
    for (int64_t k = 0; k < 750; k++)
        put_bead(dense, k / 3, k % 3, get_bead(part, k / 3, k % 3));
    assert_all_methods_agree(context, part);
    assert_int_equal(count_by(context, KITH_COLLISIONS_AUTO, part),
                     count_by(context, KITH_COLLISIONS_AUTO, dense));
    free(wide.data);
    free(dense.data);
    kith_context_free(context);
}

/* Sites (x, −mix(x)), counted from the lowest, all have the same hash in the table of sites. */
static void test_sites_with_equal_hashes_are_told_apart(void **state)
{
    (void)state;
    enum { beads_count = 60 };
    kith_context *context = cpu_context(1);
    kith_array beads = new_beads(KITH_I64, beads_count, 2);
    for (int64_t i = 0; i < beads_count; i++) {
        const uint64_t x = 1 + 0x1234567 * (uint64_t)(i / 2), y = 0 - collisions_mix(x);
        put_bead(beads, i, 0, (int64_t)(x - 1 + (uint64_t)INT64_MIN));
        put_bead(beads, i, 1, (int64_t)(y - 1 + (uint64_t)INT64_MIN));
    }
    for (int64_t c = 0; c < 2; c++) { /* the box is the whole lattice */
        put_bead(beads, 0, c, INT64_MIN);
        put_bead(beads, 1, c, INT64_MAX);
    }
    assert_int_equal(count_by(context, KITH_COLLISIONS_LINEAR, beads), beads_count / 2 - 1);
    assert_all_methods_agree(context, beads);
    free(beads.data);
    kith_context_free(context);
}

static kith_collisions_method chosen_for(kith_context *context, kith_array beads)
{
    kith_collisions_method method = KITH_COLLISIONS_AUTO;
    assert_ok(kith_collisions_choose(context, NULL, beads, &method));
    return method;
}

static void test_auto_tells_what_it_chooses(void **state)
{
    const struct {
        int64_t beads, side;
        kith_collisions_method method;
    } scattered[] = {
        {50, 1 << 20, KITH_COLLISIONS_ALL_PAIRS}, /* few beads */
        {5000, 1 << 5, KITH_COLLISIONS_LINEAR},   /* few sites */
        {100000, 100, KITH_COLLISIONS_LINEAR},
        {5000, 1 << 9, KITH_COLLISIONS_HASH},   /* a table in the caches */
        {100000, 1 << 9, KITH_COLLISIONS_SORT}, /* short keys */
        {100000, 1 << 20, KITH_COLLISIONS_HASH},
    };
    kith_context *context = cpu_context(1);
    for (size_t k = 0; k < sizeof scattered / sizeof scattered[0]; k++) {
        kith_array beads = new_beads(KITH_I32, scattered[k].beads, 3);
        fill_cube(*state, beads, 0, scattered[k].side);
        assert_int_equal(chosen_for(context, beads), scattered[k].method);
        free(beads.data);
    }
    kith_array beads = new_beads(KITH_I32, 100000, 3);
    fill_walk(*state, beads);
    assert_int_equal(chosen_for(context, beads), KITH_COLLISIONS_LINEAR);
    kith_collisions_method method = KITH_COLLISIONS_AUTO;
    assert_ok(kith_collisions_choose(context, &(kith_collisions_options){KITH_COLLISIONS_SORT},
                                     beads, &method));
    assert_int_equal(method, KITH_COLLISIONS_SORT);
    free(beads.data);
    kith_context_free(context);
}

static void test_wrong_arguments_are_refused(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    int32_t numbers[12] = {0};
    double reals[6] = {0};
    int64_t count = 0;
    kith_array beads = kith_array_matrix(numbers, KITH_I32, 2, 3);
    assert_fails(kith_collisions_count(context, NULL, kith_array_none(), &count),
                 KITH_INVALID_ARGUMENT, "beads");
    assert_fails(
        kith_collisions_count(context, NULL, kith_array_matrix(reals, KITH_F64, 2, 3), &count),
        KITH_INVALID_ARGUMENT, "float64 int32 int64");
    assert_fails(
        kith_collisions_count(context, NULL, kith_array_matrix(numbers, KITH_I32, 3, 4), &count),
        KITH_INVALID_ARGUMENT, "4 columns");
    assert_fails(
        kith_collisions_count(context, NULL, kith_array_vector(numbers, KITH_I32, 3), &count),
        KITH_INVALID_ARGUMENT, "1 dimensions");
    assert_fails(
        kith_collisions_count(context, NULL, kith_array_matrix(NULL, KITH_I32, 3, 3), &count),
        KITH_INVALID_ARGUMENT, "data NULL");
    assert_fails(kith_collisions_count(context,
                                       &(kith_collisions_options){(kith_collisions_method)99},
                                       beads, &count),
                 KITH_INVALID_ARGUMENT, "method 99");
    beads.device = (kith_device){KITH_CUDA, 0};
    assert_fails(kith_collisions_count(context, NULL, beads, &count), KITH_UNSUPPORTED, "");
    kith_context_free(context);
}

static int set_up(void **state)
{
    static struct random_numbers random;
    random = random_numbers_begin("test_collisions");
    *state = &random;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_methods_count_every_size_alike),
        cmocka_unit_test(test_all_methods_count_odd_sizes_alike),
        cmocka_unit_test(test_fast_methods_agree_on_many_beads),
        cmocka_unit_test(test_all_beads_at_one_site_make_all_pairs),
        cmocka_unit_test(test_counters_that_are_just_full_are_seen),
        cmocka_unit_test(test_a_chain_that_comes_back_fills_its_counters),
        cmocka_unit_test(test_threads_and_instruction_sets_do_not_matter),
        cmocka_unit_test(test_strides_are_followed),
        cmocka_unit_test(test_sites_with_equal_hashes_are_told_apart),
        cmocka_unit_test(test_auto_tells_what_it_chooses),
        cmocka_unit_test(test_wrong_arguments_are_refused),
    };
    return cmocka_run_group_tests_name("collisions", tests, set_up, NULL);
}
