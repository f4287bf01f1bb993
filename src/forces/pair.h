/* The arithmetic of a pair for one precision, shared by the kernels of small systems. Included by
 * their bodies (core/real.h).
 *
 * S2_FLOOR is part of every softening²: at the same position d = 0 and 1/s³ is finite, so that d/s³
 * is 0 there by itself. */

SIMD_INLINE VREAL pair_s2(const int32_t dimensions, const VREAL d[3], VREAL softening2)
{
    VREAL s2 = softening2;
    SIMD_UNROLL
    for (int32_t c = 0; c < dimensions; c++)
        s2 = simd_fma(d[c], d[c], s2);
    return s2;
}

/* FIELD_SCALE d/s³: times the source's mass, the contribution to the target; times the target's
 * mass and −1, that to the source. */
SIMD_INLINE void pair_field(const int32_t dimensions, const VREAL d[3], VREAL softening2,
                            VREAL field[3])
{
    const VREAL cube = simd_rsqrt3_scaled(pair_s2(dimensions, d, softening2));
    SIMD_UNROLL
    for (int32_t c = 0; c < dimensions; c++)
        field[c] = cube * d[c];
}
