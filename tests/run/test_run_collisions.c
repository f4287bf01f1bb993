/* Runs in which bodies collide, into files: fewer bodies in later frames, events, resuming. */

#include "testing.h"

#include "running.h"

/* Bodies that fill a part of a cube, so that they meet all the time. */
static kith_bodies *crowd(struct random_numbers *numbers, int64_t count)
{
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(count, 3, KITH_VELOCITY | KITH_MASS | KITH_RADIUS, &bodies));
    for (int64_t k = 0; k < 3 * count; k++) {
        bodies->position[k] = random_uniform(numbers, 0, 1);
        bodies->velocity[k] = random_uniform(numbers, -1, 1);
    }
    for (int64_t i = 0; i < count; i++) {
        bodies->mass[i] = random_uniform(numbers, 0.5, 1.5) / (double)count;
        bodies->radius[i] = random_uniform(numbers, 0.01, 0.03);
    }
    return bodies;
}

static kith_run_options colliding(const char *integrator, const char *output)
{
    kith_run_options options = run_options(0.01, 1, 5, output);
    options.simulation.integrator = integrator;
    options.simulation.forces.softening = 0.05;
    options.simulation.on_collision = KITH_ON_COLLISION_MERGE;
    options.simulation.encounter = 0.01;
    options.simulation.escape = 3;
    return options;
}

static int64_t count_removed(const kith_bodies *bodies)
{
    int64_t removed = 0;
    for (int64_t i = 0; i < bodies->count; i++) {
        const bool is_removed = isnan(bodies->position[3 * i]);
        removed += is_removed;
        assert_true(is_removed == isnan(bodies->velocity[3 * i + 2]));
        assert_true(is_removed == (bodies->mass[i] == 0));
        assert_true(is_removed == (bodies->radius[i] == 0));
    }
    return removed;
}

static void test_frames_have_a_row_for_every_body_and_files_of_survivors_have_not(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("frames");
    kith_bodies *bodies = crowd(&numbers, 60);
    const kith_run_options options = colliding("leapfrog", in_files("merged.h5"));
    const kith_run_summary summary = run(options, bodies);
    const int64_t left = summary.bodies_final;
    assert_true(summary.bodies == 60 && left < 60 && left >= 1 && summary.collisions <= 60 - left);
    assert_true(summary.body_steps < 60 * summary.steps && summary.body_steps > summary.steps);
    kith_trajectory *trajectory = NULL;
    kith_bodies *frame = NULL;
    assert_ok(kith_trajectory_open(options.output, &trajectory));
    const int64_t frames = kith_trajectory_frames(trajectory);
    assert_int_equal(frames, 21);
    int64_t removed = 0;
    for (int64_t k = 0; k < frames; k++) {
        assert_ok(kith_trajectory_read(trajectory, k, &frame));
        const int64_t here = count_removed(frame);
        assert_true(here >= removed && (k > 0 || here == 0));
        removed = here;
    }
    assert_int_equal(removed, 60 - left);
    kith_trajectory_close(trajectory);
    kith_bodies_free(frame);

    kith_bodies *survivors = read_file(options.output);
    assert_int_equal(survivors->count, left);
    double mass = 0;
    for (int64_t i = 0; i < left; i++)
        mass += survivors->mass[i];
    assert_true(mass > 0.1);
    kith_bodies_free(survivors);
    kith_bodies_free(bodies);
}

static void put_names(const char *path, char kinds[64][16], int64_t *count)
{
    const hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    const hid_t dataset = H5Dopen2(file, "/parameters/kith/events/kind", H5P_DEFAULT);
    const hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    hsize_t size = 0;
    int32_t values[64] = {0};
    assert_int_equal(H5Tget_class(type), H5T_ENUM);
    assert_int_equal(H5Sget_simple_extent_dims(space, &size, NULL), 1);
    assert_true(size <= 64);
    assert_true(H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) >= 0);
    for (hsize_t k = 0; k < size; k++)
        assert_true(H5Tenum_nameof(type, &values[k], kinds[k], 16) >= 0);
    *count = (int64_t)size;
    H5Sclose(space);
    H5Tclose(type);
    H5Dclose(dataset);
    H5Fclose(file);
}

static void test_events_are_recorded_with_their_names(void **state)
{
    (void)state;
    static const kith_on_collision outcomes[] = {KITH_ON_COLLISION_MERGE, KITH_ON_COLLISION_BOUNCE,
                                                 KITH_ON_COLLISION_STOP};
    static const char *const names[] = {"merge", "bounce", "stop"};
    for (int k = 0; k < 3; k++) {
        kith_bodies *bodies = NULL;
        assert_ok(kith_bodies_create(3, 2, KITH_VELOCITY | KITH_RADIUS, &bodies));
        bodies->position[2] = 1;
        bodies->velocity[2] = -1;
        bodies->position[5] = 9;
        bodies->velocity[5] = 5;
        bodies->radius[0] = bodies->radius[1] = 0.1;
        kith_run_options options = run_options(0.125, 4, 1, in_files("events.h5"));
        options.simulation.forces.gravitational_constant = 1e-20;
        options.simulation.on_collision = outcomes[k];
        options.simulation.escape = 15;
        const kith_run_summary summary = run(options, bodies);
        char kinds[64][16];
        int64_t count = 0;
        put_names(options.output, kinds, &count);
        assert_string_equal(kinds[0], names[k]);
        assert_true(summary.has_stopped == (k == 2) && summary.time == (k == 2 ? 0.875 : 4));
        assert_int_equal(summary.bodies_final, k == 0 ? 1 : k == 1 ? 2 : 3);
        if (k < 2)
            assert_string_equal(kinds[1], "escape");
        kith_bodies_free(bodies);
    }
}

/* Interrupted at any time, several times. */
static int resumed_as_if_never_stopped(struct random_numbers *numbers, kith_run_options options,
                                       const kith_bodies *bodies)
{
    const char *whole = in_files("whole.h5"), *pieces = in_files("pieces.h5");
    int interruptions = 0;
    options.output = whole;
    const kith_run_summary undisturbed = run(options, bodies);
    options.output = pieces;
    options.resume = true;
    remove(pieces);
    for (int k = 0; k < 4; k++)
        interruptions +=
            run_and_cancel(options, bodies, random_uniform(numbers, 0, undisturbed.seconds / 2))
                .interrupted;
    const kith_run_summary summary = run(options, bodies);
    assert_same_files(whole, pieces, "none");
    assert_int_equal(summary.steps, undisturbed.steps);
    assert_int_equal(summary.collisions, undisturbed.collisions);
    assert_int_equal(summary.bodies_final, undisturbed.bodies_final);
    assert_int_equal(summary.body_steps, undisturbed.body_steps);
    return interruptions;
}

static void test_resume_goes_on_bit_for_bit_with_those_left(void **state)
{
    (void)state;
    static const char *const integrators[] = {"leapfrog", "hermite4", "ias15"};
    struct random_numbers numbers = random_numbers_begin("resume");
    int interruptions = 0;
    for (int k = 0; k < 6; k++) {
        kith_bodies *bodies = crowd(&numbers, 50);
        kith_run_options options = colliding(integrators[k / 2], NULL);
        options.until = k / 2 == 2 ? 3 : 10;
        options.every = 20;
        if (k % 2) {
            options.simulation.on_collision = KITH_ON_COLLISION_BOUNCE;
            options.simulation.restitution = 0.25;
        }
        options.simulation.precision = k == 0 ? KITH_F32 : KITH_F64;
        interruptions += resumed_as_if_never_stopped(&numbers, options, bodies);
        kith_bodies_free(bodies);
    }
    assert_true(interruptions > 0);
}

static void test_a_run_goes_on_with_the_collisions_that_it_began_with(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("other");
    kith_bodies *bodies = crowd(&numbers, 30);
    kith_run_options options = colliding("leapfrog", in_files("other.h5"));
    const kith_run_summary first = run(options, bodies);
    options.resume = true;
    options.until = 2;
    options.simulation.escape = 4;
    run_fails(options, bodies, KITH_INVALID_ARGUMENT, "escape 4");
    options.simulation.escape = 3;
    options.simulation.on_collision = KITH_ON_COLLISION_STOP;
    run_fails(options, bodies, KITH_INVALID_ARGUMENT, "collisions stop");
    bodies->radius[3] *= 2;
    options.simulation.on_collision = KITH_ON_COLLISION_MERGE;
    run_fails(options, bodies, KITH_INVALID_ARGUMENT, "body 3");
    const kith_run_options again = {.until = 2, .output = options.output, .resume = true};
    const kith_run_summary second = run(again, NULL);
    assert_true(second.collisions >= first.collisions);
    assert_true(second.bodies_final <= first.bodies_final && second.bodies == 30);
    kith_bodies_free(bodies);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_have_a_row_for_every_body_and_files_of_survivors_have_not),
        cmocka_unit_test(test_events_are_recorded_with_their_names),
        cmocka_unit_test(test_resume_goes_on_bit_for_bit_with_those_left),
        cmocka_unit_test(test_a_run_goes_on_with_the_collisions_that_it_began_with),
    };
    return cmocka_run_group_tests_name("runs with collisions", tests, make_files_directory,
                                       remove_files_directory);
}
