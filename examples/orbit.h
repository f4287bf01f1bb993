/* Orbital elements. */

#ifndef ORBIT_H
#define ORBIT_H

#include <math.h>

struct orbit { /* radians */
    double mean_longitude, pericenter_longitude;
};

static inline void cross(const double a[3], const double b[3], double product[3])
{
    for (int k = 0; k < 3; k++)
        product[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
}

static inline double dot(const double a[3], const double b[3])
{
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

/* The ellipse that a body with this position and velocity about a mass μ/G would follow (Murray &
 * Dermott 1999, Solar System Dynamics, §2.8). */
static inline struct orbit osculating_orbit(double mu, const double x[3], const double v[3])
{
    double momentum[3], v_cross_momentum[3], toward_pericenter[3];
    const double r = sqrt(dot(x, x)), semi_major_axis = 1 / (2 / r - dot(v, v) / mu);
    cross(x, v, momentum);
    cross(v, momentum, v_cross_momentum);
    for (int k = 0; k < 3; k++)
        toward_pericenter[k] = v_cross_momentum[k] / mu - x[k] / r;
    const double eccentricity = sqrt(dot(toward_pericenter, toward_pericenter));

    const double node = atan2(momentum[0], -momentum[1]);
    const double to_node[3] = {cos(node), sin(node), 0};
    double to_quarter[3]; /* in the orbit's plane, a right angle after the node, times |momentum| */
    cross(momentum, to_node, to_quarter);
    const double pericenter =
        atan2(dot(toward_pericenter, to_quarter) / sqrt(dot(momentum, momentum)),
              dot(toward_pericenter, to_node));
    const double anomaly = atan2(dot(x, v) / sqrt(mu * semi_major_axis), 1 - r / semi_major_axis);
    return (struct orbit){
        .mean_longitude = node + pericenter + anomaly - eccentricity * sin(anomaly),
        .pericenter_longitude = node + pericenter,
    };
}

#endif
