/* Of a build without CUDA: nothing is ever taken of a device. */

#include "device_faults.h"

int64_t device_objects(void)
{
    return 0;
}

int64_t device_bytes(void)
{
    return 0;
}
