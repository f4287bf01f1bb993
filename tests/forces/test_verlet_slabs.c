/* Slabs of devices that share a Verlet list: random ones, simulated in one process. */

#include "testing.h"

#include <math.h>
#include <stdlib.h>

#include "forces/verlet_slabs.h"
#include "random_numbers.h"

enum { most_layers = 200, most_particles = 400 };

static struct random_numbers numbers;

static int whole(int least, int most)
{
    return least + (int)(random_uniform(&numbers, 0, 1) * (most - least + 1) * 0.999999);
}

static struct verlet_slabs random_slabs(int64_t in_layer[most_layers])
{
    struct verlet_slabs slabs = {.devices = whole(1, 8), .reach = whole(1, 3)};
    slabs.layers = whole(slabs.devices * slabs.reach, most_layers);
    const int emptiness = whole(0, 3);
    for (int layer = 0; layer < slabs.layers; layer++)
        in_layer[layer] = whole(0, 3) < emptiness ? 0 : whole(0, 1000);
    return slabs;
}

/* Particles of the fullest slab. */
static int64_t fullest(const struct verlet_slabs *slabs, const int64_t *in_layer)
{
    int64_t count[verlet_most_devices] = {0}, most = 0;
    for (int layer = 0; layer < slabs->layers; layer++)
        count[verlet_device_of_layer(slabs, layer)] += in_layer[layer];
    for (int d = 0; d < slabs->devices; d++)
        most = count[d] > most ? count[d] : most;
    return most;
}

static void check_slabs(const struct verlet_slabs *slabs)
{
    assert_int_equal(slabs->begin[0], 0);
    assert_int_equal(slabs->begin[slabs->devices], slabs->layers);
    for (int d = 0; d < slabs->devices; d++) {
        assert_true(slabs->begin[d + 1] - slabs->begin[d] >= slabs->reach);
        for (int layer = slabs->begin[d]; layer < slabs->begin[d + 1]; layer++)
            assert_int_equal(verlet_device_of_layer(slabs, layer), d);
    }
}

/* Of a slab and of the layers within reach of it. */
static void check_counts(const struct verlet_slabs *slabs, const int64_t *in_layer)
{
    for (int d = 0; d < slabs->devices; d++) {
        const int begin = slabs->begin[d] - slabs->reach, end = slabs->begin[d + 1] + slabs->reach;
        int64_t low = 0, high = 0;
        for (int k = 0; k < slabs->reach; k++) {
            const int below = begin + k, above = end - 1 - k;
            low += in_layer[below < 0 ? below + slabs->layers : below];
            high += in_layer[above >= slabs->layers ? above - slabs->layers : above];
        }
        assert_true(verlet_count_in_layers(slabs, in_layer, begin, slabs->begin[d]) == low);
        assert_true(verlet_count_in_layers(slabs, in_layer, slabs->begin[d + 1], end) == high);
    }
}

static void test_slabs_have_all_layers_and_about_the_same_particles(void **state)
{
    (void)state;
    for (int turn = 0; turn < 2000; turn++) {
        int64_t in_layer[most_layers] = {0}, all = 0, most = 0;
        struct verlet_slabs slabs = random_slabs(in_layer);
        assert_true(verlet_slabs_suit(&slabs));
        verlet_choose_slabs(in_layer, &slabs);
        check_slabs(&slabs);
        check_counts(&slabs, in_layer);
        for (int layer = 0; layer < slabs.layers; layer++) {
            all += in_layer[layer];
            most = in_layer[layer] > most ? in_layer[layer] : most;
        }
        /* Two boundaries, each half a layer off; more only where slabs are as thin as may be. */
        if (slabs.layers >= 4 * slabs.devices * slabs.reach && most * 8 * slabs.reach < all)
            assert_true(fullest(&slabs, in_layer) <=
                        all / slabs.devices + 1 + most * (1 + 2 * slabs.reach));
    }
}

static void test_slabs_stay_unless_others_are_better(void **state)
{
    (void)state;
    for (int turn = 0; turn < 500; turn++) {
        int64_t in_layer[most_layers] = {0}, all = 0;
        struct verlet_slabs slabs = random_slabs(in_layer), fresh = slabs;
        verlet_choose_slabs(in_layer, &slabs);
        for (int layer = 0; layer < slabs.layers; layer++) {
            in_layer[layer] += whole(0, 1 + turn);
            all += in_layer[layer];
        }
        const struct verlet_slabs before = slabs;
        verlet_choose_slabs(in_layer, &slabs);
        verlet_choose_slabs(in_layer, &fresh);
        const int64_t gain = fullest(&before, in_layer) - fullest(&fresh, in_layer);
        assert_memory_equal(&slabs, gain > all / slabs.devices / 64 ? &fresh : &before,
                            sizeof slabs);
    }
}

static void test_too_many_devices_do_not_suit(void **state)
{
    (void)state;
    assert_true(verlet_slabs_suit(&(struct verlet_slabs){.devices = 4, .layers = 8, .reach = 2}));
    assert_false(verlet_slabs_suit(&(struct verlet_slabs){.devices = 4, .layers = 7, .reach = 2}));
    assert_false(verlet_slabs_suit(
        &(struct verlet_slabs){.devices = verlet_most_devices + 1, .layers = 900, .reach = 1}));
}

/* Particles along a periodic line of length 1. */
struct line {
    int count;
    double at[most_particles];
    struct verlet_slabs slabs;
    double search;
};

static int layer_of(const struct line *line, int i)
{
    const int layer = (int)(line->at[i] * line->slabs.layers);
    return layer < line->slabs.layers ? layer : line->slabs.layers - 1;
}

/* How often i has j as a partner on its device, by layers within reach and points of images. */
static int times_found(const struct line *line, int i, int j)
{
    const struct verlet_slabs *slabs = &line->slabs;
    const int device = verlet_device_of_layer(slabs, layer_of(line, i));
    const int begin = slabs->begin[device], end = slabs->begin[device + 1];
    const struct verlet_slab slab = {slabs->layers, begin, end - begin, slabs->reach};
    int image = 0, times = 0;
    const int own = verlet_layer_in_slab(&slab, layer_of(line, i), 0, &image);
    assert_int_equal(image, 0);
    assert_true(own >= slab.reach && own < slab.reach + slab.count);
    for (int side = -1; side <= 1; side++) {
        const int from = side < 0 ? begin - slabs->reach : side > 0 ? end : begin;
        const int to = side < 0 ? begin : side > 0 ? end + slabs->reach : end;
        for (int layer = from; layer < to; layer++) {
            if ((layer + slabs->layers) % slabs->layers != layer_of(line, j))
                continue;
            const int there = verlet_layer_in_slab(&slab, layer_of(line, j), side, &image);
            assert_int_equal(there, layer - begin + slab.reach);
            const double distance = fabs(line->at[j] + image - line->at[i]);
            if (distance < line->search)
                assert_true(abs(there - own) <= slab.reach);
            times += distance < line->search;
        }
    }
    return times;
}

static void test_each_near_pair_is_found_once_by_the_device_of_either(void **state)
{
    (void)state;
    for (int turn = 0; turn < 1000; turn++) {
        struct line line = {.count = whole(2, turn % 10 == 0 ? most_particles : 60)};
        int64_t in_layer[most_layers] = {0};
        line.slabs.devices = whole(2, 8);
        line.slabs.reach = whole(1, 3);
        line.slabs.layers =
            whole(line.slabs.devices * line.slabs.reach + 2, line.slabs.devices * 6 + 20);
        line.search =
            (double)line.slabs.reach / line.slabs.layers * random_uniform(&numbers, 0.8, 1);
        line.search = fmin(line.search, 0.49);
        for (int i = 0; i < line.count; i++) {
            const double u = random_uniform(&numbers, 0, 1);
            line.at[i] = turn % 3 == 0 ? u * u * u : u; /* dense at the begin */
            in_layer[layer_of(&line, i)]++;
        }
        verlet_choose_slabs(in_layer, &line.slabs);
        check_slabs(&line.slabs);
        for (int i = 0; i < line.count; i++)
            for (int j = 0; j < line.count; j++) {
                const double d = line.at[j] - line.at[i];
                const bool is_near = fabs(d - round(d)) < line.search;
                assert_int_equal(times_found(&line, i, j), is_near);
            }
    }
}

int main(void)
{
    numbers = random_numbers_begin("test_verlet_slabs");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_slabs_have_all_layers_and_about_the_same_particles),
        cmocka_unit_test(test_slabs_stay_unless_others_are_better),
        cmocka_unit_test(test_too_many_devices_do_not_suit),
        cmocka_unit_test(test_each_near_pair_is_found_once_by_the_device_of_either),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
