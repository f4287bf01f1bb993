#ifndef BACKENDS_H
#define BACKENDS_H

/* What each room has for a kind of device. */
struct room_backends {
    const struct forces_backend *forces;
    const struct matrix_backend *matrix;
    const struct pairs_backend *pairs;
    const struct collisions_backend *collisions;
    const struct sparse_backend *sparse;
    const struct sums_backend *sums;
    const struct simulation_backend *simulation;
};

#endif
