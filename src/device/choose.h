#ifndef DEVICE_CHOOSE_H
#define DEVICE_CHOOSE_H

#include "kith/choose.h"

/* What there is to choose from: a GPU, and pme on the CPU, which needs FFTW. */
struct device_choices {
    int32_t threads;
    bool has_gpu, has_mesh;
};

/* kith_device_choose among these. */
void device_choose_among(const kith_work *work, struct device_choices choices, kith_device *device,
                         char *reason);

#endif
