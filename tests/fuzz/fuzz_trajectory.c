/* An edited file is a trajectory, of which frames, observables, units and systems can be had, or an
 * error. */

#include <stdlib.h>

#include "edited.h"
#include "fuzz.h"

static void look_at(kith_trajectory *trajectory)
{
    static const char *const quantities[] = {"length", "time", "mass"};
    kith_bodies *frame = NULL;
    kith_name unit;
    int64_t components = 0;
    double *values = NULL, *times = NULL;
    const int64_t frames = kith_trajectory_frames(trajectory);
    kith_status status = KITH_OK;
    if (frames > 0) {
        status = kith_trajectory_read(trajectory, frames - 1, &frame);
        fuzz_check(status, frame != NULL);
    }
    kith_bodies_free(frame);
    status = kith_trajectory_observable(trajectory, "total_energy", &components, &values, &times);
    fuzz_check(status, frames > 0 ? times != NULL : status == KITH_OK);
    free(values);
    free(times);
    for (int k = 0; k < 3; k++)
        kith_trajectory_unit(trajectory, quantities[k], unit);
    if (kith_trajectory_systems(trajectory) > 1)
        kith_trajectory_choose_system(trajectory, 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    kith_trajectory *trajectory = NULL;
    const kith_status status = kith_trajectory_open(fuzz_edited(data, size, "run"), &trajectory);
    fuzz_check(status, trajectory != NULL);
    fuzz_require(size > 0 || status == KITH_OK, "a file that nobody edited");
    if (trajectory)
        look_at(trajectory);
    kith_trajectory_close(trajectory);
    return 0;
}
