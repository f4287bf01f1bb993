#ifndef INITIAL_RANDOM_H
#define INITIAL_RANDOM_H

#include <stdint.h>

/* What the numbers are for: part of the key, so that no two kinds share any. The values are part of
 * the guarantee that a seed gives the same bits in all versions: append, never renumber. */
enum random_purpose {
    RANDOM_SIX = 1,
    RANDOM_PLUMMER = 2,
    RANDOM_HERNQUIST = 3,
    RANDOM_CUBE = 4,
    RANDOM_SPHERE = 5,
    RANDOM_DISK = 6,
    RANDOM_GALAXIES = 7,
    RANDOM_WALK = 8,
    RANDOM_SELF_AVOIDING = 9,
    RANDOM_CRYSTAL = 10,
    RANDOM_LANGEVIN = 11,
    RANDOM_BUSSI = 12,
    RANDOM_MEGNO = 13
};

/* One body's own random numbers, by Philox 4x64-10 (Salmon, Moraes, Dror & Shaw 2011): key = (seed,
 * purpose), counter = (block of four draws, body, step). No body's numbers depend on how many
 * another one drew, so bodies may be made in any order.
 *
 * All that follows uses +, −, × and √ alone, which IEEE 754 rounds alike on every machine;
 * log, sin and cos of the C library differ in their last bits. */
struct random_stream {
    uint64_t key[2];
    uint64_t counter[4];
    uint64_t block[4];
    int32_t used; /* of block */
};

struct random_stream random_begin(uint64_t seed, enum random_purpose purpose, int64_t body);

/* Other numbers for each step of a simulation; those of step 0 are random_begin's. */
struct random_stream random_begin_step(uint64_t seed, enum random_purpose purpose, int64_t body,
                                       int64_t step);

/* 64 random bits. */
uint64_t random_bits(struct random_stream *stream);

/* A multiple of 2^-53 in [0, 1). */
double random_uniform(struct random_stream *stream);

/* Uniform in [low, high) up to rounding. */
double random_between(struct random_stream *stream, double low, double high);

/* Density e^-x, x ≥ 0. */
double random_exponential(struct random_stream *stream);

/* Two independent numbers of mean 0 and variance 1. */
void random_normal_pair(struct random_stream *stream, double normal[2]);

/* A uniform point of the unit ball (disk in 2D), and of its surface. */
void random_in_ball(struct random_stream *stream, int32_t dimensions, double *point);
void random_direction(struct random_stream *stream, int32_t dimensions, double *unit);

#endif
