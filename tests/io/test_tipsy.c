#include "testing.h"

#include "testing_files.h"

#include "streaming.h"

/* A Tipsy file built by hand, in either byte order. */
struct tipsy_file {
    unsigned char bytes[4096];
    size_t count;
    bool big_endian;
};

static void put(struct tipsy_file *file, const void *value, size_t bytes)
{
    const unsigned char *from = value;
    for (size_t k = 0; k < bytes; k++)
        file->bytes[file->count++] = from[file->big_endian ? bytes - 1 - k : k];
}

static void put_int(struct tipsy_file *file, int32_t value)
{
    put(file, &value, sizeof value);
}

static void put_float(struct tipsy_file *file, float value)
{
    put(file, &value, sizeof value);
}

static void put_header(struct tipsy_file *file, int32_t dimensions, int32_t gas, int32_t dark,
                       int32_t star, bool padded)
{
    const double time = 2.5;
    file->count = 0;
    put(file, &time, sizeof time);
    put_int(file, gas + dark + star);
    put_int(file, dimensions);
    put_int(file, gas);
    put_int(file, dark);
    put_int(file, star);
    if (padded)
        put_int(file, 0);
}

/* Words first, first + 1, … and a potential at the end. */
static void put_record(struct tipsy_file *file, int words, float first, float potential)
{
    for (int k = 0; k < words - 1; k++)
        put_float(file, first + (float)k);
    put_float(file, potential);
}

static void put_one_of_each(struct tipsy_file *file, int32_t dimensions, bool padded)
{
    put_header(file, dimensions, 1, 1, 1, padded);
    put_record(file, 12, 100, -1);
    put_record(file, 9, 200, -2);
    put_record(file, 11, 300, -3);
}

static const char *save(const struct tipsy_file *file, const char *name)
{
    return file_of_bytes(name, file->bytes, file->count);
}

static void test_tipsy_reads_both_byte_orders_with_and_without_padding(void **state)
{
    (void)state;
    static const char *const names[] = {"gas", "dark", "star"};
    static const double softening[] = {109, 207, 309};
    for (int variant = 0; variant < 8; variant++) {
        struct tipsy_file file = {.big_endian = variant & 1};
        const int32_t d = variant & 4 ? 2 : 3;
        put_one_of_each(&file, d, variant & 2);
        kith_bodies *bodies = read_file(save(&file, "each.tipsy"));
        assert_int_equal(bodies->count, 3);
        assert_int_equal(bodies->dimensions, d);
        assert_true(bodies->time == 2.5);
        assert_null(bodies->id);
        for (int i = 0; i < 3; i++) {
            assert_string_equal(bodies->name[i], names[i]);
            assert_true(bodies->mass[i] == 100 * (i + 1));
            assert_true(bodies->softening[i] == softening[i]);
            for (int k = 0; k < d; k++) {
                assert_true(bodies->position[i * d + k] == 100 * (i + 1) + 1 + k);
                assert_true(bodies->velocity[i * d + k] == 100 * (i + 1) + 4 + k);
            }
        }
        kith_bodies_free(bodies);
    }
}

/* Three dark bodies with these words where the potentials are. */
static kith_bodies *with_potentials(const int32_t words[3])
{
    struct tipsy_file file = {.big_endian = false};
    put_header(&file, 3, 0, 3, 0, true);
    for (int i = 0; i < 3; i++) {
        float potential = 0;
        memcpy(&potential, &words[i], sizeof potential);
        put_record(&file, 9, 1, potential);
    }
    return read_file(save(&file, "ids.tip"));
}

static void test_tipsy_takes_potentials_for_ids_only_if_they_can_be(void **state)
{
    (void)state;
    const int32_t ids[] = {200000000, 7, 0};
    kith_bodies *bodies = with_potentials(ids);
    for (int i = 0; i < 3; i++)
        assert_int_equal(bodies->id[i], ids[i]);
    assert_null(bodies->name);
    kith_bodies_free(bodies);
    struct random_numbers numbers = random_numbers_begin("tipsy ids");
    check_rows_of_file(&numbers, in_files("ids.tip"));

    static const int32_t others[][3] = {
        {5, 7, 5}, {0, 0, 0}, {1, 2, -3}, {-1, -2, -3}, {INT32_MAX, 0, INT32_MAX}};
    for (int k = 0; k < 5; k++) {
        bodies = with_potentials(others[k]);
        assert_null(bodies->id);
        kith_bodies_free(bodies);
    }
}

/* Random bodies that are exact in single precision. */
static kith_bodies *single_precision_bodies(struct random_numbers *numbers, int64_t count,
                                            int32_t dimensions)
{
    kith_bodies *bodies =
        random_bodies(numbers, count, dimensions, KITH_VELOCITY | KITH_MASS | KITH_SOFTENING);
    for (int64_t k = 0; k < count * dimensions; k++) {
        bodies->position[k] = (double)(float)random_uniform(numbers, -1e6, 1e6);
        bodies->velocity[k] = (double)(float)random_uniform(numbers, -1e-6, 1e-6);
    }
    for (int64_t i = 0; i < count; i++) {
        bodies->mass[i] = (double)(float)random_uniform(numbers, 0, 1e30);
        bodies->softening[i] = (double)(float)random_uniform(numbers, 0, 1);
    }
    return bodies;
}

static void test_tipsy_keeps_single_precision_exactly(void **state)
{
    (void)state;
    struct random_numbers numbers = random_numbers_begin("tipsy");
    static const int64_t counts[] = {0, 1, 31, 1000};
    for (int k = 0; k < 4; k++)
        for (int32_t dimensions = 2; dimensions <= 3; dimensions++) {
            kith_bodies *bodies = single_precision_bodies(&numbers, counts[k], dimensions);
            bodies->time = 0.1;
            if (k % 2 == 0) {
                free(bodies->softening);
                bodies->softening = NULL;
            }
            assert_round_trip(bodies, "all.tipsy");
            kith_bodies *found = read_file(in_files("all.tipsy"));
            assert_true(found->time == 0.1);
            kith_bodies_free(found);
            kith_bodies_free(bodies);
        }
}

static void test_tipsy_is_written_big_endian_with_padding(void **state)
{
    (void)state;
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(1, 3, 0, &bodies));
    bodies->position[0] = -2;
    assert_ok(kith_bodies_write(bodies, in_files("one.tipsy"), NULL));
    struct tipsy_file expected = {.big_endian = true};
    put_header(&expected, 3, 0, 1, 0, true);
    memset(expected.bytes, 0, 8);
    put_float(&expected, 1); /* the mass of bodies without masses */
    put_float(&expected, -2);
    for (int k = 0; k < 7; k++)
        put_float(&expected, 0);
    size_t bytes = 0;
    char *content = content_of(in_files("one.tipsy"), &bytes);
    assert_int_equal(bytes, expected.count);
    assert_memory_equal(content, expected.bytes, bytes);
    free(content);
    kith_bodies_free(bodies);
}

static void test_tipsy_sorts_species_and_keeps_their_order(void **state)
{
    (void)state;
    static const char *const before[] = {"star", "dark", "gas", "Sun", "gas"};
    static const char *const after[] = {"gas", "gas", "dark", "dark", "star"};
    static const double x[] = {2, 4, 1, 3, 0};
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(5, 3, KITH_NAME, &bodies));
    for (int i = 0; i < 5; i++) {
        set_name(bodies, i, before[i]);
        bodies->position[3 * i] = i;
    }
    unsigned dropped = 0;
    const char *path = in_files("species.tipsy");
    assert_ok(kith_format_drops(bodies, path, NULL, &dropped));
    assert_int_equal(dropped, KITH_NAME);
    set_name(bodies, 3, "dark");
    assert_ok(kith_format_drops(bodies, path, NULL, &dropped));
    assert_int_equal(dropped, 0);

    assert_ok(kith_bodies_write(bodies, path, NULL));
    kith_bodies *found = read_file(path);
    for (int i = 0; i < 5; i++) {
        assert_string_equal(found->name[i], after[i]);
        assert_true(found->position[3 * i] == x[i]);
    }
    kith_bodies_free(found);
    kith_bodies_free(bodies);
}

static void test_tipsy_refuses_numbers_beyond_single_precision(void **state)
{
    (void)state;
    kith_bodies *bodies = NULL;
    assert_ok(kith_bodies_create(2, 3, KITH_MASS, &bodies));
    bodies->mass[1] = 3.4028235e38;
    assert_ok(kith_bodies_write(bodies, in_files("large.tipsy"), NULL));
    bodies->mass[1] = 3.4028236e38;
    assert_fails(kith_bodies_write(bodies, in_files("large.tipsy"), NULL), KITH_INVALID_ARGUMENT,
                 "body 1 3.40282e+38");
    kith_bodies_free(bodies);
}

static void assert_refused(const struct tipsy_file *file, const char *words)
{
    kith_bodies *bodies = NULL;
    assert_fails(kith_bodies_read(save(file, "wrong.tipsy"), NULL, &bodies), KITH_BAD_FORMAT,
                 words);
    assert_null(bodies);
}

static void test_tipsy_refuses_an_implausible_header(void **state)
{
    (void)state;
    struct tipsy_file file = {.big_endian = true};
    put_header(&file, 4, 0, 1, 0, true);
    put_record(&file, 9, 1, 0);
    assert_refused(&file, "8");
    put_header(&file, 3, -1, 2, 0, true);
    put_record(&file, 9, 1, 0);
    assert_refused(&file, "8");
    put_header(&file, 3, 0, 1, 0, true);
    file.bytes[11] = 9;
    put_record(&file, 9, 1, 0);
    assert_refused(&file, "8");
    put_header(&file, 3, 0, 2000000000, 0, true);
    assert_refused(&file, "0 2000000000 0 72000000000");
    put_one_of_each(&file, 3, true);
    put_int(&file, 0);
    assert_refused(&file, "");
}

static void test_tipsy_names_the_offset_of_a_wrong_record(void **state)
{
    (void)state;
    struct tipsy_file file = {.big_endian = false};
    put_header(&file, 3, 0, 2, 0, true);
    put_record(&file, 9, 1, 0);
    put_record(&file, 9, (float)NAN, 0);
    assert_refused(&file, "body 1 68");
    put_header(&file, 3, 0, 1, 0, false);
    put_record(&file, 9, -100, 0);
    assert_refused(&file, "body 0 28");
}

static void test_tipsy_refuses_every_truncation(void **state)
{
    (void)state;
    struct tipsy_file file = {.big_endian = true};
    put_one_of_each(&file, 3, true);
    assert_every_truncation_is_refused(save(&file, "padded.tipsy"), "truncated.tipsy");
    file.big_endian = false;
    put_one_of_each(&file, 3, false);
    assert_every_truncation_is_refused(save(&file, "unpadded.tipsy"), "truncated.tipsy");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tipsy_reads_both_byte_orders_with_and_without_padding),
        cmocka_unit_test(test_tipsy_takes_potentials_for_ids_only_if_they_can_be),
        cmocka_unit_test(test_tipsy_keeps_single_precision_exactly),
        cmocka_unit_test(test_tipsy_is_written_big_endian_with_padding),
        cmocka_unit_test(test_tipsy_sorts_species_and_keeps_their_order),
        cmocka_unit_test(test_tipsy_refuses_numbers_beyond_single_precision),
        cmocka_unit_test(test_tipsy_refuses_an_implausible_header),
        cmocka_unit_test(test_tipsy_names_the_offset_of_a_wrong_record),
        cmocka_unit_test(test_tipsy_refuses_every_truncation),
    };
    return cmocka_run_group_tests_name("tipsy", tests, make_files_directory,
                                       remove_files_directory);
}
