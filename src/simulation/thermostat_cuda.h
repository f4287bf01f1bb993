#ifndef SIMULATION_THERMOSTAT_CUDA_H
#define SIMULATION_THERMOSTAT_CUDA_H

#include "simulation/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

extern const struct thermostat_backend thermostat_cuda;

#ifdef __cplusplus
}
#endif

#endif
