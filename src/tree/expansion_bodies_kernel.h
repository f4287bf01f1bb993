/* Operators between cells and bodies: P2M, L2P, M2P. Part of expansion_kernel.c. */

/* Elements begin … of a column; those from end on, and all of a column that is NULL, are other. */
SIMD_INLINE VREAL load_column(const void *column, int64_t begin, int64_t end, REAL other)
{
    VREAL x = simd_all(other);
    if (!column)
        return x;
    if (end - begin >= REAL_LANES)
        return simd_load((const REAL *)column + begin);
    for (int32_t lane = 0; lane < end - begin; lane++)
        x[lane] = ((const REAL *)column)[begin + lane];
    return x;
}

/* column[begin …] += x, not from end on. */
SIMD_INLINE void add_to_column(void *column, int64_t begin, int64_t end, VREAL x)
{
    REAL *to = (REAL *)column + begin;
    if (end - begin >= REAL_LANES)
        simd_store(to, simd_load((const REAL *)to) + x);
    else
        for (int32_t lane = 0; lane < end - begin; lane++)
            to[lane] += x[lane];
}

static void p2m(const struct expansion *expansion, const struct expansion_bodies *bodies,
                int64_t first, int64_t count, void *multipoles, int64_t cell)
{
    const int32_t coefficients = expansion_count(expansion);
    const int64_t end = first + count;
    const REAL *center = record(expansion, multipoles, cell), inverse = 1 / center[3];
    VREAL sum[max_count + REAL_LANES];
    memset(sum, 0, sizeof sum[0] * (size_t)(coefficients + REAL_LANES));
    for (int64_t j = first; j < end; j += REAL_LANES) {
        VREAL d[3], polynomials[max_count];
        for (int32_t axis = 0; axis < 3; axis++)
            d[axis] = (center[axis] - load_column(bodies->x[axis], j, end, center[axis])) * inverse;
        const VREAL charge = load_column(bodies->charge, j, end, 0);
        make_polynomials(expansion->order, expansion->basis, d, polynomials);
        for (int32_t k = 0; k < coefficients; k++)
            sum[k] = simd_fma(charge, polynomials[k], sum[k]);
    }
    sum_lanes(coefficients, sum, true,
              (REAL *)multipoles + cell * expansion_record_length(expansion) + expansion_header);
}

/* Adds sums of dot, times factors for potential and gradient, to the field at begin …. */
SIMD_INLINE void add_to_field(const struct expansion_field *field, int64_t begin, int64_t end,
                              const VREAL total[4], REAL factor)
{
    if (field->potential)
        add_to_column(field->potential, begin, end, total[0]);
    for (int32_t axis = 0; axis < 3; axis++)
        if (field->gradient[axis])
            add_to_column(field->gradient[axis], begin, end, total[1 + axis] * factor);
}

static void l2p(const struct expansion *expansion, const void *multipoles, const void *locals,
                int64_t cell, const struct expansion_bodies *bodies, int64_t first, int64_t count,
                const struct expansion_field *field)
{
    const int32_t order = expansion->order;
    const int64_t end = first + count;
    const REAL *center = record(expansion, multipoles, cell), inverse = 1 / center[3];
    const REAL *coefficients = (const REAL *)locals + cell * expansion_local_length(expansion);
    VREAL local[max_count];
    load_local(expansion, coefficients, order + 1, local);
    for (int64_t i = first; i < end; i += REAL_LANES) {
        VREAL d[3], polynomials[max_count], total[4];
        for (int32_t axis = 0; axis < 3; axis++)
            d[axis] = (load_column(bodies->x[axis], i, end, center[axis]) - center[axis]) * inverse;
        make_polynomials(order, expansion->basis, d, polynomials);
        dot(order, expansion->basis, polynomials, local, total);
        add_to_field(field, i, end, total, inverse);
    }
}

/* The field of a source cell at a vector of targets at x: sums[0] += φ, sums[1 … 3] += ∇φ. */
SIMD_INLINE void add_cell(const struct expansion *expansion, REAL softening, const REAL header[4],
                          const VREAL *multipole, const VREAL x[3], VREAL sums[4])
{
    const int32_t order = expansion->order;
    VREAL d[3], unit, derivatives[max_count], total[4];
    SIMD_UNROLL
    for (int32_t axis = 0; axis < 3; axis++)
        d[axis] = x[axis] - header[axis];
    const bool far = choose_units(d, header[3], &unit);
    const VREAL inverse = 1 / unit, scaled_softening = softening * inverse;
    VREAL s2 = scaled_softening * scaled_softening;
    SIMD_UNROLL
    for (int32_t axis = 0; axis < 3; axis++) {
        d[axis] *= inverse;
        s2 = simd_fma(d[axis], d[axis], s2);
    }
    make_derivatives(expansion, order + 1, d, s2, inverse, derivatives);
    if (far) /* to the unit of the coefficients; the gradient is then in that unit, too */
        scale_degrees(order + 1,
                      expansion->basis == expansion_harmonic
                          ? 2
                          : expansion_max_c(expansion->basis, order + 1),
                      header[3] * inverse, derivatives);
    dot(order, expansion->basis, multipole, derivatives, total);
    const VREAL value = expansion->law == expansion_inverse ? inverse : simd_all((REAL)1);
    sums[0] = simd_fma(value, total[0], sums[0]);
    const VREAL inverse2 = value * (1 / header[3]);
    SIMD_UNROLL
    for (int32_t k = 1; k < 4; k++)
        sums[k] = simd_fma(inverse2, total[k], sums[k]);
}

/* Targets by blocks, so that the coefficients of a source are brought into vectors once a block. */
static void m2p(const struct expansion *expansion, const void *multipoles, const int32_t *sources,
                int64_t source_count, const struct expansion_bodies *bodies, int64_t first,
                int64_t count, const struct expansion_field *field)
{
    const int64_t end = first + count;
    const int32_t coefficients = expansion_count(expansion);
    const REAL softening = (REAL)sqrt(expansion->softening2);
    for (int64_t begin = first; begin < end; begin += block_vectors * REAL_LANES) {
        VREAL x[block_vectors][3], sums[block_vectors][4] = {{{0}}};
        int32_t vectors = 0;
        for (int64_t i = begin; i < end && vectors < block_vectors; i += REAL_LANES, vectors++)
            for (int32_t axis = 0; axis < 3; axis++)
                x[vectors][axis] =
                    load_column(bodies->x[axis], i, end,
                                bodies->x[axis] ? ((const REAL *)bodies->x[axis])[i] : 0);
        for (int64_t s = 0; s < source_count; s++) {
            const REAL *from = record(expansion, multipoles, sources[s]);
            VREAL multipole[max_count];
            for (int32_t k = 0; k < coefficients; k++)
                multipole[k] = simd_all(from[expansion_header + k]);
            for (int32_t v = 0; v < vectors; v++)
                add_cell(expansion, softening, from, multipole, x[v], sums[v]);
        }
        for (int32_t v = 0; v < vectors; v++)
            add_to_field(field, begin + v * REAL_LANES, end, sums[v], 1);
    }
}
