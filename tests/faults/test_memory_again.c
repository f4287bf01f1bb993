/* Lists of pairs promise that a second call of the same sizes asks for no memory. */

#include "pairs_scene.h"

#include <math.h>
#include <stdlib.h>

#include "memory_faults.h"

enum { points = 3000, dimensions = 3 };

/* What a list is made of, and how. */
struct listing {
    kith_context *context;
    kith_array positions, queries;
    kith_pairs_options options;
    int64_t nearest; /* 0: within the cutoff */
};

static kith_status list(const struct listing *listing, kith_pairs **pairs)
{
    return listing->nearest > 0
               ? kith_pairs_nearest(listing->context, &listing->options, listing->positions, NULL,
                                    listing->nearest, pairs)
               : kith_pairs_compute(listing->context, &listing->options, listing->positions, NULL,
                                    pairs);
}

static void assert_second_call_asks_for_nothing(const struct listing *listing, const char *what)
{
    kith_pairs *pairs = NULL;
    assert_ok(list(listing, &pairs));
    const int64_t count = pairs->count;
    for (int turn = 0; turn < 3; turn++) {
        memory_faults_begin(0, false);
        const kith_status status = list(listing, &pairs);
        const int64_t asked = memory_faults_end();
        assert_ok(status);
        assert_int_equal(pairs->count, count);
        if (asked > 0)
            fail_msg("%s: call %d asks for memory %lld times", what, turn + 2, (long long)asked);
    }
    kith_pairs_free(pairs);
}

/* Most points close together, the others farther and farther out. */
static kith_array points_of(struct random_numbers *random, kith_dtype dtype, bool uneven)
{
    kith_array all = vector_new(dtype, points * dimensions);
    for (int64_t i = 0; i < points; i++) {
        const double size = uneven ? exp(random_uniform(random, -6, 12)) : 6;
        for (int64_t c = 0; c < dimensions; c++)
            put(all, dimensions * i + c, size * random_uniform(random, -1, 1));
    }
    return kith_array_matrix(all.data, dtype, points, dimensions);
}

static void assert_all_ask_for_nothing(struct random_numbers *random, bool uneven, int32_t threads)
{
    struct listing listing = {.context = new_context(NULL, threads)};
    listing.positions = points_of(random, KITH_F64, uneven);
    listing.queries = points_of(random, KITH_F64, uneven);
    listing.options.cutoff = 0.5;
    assert_second_call_asks_for_nothing(&listing, "i and j");
    listing.options.unsorted = true;
    listing.options.quantities =
        KITH_PAIRS_I | KITH_PAIRS_J | KITH_PAIRS_SHIFTS | KITH_PAIRS_VECTORS | KITH_PAIRS_DISTANCES;
    assert_second_call_asks_for_nothing(&listing, "everything, unsorted");
    listing.options.queries = listing.queries;
    assert_second_call_asks_for_nothing(&listing, "queries");
    listing.options = (kith_pairs_options){.cutoff = 0};
    listing.nearest = 5;
    assert_second_call_asks_for_nothing(&listing, "the nearest");
    free(listing.positions.data);
    free(listing.queries.data);
    kith_context_free(listing.context);
}

static void test_pairs_of_even_points_ask_for_memory_once(void **state)
{
    assert_all_ask_for_nothing(*state, false, 1);
}

static void test_pairs_of_uneven_points_ask_for_memory_once(void **state)
{
    assert_all_ask_for_nothing(*state, true, 1);
}

int main(void)
{
    struct random_numbers random = random_numbers_begin("test_memory_again");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_pairs_of_even_points_ask_for_memory_once, &random),
        cmocka_unit_test_prestate(test_pairs_of_uneven_points_ask_for_memory_once, &random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
