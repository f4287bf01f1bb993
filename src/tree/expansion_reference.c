/* Expansions as tensors of all components, reduced to the coefficients of the basis at the end of
 * each operator. */

#include "tree/expansion.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum {
    degrees = expansion_max_order + 2, /* M2P takes derivatives of one order more */
    components = degrees * (degrees + 1) * (degrees + 2) / 6
};

/* A component for each α with |α| < degrees. */
struct tensor {
    double at[components];
};

static double *component(struct tensor *tensor, int32_t a, int32_t b, int32_t c)
{
    return &tensor->at[expansion_row(degrees - 1, b, c) + a];
}

/* for (every α of degree n) */
#define EACH_COMPONENT(n, a, b, c)                                                                 \
    for (int32_t c = 0; c <= (n); c++)                                                             \
        for (int32_t b = 0, a = (n)-c; a >= 0; b++, a--)

/* d^α / α! for |α| ≤ order. */
static struct tensor monomials(int32_t order, const double d[3])
{
    double powers[3][degrees];
    for (int32_t axis = 0; axis < 3; axis++) {
        powers[axis][0] = 1;
        for (int32_t k = 1; k <= order; k++)
            powers[axis][k] = powers[axis][k - 1] * d[axis] / k;
    }
    struct tensor result = {{0}};
    for (int32_t n = 0; n <= order; n++)
        EACH_COMPONENT (n, a, b, c)
            *component(&result, a, b, c) = powers[0][a] * powers[1][b] * powers[2][c];
    return result;
}

/* ∂^α f for |α| ≤ order of f = 1/s or ln s, s² = d² + ε², in the unit of d: ∂^α of
 * s² ∂_i (1/s) = −d_i/s or of s² ∂_i ln s = d_i, solved for ∂^α ∂_i f, where i is the first axis in
 * α + e_i. */
static struct tensor derivatives(const struct expansion *expansion, int32_t order,
                                 const double d[3], double unit)
{
    const bool logarithm = expansion->law == expansion_logarithm;
    const double s2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + expansion->softening2 / unit / unit;
    struct tensor result = {{logarithm ? log(s2) / 2 + log(unit) : 1 / sqrt(s2)}};
    for (int32_t n = 1; n <= order; n++)
        EACH_COMPONENT (n, a, b, c) {
            const int32_t axis = a > 0 ? 0 : b > 0 ? 1 : 2;
            double sum = 0;
            if (logarithm && n <= 2)
                sum = n == 1 ? d[axis] : fmax(a, fmax(b, c)) == 2;
            for (int32_t k = 0; k < 3; k++) {
                int32_t alpha[3] = {a, b, c};
                const int32_t power = alpha[k] - (k == axis);
                const int32_t own = k == axis && !logarithm;
                const double factor[2] = {2 * power + own, power * (power - 1 + own)};
                alpha[k]--;
                if (factor[0] != 0)
                    sum -= factor[0] * d[k] * *component(&result, alpha[0], alpha[1], alpha[2]);
                alpha[k]--;
                if (factor[1] != 0)
                    sum -= factor[1] * *component(&result, alpha[0], alpha[1], alpha[2]);
            }
            *component(&result, a, b, c) = sum / s2;
        }
    return result;
}

/* What f(s) is to be multiplied by if s is in another unit of length. */
static double value_of_unit(const struct expansion *expansion, double unit)
{
    return expansion->law == expansion_logarithm ? 1 : 1 / unit;
}

/* The coefficients of a multipole or local expansion as a tensor, times unit^n; 0 where there is no
 * coefficient. */
static struct tensor read(const struct expansion *expansion, const double *coefficients,
                          double unit)
{
    struct tensor result = {{0}};
    double power = 1;
    for (int32_t n = 0; n <= expansion->order; n++) {
        EACH_COMPONENT (n, a, b, c)
            if (c <= expansion_max_c(expansion->basis, n))
                *component(&result, a, b, c) =
                    power * coefficients[expansion_row(expansion->order, b, c) + a];
        power *= unit;
    }
    return result;
}

/* The same of a local expansion, with the components that Laplace's equation gives. */
static struct tensor read_local(const struct expansion *expansion, const double *local, double unit)
{
    struct tensor result = read(expansion, local, unit);
    if (expansion->basis == expansion_harmonic)
        for (int32_t n = 2; n <= expansion->order; n++)
            EACH_COMPONENT (n, a, b, c)
                if (c >= 2)
                    *component(&result, a, b, c) = -*component(&result, a + 2, b, c - 2) -
                                                   *component(&result, a, b + 2, c - 2);
    return result;
}

/* Adds a tensor times unit^n to coefficients. */
static void add(const struct expansion *expansion, struct tensor *tensor, double unit,
                double *coefficients)
{
    double power = 1;
    for (int32_t n = 0; n <= expansion->order; n++) {
        EACH_COMPONENT (n, a, b, c)
            if (c <= expansion_max_c(expansion->basis, n))
                coefficients[expansion_row(expansion->order, b, c) + a] +=
                    power * *component(tensor, a, b, c);
        power *= unit;
    }
}

/* The same for a multipole: what multiplies D_α with c ≥ 2 goes to those that D_α is the sum of. */
static void add_multipole(const struct expansion *expansion, struct tensor *tensor, double unit,
                          double *coefficients)
{
    if (expansion->basis == expansion_harmonic)
        for (int32_t n = 2; n <= expansion->order; n++)
            for (int32_t c = n; c >= 2; c--)
                for (int32_t b = 0, a = n - c; a >= 0; b++, a--) {
                    *component(tensor, a + 2, b, c - 2) -= *component(tensor, a, b, c);
                    *component(tensor, a, b + 2, c - 2) -= *component(tensor, a, b, c);
                }
    add(expansion, tensor, unit, coefficients);
}

/* result_α = Σ_β of degree ≤ order − |α| or, with all, ≤ order, of terms_β tensor_{α + β}. */
static double contract(int32_t order, struct tensor *terms, struct tensor *tensor, int32_t a,
                       int32_t b, int32_t c)
{
    double sum = 0;
    for (int32_t n = 0; n <= order; n++)
        EACH_COMPONENT (n, i, j, k)
            sum += *component(terms, i, j, k) * *component(tensor, a + i, b + j, c + k);
    return sum;
}

static const double *record(const struct expansion *expansion, const void *multipoles, int64_t cell)
{
    return (const double *)multipoles + cell * expansion_record_length(expansion);
}

static double *coefficients_of(const struct expansion *expansion, void *multipoles, int64_t cell)
{
    return (double *)multipoles + cell * expansion_record_length(expansion) + expansion_header;
}

static double *local_of(const struct expansion *expansion, void *locals, int64_t cell)
{
    return (double *)locals + cell * expansion_local_length(expansion);
}

static void p2m(const struct expansion *expansion, const struct expansion_bodies *bodies,
                int64_t first, int64_t count, void *multipoles, int64_t cell)
{
    const double *center = record(expansion, multipoles, cell), size = center[3];
    double *multipole = coefficients_of(expansion, multipoles, cell);
    memset(multipole, 0, sizeof(double) * (size_t)expansion_local_length(expansion));
    for (int64_t j = first; j < first + count; j++) {
        double d[3] = {0};
        for (int32_t axis = 0; axis < 3; axis++)
            if (bodies->x[axis])
                d[axis] = (center[axis] - ((const double *)bodies->x[axis])[j]) / size;
        struct tensor powers = monomials(expansion->order, d);
        for (int32_t k = 0; k < components; k++)
            powers.at[k] *= ((const double *)bodies->charge)[j];
        add_multipole(expansion, &powers, 1, multipole);
    }
}

static void m2m(const struct expansion *expansion, void *multipoles, int64_t cell,
                int64_t first_child, int64_t children)
{
    const double *to = record(expansion, multipoles, cell);
    double *multipole = coefficients_of(expansion, multipoles, cell);
    memset(multipole, 0, sizeof(double) * (size_t)expansion_local_length(expansion));
    for (int64_t child = first_child; child < first_child + children; child++) {
        const double *from = record(expansion, multipoles, child);
        const double d[3] = {(to[0] - from[0]) / to[3], (to[1] - from[1]) / to[3],
                             (to[2] - from[2]) / to[3]};
        struct tensor shift = monomials(expansion->order, d);
        struct tensor moments = read(expansion, from + expansion_header, from[3] / to[3]);
        struct tensor sum = {{0}};
        for (int32_t n = 0; n <= expansion->order; n++)
            EACH_COMPONENT (n, a, b, c)
                for (int32_t m = 0; n + m <= expansion->order; m++)
                    EACH_COMPONENT (m, i, j, k)
                        *component(&sum, a + i, b + j, c + k) +=
                            *component(&moments, a, b, c) * *component(&shift, i, j, k);
        add_multipole(expansion, &sum, 1, multipole);
    }
}

static void m2l_of_order(const struct expansion *expansion, const void *multipoles, void *locals,
                         int64_t target, int32_t order, const int32_t *sources, int64_t count)
{
    const double *to = record(expansion, multipoles, target);
    for (int64_t s = 0; s < count; s++) {
        const double *from = record(expansion, multipoles, sources[s]);
        double d[3] = {to[0] - from[0], to[1] - from[1], to[2] - from[2]};
        const double unit = fmax(fabs(d[0]), fmax(fabs(d[1]), fabs(d[2])));
        for (int32_t axis = 0; axis < 3; axis++)
            d[axis] /= unit;
        struct tensor field = derivatives(expansion, order, d, unit);
        struct tensor moments = read(expansion, from + expansion_header, from[3] / unit);
        struct tensor local = {{0}};
        for (int32_t n = 0; n <= order; n++)
            EACH_COMPONENT (n, a, b, c)
                *component(&local, a, b, c) =
                    contract(order - n, &moments, &field, a, b, c) * value_of_unit(expansion, unit);
        add(expansion, &local, to[3] / unit, local_of(expansion, locals, target));
    }
}

static void m2l(const struct expansion *expansion, const void *multipoles, void *locals,
                int64_t target, const int32_t *sources, int64_t count)
{
    m2l_of_order(expansion, multipoles, locals, target, expansion->order, sources, count);
}

static void m2l_by_orders(const struct expansion *expansion, const void *multipoles, void *locals,
                          int64_t target, const int32_t *sources, const int32_t *counts)
{
    for (int32_t q = 0; q <= expansion->order; q++) {
        m2l_of_order(expansion, multipoles, locals, target, q, sources, counts[q]);
        sources += counts[q];
    }
}

static void l2l(const struct expansion *expansion, const void *multipoles, void *locals,
                int64_t cell, int64_t first_child, int64_t children)
{
    const double *from = record(expansion, multipoles, cell);
    for (int64_t child = first_child; child < first_child + children; child++) {
        const double *to = record(expansion, multipoles, child);
        const double d[3] = {(to[0] - from[0]) / from[3], (to[1] - from[1]) / from[3],
                             (to[2] - from[2]) / from[3]};
        struct tensor shift = monomials(expansion->order, d);
        struct tensor field = read_local(expansion, local_of(expansion, locals, cell), 1);
        struct tensor local = {{0}};
        for (int32_t n = 0; n <= expansion->order; n++)
            EACH_COMPONENT (n, a, b, c)
                *component(&local, a, b, c) =
                    contract(expansion->order - n, &shift, &field, a, b, c);
        add(expansion, &local, to[3] / from[3], local_of(expansion, locals, child));
    }
}

/* Adds φ = Σ terms_β tensor_β and the gradient Σ terms_β tensor_{β + e_i} to the field of a body.
 */
static void add_field(int32_t order, int32_t gradient_order, struct tensor *terms,
                      struct tensor *tensor, const double factor[2],
                      const struct expansion_field *field, int64_t body)
{
    if (field->potential)
        ((double *)field->potential)[body] += factor[0] * contract(order, terms, tensor, 0, 0, 0);
    for (int32_t axis = 0; axis < 3; axis++)
        if (field->gradient[axis])
            ((double *)field->gradient[axis])[body] +=
                factor[1] *
                contract(gradient_order, terms, tensor, axis == 0, axis == 1, axis == 2);
}

static void l2p(const struct expansion *expansion, const void *multipoles, const void *locals,
                int64_t cell, const struct expansion_bodies *bodies, int64_t first, int64_t count,
                const struct expansion_field *field)
{
    const double *center = record(expansion, multipoles, cell), size = center[3];
    const double *local = (const double *)locals + cell * expansion_local_length(expansion);
    struct tensor tensor = read_local(expansion, local, 1);
    for (int64_t i = first; i < first + count; i++) {
        double d[3] = {0};
        for (int32_t axis = 0; axis < 3; axis++)
            if (bodies->x[axis])
                d[axis] = (((const double *)bodies->x[axis])[i] - center[axis]) / size;
        struct tensor powers = monomials(expansion->order, d);
        add_field(expansion->order, expansion->order - 1, &powers, &tensor,
                  (double[2]){1, 1 / size}, field, i);
    }
}

static void m2p(const struct expansion *expansion, const void *multipoles, const int32_t *sources,
                int64_t source_count, const struct expansion_bodies *bodies, int64_t first,
                int64_t count, const struct expansion_field *field)
{
    for (int64_t i = first; i < first + count; i++)
        for (int64_t s = 0; s < source_count; s++) {
            const double *from = record(expansion, multipoles, sources[s]);
            double d[3] = {0}, unit = 0;
            for (int32_t axis = 0; axis < 3; axis++)
                if (bodies->x[axis]) {
                    d[axis] = ((const double *)bodies->x[axis])[i] - from[axis];
                    unit = fmax(unit, fabs(d[axis]));
                }
            for (int32_t axis = 0; axis < 3; axis++)
                d[axis] /= unit;
            struct tensor tensor = derivatives(expansion, expansion->order + 1, d, unit);
            const double value = value_of_unit(expansion, unit);
            struct tensor moments = read(expansion, from + expansion_header, from[3] / unit);
            add_field(expansion->order, expansion->order, &moments, &tensor,
                      (double[2]){value, value / unit}, field, i);
        }
}

static void p2l(const struct expansion *expansion, const void *multipoles, void *locals,
                int64_t cell, const struct expansion_part *parts, int32_t count)
{
    const double *center = record(expansion, multipoles, cell), size = center[3];
    for (int32_t k = 0; k < count; k++)
        for (int64_t j = 0; j < parts[k].count; j++) {
            double d[3] = {0};
            for (int32_t axis = 0; axis < 3; axis++)
                if (parts[k].bodies.x[axis])
                    d[axis] = (center[axis] - ((const double *)parts[k].bodies.x[axis])[j]) / size;
            struct tensor local = derivatives(expansion, 2, d, size);
            for (int32_t n = 0; n <= 2; n++)
                EACH_COMPONENT (n, a, b, c)
                    *component(&local, a, b, c) *= ((const double *)parts[k].bodies.charge)[j] *
                                                   value_of_unit(expansion, size);
            add(expansion, &local, 1, local_of(expansion, locals, cell));
        }
}

/* Multiplies f(φ) = Σ_k series[k] e^{i(k − p)φ} by cos φ or sin φ. */
static void multiply(int32_t order, double (*series)[2], bool by_sine)
{
    double result[2 * degrees + 1][2] = {{0}};
    for (int32_t k = 1; k < 2 * order; k++)
        for (int32_t part = 0; part < 2; part++) {
            /* sin φ = (e^{iφ} − e^{−iφ}) / 2i */
            const int32_t to = by_sine ? 1 - part : part;
            const double up = by_sine && part == 0 ? -0.5 : 0.5, down = by_sine ? -up : up;
            result[k + 1][to] += up * series[k][part];
            result[k - 1][to] += down * series[k][part];
        }
    memcpy(series, result, sizeof(double[2]) * (size_t)(2 * order + 1));
}

/* Σ_α M_α (i cos φ)^a (i sin φ)^b = Σ_m c_m e^{imφ} with |c_m| = |M_n^m|, as Laplace's integral
 * for P_n^m says of a point (Whittaker & Watson, §18.31): (i cos φ, i sin φ, 1) is a vector of
 * square 0, as ∇ is where it acts on 1/r. */
static double power(const struct expansion *expansion, const double *multipole, int32_t n)
{
    double sum[2 * degrees + 1][2] = {{0}}, result = 0;
    const int32_t order = n + 1; /* room for a turn of multiply */
    EACH_COMPONENT (n, a, b, c)
        if (c <= expansion_max_c(expansion->basis, n)) {
            double series[2 * degrees + 1][2] = {{0}};
            series[order][(n - c) % 2] = (n - c) % 4 < 2 ? 1 : -1; /* i^{a + b} */
            for (int32_t k = 0; k < a + b; k++)
                multiply(order, series, k >= a);
            for (int32_t k = 0; k <= 2 * order; k++)
                for (int32_t part = 0; part < 2; part++)
                    sum[k][part] +=
                        multipole[expansion_row(expansion->order, b, c) + a] * series[k][part];
        }
    for (int32_t m = -n; m <= n; m++)
        result += tgamma(n - m + 1) * tgamma(n + m + 1) *
                  (sum[m + order][0] * sum[m + order][0] + sum[m + order][1] * sum[m + order][1]);
    return sqrt(result);
}

static void powers(const struct expansion *expansion, void *multipoles, int64_t first,
                   int64_t count, void *result)
{
    for (int64_t k = 0; k < count; k++)
        for (int32_t n = 0; n <= expansion->order; n++)
            ((double *)result)[k * (expansion->order + 1) + n] =
                power(expansion, record(expansion, multipoles, first + k) + expansion_header, n);
}

const struct expansion_operators expansion_reference = {p2m, m2m, m2l, m2l_by_orders, l2l,
                                                        l2p, m2p, p2l, powers};
