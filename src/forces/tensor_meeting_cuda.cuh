#ifndef FORCES_TENSOR_MEETING_CUDA_CUH
#define FORCES_TENSOR_MEETING_CUDA_CUH

/* The scales in which two far tiles meet on tensor cores (tensor_far_cuda.cu). */

#include "forces/tensor_cuda.cuh"

/* What a pair of tiles determines. Lengths are multiplied by C, so that the gap is at least 1. */
struct meeting {
    int partner;
    float center[3];  /* of the sources' tile */
    float length2;    /* C² */
    float coordinate; /* C² / scale of the sources */
    float norm2;      /* (C / scale)² */
    float magic;      /* 2^(7−k): added to w / C³ ≤ 2^−k, it leaves W in the low 16 bits */
    /* Units of the targets' sums of the sources' digits, and the other way round. */
    float target_mass, target_moment, target_potential;
    float source_mass, source_moment, source_potential;
};

/* A power of two would do for C², but by one of 128 numbers that is a little larger and as if by
 * chance, equal distances of other tiles are rounded otherwise: sums over lattices are
 * then as exact as over others. */
static __device__ inline float chance(int64_t a, int64_t b)
{
    uint32_t mixed = ((uint32_t)min(a, b) * 2654435761u) ^ ((uint32_t)max(a, b) * 2246822519u);
    mixed = (mixed ^ mixed >> 15) * 2654435761u;
    return 1.0f + (float)(mixed >> 25) * 0x1p-10f;
}

static __device__ inline struct meeting meeting_of(const struct tensor_bodies &bodies, int64_t tile,
                                                   int64_t partner, float gap2, float softening2)
{
    const struct tensor_box targets = bodies.box[tile], sources = bodies.box[partner];
    const float least2 = 0.998f * (gap2 + softening2); /* a little less, as r² is rounded */
    const int half_exponent = ilogbf(least2) >> 1;     /* 4^half ≤ least² */
    struct meeting to;
    to.partner = (int)partner;
    for (int c = 0; c < 3; c++)
        to.center[c] = sources.center[c];
    const float wider = chance(tile, partner);
    to.length2 = ldexpf(wider, -2 * half_exponent);
    to.coordinate = to.length2 / sources.scale;
    to.norm2 = to.coordinate / sources.scale;
    const float s2 = to.length2 * least2;
    const int spare = ilogbf(s2 * sqrtf(s2)); /* W would be less than 2^(16 − spare) */
    to.magic = ldexpf(128.0f, -spare);
    const float weight = ldexpf(wider * sqrtf(wider), -3 * half_exponent - 16 - spare);
    to.target_mass = weight * sources.mass;
    to.target_moment = to.target_mass / sources.scale;
    to.source_mass = weight * targets.mass;
    to.source_moment = to.source_mass / targets.scale;
    const float weight_of_potential = ldexpf(sqrtf(wider), -half_exponent - 16);
    to.target_potential = weight_of_potential * sources.mass;
    to.source_potential = weight_of_potential * targets.mass;
    return to;
}

#endif
