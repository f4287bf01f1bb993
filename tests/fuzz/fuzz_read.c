/* A reader of bodies takes any bytes and gives bodies or an error.
 *
 * Compiled once a format, with KITH_FUZZ_FORMAT its name; with KITH_FUZZ_EDITED the bytes edit a
 * file of kith's. */

#include <stdlib.h>
#include <string.h>

#include "edited.h"
#include "fuzz.h"

static kith_status read_as(const char *path, const kith_read_options *options)
{
    kith_bodies *bodies = NULL;
    const kith_status status = kith_bodies_read(path, options, &bodies);
    fuzz_check(status, bodies != NULL);
    fuzz_require(!bodies || kith_bodies_check(bodies) == KITH_OK, "invalid bodies");
    kith_bodies_free(bodies);
    return status;
}

/* Arrays and lattices are read from NPY files too. */
static void read_arrays(const char *path)
{
    kith_array reals = kith_array_none(), integers = kith_array_none();
    kith_status status = kith_npy_read(path, &reals);
    fuzz_check(status, !kith_array_is_none(reals));
    free(reals.data);
    status = kith_integers_read(path, &integers);
    fuzz_check(status, !kith_array_is_none(integers));
    kith_integers_free(&integers);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
#ifdef KITH_FUZZ_EDITED
    const bool nothing_is_good = true; /* nobody edited */
    const char *path = fuzz_edited(data, size, KITH_FUZZ_FORMAT);
#else
    const bool nothing_is_good = false;
    const char *path = fuzz_file(data, size, "input");
#endif
    const kith_status status = read_as(path, &(kith_read_options){.format = KITH_FUZZ_FORMAT});
    fuzz_require(size > 0 || (status == KITH_OK) == nothing_is_good, "nothing, taken wrongly");
    if (strcmp(KITH_FUZZ_FORMAT, "xyz") == 0)
        read_as(path, &(kith_read_options){
                          .format = KITH_FUZZ_FORMAT, .frame = 1, .without_velocities = true});
    if (strcmp(KITH_FUZZ_FORMAT, "npy") == 0)
        read_arrays(path);
    return 0;
}
