/* Simulations of which each rank has a slice (check_steps compares them where it can). */

#include "jobs.h"

static kith_bodies *plummer(int64_t count)
{
    return made("plummer", (kith_initial_options){.count = count, .count_given = true, .seed = 5});
}

/* In units that are scaled, with softening and masses of their own. */
static void test_solvers_and_integrators_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    static const struct {
        const char *solver, *integrator;
        double error, length;
        kith_dtype precision;
        int32_t size;
    } cases[] = {
        {"direct", NULL, 0, 1, KITH_F64, 2},    {"direct", "yoshida4", 0, 1, KITH_F32, 3},
        {"direct", NULL, 0, 1e60, KITH_F64, 5}, {"direct", "leapfrog-dkd", 0, 1, KITH_F64, 8},
        {"fmm", NULL, 1e-3, 1, KITH_F64, 5},    {"tree", "ruth3", 1e-2, 1, KITH_F32, 2},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        kith_bodies *start = plummer(1500);
        const bool has_softening = cases[k].size == 2;
        assert_ok(kith_bodies_add_columns(start, KITH_SOFTENING));
        for (int64_t i = 0; i < start->count; i++)
            start->softening[i] = 0.01 + 1e-5 * (double)(i % 7);
        for (int64_t i = 0; i < 3 * start->count; i++)
            start->position[i] *= cases[k].length;
        const kith_simulation_options options = {
            .dt = 1e-3,
            .integrator = cases[k].integrator,
            .precision = cases[k].precision,
            .softening_of_bodies = has_softening && cases[k].error == 0,
            .forces = {.solver = solver_named(cases[k].solver),
                       .softening = has_softening && cases[k].error == 0 ? 0 : 0.02,
                       .accuracy = {.error = cases[k].error}}};
        assert_true(check_steps(start, &options, 6, cases[k].size));
        kith_bodies_free(start);
    }
}

/* A thermostat's noise is that of a body's number. The tail is of the columns of all. */
static void test_noise_and_tails_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    kith_bodies *start = plummer(1100);
    const kith_simulation_options noisy = {.dt = 1e-3,
                                           .thermostat = {KITH_THERMOSTAT_LANGEVIN, 2, 0.1, 5},
                                           .forces = {.softening = 0.02}};
    assert_true(check_steps(start, &noisy, 6, 3));
    kith_bodies_free(start);

    kith_law *law = NULL;
    assert_ok(kith_law_parse("yukawa:0.4", 0, NULL, &law));
    start =
        made("fcc",
             (kith_initial_options){
                 .count = 1372, .count_given = true, .density = 0.8, .temperature = 2, .seed = 3});
    assert_ok(kith_bodies_add_columns(start, KITH_CHARGE));
    for (int64_t i = 0; i < start->count; i++)
        start->charge[i] = 0.1 + 0.01 * (double)(i % 13);
    kith_cell cell = {.periodic = {true, true, true}};
    for (int c = 0; c < 9; c++)
        cell.vectors[c / 3][c % 3] = start->cell[c];
    const kith_simulation_options tailed = {
        .dt = 0.004, .forces = {.law = law, .cutoff = 2.5, .tail = true, .cell = &cell}};
    assert_true(check_steps(start, &tailed, 20, 5));
    kith_bodies_free(start);
    kith_law_free(law);
}

/* Where the sources are those with mass, where bodies merge, or are few, all ranks have all. */
static void test_other_simulations_are_not_sliced(void **state)
{
    (void)state;
    kith_bodies *start = plummer(1500);
    kith_simulation_options options = {.dt = 1e-3, .forces = {.softening = 0.02}};
    for (int64_t i = 0; i < 750; i++)
        start->mass[2 * i] = 0;
    assert_false(check_steps(start, &options, 2, 3));
    start->mass[0] = 1;
    assert_true(check_steps(start, &options, 2, 3));
    options.integrator = "rk4";
    assert_false(check_steps(start, &options, 2, 3));
    kith_bodies_free(start);
    start = plummer(500);
    options.integrator = NULL;
    assert_false(check_steps(start, &options, 2, 3));
    kith_bodies_free(start);
}

/* A number that is not finite, in one slice: the row is that among all. */
static void test_a_bad_number_in_one_slice_ends_all_ranks(void **state)
{
    (void)state;
    kith_bodies *start = plummer(1500);
    const struct slice_rank like = {.start = start,
                                    .options = {.dt = 1e-3, .forces = {.softening = 0.02}}};
    struct slice_rank ranks[3] = {like, like, like};
    start->velocity[3 * 600 + 1] = (double)NAN;
    do_ranks(3, take_sliced_steps, ranks, sizeof ranks[0]);
    assert_int_equal(ranks[0].status, KITH_IO_ERROR);
    assert_int_equal(ranks[1].status, KITH_INVALID_ARGUMENT);
    assert_int_equal(ranks[2].status, KITH_IO_ERROR);
    assert_non_null(strstr(ranks[1].message, "from 500 on: velocity of body 100 (from 0) is nan"));
    for (int k = 0; k < 3; k++)
        kith_bodies_free(ranks[k].end);
    kith_bodies_free(start);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solvers_and_integrators_have_the_bits_of_one_rank),
        cmocka_unit_test(test_noise_and_tails_have_the_bits_of_one_rank),
        cmocka_unit_test(test_other_simulations_are_not_sliced),
        cmocka_unit_test(test_a_bad_number_in_one_slice_ends_all_ranks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
