/* Trees that several devices share: their meetings, and the bits of one device, wherever the bodies
 * are. With one GPU it is its own peer. */

#include "../ranks/jobs.h"

#include "device/cuda_meeting.h"
#include "device/cuda_state.h"
#include "gpu_peers.h"

enum { meetings = 20 };

struct meeting_test {
    struct cuda_meeting *meeting;
    int32_t *numbers[most_peers + 1];
    bool is_right[most_peers + 1];
    kith_status statuses[most_peers + 1];
    int32_t failing; /* part; −1: none */
    char messages[most_peers + 1][100];
};

/* Writes a number, meets, and reads those of all. */
static kith_status exchange_numbers(const struct cuda_part *part, struct meeting_test *test)
{
    int32_t *own = test->numbers[part->index];
    bool is_right = true;
    for (int32_t m = 0; m < meetings; m++) {
        const int32_t mine = 1000 * m + part->index;
        KITH_TRY(cuda_copy_in(part->context, own, &mine, sizeof mine));
        KITH_TRY(cuda_meet(test->meeting, part, true));
        for (int32_t k = 0; k < part->count; k++) {
            int32_t number = -1;
            KITH_TRY(cuda_copy_out(part->context, &number, test->numbers[k], sizeof number));
            is_right = is_right && number == 1000 * m + k;
        }
        KITH_TRY(cuda_meet(test->meeting, part, true)); /* all have read it */
    }
    test->is_right[part->index] = is_right;
    return KITH_OK;
}

static kith_status work(const struct cuda_part *part, void *argument)
{
    struct meeting_test *test = argument;
    int32_t **own = &test->numbers[part->index];
    *own = NULL;
    kith_status status =
        part->index == test->failing
            ? (kith_status)kith_fail(KITH_UNSUPPORTED, "part %d fails", (int)part->index)
            : cuda_allocate(part->context, 1, sizeof **own, "a number", own);
    if (status == KITH_OK)
        status = exchange_numbers(part, test);
    status = cuda_meeting_leave(test->meeting, status);
    test->statuses[part->index] = status;
    snprintf(test->messages[part->index], sizeof test->messages[0], "%.99s",
             status == KITH_OK ? "" : kith_error_message());
    cuda_release(part->context, *own);
    return status;
}

static void test_parts_meet(void **state)
{
    (void)state;
    for (int32_t peers = 1; peers <= most_peers; peers += peers < 3 ? 1 : 5) {
        kith_context *context = context_of(peers, NULL);
        struct meeting_test test = {.failing = -1};
        assert_ok(cuda_meeting_create(peers + 1, &test.meeting));
        for (int again = 0; again < 3; again++) {
            cuda_meeting_begin(test.meeting);
            assert_ok(cuda_share(context, true, work, &test));
            for (int32_t k = 0; k <= peers; k++)
                assert_true(test.is_right[k]);
        }
        cuda_meeting_free(test.meeting);
        kith_context_free(context);
    }
}

static void test_no_part_waits_for_one_that_fails(void **state)
{
    (void)state;
    kith_context *context = context_of(3, NULL);
    struct meeting_test test = {.failing = -1};
    assert_ok(cuda_meeting_create(4, &test.meeting));
    for (test.failing = 3; test.failing >= -1; test.failing--) {
        char message[100];
        const bool fails = test.failing >= 0;
        cuda_meeting_begin(test.meeting);
        assert_int_equal(cuda_share(context, true, work, &test),
                         fails ? KITH_UNSUPPORTED : KITH_OK);
        snprintf(message, sizeof message, "part %d fails", (int)test.failing);
        for (int32_t k = 0; k < 4 && fails; k++) {
            assert_int_equal(test.statuses[k], KITH_UNSUPPORTED);
            assert_string_equal(test.messages[k], message);
        }
    }
    cuda_meeting_free(test.meeting);
    kith_context_free(context);
}

enum shape { cube, clustered, coincident, line, distant, shape_count };

static void move_bodies(enum shape shape, struct system *s)
{
    const int64_t d = s->dimensions;
    for (int64_t i = 0; i < s->n; i++)
        for (int64_t c = 0; c < d; c++) {
            const double x = get(s->x, i * d + c);
            const double moved = shape == clustered                  ? x * fabs(x * x * x)
                                 : shape == coincident && i % 5 == 0 ? 0.1
                                 : shape == line && c > 0            ? 0.5
                                 : shape == distant ? 0.01 * x + (i % 3 == 0 ? 1000 : 0)
                                                    : x;
            put(s->x, i * d + c, moved);
        }
}

struct shares_case {
    enum shape shape;
    kith_dtype dtype;
    int64_t n, targets, dimensions;
    const char *solver, *law;
    double error, theta, softening;
    int32_t order;
};

/* From 524 288 targets on devices share the tree. */
static const struct shares_case cases[] = {
    {cube, KITH_F32, 524289, 0, 3, "fmm", NULL, 1e-3, 0, 0, 0},
    {clustered, KITH_F32, 700001, 0, 3, "fmm", NULL, 0.1, 0, 0, 0},
    {clustered, KITH_F64, 530003, 0, 3, "fmm", NULL, 1e-7, 0, 0, 0},
    {coincident, KITH_F32, 524291, 0, 3, "fmm", NULL, 1e-2, 0, 0, 0},
    {line, KITH_F32, 600011, 0, 3, "fmm", NULL, 1e-4, 0, 1e-3, 0},
    {distant, KITH_F32, 650011, 0, 3, "fmm", NULL, 1e-3, 0, 0, 0},
    {distant, KITH_F32, 524309, 0, 2, "fmm", NULL, 1e-4, 0, 0, 0},
    {clustered, KITH_F32, 524341, 0, 3, "tree", NULL, 1e-2, 0, 0, 0},
    {clustered, KITH_F32, 524347, 0, 3, "fmm", NULL, 0, 0.5, 0, 6},
    {cube, KITH_F32, 524351, 0, 3, "fmm", "yukawa:0.5", 1e-2, 0, 0, 0},
    {clustered, KITH_F32, 5003, 524353, 3, "fmm", NULL, 1e-3, 0, 0, 0},
};
enum { case_count = sizeof cases / sizeof cases[0] };

static kith_forces_options options_of(const struct shares_case *the, kith_law **law)
{
    *law = NULL;
    if (the->law)
        assert_ok(kith_law_parse(the->law, 0, NULL, law));
    return (kith_forces_options){
        .softening = the->softening,
        .law = *law,
        .solver = solver_named(the->solver),
        .accuracy = {.error = the->error, .theta = the->theta, .order = the->order}};
}

static void test_shared_trees_have_the_bits_of_one(void **state)
{
    for (int c = 0; c < case_count && !test_is_quick(); c++) {
        const struct shares_case *the = &cases[c];
        struct system sources = system_random(*state, the->dtype, the->n, the->dimensions);
        move_bodies(the->shape, &sources);
        struct system alone = the->targets > 0
                                  ? system_random(*state, the->dtype, the->targets, the->dimensions)
                                  : system_copy(&sources);
        struct system shared = system_copy(&alone);
        kith_law *law = NULL;
        kith_solver_report reports[2] = {{0}};
        kith_forces_options options = options_of(the, &law);
        for (int32_t peers = 0; peers <= 6; peers += peers < 2 ? 1 : 4) {
            kith_context *context = context_of(peers, NULL);
            struct system *s = peers == 0 ? &alone : &shared;
            options.report = &reports[peers > 0];
            for (int again = 0; again < 2; again++) {
                assert_ok(kith_forces_compute(context, &options,
                                              the->targets > 0 ? POINTS(s->x) : NULL,
                                              PARTICLES_OF(&sources), s->a, s->phi));
                assert_ok(kith_context_synchronize(context));
                assert_same_forces(s, &alone);
                assert_true(reports[peers > 0].error_estimated == reports[0].error_estimated);
                assert_true(reports[peers > 0].m2l_per_body == reports[0].m2l_per_body);
            }
            kith_context_free(context);
        }
        kith_law_free(law);
        system_free(&shared);
        system_free(&alone);
        system_free(&sources);
    }
}

static void test_trees_shared_by_ranks_have_the_bits_of_one(void **state)
{
    for (int c = 0; c < case_count && !test_is_quick(); c += 3) {
        struct system s = system_random(*state, cases[c].dtype, cases[c].n, cases[c].dimensions);
        kith_law *law = NULL;
        move_bodies(cases[c].shape, &s);
        const struct forces_rank like = {.system = &s, .options = options_of(&cases[c], &law)};
        if (cases[c].targets == 0)
            check_same_bits(&like, 2 + c % 2);
        kith_law_free(law);
        system_free(&s);
    }
}

int main(void)
{
    if (gpu_is_absent("test_cuda_tree_shares"))
        return exit_skipped;
    struct random_numbers numbers = random_numbers_begin("shared trees");
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_prestate(test_parts_meet, &numbers),
        cmocka_unit_test_prestate(test_no_part_waits_for_one_that_fails, &numbers),
        cmocka_unit_test_prestate(test_shared_trees_have_the_bits_of_one, &numbers),
        cmocka_unit_test_prestate(test_trees_shared_by_ranks_have_the_bits_of_one, &numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
