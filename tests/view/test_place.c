/* Where a view shows bodies, and what they can be colored by. */

#include "testing.h"

#include <math.h>
#include <stdlib.h>

#include "random_numbers.h"
#include "view/about.h"
#include "view/packet.h"

static void test_a_packet_has_positions_less_the_origin_and_speeds(void **state)
{
    (void)state;
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(2, 2, KITH_VELOCITY, &bodies));
    const double x[] = {1e9 + 1, 2, 1e9 - 1, 4}, v[] = {3, 4, 0, -2};
    memcpy(bodies->position, x, sizeof x);
    memcpy(bodies->velocity, v, sizeof v);
    bodies->time = 7;
    atomic_int alive = 0;
    struct packet *packet = NULL;
    assert_ok(packet_make(bodies, &(struct place){.origin = {1e9, 3, 5}}, &alive, &packet));
    const float expected[] = {1, -1, 0, -1, 1, 0, 5, 2};
    assert_int_equal(packet->bytes, 72 + sizeof expected);
    assert_memory_equal(packet->content->magic, "kith", 4);
    assert_int_equal(packet->content->count, 2);
    assert_true(packet->content->time == 7);
    assert_memory_equal(packet->content + 1, expected, sizeof expected);
    assert_int_equal(alive, 1);
    packet_hold(packet);
    packet_release(packet);
    assert_int_equal(alive, 1);
    packet_release(packet);
    assert_int_equal(alive, 0);
    kith_bodies_free(bodies);
}

static void test_many_bodies_are_thinned_evenly(void **state)
{
    (void)state;
    const int64_t count = (1LL << 40) + 12345, shown = packet_shown(count);
    assert_int_equal(shown, packet_most_bodies);
    assert_int_equal(packet_shown(17), 17);
    int64_t before = -1;
    for (int64_t k = 0; k < shown; k++) {
        const int64_t i = packet_body(count, shown, k);
        assert_true(i > before && i < count);
        assert_true(fabs((double)i - (double)k * ((double)count / (double)shown)) <= 1);
        before = i;
    }
}

/* Far from a cube. */
static const double cell[9] = {3, 0, 0, 1, 2.5, 0, -0.5, 1, 4};

/* Bodies at fractions of the cell, some of them several cells away. */
static kith_bodies *scattered(int64_t count, const bool periodic[3], double fraction[][3],
                              struct random_numbers *random)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(count, 3, 0, &bodies));
    bodies->has_cell = true;
    memcpy(bodies->cell, cell, sizeof cell);
    memcpy(bodies->periodic, periodic, 3 * sizeof *periodic);
    for (int64_t i = 0; i < count; i++)
        for (int c = 0; c < 3; c++) {
            fraction[i][c] = random_uniform(random, 0.001, 0.999);
            const double away = floor(random_uniform(random, -20, 20));
            for (int x = 0; x < 3; x++)
                bodies->position[3 * i + x] +=
                    (fraction[i][c] + (periodic[c] ? away : 0)) * cell[3 * c + x];
        }
    return bodies;
}

static void assert_near(double expected, double actual)
{
    if (!(fabs(expected - actual) < 1e-5))
        fail_msg("%.9g is shown at %.9g", expected, actual);
}

static void test_bodies_are_shown_in_their_cell(void **state)
{
    (void)state;
    enum { count = 101 };
    static double fraction[count][3];
    struct random_numbers random = random_numbers_begin("bodies of a cell");
    for (int axes = 0; axes < 8; axes++) {
        const bool periodic[3] = {axes & 1, axes & 2, axes & 4};
        kith_bodies *bodies = scattered(count, periodic, fraction, &random);
        struct place place;
        struct packet *packet = NULL;
        atomic_int alive = 0;
        assert_ok(place_make(bodies, &place));
        assert_ok(packet_make(bodies, &place, &alive, &packet));
        const float *position = (const float *)(packet->content + 1);
        for (int64_t i = 0; i < count; i++)
            for (int x = 0; x < 3; x++) {
                double expected = -place.origin[x];
                for (int c = 0; c < 3; c++)
                    expected += fraction[i][c] * cell[3 * c + x];
                assert_near(expected, (double)position[3 * i + x]);
            }
        packet_release(packet);
        kith_bodies_free(bodies);
    }
}

/* As those that have merged with others are. */
static void test_a_body_that_is_nowhere_stays_there(void **state)
{
    (void)state;
    kith_bodies *bodies = NULL;
    struct place place;
    double at[3];
    assert_ok(kith_bodies_create(2, 2, KITH_CELL, &bodies));
    bodies->has_cell = true;
    memcpy(bodies->cell, (const double[]){2, 0, 0, 0, 2, 0, 0, 0, 1}, sizeof bodies->cell);
    bodies->periodic[0] = bodies->periodic[1] = true;
    bodies->position[0] = 5;
    assert_ok(place_make(bodies, &place));
    bodies->position[2] = NAN;
    place_of(&place, bodies, 0, at);
    assert_true(at[0] == 1 - place.origin[0] && at[2] == 0);
    place_of(&place, bodies, 1, at);
    assert_true(isnan(at[0]));
    kith_bodies_free(bodies);
}

static void test_bodies_have_colors_by_every_column(void **state)
{
    (void)state;
    enum { count = 7 };
    kith_bodies *bodies = NULL;
    struct about about;
    double heat[count], hidden[count] = {0};
    assert_ok(kith_bodies_create(count, 3, KITH_MASS | KITH_RADIUS | KITH_ID, &bodies));
    for (int i = 0; i < count; i++) {
        bodies->id[i] = 1000 - i;
        heat[i] = 0.5 * i;
    }
    bodies->other_count = 3;
    bodies->other[0] = (kith_other_column){"heat \"<", heat};
    bodies->other[1] = (kith_other_column){"speed", hidden};
    bodies->other[2] = (kith_other_column){"mass", hidden};
    assert_ok(about_make(bodies, count, NULL, 0, INFINITY, &about));
    assert_non_null(strstr(about.text, "\"columns\":[\"mass\",\"radius\",\"id\",\"heat "
                                       "\\u0022\\u003c\"]"));
    assert_true(about_find(&about, "id")->values[3] == 997);
    assert_true(about_find(&about, "heat \"<")->values[3] == 1.5F);
    assert_null(about_find(&about, "speed"));
    bodies->other_count = 0; /* on this function's stack */
    about_free(&about);
    kith_bodies_free(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_packet_has_positions_less_the_origin_and_speeds),
        cmocka_unit_test(test_many_bodies_are_thinned_evenly),
        cmocka_unit_test(test_bodies_are_shown_in_their_cell),
        cmocka_unit_test(test_a_body_that_is_nowhere_stays_there),
        cmocka_unit_test(test_bodies_have_colors_by_every_column),
    };
    return cmocka_run_group_tests_name("place", tests, NULL, NULL);
}
