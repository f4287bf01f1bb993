/* P2L: what the bodies of leaves do to a cell. Part of expansion_kernel.c. */

/* ∂^α φ, |α| ≤ 2, in the order of their sums. */
enum { of_0, of_x, of_y, of_z, of_xx, of_xy, of_yy, of_xz, of_yz, of_zz, derivatives_of_2 };

/* Adds those of a vector of bodies, at −d from the center. */
SIMD_INLINE void add_derivatives(VREAL charge, const VREAL d[3], VREAL s2, VREAL *sum)
{
    const VREAL inverse = simd_rsqrt(s2), inverse2 = inverse * inverse;
    const VREAL of_potential = charge * inverse, of_field = of_potential * inverse2;
    const VREAL twice = 3 * of_field * inverse2;
    const VREAL x = twice * d[0], y = twice * d[1], z = twice * d[2];
    sum[of_0] += of_potential;
    SIMD_UNROLL
    for (int32_t axis = 0; axis < 3; axis++)
        sum[of_x + axis] = simd_fma(-of_field, d[axis], sum[of_x + axis]);
    sum[of_xx] += simd_fma(x, d[0], -of_field);
    sum[of_xy] = simd_fma(x, d[1], sum[of_xy]);
    sum[of_yy] += simd_fma(y, d[1], -of_field);
    sum[of_xz] = simd_fma(x, d[2], sum[of_xz]);
    sum[of_yz] = simd_fma(y, d[2], sum[of_yz]);
    sum[of_zz] += simd_fma(z, d[2], -of_field);
}

static void p2l(const struct expansion *expansion, const void *multipoles, void *locals,
                int64_t cell, const struct expansion_part *parts, int32_t count)
{
    static const uint8_t degrees[derivatives_of_2][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1},
                                                         {2, 0, 0}, {1, 1, 0}, {0, 2, 0}, {1, 0, 1},
                                                         {0, 1, 1}, {0, 0, 2}};
    const int32_t order = expansion->order, max_c = expansion_max_c(expansion->basis, order);
    REAL center[expansion_header + max_count], *const local = local_of(expansion, locals, cell);
    VREAL sum[2 * REAL_LANES + derivatives_of_2] = {{0}};
    make_empty(expansion, record(expansion, multipoles, cell), center);
    const REAL *header = record(expansion, multipoles, cell), inverse = 1 / header[3];
    const REAL softening = (REAL)sqrt(expansion->softening2) * inverse;
    for (int32_t k = 0; k < count; k++) {
        const struct expansion_bodies *bodies = &parts[k].bodies;
        for (int64_t j = 0; j < parts[k].count; j += REAL_LANES) {
            VREAL d[3], s2 = simd_all(softening * softening);
            SIMD_UNROLL
            for (int32_t axis = 0; axis < 3; axis++) {
                const VREAL x = load_column(bodies->x[axis], j, parts[k].count, center[axis]);
                d[axis] = (header[axis] - x) * inverse;
                s2 = simd_fma(d[axis], d[axis], s2);
            }
            add_derivatives(load_column(bodies->charge, j, parts[k].count, 0), d, s2, sum);
        }
    }
    REAL total[2 * REAL_LANES + derivatives_of_2];
    sum_lanes(derivatives_of_2, sum, true, total);
    for (int32_t k = 0; k < derivatives_of_2; k++)
        if (degrees[k][2] <= max_c)
            local[expansion_row(order, degrees[k][1], degrees[k][2]) + degrees[k][0]] +=
                total[k] * inverse;
}
