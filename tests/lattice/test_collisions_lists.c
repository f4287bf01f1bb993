/* Groups and pairs, contacts, batches, promises. */

#include "beads.h"

#include "lattice/collisions_reference.h"

static const kith_dtype dtypes[] = {KITH_I32, KITH_I64};

static struct collisions_problem problem_of(kith_array beads)
{
    return (struct collisions_problem){beads.dtype, (int32_t)beads.shape[1], beads.shape[0],
                                       beads.data,  beads.strides[0],        beads.strides[1]};
}

static void fill_some(struct random_numbers *random, int64_t kind, kith_array beads)
{
    if (kind % 4 == 0)
        fill_walk(random, beads);
    else if (kind % 4 == 1)
        fill_extremes(random, beads);
    else
        fill_cube(random, beads, -3, kind % 4 == 2 ? 3 : 12);
}

static void test_pairs_are_those_of_the_double_loop(void **state)
{
    kith_context *context = cpu_context(1);
    for (int64_t n = 0; n < 120; n++) {
        kith_array beads = new_beads(dtypes[n % 2], n, 2 + n / 2 % 2);
        fill_some(*state, n, beads);
        const struct collisions_problem problem = problem_of(beads);
        kith_collisions_groups *groups = NULL;
        assert_ok(kith_collisions_group(context, beads, &groups));
        assert_int_equal(groups->collisions, collisions_reference(&problem));
        int64_t *pairs = calloc((size_t)groups->collisions * 2 + 1, sizeof *pairs);
        assert_ok(kith_collisions_pairs(groups, pairs));
        int64_t k = 0;
        for (int64_t i = 0; i < n; i++)
            for (int64_t j = i + 1; j < n; j++)
                if (collisions_same_site(&problem, i, j)) {
                    assert_int_equal(pairs[2 * k], i);
                    assert_int_equal(pairs[2 * k + 1], j);
                    k++;
                }
        assert_int_equal(k, groups->collisions);
        free(pairs);
        kith_collisions_groups_free(groups);
        free(beads.data);
    }
    kith_context_free(context);
}

static void test_groups_are_sorted_and_whole(void **state)
{
    kith_context *context = cpu_context(1);
    kith_array beads = new_beads(KITH_I32, 5000, 3);
    fill_cube(*state, beads, -9, 15);
    const struct collisions_problem problem = problem_of(beads);
    kith_collisions_groups *groups = NULL;
    assert_ok(kith_collisions_group(context, beads, &groups));
    int64_t in_groups = 0, most = 1;
    for (int64_t g = 0; g < groups->group_count; g++) {
        const int64_t begin = groups->begin[g], end = groups->begin[g + 1];
        assert_true(end - begin >= 2);
        assert_true(g == 0 || groups->member[groups->begin[g - 1]] < groups->member[begin]);
        for (int64_t k = begin + 1; k < end; k++) {
            assert_true(groups->member[k - 1] < groups->member[k]);
            assert_true(collisions_same_site(&problem, groups->member[begin], groups->member[k]));
        }
        in_groups += end - begin;
        most = end - begin > most ? end - begin : most;
    }
    assert_int_equal(groups->max_at_site, most);
    assert_int_equal(groups->sites, groups->group_count + 5000 - in_groups);
    kith_collisions_groups_free(groups);
    free(beads.data);
    kith_context_free(context);
}

static char *random_sequence(struct random_numbers *random, int64_t n)
{
    char *sequence = calloc((size_t)n + 1, 1);
    for (int64_t i = 0; i < n; i++)
        sequence[i] = "HPhp"[random_below(random, 4)];
    return sequence;
}

static int64_t expected_contacts(kith_array beads, const char *sequence)
{
    const struct collisions_problem problem = problem_of(beads);
    unsigned char flags[512] = {0};
    for (int64_t i = 0; sequence && i < beads.shape[0]; i++)
        flags[i] = sequence[i] == 'H' || sequence[i] == 'h';
    return contacts_reference(&problem, sequence ? flags : NULL);
}

static void test_contacts_are_those_of_the_double_loop(void **state)
{
    kith_context *context = cpu_context(1);
    for (int64_t n = 0; n < 200; n++) {
        kith_array beads = new_beads(dtypes[n % 2], n, 2 + n / 2 % 2);
        fill_some(*state, n, beads);
        char *sequence = random_sequence(*state, n);
        int64_t contacts = -1, energy = 1;
        assert_ok(kith_contacts_count(context, beads, NULL, &contacts));
        assert_int_equal(contacts, expected_contacts(beads, NULL));
        assert_ok(kith_contacts_count(context, beads, sequence, &contacts));
        assert_int_equal(contacts, expected_contacts(beads, sequence));
        assert_ok(kith_hp_energy(context, beads, sequence, &energy));
        assert_int_equal(energy, -contacts);
        free(sequence);
        free(beads.data);
    }
    kith_context_free(context);
}

static void test_contacts_at_the_ends_of_the_integers(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    int64_t x[] = {INT64_MAX,     0, 0, 0, 0, 0, INT64_MIN, 0, 0, INT64_MAX - 1, 0, 0,
                   INT64_MIN + 1, 0, 0};
    int64_t contacts = -1;
    assert_ok(kith_contacts_count(context, kith_array_matrix(x, KITH_I64, 5, 3), NULL, &contacts));
    assert_int_equal(contacts, 2); /* none around the end */
    kith_context_free(context);
}

static void test_a_square_has_one_contact_and_its_energy(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    int32_t x[] = {0, 0, 1, 0, 1, 1, 0, 1};
    const kith_array beads = kith_array_matrix(x, KITH_I32, 4, 2);
    int64_t energy = 0;
    assert_ok(kith_hp_energy(context, beads, "HPPH", &energy));
    assert_int_equal(energy, -1);
    assert_ok(kith_hp_energy(context, beads, "HHHP", &energy));
    assert_int_equal(energy, 0);
    assert_fails(kith_hp_energy(context, beads, "HPP", &energy), KITH_INVALID_ARGUMENT, "3 4");
    assert_fails(kith_hp_energy(context, beads, "HPXH", &energy), KITH_INVALID_ARGUMENT,
                 "sequence 2 'X'");
    assert_fails(kith_hp_energy(context, beads, NULL, &energy), KITH_INVALID_ARGUMENT,
                 "sequence NULL");
    kith_context_free(context);
}

static void test_a_batch_is_a_loop_of_singles(void **state)
{
    enum { conformations = 40 };
    for (int64_t length = 0; length < 140; length += 1 + length / 9) {
        kith_context *context = cpu_context(1 + (int32_t)(length % 3));
        const int64_t d = 2 + length % 2;
        kith_array all = new_beads(dtypes[length / 2 % 2], conformations * length, d);
        char *sequence = random_sequence(*state, length);
        int64_t collisions[conformations], contacts[conformations], hp[conformations];
        kith_array beads = all;
        beads.ndim = 3;
        beads.shape[0] = conformations;
        beads.shape[1] = length;
        beads.shape[2] = d;
        beads.strides[0] = length * d;
        beads.strides[1] = d;
        beads.strides[2] = 1;
        for (int64_t b = 0; b < conformations; b++) {
            kith_array one = all;
            one.shape[0] = length;
            one.data = (char *)all.data + b * length * d * kith_dtype_bytes(all.dtype);
            fill_some(*state, b, one);
        }
        assert_ok(kith_collisions_batch(context, beads, kith_array_none(), NULL,
                                        kith_array_vector(collisions, KITH_I64, conformations),
                                        kith_array_vector(contacts, KITH_I64, conformations)));
        assert_ok(kith_collisions_batch(context, beads, kith_array_none(), sequence,
                                        kith_array_none(),
                                        kith_array_vector(hp, KITH_I64, conformations)));
        for (int64_t b = 0; b < conformations; b++) {
            kith_array one = all;
            one.shape[0] = length;
            one.data = (char *)all.data + b * length * d * kith_dtype_bytes(all.dtype);
            assert_int_equal(collisions[b], count_by(context, KITH_COLLISIONS_REFERENCE, one));
            assert_int_equal(contacts[b], expected_contacts(one, NULL));
            assert_int_equal(hp[b], expected_contacts(one, sequence));
        }
        free(sequence);
        free(all.data);
        kith_context_free(context);
    }
}

static void test_a_ragged_batch_is_a_loop_of_singles(void **state)
{
    enum { conformations = 60 };
    kith_context *context = cpu_context(2);
    int64_t offsets[conformations + 1] = {0}, collisions[conformations], contacts[conformations];
    for (int64_t b = 0; b < conformations; b++)
        offsets[b + 1] = offsets[b] + (b % 7 == 0 ? b % 3 : random_below(*state, 300));
    kith_array all = new_beads(KITH_I32, offsets[conformations], 3);
    fill_walk(*state, all);
    assert_ok(kith_collisions_batch(context, all,
                                    kith_array_vector(offsets, KITH_I64, conformations + 1), NULL,
                                    kith_array_vector(collisions, KITH_I64, conformations),
                                    kith_array_vector(contacts, KITH_I64, conformations)));
    for (int64_t b = 0; b < conformations; b++) {
        kith_array one = all;
        one.shape[0] = offsets[b + 1] - offsets[b];
        one.data = (int32_t *)all.data + 3 * offsets[b];
        assert_int_equal(collisions[b], count_by(context, KITH_COLLISIONS_REFERENCE, one));
        assert_int_equal(contacts[b], expected_contacts(one, NULL));
    }
    offsets[1] = -1;
    assert_fails(kith_collisions_batch(
                     context, all, kith_array_vector(offsets, KITH_I64, conformations + 1), NULL,
                     kith_array_vector(collisions, KITH_I64, conformations), kith_array_none()),
                 KITH_INVALID_ARGUMENT, "offsets[0] 0 -1");
    free(all.data);
    kith_context_free(context);
}

static void test_the_longest_conformation_is_counted(void **state)
{
    kith_context *context = cpu_context(1);
    kith_array all = new_beads(KITH_I32, 65535, 3);
    fill_walk(*state, all);
    kith_array beads = {all.data, all.device, 3, KITH_I32, {1, 65535, 3}, {3 * 65535, 3, 1}};
    int64_t collisions = -1, contacts = -1, expected = 0;
    assert_ok(kith_collisions_batch(context, beads, kith_array_none(), NULL,
                                    kith_array_vector(&collisions, KITH_I64, 1),
                                    kith_array_vector(&contacts, KITH_I64, 1)));
    assert_int_equal(collisions, count_by(context, KITH_COLLISIONS_SORT, all));
    assert_ok(kith_contacts_count(context, all, NULL, &expected));
    assert_int_equal(contacts, expected);
    memset(all.data, 0, 65535 * 12); /* all at one site: 16 bits are just enough */
    assert_ok(kith_collisions_batch(context, beads, kith_array_none(), NULL,
                                    kith_array_vector(&collisions, KITH_I64, 1),
                                    kith_array_none()));
    assert_int_equal(collisions, (int64_t)65535 * 65534 / 2);
    beads.shape[1] = 65536;
    beads.strides[0] = 3 * 65536;
    assert_fails(kith_collisions_batch(context, beads, kith_array_none(), NULL,
                                       kith_array_vector(&collisions, KITH_I64, 1),
                                       kith_array_none()),
                 KITH_INVALID_ARGUMENT, "0 65536");
    free(all.data);
    kith_context_free(context);
}

static void test_a_batch_with_gaps_or_elsewhere_is_refused(void **state)
{
    (void)state;
    enum { conformations = 2, length = 3 };
    kith_context *context = cpu_context(1);
    int32_t x[60] = {0};
    int64_t found[conformations], offsets[] = {0, -1, length};
    const kith_array collisions = kith_array_vector(found, KITH_I64, conformations);
    kith_array beads = {
        x, {KITH_CPU, 0}, 3, KITH_I32, {conformations, length, 3}, {3 * length + 1, 3, 1}};
    assert_fails(kith_collisions_batch(context, beads, kith_array_none(), NULL, collisions,
                                       kith_array_none()),
                 KITH_INVALID_ARGUMENT, "beads");
    beads.strides[0] = 3 * length;
    beads.data = NULL;
    assert_fails(kith_collisions_batch(context, beads, kith_array_none(), NULL, collisions,
                                       kith_array_none()),
                 KITH_INVALID_ARGUMENT, "data beads 2 NULL");
    const kith_array ragged = kith_array_matrix(x, KITH_I32, length, 3);
    kith_array every_other = kith_array_vector(offsets, KITH_I64, 2);
    every_other.strides[0] = 2;
    assert_fails(kith_collisions_batch(context, ragged, every_other, NULL,
                                       kith_array_vector(found, KITH_I64, 1), kith_array_none()),
                 KITH_INVALID_ARGUMENT, "+ 1 int64");
    every_other.device = (kith_device){KITH_CUDA, 1};
    assert_fails(kith_collisions_batch(context, ragged, every_other, NULL,
                                       kith_array_vector(found, KITH_I64, 1), kith_array_none()),
                 KITH_INVALID_ARGUMENT, "beads offsets cuda:1 host's");
    kith_context_free(context);
}

static void test_promises_are_kept_in_any_order(void **state)
{
    enum { promises = 25 };
    kith_context *context = cpu_context(2);
    kith_collisions_promise *promise[promises];
    int64_t expected[promises], count = 0;
    for (int64_t k = 0; k < promises; k++) {
        kith_array beads = new_beads(dtypes[k % 2], k * k * 20, 3);
        fill_some(*state, k, beads);
        expected[k] = count_by(context, KITH_COLLISIONS_SORT, beads);
        assert_ok(kith_collisions_launch(context, NULL, beads, &promise[k]));
        if (beads.shape[0] > 0) /* the beads are the caller's again */
            memset(beads.data, 0, (size_t)(beads.shape[0] * 3 * kith_dtype_bytes(beads.dtype)));
        free(beads.data);
    }
    for (int64_t k = 0; k < promises; k++) {
        const int64_t other = k * 7 % promises;
        if (other % 5 != 3) {
            assert_ok(kith_collisions_fetch(promise[other], &count));
            assert_int_equal(count, expected[other]);
            assert_ok(kith_collisions_fetch(promise[other], &count));
            assert_int_equal(count, expected[other]);
        }
        kith_collisions_promise_free(promise[other]); /* some unfetched */
    }
    kith_collisions_promise_free(NULL);
    kith_context_free(context);
}

static void test_contexts_count_while_promises_are_under_way(void **state)
{
    kith_context *contexts[] = {cpu_context(1), cpu_context(2)};
    kith_array beads = new_beads(KITH_I32, 200000, 3);
    fill_walk(*state, beads);
    const int64_t expected = count_by(contexts[0], KITH_COLLISIONS_SORT, beads);
    kith_collisions_promise *promise[2];
    int64_t count = 0;
    for (int64_t k = 0; k < 2; k++)
        assert_ok(kith_collisions_launch(
            contexts[k], &(kith_collisions_options){KITH_COLLISIONS_HASH}, beads, &promise[k]));
    for (int64_t k = 0; k < 2; k++)
        assert_int_equal(count_by(contexts[k], KITH_COLLISIONS_HASH, beads), expected);
    for (int64_t k = 1; k >= 0; k--) {
        assert_ok(kith_collisions_fetch(promise[k], &count));
        assert_int_equal(count, expected);
        kith_collisions_promise_free(promise[k]);
        kith_context_free(contexts[k]);
    }
    free(beads.data);
}

static int set_up(void **state)
{
    static struct random_numbers random;
    random = random_numbers_begin("test_collisions_lists");
    *state = &random;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pairs_are_those_of_the_double_loop),
        cmocka_unit_test(test_groups_are_sorted_and_whole),
        cmocka_unit_test(test_contacts_are_those_of_the_double_loop),
        cmocka_unit_test(test_contacts_at_the_ends_of_the_integers),
        cmocka_unit_test(test_a_square_has_one_contact_and_its_energy),
        cmocka_unit_test(test_a_batch_is_a_loop_of_singles),
        cmocka_unit_test(test_a_ragged_batch_is_a_loop_of_singles),
        cmocka_unit_test(test_the_longest_conformation_is_counted),
        cmocka_unit_test(test_a_batch_with_gaps_or_elsewhere_is_refused),
        cmocka_unit_test(test_promises_are_kept_in_any_order),
        cmocka_unit_test(test_contexts_count_while_promises_are_under_way),
    };
    return cmocka_run_group_tests_name("collisions_lists", tests, set_up, NULL);
}
