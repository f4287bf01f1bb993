/* Chunks of frames packed by kith: HDF5's own filters read what was packed. */

#include "testing.h"

#include "testing_files.h"

#include "testing_hdf5.h"

#include <stdlib.h>
#include <string.h>

#include "io/h5md_chunk.h"
#include "io/hdf5_data.h"
#include "random_numbers.h"

/* Kinds of bytes, each best packed in a manner of its own. */
enum kind { ZEROS, RANDOM, LATTICE, EXPONENTS, HALF, REPEATED, RISING, RESTING, kinds };

static unsigned char byte_of(struct random_numbers *random, enum kind kind, int real, int64_t k)
{
    static unsigned char block[3000];
    const int64_t number = k / real;
    const int byte = (int)(k % real);
    const unsigned char any = (unsigned char)random_uniform(random, 0, 256);
    switch (kind) {
    case RANDOM:
        return any;
    case LATTICE:
        return (unsigned char)(number / 3 % 17 * 7 + byte);
    case EXPONENTS:
        return byte == real - 1 ? (unsigned char)(any % 5 + 60) : any;
    case HALF:
        return number % 8192 < 4096 ? 0 : any;
    case REPEATED:
        if (k < (int64_t)sizeof block)
            block[k] = any;
        return block[k % (int64_t)sizeof block];
    case RISING:
        return (unsigned char)(number >> 8 * byte);
    case RESTING:
        return number > 1000 ? 7 : any;
    default:
        return 0;
    }
}

static hid_t new_series(hid_t file, const char *name, struct h5md_chunk chunk, int64_t frames)
{
    const struct hdf5_shape frame = {2, {(hsize_t)(chunk.rows / frames), 3}};
    hid_t dataset = H5I_INVALID_HID;
    assert_ok(hdf5_make_series(file, name, chunk.real == 4 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE, frame,
                               frames));
    assert_ok(hdf5_resize(file, name, frames));
    assert_ok(hdf5_open_dataset(file, name, &dataset));
    return dataset;
}

/* Packs some rows, writes the chunk, reads it by HDF5; returns the bytes of the chunk. */
static int64_t assert_reads_back(hid_t file, const char *name, struct h5md_chunk chunk,
                                 int64_t frames, const unsigned char *numbers, int64_t rows)
{
    const int64_t size = h5md_chunk_bytes(chunk), room = h5md_chunk_room(chunk);
    unsigned char *shuffled = malloc((size_t)size), *packed = malloc((size_t)room + 1);
    unsigned char *read = malloc((size_t)size);
    const hsize_t first[hdf5_max_rank] = {0};
    int64_t bytes = 0;
    assert_true(shuffled && packed && read);
    packed[room] = 77;
    assert_ok(h5md_chunk_pack(chunk, numbers, rows, shuffled, packed, &bytes));
    assert_true(bytes > 0 && bytes <= room);
    assert_int_equal(packed[room], 77);

    const hid_t dataset = new_series(file, name, chunk, frames);
    struct h5md_chunk stored = {0};
    hdf5_stored_chunk(dataset, chunk.real == 4 ? H5T_IEEE_F32LE : H5T_IEEE_F64LE, frames, &stored);
    assert_int_equal(stored.rows, chunk.rows);
    assert_int_equal(stored.deflates, chunk.deflates);
    assert_ok(hdf5_write_chunk(dataset, name, first, bytes, packed));
    H5Dclose(dataset);
    const hid_t again = H5Dopen2(file, name, H5P_DEFAULT);
    assert_true(H5Dread(again, chunk.real == 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE, H5S_ALL,
                        H5S_ALL, H5P_DEFAULT, read) >= 0);
    H5Dclose(again);
    const int64_t given = rows * 3 * chunk.real;
    assert_memory_equal(read, numbers, (size_t)given);
    for (int64_t k = given; k < size; k++)
        assert_int_equal(read[k], 0);
    free(shuffled);
    free(packed);
    free(read);
    return bytes;
}

/* The bytes that HDF5 stores for the same numbers. */
static int64_t bytes_by_hdf5(hid_t file, const char *name, struct h5md_chunk chunk, int64_t frames,
                             const unsigned char *numbers)
{
    const hid_t dataset = new_series(file, name, chunk, frames);
    assert_true(H5Dwrite(dataset, chunk.real == 4 ? H5T_NATIVE_FLOAT : H5T_NATIVE_DOUBLE, H5S_ALL,
                         H5S_ALL, H5P_DEFAULT, numbers) >= 0);
    H5Dclose(dataset);
    const hid_t again = H5Dopen2(file, name, H5P_DEFAULT);
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    const int64_t bytes = (int64_t)H5Dget_storage_size(again);
    H5Dclose(again);
    return bytes;
}

static unsigned char *numbers_of(struct random_numbers *random, enum kind kind,
                                 struct h5md_chunk chunk)
{
    const int64_t size = h5md_chunk_bytes(chunk);
    unsigned char *numbers = malloc((size_t)size);
    assert_non_null(numbers);
    for (int64_t k = 0; k < size; k++)
        numbers[k] = byte_of(random, kind, chunk.real, k);
    return numbers;
}

/* They take at most a sixth more than what HDF5 makes of them. */
static void assert_packs(hid_t file, struct h5md_chunk chunk, int64_t frames,
                         const unsigned char *numbers)
{
    static int count;
    char name[64];
    snprintf(name, sizeof name, "packed_%d", count);
    const int64_t packed = assert_reads_back(file, name, chunk, frames, numbers, chunk.rows);
    snprintf(name, sizeof name, "part_%d", count);
    (void)assert_reads_back(file, name, chunk, frames, numbers, (chunk.rows + 1) / 2);
    snprintf(name, sizeof name, "hdf5_%d", count++);
    const int64_t usual = bytes_by_hdf5(file, name, chunk, frames, numbers);
    assert_true(packed <= usual + usual / 6 + 16 * chunk.real + 16);
}

/* Parts of fewer bytes than are sampled, and of more than a stored block has; one or more frames
 * in a chunk; the last chunk of a frame, which is partly filled. */
static void test_hdf5_reads_packed_chunks(void **state)
{
    (void)state;
    static const int64_t frames[] = {1, 1, 1, 7, 1, 1}, rows[] = {1, 2, 341, 1000, 21845, 43690};
    struct random_numbers random = random_numbers_begin("h5md_chunk");
    if (!h5md_packs())
        skip();
    const hid_t file = new_file(in_files("chunks.h5"));
    for (int real = 4; real <= 8; real += 4)
        for (int kind = 0; kind < kinds; kind++)
            for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
                const struct h5md_chunk chunk = {frames[k] * rows[k], real, 1, false};
                unsigned char *numbers = numbers_of(&random, (enum kind)kind, chunk);
                assert_packs(file, chunk, frames[k], numbers);
                free(numbers);
            }
    H5Fclose(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_hdf5_reads_packed_chunks)};
    return cmocka_run_group_tests_name("h5md_chunk", tests, make_files_directory,
                                       remove_files_directory);
}
