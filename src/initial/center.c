#include "initial/center.h"

static void subtract_mean(double *column, const double *mass, int64_t count, int32_t dimensions)
{
    for (int32_t k = 0; k < dimensions; k++) {
        double moment = 0;
        double total = 0;
        for (int64_t i = 0; i < count; i++) {
            moment += mass[i] * column[i * dimensions + k];
            total += mass[i];
        }
        for (int64_t i = 0; i < count; i++)
            column[i * dimensions + k] -= moment / total;
    }
}

void initial_stop(kith_bodies *bodies)
{
    subtract_mean(bodies->velocity, bodies->mass, bodies->count, bodies->dimensions);
}

void initial_center(kith_bodies *bodies)
{
    subtract_mean(bodies->position, bodies->mass, bodies->count, bodies->dimensions);
    initial_stop(bodies);
}
