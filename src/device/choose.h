#ifndef DEVICE_CHOOSE_H
#define DEVICE_CHOOSE_H

#include "kith/choose.h"

/* kith_device_choose on a machine with this number of CPU threads, and with or without a GPU. */
void device_choose_among(const kith_work *work, int32_t threads, bool has_gpu, kith_device *device,
                         char *reason);

#endif
