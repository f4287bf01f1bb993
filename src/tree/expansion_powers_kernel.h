/* Multipole powers. Part of expansion_kernel.c. */

/* P_n / s^n of a vector of cells. f(φ) = Σ_α M_α (i cos φ)^a (i sin φ)^b = Σ_m c_m e^{imφ} has
 * |c_m| = |M_n^m|, as Laplace's integral for P_n^m says of a point (Whittaker & Watson, §18.31):
 * (i cos φ, i sin φ, 1) is a vector of square 0, as ∇ is where it acts on 1/r. The factors i matter
 * by the sign between c and c + 2 alone: c and c + 1 have no m in common. */
static VREAL power2(int32_t order, int32_t max_c, const struct expansion_angles *table,
                    const VREAL *multipole, int32_t n, VREAL *solid)
{
    VREAL result = {0};
    for (int32_t m = 0; m <= n; m++) {
        VREAL part[2] = {{0}}; /* of cos mφ and of sin mφ */
        for (int32_t c = (n - m) % 2; c <= max_c && c <= n - m; c += 2)
            for (int32_t b = 0, a = n - c; a >= 0; b++, a--)
                part[b % 2] =
                    simd_fma(simd_all((REAL)(c % 4 < 2 ? table->of[a][b][m] : -table->of[a][b][m])),
                             multipole[expansion_row(order, b, c) + a], part[b % 2]);
        const REAL weight = (REAL)table->weight[n][m];
        for (int32_t k = 0; k < 2; k++) {
            part[k] *= weight;
            result = simd_fma(part[k], part[k], result);
            if (solid) /* ∂₊∂₋ is −∂_z² */
                solid[2 * m + k] = (n - m) / 2 % 2 == 0 ? part[k] : -part[k];
        }
    }
    return result;
}

/* The solid coefficients of degree n, a lane's to a record. */
static void store_solid(const struct expansion *expansion, int32_t n, const VREAL *solid,
                        void *multipoles, int64_t first, int64_t count)
{
    for (int32_t lane = 0; lane < REAL_LANES && lane < count; lane++) {
        REAL *record = (REAL *)multipoles + (first + lane) * expansion_record_length(expansion);
        for (int32_t k = 0; k < 2 * n + 2; k++)
            record[expansion_solid(expansion) + solid_row(n) + k] = solid[k][lane];
    }
}

/* Of a potential that is not harmonic: Σ_α n! α! M_α², |α| = n. */
static VREAL power2_of_tensor(int32_t order, int32_t max_c, const VREAL *multipole, int32_t n)
{
    VREAL result = {0};
    for (int32_t c = 0; c <= max_c && c <= n; c++)
        for (int32_t b = 0, a = n - c; a >= 0; b++, a--) {
            const double factor = tgamma(n + 1) * tgamma(a + 1) * tgamma(b + 1) * tgamma(c + 1);
            const VREAL part = multipole[expansion_row(order, b, c) + a] * (REAL)sqrt(factor);
            result = simd_fma(part, part, result);
        }
    return result;
}

static void powers(const struct expansion *expansion, void *multipoles, int64_t first,
                   int64_t count, void *powers)
{
    const int32_t order = expansion->order, max_c = expansion_max_c(expansion->basis, order);
    const bool has_solid = expansion->has_solid;
    const struct expansion_angles *table = expansion->angles;
    for (int64_t begin = 0; begin < count; begin += REAL_LANES) {
        const REAL *from[REAL_LANES];
        for (int32_t lane = 0; lane < REAL_LANES; lane++)
            from[lane] = record(expansion, multipoles,
                                first + (begin + lane < count ? begin + lane : begin));
        struct records records;
        gather_records(expansion, from, &records);
        for (int32_t n = 0; n <= order; n++) {
            VREAL solid[2 * max_rows];
            const VREAL result =
                expansion->law == expansion_series
                    ? power2_of_tensor(order, max_c, records.multipole, n)
                    : power2(order, max_c, table, records.multipole, n, has_solid ? solid : NULL);
            if (has_solid)
                store_solid(expansion, n, solid, multipoles, first + begin, count - begin);
            for (int32_t lane = 0; lane < REAL_LANES && begin + lane < count; lane++)
                ((REAL *)powers)[(begin + lane) * (order + 1) + n] =
                    (REAL)sqrt((double)result[lane]);
        }
    }
}
