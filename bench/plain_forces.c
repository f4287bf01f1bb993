#include "plain_forces.h"

#include <math.h>

void plain_forces(int64_t n, const double *restrict position, const double *restrict mass,
                  double softening, double *restrict acceleration)
{
    for (int64_t i = 0; i < n; i++) {
        double ax = 0, ay = 0, az = 0;
        for (int64_t j = 0; j < n; j++) {
            const double dx = position[3 * j] - position[3 * i];
            const double dy = position[3 * j + 1] - position[3 * i + 1];
            const double dz = position[3 * j + 2] - position[3 * i + 2];
            const double s2 = dx * dx + dy * dy + dz * dz + softening * softening;
            const double factor = mass[j] / (s2 * sqrt(s2));
            ax += factor * dx;
            ay += factor * dy;
            az += factor * dz;
        }
        acceleration[3 * i] = ax;
        acceleration[3 * i + 1] = ay;
        acceleration[3 * i + 2] = az;
    }
}
