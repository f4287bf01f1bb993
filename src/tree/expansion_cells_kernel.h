/* Operators between cells: M2M, M2L, L2L, powers. Part of expansion_kernel.c. */

/* The records of a vector's cells. */
struct records {
    VREAL header[4]; /* center and size */
    VREAL multipole[max_count];
};

SIMD_INLINE const REAL *record(const struct expansion *expansion, const void *multipoles,
                               int64_t cell)
{
    return (const REAL *)multipoles + cell * expansion_record_length(expansion);
}

SIMD_INLINE REAL *local_of(const struct expansion *expansion, void *locals, int64_t cell)
{
    return (REAL *)locals + cell * expansion_local_length(expansion);
}

SIMD_INLINE void gather_records(const struct expansion *expansion, const REAL *const *from,
                                struct records *records)
{
    simd_gather4(records->header, from, 0); // cppcheck-suppress uninitvar; it is written here
    for (int32_t k = 0; k < expansion_local_length(expansion); k += 4)
        simd_gather4(records->multipole + k, from, expansion_header + k);
}

/* f_α *= ratio^n */
static void scale_degrees(int32_t order, int32_t max_c, VREAL ratio, VREAL *f)
{
    VREAL power[max_rows];
    power[0] = simd_all((REAL)1);
    for (int32_t n = 1; n <= order; n++)
        power[n] = power[n - 1] * ratio;
    for (int32_t c = 0; c <= max_c; c++)
        for (int32_t b = 0; b <= order - c; b++)
            for (int32_t a = 0; a <= order - c - b; a++)
                f[expansion_row(order, b, c) + a] *= power[a + b + c];
}

/* to[k] (+)= Σ over lanes of f[k]. Destroys f, which has room for whole vectors of k. */
static void sum_lanes(int32_t count, VREAL *f, bool overwrite, REAL *to)
{
    for (int32_t k = 0; k < count; k += REAL_LANES) {
        const VREAL sum = simd_sum_rows(f + k);
        if (k + REAL_LANES <= count)
            simd_store(to + k, overwrite ? sum : simd_load(to + k) + sum);
        else
            for (int32_t lane = 0; k + lane < count; lane++)
                to[k + lane] = (overwrite ? 0 : to[k + lane]) + sum[lane];
    }
}

/* A record without charges, far enough from a target for its derivatives to be in range: what lanes
 * without a source read. */
static void make_empty(const struct expansion *expansion, const REAL *target, REAL *empty)
{
    memset(empty, 0, sizeof(REAL) * (size_t)expansion_record_length(expansion));
    memcpy(empty, target, sizeof(REAL) * expansion_header);
    REAL away = 4 * target[3];
    while (empty[0] == target[0]) { /* 4 sizes may round to 0 */
        empty[0] = target[0] + away;
        away *= 2;
    }
}

static void m2m(const struct expansion *expansion, void *multipoles, int64_t cell,
                int64_t first_child, int64_t children)
{
    const int32_t order = expansion->order, max_c = expansion_max_c(expansion->basis, order);
    const REAL *parent = record(expansion, multipoles, cell);
    REAL empty[expansion_header + max_count];
    VREAL sum[max_count + REAL_LANES];
    const int32_t sum_c = expansion->basis == expansion_harmonic ? 2 : max_c;
    memset(sum, 0, sizeof sum[0] * (size_t)(expansion_row(order, 0, sum_c + 1) + REAL_LANES));
    make_empty(expansion, parent, empty);
    for (int64_t begin = 0; begin < children; begin += REAL_LANES) {
        const REAL *from[REAL_LANES];
        for (int32_t lane = 0; lane < REAL_LANES; lane++)
            from[lane] = begin + lane < children
                             ? record(expansion, multipoles, first_child + begin + lane)
                             : empty;
        struct records records;
        gather_records(expansion, from, &records);
        const REAL inverse = 1 / parent[3];
        VREAL d[3], shift[max_count];
        for (int32_t axis = 0; axis < 3; axis++)
            d[axis] = (parent[axis] - records.header[axis]) * inverse;
        scale_degrees(order, max_c, records.header[3] * inverse, records.multipole);
        make_polynomials(order, expansion->basis, d, shift);
        multiply(order, max_c, sum, records.multipole, shift);
    }
    if (expansion->basis == expansion_harmonic)
        reduce(order, sum);
    sum_lanes(expansion_count(expansion), sum, true,
              (REAL *)multipoles + cell * expansion_record_length(expansion) + expansion_header);
}

/* The unit of length of each lane: the size or, where the distance exceeds FAR sizes, the
 * distance. */
SIMD_INLINE bool choose_units(const VREAL d[3], REAL size, VREAL *unit)
{
    const REAL limit = FAR * size;
    *unit = simd_all(size);
    VMASK beyond = {0};
    SIMD_UNROLL
    for (int32_t axis = 0; axis < 3; axis++)
        beyond |= (VMASK)(simd_fabs(d[axis]) > limit);
    if (!ANY_LANE(beyond))
        return false;
    for (int32_t lane = 0; lane < REAL_LANES; lane++) {
        REAL distance = 0;
        for (int32_t axis = 0; axis < 3; axis++) {
            const REAL x = d[axis][lane] < 0 ? -d[axis][lane] : d[axis][lane];
            distance = x > distance ? x : distance;
        }
        (*unit)[lane] = distance > FAR * size ? distance : size;
    }
    return true;
}

/* What M2L knows of its target. */
struct target {
    const REAL *header;
    REAL softening, inverse; /* of the size */
    int32_t order, max_c;
    int32_t coefficients, groups;      /* of four coefficients */
    uint16_t power_at[max_count + 24]; /* bytes from the power 0 to the one of a coefficient */
};

SIMD_INLINE void describe_target(const struct expansion *expansion, const REAL *header,
                                 struct target *target)
{
    const int32_t order = expansion->order, max_c = expansion_max_c(expansion->basis, order);
    target->header = header;
    target->softening = (REAL)sqrt(expansion->softening2);
    target->inverse = 1 / header[3];
    target->order = order;
    target->max_c = max_c;
    target->coefficients = expansion_count(expansion);
    target->groups = expansion_local_length(expansion) / 4;
    uint16_t *at = target->power_at;
    for (int32_t c = 0; c <= max_c; c++)
        for (int32_t b = 0; b <= order - c; b++) {
            for (int32_t n = 0; n < max_rows; n++) /* more than the row */
                at[n] = (uint16_t)((b + c + n) * (int32_t)sizeof(VREAL));
            at += order - c - b + 1;
        }
    memset(at, 0, 3 * sizeof *at);
}

/* to[k] = from[k] times its power, for a group of four from this coefficient on. */
SIMD_INLINE void scale_group(const struct target *target, const VREAL *power, int32_t first,
                             const VREAL *from, VREAL *restrict to)
{
    SIMD_UNROLL
    for (int32_t k = first; k < first + 4; k++)
        to[k] = from[k - first] *
                *(const VREAL *)(const void *)((const char *)power + target->power_at[k]);
}

/* A vector of sources, a lane each, as a target sees them. */
struct sources {
    const REAL *from[REAL_LANES];
    bool far;                /* beyond FAR sizes of the target */
    VREAL d[3], s2, inverse; /* distance in units; 1 / unit */
    VREAL ratio;             /* size in units */
    VREAL multipole[4];      /* the first coefficients */
    VREAL base[max_rows];    /* of differentiate */
};

SIMD_INLINE void place_sources(const struct target *target, struct sources *sources)
{
    VREAL eight[8], d[3], unit; /* the header and four coefficients */
    simd_gather8(eight, sources->from, 0);
    SIMD_UNROLL
    for (int32_t axis = 0; axis < 3; axis++)
        d[axis] = target->header[axis] - eight[axis];
    sources->far = choose_units(d, target->header[3], &unit);
    const VREAL inverse = sources->far ? 1 / unit : simd_all(target->inverse);
    const VREAL softening = target->softening * inverse;
    VREAL s2 = softening * softening;
    SIMD_UNROLL
    for (int32_t axis = 0; axis < 3; axis++) {
        sources->d[axis] = d[axis] * inverse;
        s2 = simd_fma(sources->d[axis], sources->d[axis], s2);
    }
    sources->inverse = inverse;
    sources->ratio = eight[3] * inverse;
    SIMD_UNROLL
    for (int32_t k = 0; k < 4; k++)
        sources->multipole[k] = eight[4 + k];
    sources->s2 = s2;
}

/* Adds the field of sources to sum; multipole and field are memory. */
SIMD_INLINE void add_sources(const struct expansion *expansion, const struct target *target,
                             struct sources *sources, VREAL *restrict sum,
                             VREAL *restrict multipole, VREAL *restrict field)
{
    const int32_t order = target->order;
    const REAL *const *from = sources->from;
    VREAL eight[8], power[max_rows];
    make_tensors(expansion->basis, order, sources->d, sources->base, field);

    /* M_α size^n / unit^n, and what a unit of f is */
    power[0] = expansion->law == expansion_inverse ? sources->inverse : simd_all((REAL)1);
    for (int32_t n = 1; n <= order; n++)
        power[n] = power[n - 1] * sources->ratio;
    scale_group(target, power, 0, sources->multipole, multipole);
    int32_t group = 1;
    for (; group + 1 < target->groups; group += 2) {
        simd_gather8(eight, from, expansion_header + 4 * group);
        scale_group(target, power, 4 * group, eight, multipole);
        scale_group(target, power, 4 * group + 4, eight + 4, multipole);
    }
    if (group < target->groups) {
        simd_gather4(eight, from, expansion_header + 4 * group);
        scale_group(target, power, 4 * group, eight, multipole);
    }
    if (!sources->far) {
        contract(order, target->max_c, sum, multipole, field);
        return;
    }
    VREAL part[max_count];
    memset(part, 0, sizeof part[0] * (size_t)target->coefficients);
    contract(order, target->max_c, part, multipole, field);
    scale_degrees(order, target->max_c, target->header[3] * sources->inverse, part);
    for (int32_t k = 0; k < target->coefficients; k++)
        sum[k] += part[k];
}

static void m2l_by_orders(const struct expansion *expansion, const void *multipoles, void *locals,
                          int64_t target, const int32_t *sources, const int32_t *counts);

static void m2l(const struct expansion *expansion, const void *multipoles, void *locals,
                int64_t target, const int32_t *sources, int64_t count)
{
    if (expansion->tables) {
        int32_t counts[expansion_max_order + 1] = {0};
        counts[expansion->order] = (int32_t)count;
        m2l_by_orders(expansion, multipoles, locals, target, sources, counts);
        return;
    }
    const REAL *header = record(expansion, multipoles, target);
    struct target described;
    describe_target(expansion, header, &described);
    const int32_t length = expansion_record_length(expansion);
    REAL empty[expansion_header + max_count];
    /* All numbers next to each other, so that they share no set of the cache. */
    VREAL sum[3 * max_count + REAL_LANES + 3];
    VREAL *const multipole = sum + described.coefficients + REAL_LANES;
    VREAL *const field = multipole + 4 * described.groups;
    memset(sum, 0, sizeof sum[0] * (size_t)(described.coefficients + REAL_LANES));
    if (count % REAL_LANES != 0)
        make_empty(expansion, header, empty);
    for (int64_t begin = 0; begin < count;) {
        struct sources sources_of[ahead];
        int32_t vectors = 0;
        for (; vectors < ahead && begin < count; vectors++) {
            struct sources *of = &sources_of[vectors];
            for (int32_t lane = 0; lane < REAL_LANES; lane++, begin++)
                of->from[lane] = begin < count
                                     ? (const REAL *)multipoles + (int64_t)sources[begin] * length
                                     : empty;
            place_sources(&described, of);
        }
        for (int32_t v = 0; v < vectors; v++)
            differentiate(expansion, described.order, sources_of[v].s2, sources_of[v].inverse,
                          sources_of[v].base);
        for (int32_t v = 0; v < vectors; v++)
            add_sources(expansion, &described, &sources_of[v], sum, multipole, field);
    }
    sum_lanes(described.coefficients, sum, false, local_of(expansion, locals, target));
}

/* f = a local expansion in all lanes, with c = 2 where that follows; in rows of another order, one
 * that is higher by more degrees of 0. */
static void load_local(const struct expansion *expansion, const REAL *local, int32_t order,
                       VREAL *f)
{
    const int32_t max_c = expansion_max_c(expansion->basis, expansion->order);
    const int32_t last = expansion->order;
    memset(f, 0, sizeof f[0] * (size_t)expansion_row(order, 0, max_c + 2));
    for (int32_t c = 0; c <= max_c; c++)
        for (int32_t b = 0; b <= last - c; b++)
            for (int32_t a = 0; a <= last - c - b; a++)
                f[expansion_row(order, b, c) + a] = simd_all(local[expansion_row(last, b, c) + a]);
    if (expansion->basis == expansion_harmonic)
        for (int32_t b = 0; b <= last - 2; b++)
            for (int32_t a = 0; a <= last - 2 - b; a++)
                f[expansion_row(order, b, 2) + a] = second_in_z(order + 1, f, a, b);
}

static void l2l(const struct expansion *expansion, const void *multipoles, void *locals,
                int64_t cell, int64_t first_child, int64_t children)
{
    const int32_t order = expansion->order, max_c = expansion_max_c(expansion->basis, order);
    const int32_t coefficients = expansion_count(expansion);
    const REAL *parent = record(expansion, multipoles, cell), inverse = 1 / parent[3];
    VREAL field[max_count];
    load_local(expansion, local_of(expansion, locals, cell), order, field);
    for (int64_t begin = 0; begin < children; begin += REAL_LANES) {
        const int64_t left = children - begin;
        const int32_t used = left < REAL_LANES ? (int32_t)left : REAL_LANES;
        VREAL d[3] = {{0}}, ratio = {0}, shift[max_count], sum[max_count];
        for (int32_t lane = 0; lane < used; lane++) {
            const REAL *child = record(expansion, multipoles, first_child + begin + lane);
            for (int32_t axis = 0; axis < 3; axis++)
                d[axis][lane] = (child[axis] - parent[axis]) * inverse;
            ratio[lane] = child[3] * inverse;
        }
        make_polynomials(order, expansion->basis, d, shift);
        memset(sum, 0, sizeof sum[0] * (size_t)coefficients);
        contract(order, max_c, sum, shift, field);
        scale_degrees(order, max_c, ratio, sum);
        for (int32_t lane = 0; lane < used; lane++) {
            REAL *local = local_of(expansion, locals, first_child + begin + lane);
            for (int32_t k = 0; k < coefficients; k++)
                local[k] += sum[k][lane];
        }
    }
}
