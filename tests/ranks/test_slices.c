/* Simulations of which each rank has a slice (check_steps compares them where it can). */

#include "jobs.h"

#include "forces/slice.h"
#include "random_numbers.h"
#include "ranks/bodies.h"

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
        {"direct", "rk4", 0, 1, KITH_F64, 3},   {"direct", "hermite4", 0, 1e20, KITH_F64, 5},
        {"fmm", "rk4", 1e-3, 1, KITH_F64, 8},   {"direct", "hermite4", 0, 1, KITH_F32, 2},
        {"direct", "ias15", 0, 1, KITH_F64, 2}, {"direct", "ias15", 0, 1e20, KITH_F64, 5},
        {"fmm", "ias15", 1e-3, 1, KITH_F64, 3},
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

/* Slices end within the blocks of the sums of diagnostics, and have whole ones. Of momenta that
 * cancel the rounding errors remain, which show the order of the sum. */
static void test_sums_of_many_bodies_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    kith_bodies *start = plummer(7001);
    for (int64_t i = 0; i < 3500; i++)
        for (int32_t c = 0; c < 3; c++)
            start->velocity[3 * (7000 - i) + c] =
                -(start->velocity[3 * i + c] *= ldexp(1, -(int)(i % 100)));
    for (int64_t k = 3 * 3500; k < 3 * 3501; k++)
        start->velocity[k] = 0;
    const kith_simulation_options options = {
        .dt = 1e-60,
        .forces = {.solver = solver_named("fmm"), .softening = 0.02, .accuracy.error = 1e-2}};
    assert_true(check_steps(start, &options, 1, 3));
    kith_bodies_free(start);
}

/* Jerks are summed by targets, tile by tile of the sources: of a law in both precisions. */
static void test_jerks_of_laws_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    kith_law *law = NULL;
    assert_ok(kith_law_parse("yukawa:0.4", 0, NULL, &law));
    kith_bodies *start = plummer(1700);
    assert_ok(kith_bodies_add_columns(start, KITH_CHARGE));
    for (int64_t i = 0; i < start->count; i++)
        start->charge[i] = 1e-4 * (double)(i % 13 - 6);
    for (int k = 0; k < 2; k++) {
        const kith_simulation_options options = {.dt = 1e-3,
                                                 .integrator = "hermite4",
                                                 .precision = k ? KITH_F32 : KITH_F64,
                                                 .forces = {.law = law, .softening = 0.02}};
        assert_true(check_steps(start, &options, 4, k ? 3 : 8));
    }
    kith_bodies_free(start);
    kith_law_free(law);
}

/* A thermostat's noise is that of a body's number, and its factor one of all bodies. The tail is of
 * the weights of all. */
static void test_noise_and_tails_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    kith_bodies *start = plummer(1100);
    for (int k = 0; k < 6; k++) {
        const kith_simulation_options noisy = {
            .dt = 1e-3,
            .precision = k % 4 == 3 ? KITH_F32 : KITH_F64,
            .thermostat = {k % 2 ? KITH_THERMOSTAT_BUSSI : KITH_THERMOSTAT_LANGEVIN, 2, 0.1, 5},
            .forces = {.solver = solver_named(k < 4 ? "direct" : "fmm"),
                       .softening = 0.02,
                       .accuracy.error = k < 4 ? 0 : 1e-3}};
        assert_true(check_steps(start, &noisy, 6, k < 4 ? 2 + k : 8));
    }
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

/* The sources are those with mass: of every rank some, of the first ones all, one or none, or too
 * many to be listed. */
static void test_bodies_without_mass_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    static const struct {
        const char *solver, *integrator;
        int64_t begin, end, each; /* with mass: of these rows those that `each` divides */
        kith_dtype precision;
        int32_t size;
    } cases[] = {
        {"direct", NULL, 0, 1500, 2, KITH_F64, 3},
        {"direct", "yoshida4", 0, 10, 1, KITH_F32, 5},
        {"direct", "hermite4", 0, 700, 1, KITH_F64, 2},
        {"direct", "ias15", 0, 1500, 7, KITH_F64, 8},
        {"direct", "rk4", 0, 1, 1, KITH_F64, 3},
        {"direct", NULL, 0, 0, 1, KITH_F64, 3},
        {"direct", "leapfrog", 0, 900, 1, KITH_F64, 5},
        {"fmm", NULL, 0, 1500, 3, KITH_F64, 3},
        {"direct", "hermite4", 0, 1500, 9, KITH_F32, 8},
        {"tree", "rk4", 0, 300, 1, KITH_F32, 2},
        {"direct", "leapfrog", 1400, 1500, 1, KITH_F64, 3},
        {"direct", "ias15", 800, 900, 3, KITH_F64, 5},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        kith_bodies *start = plummer(1500);
        const bool is_tree = strcmp(cases[k].solver, "direct") != 0;
        const bool has_softening = cases[k].size == 2 && !is_tree;
        assert_ok(kith_bodies_add_columns(start, KITH_SOFTENING));
        for (int64_t i = 0; i < start->count; i++) {
            start->softening[i] = 0.01 + 1e-5 * (double)(i % 7);
            if (i < cases[k].begin || i >= cases[k].end || i % cases[k].each != 0)
                start->mass[i] = 0;
        }
        const kith_simulation_options options = {
            .dt = 1e-3,
            .integrator = cases[k].integrator,
            .precision = cases[k].precision,
            .softening_of_bodies = has_softening,
            .forces = {.solver = solver_named(cases[k].solver),
                       .softening = has_softening ? 0 : 0.02,
                       .accuracy = {.error = is_tree ? 1e-3 : 0}}};
        assert_true(check_steps(start, &options, 4, cases[k].size));
        kith_bodies_free(start);
    }
}

/* A star, planets of a mass, and bodies without on orbits of their own. */
static kith_bodies *swarm(int64_t count, int64_t planets)
{
    struct random_numbers random = random_numbers_begin("swarm");
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(count, 3, KITH_VELOCITY | KITH_MASS, &bodies));
    bodies->mass[0] = 1;
    for (int64_t i = 1; i < count; i++) {
        const kith_orbit orbit = {.a = random_uniform(&random, 0.5, 5),
                                  .e = random_uniform(&random, 0, 0.2),
                                  .i = random_uniform(&random, 0, 0.2),
                                  .omega = random_uniform(&random, 0, 6),
                                  .M = random_uniform(&random, 0, 6)};
        bodies->mass[i] = i <= planets ? 1e-4 : 0;
        assert_ok(kith_orbit_place(1, &orbit, bodies->position + 3 * i, bodies->velocity + 3 * i));
    }
    return bodies;
}

/* Every rank takes the steps of the planets, and of its own bodies without mass. */
static void test_swarms_of_whfast_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    static const struct {
        const char *coordinates, *kernel;
        int64_t planets;
        double length;
        int32_t corrector, size;
    } cases[] = {
        {"jacobi", "default", 4, 1, 0, 2},
        {"democratic-heliocentric", "default", 9, 1, 0, 3},
        {"jacobi", "lazy", 0, 1, 5, 5},
        {"jacobi", "composition", 16, 1e40, 3, 8},
        {"democratic-heliocentric", "default", 150, 1, 0, 2},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        kith_bodies *start = swarm(1500, cases[k].planets);
        kith_simulation_options options = {.dt = 0.05,
                                           .integrator = "whfast",
                                           .coordinates = cases[k].coordinates,
                                           .kernel = cases[k].kernel,
                                           .corrector = cases[k].corrector};
        for (int64_t i = 0; i < 3 * start->count; i++)
            start->position[i] *= cases[k].length;
        options.forces.gravitational_constant = pow(cases[k].length, 3);
        for (int64_t i = 0; i < 3 * start->count; i++)
            start->velocity[i] *= cases[k].length;
        assert_true(check_steps(start, &options, 6, cases[k].size));
        if (k == 0) {
            start->mass[1400] = 1e-4; /* one of another rank */
            assert_false(check_steps(start, &options, 6, cases[k].size));
        }
        kith_bodies_free(start);
    }
}

/* Where bodies have steps of their own, or are few, all ranks have all. */
static void test_other_simulations_are_not_sliced(void **state)
{
    (void)state;
    kith_bodies *start = plummer(1500);
    kith_simulation_options options = {.dt = 1e-3, .forces = {.softening = 0.02}};
    assert_true(check_steps(start, &options, 2, 3));
    options.integrator = "hermite-block";
    options.eta = 0.02;
    assert_false(check_steps(start, &options, 2, 3));
    kith_bodies_free(start);
    start = plummer(500);
    options.integrator = NULL;
    options.eta = 0;
    assert_false(check_steps(start, &options, 2, 3));
    kith_bodies_free(start);
}

/* A number that is not finite, in one slice: the row is that among all. */
static void test_a_bad_number_in_one_slice_ends_all_ranks(void **state)
{
    (void)state;
    static const char *const integrators[] = {"leapfrog", "ias15"};
    kith_bodies *start = plummer(1500);
    start->velocity[3 * 600 + 1] = (double)NAN;
    for (int i = 0; i < 2; i++) {
        const struct slice_rank like = {
            .start = start,
            .options = {.dt = 1e-3, .integrator = integrators[i], .forces = {.softening = 0.02}}};
        struct slice_rank ranks[3] = {like, like, like};
        do_ranks(3, take_sliced_steps, ranks, sizeof ranks[0]);
        assert_int_equal(ranks[0].status, KITH_IO_ERROR);
        assert_int_equal(ranks[1].status, KITH_INVALID_ARGUMENT);
        assert_int_equal(ranks[2].status, KITH_IO_ERROR);
        assert_non_null(strstr(ranks[1].message, "velocity"));
        assert_non_null(strstr(ranks[1].message, " 600 "));
        for (int k = 0; k < 3; k++)
            kith_bodies_free(ranks[k].end);
    }
    kith_bodies_free(start);
}

/* Of the rows of two ranks, which both find them; softened, or one of them without mass, they may
 * be. */
static void test_bodies_at_one_place_end_all_ranks(void **state)
{
    (void)state;
    kith_bodies *start = plummer(1500);
    struct slice_rank like = {
        .start = start, .options = {.dt = 1e-3, .integrator = "ias15"}, .steps = 2};
    memcpy(start->position + 3 * 1400, start->position + 3 * 600, 3 * sizeof *start->position);
    for (int turn = 0; turn < 3; turn++) {
        struct slice_rank ranks[3] = {like, like, like};
        do_ranks(3, take_sliced_steps, ranks, sizeof ranks[0]);
        for (int k = 0; k < 3; k++) {
            assert_int_equal(ranks[k].status, turn > 0 ? KITH_OK
                                              : k > 0  ? KITH_INVALID_ARGUMENT
                                                       : KITH_IO_ERROR);
            if (turn == 0 && k > 0)
                assert_non_null(strstr(ranks[k].message, "bodies 600 and 1400 "));
            kith_bodies_free(ranks[k].end);
        }
        like.options.forces.softening = turn == 0 ? 0.1 : 0;
        start->mass[1400] = turn == 0 ? start->mass[1400] : 0;
    }
    kith_bodies_free(start);
}

/* Forces on the rows that one rank has. */
struct rows_rank {
    const struct system *system, *targets; /* NULL: the system's */
    kith_forces_options options;
    char *result;              /* n × (D + 1), of which a rank fills in its rows */
    kith_forces_totals totals; /* if options.cutoff is given */
    bool is_cancelled;         /* when it polls */
    kith_status status;
};

static kith_array rows_of(kith_array of_all, int64_t first, int64_t rows)
{
    kith_array some = of_all;
    if (kith_array_is_none(of_all))
        return some;
    some.data = (char *)of_all.data + first * of_all.strides[0] * kith_dtype_bytes(of_all.dtype);
    some.shape[0] = rows;
    return some;
}

static struct system own_rows(const kith_context *context, const struct system *of_all,
                              int64_t *first)
{
    struct system own = *of_all;
    ranks_rows(context, of_all->n, first, &own.n);
    own.x = rows_of(own.x, *first, own.n);
    own.m = rows_of(own.m, *first, own.n);
    own.q = rows_of(own.q, *first, own.n);
    own.softening = rows_of(own.softening, *first, own.n);
    return own;
}

/* Not at the beginning of a call, but while it computes. */
static bool cancel_later(void *user)
{
    return ++*(int *)user > 3;
}

static kith_status compute_rows(void *argument, kith_context *context)
{
    struct rows_rank *rank = argument;
    const struct system *targets = rank->targets;
    kith_forces_options options = rank->options;
    options.totals = options.cutoff > 0 && !targets ? &rank->totals : NULL;
    int64_t first = 0;
    const struct system sources = own_rows(context, rank->system, &first);
    const struct system own = own_rows(context, targets ? targets : rank->system, &first);
    const int64_t real = kith_dtype_bytes(own.dtype), row = own.dimensions + 1;
    char *result = rank->result + first * row * real;
    kith_array a = kith_array_matrix(result, own.dtype, own.n, own.dimensions);
    kith_array phi = kith_array_vector(result + own.dimensions * real, own.dtype, own.n);
    a.strides[0] = phi.strides[0] = row;
    int polls = 0;
    if (rank->is_cancelled)
        kith_context_set_poll(context, cancel_later, &polls);
    rank->status = forces_compute_slice(context, &options, targets ? PARTICLES_OF(&own) : NULL,
                                        targets ? targets->n : 0, PARTICLES_OF(&sources),
                                        rank->system->n, a, phi);
    return rank->status;
}

static void check_rows(const struct system *s, const struct system *targets,
                       const kith_forces_options *options, int32_t size)
{
    const struct forces_rank like = {.system = s, .targets = targets, .options = *options};
    const struct forces_rank alone = compute_alone(&like);
    struct rows_rank ranks[most_ranks];
    const size_t bytes = bytes_of(&alone);
    char *result = malloc(bytes + 1);
    memset(result, 0xff, bytes);
    for (int32_t k = 0; k < size; k++)
        ranks[k] = (struct rows_rank){
            .system = s, .targets = targets, .options = *options, .result = result};
    do_ranks(size, compute_rows, ranks, sizeof ranks[0]);
    for (int32_t k = 0; k < size; k++)
        assert_memory_equal(&ranks[k].totals, &alone.totals, sizeof alone.totals);
    if (memcmp(alone.result, result, bytes) != 0)
        fail_msg("%lld bodies on %d ranks have other bits", (long long)s->n, (int)size);
    free(alone.result);
    free(result);
}

static kith_array random_charges(struct random_numbers *numbers, kith_dtype dtype, int64_t n)
{
    kith_array charges = new_vector(dtype, n);
    for (int64_t i = 0; i < n; i++)
        put(charges, i, random_uniform(numbers, -1, 1));
    return charges;
}

/* Of every kind of sum: each pair once, in units that are scaled, by laws with and without charges,
 * one-sided, and by a tree. Blocks have other bounds than the slices. */
static void test_forces_on_slices_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    static const char *const laws[] = {NULL,         "coulomb",          NULL,
                                       "yukawa:0.3", "expr:m_i*exp(-r)", NULL};
    struct random_numbers numbers = random_numbers_begin("forces on slices");
    for (int k = 0; k < 36; k++) {
        const kith_dtype dtype = k % 5 == 4 ? KITH_F32 : KITH_F64;
        const int32_t dimensions = k % 7 == 6 ? 2 : 3;
        const int64_t n = (int64_t)random_uniform(&numbers, 1024, k % 4 == 3 ? 9000 : 2500);
        struct system s = system_random(&numbers, dtype, n, dimensions);
        const kith_array charges = random_charges(&numbers, dtype, n);
        kith_law *law = NULL;
        for (int64_t i = 0; i < dimensions * n && k % 6 == 2; i++)
            put(s.x, i, 1e12 * get(s.x, i));
        put(s.x, dimensions * (n / 4), 100 * get(s.x, dimensions * (n / 4))); /* units of all */
        if (k % 12 == 5) /* forces would be subnormal: in one slice alone */
            put(s.m, n / 3, dtype == KITH_F64 ? 0x1p-500 : 0x1p-60);
        if (laws[k % 6])
            assert_ok(kith_law_parse(laws[k % 6], 0, NULL, &law));
        s.q = law ? charges : kith_array_none();
        s.softened = k % 3 == 1;
        const kith_forces_options options = {.law = law,
                                             .softening = k % 3 == 2 ? 0.05 : 0,
                                             .solver = k % 12 == 2 ? solver_named("fmm") : NULL,
                                             .method =
                                                 k % 12 == 6 ? KITH_FORCES_SPLIT : KITH_FORCES_AUTO,
                                             .accuracy.error = k % 12 == 2 ? 1e-3 : 0};
        check_rows(&s, NULL, &options, (int32_t)random_uniform(&numbers, 2, most_ranks + 1));
        kith_law_free(law);
        free(charges.data);
        system_free(&s);
    }
}

/* Within a cutoff the rank that has a target's cell sums: periodic, open and folded cells, buckets
 * across the bounds of ranks, laws of charges, formulas, masses of their own; totals on all ranks,
 * with tails. */
static void test_forces_within_a_cutoff_on_slices_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    static const char *const laws[] = {NULL, "lennard-jones:1,0.1", "coulomb",
                                       "expr:m_i*m_j*exp(-r)", "yukawa:0.3"};
    struct random_numbers numbers = random_numbers_begin("cutoff on slices");
    for (int k = 0; k < 60; k++) {
        const kith_dtype dtype = k % 5 == 4 ? KITH_F32 : KITH_F64;
        const int32_t dimensions = k % 7 == 6 ? 2 : 3;
        const int64_t n = (int64_t)random_uniform(&numbers, 1024, k % 4 == 3 ? 9000 : 2500);
        struct system s = system_random(&numbers, dtype, n, dimensions);
        const kith_array charges = random_charges(&numbers, dtype, n);
        kith_law *law = NULL;
        kith_cell cell = {.periodic = {k % 3 > 0, k % 3 > 0, k % 3 > 1 && dimensions == 3}};
        for (int c = 0; c < dimensions; c++)
            cell.vectors[c][c] = random_uniform(&numbers, 1, 3);
        cell.vectors[1][0] = k % 2 ? 0.3 : 0;
        for (int64_t i = 0; i < dimensions * n && k % 8 == 7; i++) /* all in one cell, or far */
            put(s.x, i, i % 64 < 60 ? 1e-3 * get(s.x, i) : 1e3 * get(s.x, i));
        if (k % 8 == 3)
            cell.vectors[0][0] = 100; /* of which most is empty: cells share buckets */
        if (laws[k % 5])
            assert_ok(kith_law_parse(laws[k % 5], 0, NULL, &law));
        s.q = law ? charges : kith_array_none();
        s.softened = k % 4 == 1;
        const bool has_tail = dimensions == 3 && k % 15 == 14 && !s.softened;
        const kith_forces_options options = {
            .law = law,
            .cell = &cell,
            .softening = k % 4 == 2 ? 0.05 : 0,
            .cutoff = k % 9 == 8 ? 0.9 : random_uniform(&numbers, 0.02, 0.4),
            .tail = has_tail,
            .shift = k % 6 == 5 && !has_tail ? KITH_SHIFT_ENERGY : KITH_SHIFT_NONE};
        check_rows(&s, NULL, &options, (int32_t)random_uniform(&numbers, 2, most_ranks + 1));
        kith_law_free(law);
        free(charges.data);
        system_free(&s);
    }
}

/* Bonds between bodies that are near to each other and come from different ranks, some of them
 * twice, and pairs of any two. */
static kith_array bond_bodies(struct random_numbers *numbers, const struct system *s, double length)
{
    const int64_t count = s->n / 2;
    const kith_array pairs =
        kith_array_matrix(malloc((size_t)count * 2 * sizeof(int64_t)), KITH_I64, count, 2);
    int64_t *row = pairs.data;
    for (int64_t k = 0; k < count; k++, row += 2) {
        const bool is_bond = k % 8 < 6, is_second = k % 16 == 15 && k > 0;
        row[0] = is_bond ? k : (int64_t)random_uniform(numbers, 0, 0.5 * (double)s->n);
        row[1] = s->n - 1 - k;
        for (int64_t c = 0; c < s->dimensions && is_bond; c++)
            put(s->x, row[1] * s->dimensions + c,
                get(s->x, row[0] * s->dimensions + c) + random_uniform(numbers, -length, length));
        if (is_second) { /* as the one before, with its rows exchanged */
            row[0] = row[-1];
            row[1] = row[-2];
        }
    }
    return pairs;
}

/* Excluded pairs go where their bodies go: within ranks and between them, across the cell's faces,
 * with partners that are beyond the cutoff. */
static void test_excluded_pairs_on_slices_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    static const char *const laws[] = {"lennard-jones:1,0.1", "expr:m_i*m_j*exp(-r)"};
    struct random_numbers numbers = random_numbers_begin("excluded pairs on slices");
    for (int k = 0; k < 24; k++) {
        const int32_t dimensions = k % 7 == 6 ? 2 : 3;
        struct system s = system_random(&numbers, k % 5 == 4 ? KITH_F32 : KITH_F64,
                                        (int64_t)random_uniform(&numbers, 1024, 3000), dimensions);
        kith_law *law = NULL;
        kith_cell cell = {.periodic = {k % 3 > 0, k % 3 > 0, k % 3 > 1 && dimensions == 3}};
        for (int c = 0; c < dimensions; c++)
            cell.vectors[c][c] = random_uniform(&numbers, 1, 3);
        cell.vectors[1][0] = k % 2 ? 0.3 : 0;
        if (k % 3 < 2)
            assert_ok(kith_law_parse(laws[k % 3], 0, NULL, &law));
        kith_forces_options options = {
            .law = law, .cell = &cell, .cutoff = random_uniform(&numbers, 0.1, 0.4)};
        options.exclusions = bond_bodies(&numbers, &s, 0.5 * options.cutoff);
        check_rows(&s, NULL, &options, (int32_t)random_uniform(&numbers, 2, most_ranks + 1));
        kith_law_free(law);
        free(options.exclusions.data);
        system_free(&s);
    }
}

/* As in one process, on all ranks: also on those without a row of it. */
static void test_wrong_excluded_pairs_end_all_ranks(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("wrong excluded pairs");
    struct system s = system_random(&numbers, KITH_F64, 1500, 3);
    struct system t = system_random(&numbers, KITH_F64, 100, 3);
    int64_t rows[][2] = {{0, 1}, {1499, 1500}};
    const struct {
        const struct system *targets;
        double cutoff;
        int64_t pairs;
        kith_status status;
    } cases[] = {{NULL, 0.1, 2, KITH_INVALID_ARGUMENT},
                 {&t, 0.1, 1, KITH_UNSUPPORTED},
                 {NULL, 0, 1, KITH_INVALID_ARGUMENT}};
    char *result = malloc((size_t)(s.n * 4 * kith_dtype_bytes(KITH_F64)));
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        struct rows_rank ranks[3];
        for (int i = 0; i < 3; i++)
            ranks[i] = (struct rows_rank){
                .system = &s,
                .targets = cases[k].targets,
                .options = {.cutoff = cases[k].cutoff,
                            .exclusions = kith_array_matrix(rows, KITH_I64, cases[k].pairs, 2)},
                .result = result};
        do_ranks(3, compute_rows, ranks, sizeof ranks[0]);
        for (int i = 0; i < 3; i++)
            assert_int_equal(ranks[i].status, cases[k].status);
    }
    free(result);
    system_free(&s);
    system_free(&t);
}

/* Other targets, of which each rank has rows, too, or none: more and fewer than the sources, of
 * every solver. */
static void test_forces_on_slices_of_targets_have_the_bits_of_one_rank(void **state)
{
    (void)state;
    static const char *const laws[] = {NULL, "yukawa:0.3", "expr:m_i*m_j*exp(-r)"};
    struct random_numbers numbers = random_numbers_begin("targets in slices");
    for (int k = 0; k < 40; k++) {
        const kith_dtype dtype = k % 5 == 4 ? KITH_F32 : KITH_F64;
        const int32_t dimensions = k % 7 == 6 ? 2 : 3;
        const bool is_tree = k % 4 == 1, has_cutoff = k % 4 > 1;
        struct system s = system_random(&numbers, dtype,
                                        (int64_t)random_uniform(&numbers, 1024, 2500), dimensions);
        struct system t = system_random(
            &numbers, dtype, (int64_t)random_uniform(&numbers, 1, k % 3 ? 4000 : 20), dimensions);
        kith_law *law = NULL;
        const kith_array charges[2] = {random_charges(&numbers, dtype, s.n),
                                       random_charges(&numbers, dtype, t.n)};
        for (int64_t i = 0; i < t.n * dimensions && i < s.n && k % 8 == 4; i += 7)
            put(t.x, i, get(s.x, i)); /* some at sources */
        if (laws[k % 3] && !is_tree)
            assert_ok(kith_law_parse(laws[k % 3], 0, NULL, &law));
        s.q = law ? charges[0] : kith_array_none();
        t.q = law ? charges[1] : kith_array_none();
        kith_cell cell = {.periodic = {k % 3 > 0, k % 3 > 0, k % 3 > 1 && dimensions == 3}};
        for (int c = 0; c < dimensions; c++)
            cell.vectors[c][c] = random_uniform(&numbers, 1, 3);
        if (k % 8 == 3)
            cell.vectors[0][0] = 100; /* of which most is empty: cells share buckets */
        s.softened = t.softened = !is_tree && k % 8 < 4;
        const kith_forces_options options = {
            .law = law,
            .solver = k % 8 == 1 ? solver_named("fmm") : NULL, /* 5: auto */
            .accuracy.error = is_tree ? 1e-3 : 0,
            .cell = has_cutoff ? &cell : NULL,
            .cutoff = has_cutoff ? random_uniform(&numbers, 0.02, 0.4) : 0};
        check_rows(&s, &t, &options, (int32_t)random_uniform(&numbers, 2, most_ranks + 1));
        kith_law_free(law);
        free(charges[0].data);
        free(charges[1].data);
        system_free(&s);
        system_free(&t);
    }
}

/* Between two tiles of sources, while the next is on its way. */
static void test_one_rank_that_is_cancelled_between_tiles_cancels_all(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("cancelled tiles");
    struct system s = system_random(&numbers, KITH_F64, 400000, 3);
    struct system t = system_random(&numbers, KITH_F64, 16000, 3);
    struct rows_rank ranks[3];
    char *result = malloc((size_t)(t.n * 4 * kith_dtype_bytes(KITH_F64)));
    for (int k = 0; k < 3; k++)
        ranks[k] = (struct rows_rank){
            .system = &s, .targets = &t, .result = result, .is_cancelled = k == 1};
    do_ranks(3, compute_rows, ranks, sizeof ranks[0]);
    for (int k = 0; k < 3; k++)
        assert_int_equal(ranks[k].status, KITH_CANCELLED);
    free(result);
    system_free(&s);
    system_free(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_solvers_and_integrators_have_the_bits_of_one_rank),
        cmocka_unit_test(test_sums_of_many_bodies_have_the_bits_of_one_rank),
        cmocka_unit_test(test_jerks_of_laws_have_the_bits_of_one_rank),
        cmocka_unit_test(test_noise_and_tails_have_the_bits_of_one_rank),
        cmocka_unit_test(test_swarms_of_whfast_have_the_bits_of_one_rank),
        cmocka_unit_test(test_other_simulations_are_not_sliced),
        cmocka_unit_test(test_forces_on_slices_have_the_bits_of_one_rank),
        cmocka_unit_test(test_forces_within_a_cutoff_on_slices_have_the_bits_of_one_rank),
        cmocka_unit_test(test_excluded_pairs_on_slices_have_the_bits_of_one_rank),
        cmocka_unit_test(test_wrong_excluded_pairs_end_all_ranks),
        cmocka_unit_test(test_forces_on_slices_of_targets_have_the_bits_of_one_rank),
        cmocka_unit_test(test_one_rank_that_is_cancelled_between_tiles_cancels_all),
        cmocka_unit_test(test_a_bad_number_in_one_slice_ends_all_ranks),
        cmocka_unit_test(test_bodies_at_one_place_end_all_ranks),
        cmocka_unit_test(test_bodies_without_mass_have_the_bits_of_one_rank),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
