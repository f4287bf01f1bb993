/* Contacts and sites from one walk over the beads are those of the definition. */

#include "beads.h"

static bool is_counted(const char *sequence, int64_t i)
{
    return !sequence || sequence[i] == 'H';
}

static int64_t distance(kith_array beads, int64_t i, int64_t j)
{
    int64_t sum = 0;
    for (int64_t c = 0; c < beads.shape[1]; c++) {
        const int64_t a = get_bead(beads, i, c), b = get_bead(beads, j, c);
        const uint64_t apart = a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a;
        sum += apart > 2 ? 3 : (int64_t)apart;
    }
    return sum;
}

/* The definition, as loops over all pairs. */
static kith_collisions_summary by_definition(kith_array beads, const char *sequence)
{
    kith_collisions_summary found = {.beads = beads.shape[0]};
    for (int64_t i = 0; i < beads.shape[0]; i++) {
        int64_t here = 1, before = 0;
        for (int64_t j = 0; j < beads.shape[0]; j++) {
            const int64_t apart = j == i ? 3 : distance(beads, i, j);
            here += apart == 0;
            before += apart == 0 && j < i;
            found.contacts +=
                apart == 1 && j > i + 1 && is_counted(sequence, i) && is_counted(sequence, j);
        }
        found.collisions += before;
        found.sites += before == 0;
        found.max_at_site = here > found.max_at_site ? here : found.max_at_site;
    }
    return found;
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static uint64_t key_of(kith_array beads, int64_t i)
{
    uint64_t key = 0;
    for (int64_t c = 0; c < beads.shape[1]; c++)
        key = key << 20 | (uint64_t)(get_bead(beads, i, c) + (1 << 19));
    return key;
}

static int64_t count_below(const uint64_t *keys, int64_t count, uint64_t key)
{
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (keys[middle] < key)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Contacts of many beads with coordinates of up to 19 bits, by sorting. */
static int64_t contacts_by_sorting(kith_array beads, const char *sequence)
{
    const int64_t n = beads.shape[0];
    uint64_t *keys = malloc(((size_t)n + 1) * sizeof *keys);
    assert_non_null(keys);
    int64_t counted = 0, contacts = 0;
    for (int64_t i = 0; i < n; i++)
        if (is_counted(sequence, i))
            keys[counted++] = key_of(beads, i);
    qsort(keys, (size_t)counted, sizeof *keys, compare_keys);
    for (int64_t i = 0; i < n; i++) {
        if (!is_counted(sequence, i))
            continue;
        for (int64_t c = 0; c < beads.shape[1]; c++) {
            const uint64_t next = key_of(beads, i) + ((uint64_t)1 << (20 * c));
            contacts += count_below(keys, counted, next + 1) - count_below(keys, counted, next);
        }
        contacts -= i > 0 && is_counted(sequence, i - 1) && distance(beads, i, i - 1) == 1;
    }
    free(keys);
    return contacts;
}

static char *any_sequence(struct random_numbers *random, int64_t n)
{
    char *sequence = malloc((size_t)n + 1);
    assert_non_null(sequence);
    for (int64_t i = 0; i < n; i++)
        sequence[i] = random_below(random, 3) ? 'H' : 'P';
    sequence[n] = 0;
    return sequence;
}

/* A walk, a full lattice, few sites, a thin cloud, and the ends of the type. */
static void fill_kind(struct random_numbers *random, int64_t kind, kith_array beads)
{
    if (kind == 0)
        fill_walk(random, beads);
    else if (kind == 4)
        fill_extremes(random, beads);
    else
        fill_cube(random, beads, kind == 1 ? -7 : INT32_MIN, kind == 1 ? 12 : kind == 2 ? 3 : 60);
}

/* A chain that fills a cube or square of this side, row after row, back and forth. */
static void fill_snake(kith_array beads, int64_t side)
{
    for (int64_t i = 0; i < beads.shape[0]; i++) {
        const int64_t row = i / side, plane = row / side;
        put_bead(beads, i, 0, row % 2 ? side - 1 - i % side : i % side);
        if (beads.shape[1] == 3)
            put_bead(beads, i, 2, plane);
        put_bead(beads, i, 1,
                 beads.shape[1] == 2 ? row
                 : plane % 2         ? side - 1 - row % side
                                     : row % side);
    }
}

static void test_a_summary_is_that_of_the_definition(void **state)
{
    static const int64_t sizes[] = {0, 1, 2, 3, 17, 200, 511, 512, 513, 700};
    for (int64_t k = 0; k < 100; k++) {
        kith_context *context = cpu_context(1 + (int32_t)(k % 3));
        kith_array beads = new_beads(k % 2 ? KITH_I32 : KITH_I64, sizes[k % 10], 2 + k / 2 % 2);
        fill_kind(*state, k / 10 % 5, beads);
        const kith_collisions_summary expected = by_definition(beads, NULL);
        kith_collisions_summary found;
        assert_ok(kith_collisions_summarize(context, beads, &found));
        assert_memory_equal(&found, &expected, sizeof found);
        free(beads.data);
        kith_context_free(context);
    }
}

static void test_contacts_of_many_beads_are_those_of_the_definition(void **state)
{
    for (int64_t k = 0; k < 24; k++) {
        kith_context *context = cpu_context(1 + (int32_t)(k % 3));
        kith_array beads =
            new_beads(k % 2 ? KITH_I32 : KITH_I64, 65536 + 9001 * (k % 3), 2 + k / 2 % 2);
        char *sequence = k % 4 ? any_sequence(*state, beads.shape[0]) : NULL;
        if (k % 8 < 3)
            fill_walk(*state, beads);
        else if (k % 8 < 5)
            fill_snake(beads, 43);
        else
            fill_cube(*state, beads, -40000, k % 8 == 5 ? 30 : k % 8 == 6 ? 100 : 90000);
        int64_t found = -1;
        assert_ok(kith_contacts_count(context, beads, sequence, &found));
        assert_int_equal(found, contacts_by_sorting(beads, sequence));
        free(sequence);
        free(beads.data);
        kith_context_free(context);
    }
}

/* Dense pages of sites come together in one piece, whose table grows. */
static void test_a_full_cube_has_the_contacts_of_a_lattice(void **state)
{
    (void)state;
    const int64_t side = 64, n = side * side * side, bonds = n - 1;
    kith_context *context = cpu_context(2);
    kith_array beads = new_beads(KITH_I32, n, 3);
    fill_snake(beads, side);
    kith_collisions_summary found;
    assert_ok(kith_collisions_summarize(context, beads, &found));
    assert_int_equal(found.contacts, 3 * side * side * (side - 1) - bonds);
    assert_int_equal(found.sites, n);
    assert_int_equal(found.max_at_site, 1);
    assert_int_equal(found.collisions, 0);
    free(beads.data);
    kith_context_free(context);
}

static void test_crowded_sites_multiply_their_beads(void **state)
{
    (void)state;
    const int64_t n = 150000, each = n / 3; /* three sites in a row, in turn */
    kith_context *context = cpu_context(1);
    kith_array beads = new_beads(KITH_I64, n, 2);
    for (int64_t i = 0; i < n; i++)
        put_bead(beads, i, 0, i % 3 + (INT64_C(1) << 40));
    put_bead(beads, 0, 1, -1000); /* far away from the others */
    kith_collisions_summary found;
    assert_ok(kith_collisions_summarize(context, beads, &found));
    const int64_t bonds = 2 * (n / 3) - 1;
    assert_int_equal(found.contacts, (each - 1) * each + each * each - bonds);
    assert_int_equal(found.max_at_site, each);
    assert_int_equal(found.sites, 4);
    free(beads.data);
    kith_context_free(context);
}

static void test_wrong_arguments_of_a_summary_are_refused(void **state)
{
    (void)state;
    kith_context *context = cpu_context(1);
    kith_array beads = new_beads(KITH_I32, 2, 3);
    kith_collisions_summary found;
    assert_fails(kith_collisions_summarize(context, beads, NULL), KITH_INVALID_ARGUMENT, "summary");
    assert_fails(kith_collisions_summarize(NULL, beads, &found), KITH_INVALID_ARGUMENT, "context");
    assert_fails(kith_collisions_summarize(context, kith_array_none(), &found),
                 KITH_INVALID_ARGUMENT, "beads");
    free(beads.data);
    kith_context_free(context);
}

static int set_up(void **state)
{
    static struct random_numbers random;
    random = random_numbers_begin("test_collisions_summary");
    *state = &random;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_summary_is_that_of_the_definition),
        cmocka_unit_test(test_contacts_of_many_beads_are_those_of_the_definition),
        cmocka_unit_test(test_a_full_cube_has_the_contacts_of_a_lattice),
        cmocka_unit_test(test_crowded_sites_multiply_their_beads),
        cmocka_unit_test(test_wrong_arguments_of_a_summary_are_refused),
    };
    return cmocka_run_group_tests_name("collisions_summary", tests, set_up, NULL);
}
