#ifndef TREE_EXPANSION_H
#define TREE_EXPANSION_H

/* Multipole and local expansions of the potential of point charges, for trees.
 *
 *   φ(x) = Σ_j q_j f(s),  s² = |x − x_j|² + ε²,  where f is 1/s, ln s or any other smooth function
 *
 * Gravity is −G φ with q = m, its acceleration +G ∇φ; the energy of a charge q in Coulomb's field
 * is +k q φ, the force on it −k q ∇φ.
 *
 * Expansions are Cartesian (Warren & Salmon 1995; Dehnen 2002, §3.2). With a multi-index
 * α = (a, b, c), n = |α| = a + b + c, a cell's center z and unit of length s ("size"), and
 * D_α(r) = ∂^α f(√(|r|² + ε²)):
 *
 *   multipole  M_α = (−1)^n Σ_j q_j H_α(x_j − z) / s^n,   φ(x) = Σ_{n ≤ p} M_α s^n D_α(x − z)
 *   local      L_α = s^n ∂^α φ(z),                        φ(x) = Σ_{n ≤ p} L_α H_α(x − z) / s^n
 *
 * The potential converges as (radius / distance)^{p + 1}. Which α are kept, and H_α, depend on the
 * basis:
 *
 *   harmonic  c ≤ 1, (p + 1)² coefficients; ε must be 0. As ∂_z² = −∂_x² − ∂_y² on 1/r, the others
 *             follow: these are the solid harmonics in another order. H_α(x, y, z) is the harmonic
 *             polynomial cos(z √Δ) x^a y^b / (a! b!), for c = 1 sin(z √Δ) / √Δ of the same, with
 *             Δ = ∂_x² + ∂_y²
 *   full      every α, (p + 1)(p + 2)(p + 3) / 6 coefficients; any ε.
 *             H_α = x^a y^b z^c / (a! b! c!). A softened potential is not harmonic, and the force
 *             of 1/r in its place is wrong by 3/2 (ε/r)²: harmonic expansions keep an error δ
 *             only from r = ε √(3 / 2δ) on. This basis is exact in ε at every distance, with 1.4,
 *             1.7, 2.2 times as many products in M2L at p = 4, 6, 8
 *   plane     c = 0, (p + 1)(p + 2) / 2 coefficients; any ε. H_α = x^a y^b / (a! b!). For
 *             positions and fields in the plane z = 0; no z is read or written. For ln r, complex
 *             multipoles would take 60 and 180 products in M2L at p = 4, 8, this basis 70 and 495
 *
 * A term of M2L is a product of a real M_β and a real D_{α + β}, one multiply-add where solid
 * harmonics take two. Truncation is at |α| + |β| ≤ p in M2L, and D(−r) = (−1)^n D(r) holds to the
 * last bit, so that the forces of two cells on each other cancel to rounding, if M2L is called for
 * both directions (Dehnen 2014, §2).
 *
 * A multipole record is expansion_record_length reals: center x, y, z (0 in the plane), size, then
 * the coefficients by expansion_row. The caller writes the first four before any call; they hold
 * for the local expansion too, expansion_local_length reals of coefficients alone. Records of cells
 * are contiguous, cell k at k times the length. All are of the table's real type.
 *
 * The size is a unit and nothing else: with radius ≤ size (expansion_size) no coefficient exceeds
 * Σ|q|, however small or large the cell, and no power of a length over- or underflows where the
 * result does not.
 *
 * Bits: every result depends on its arguments and the instruction set alone, on the order of a list
 * of sources, too. */

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "core/both_sides.h"
#include "kith/array.h"

/* The largest orders: of the harmonic basis on a CPU; of other bases, of GPUs and of users. */
enum { expansion_max_order = 30, expansion_max_full = 20 };

enum expansion_basis { expansion_harmonic, expansion_full, expansion_plane };

/* f(s) of φ = Σ_j q_j f(s), s² = |x − x_j|² + ε². The last two are with expansion_full or
 * expansion_plane. */
enum expansion_law {
    expansion_inverse,   /* 1/s */
    expansion_logarithm, /* ln s */
    expansion_series     /* by its Taylor series */
};

/* f about the middles of bins, of which there are 2^expansion_bin_bits to a factor of two in s²:
 * by t with s² = (1 + t) middle, Σ_k row[k] t^k. A bin is a number's exponent and the first bits
 * of its mantissa. */
enum { expansion_bin_bits = 3, expansion_most_terms = 36 };

struct expansion_bins {
    int64_t first_float, first_double; /* number of the first bin, from the bits of a number */
    int32_t count, terms;              /* coefficients of a row, a multiple of 4 */
    double per_unit;                   /* bins are of (s per_unit)² */
    const void *rows;                  /* of the operators' real type */
};

/* Coefficients of a row for an order: with these more, derivatives of that order are exact to
 * rounding at the ends of a bin. */
enum { expansion_more_terms = 14 };
KITH_BOTH_SIDES static inline int32_t expansion_terms_of(int32_t order)
{
    const int32_t terms = (order + 1 + expansion_more_terms + 3) / 4 * 4;
    return terms < expansion_most_terms ? terms : (int32_t)expansion_most_terms;
}

/* The number of the bin that x ≥ 0 is in, and the middle of a bin. */
enum { expansion_bin_shift = DBL_MANT_DIG - 1 - expansion_bin_bits };
KITH_BOTH_SIDES static inline int64_t expansion_bin_of(double x)
{
    int64_t bits = 0;
    memcpy(&bits, &x, sizeof bits);
    return bits >> expansion_bin_shift;
}

KITH_BOTH_SIDES static inline double expansion_middle_of(int64_t bin)
{
    const int64_t half = INT64_C(1) << (expansion_bin_shift - 1);
    const int64_t bits = bin * (2 * half) + half;
    double middle = 0;
    memcpy(&middle, &bits, sizeof middle);
    return middle;
}

/* What is expanded and how. */
struct expansion {
    enum expansion_basis basis;
    int32_t order;     /* p, 1 … the largest of the basis */
    double softening2; /* ε²; 0 with expansion_harmonic */
    enum expansion_law law;
    const struct expansion_bins *bins;     /* of expansion_series */
    const struct expansion_tables *tables; /* for M2L by solid coefficients; NULL: without them */
    bool has_solid; /* records have solid coefficients (tree/expansion_rotation.h) after the others,
                       which powers writes; of expansion_harmonic alone */
    const struct expansion_angles *angles; /* for powers */
};

/* Columns of bodies in tree order; x[2] is NULL in the plane. */
struct expansion_bodies {
    const void *x[3], *charge; /* charge is not read by L2P and M2P */
};

/* Columns of the same bodies, added to; NULL where not requested (gradient: all or none). */
struct expansion_field {
    void *potential, *gradient[3];
};

/* Bodies from the first elements of columns on. */
struct expansion_part {
    struct expansion_bodies bodies;
    int64_t count;
};

/* The operators for one real type. multipoles and locals are the arrays of all cells' records. */
struct expansion_operators {
    /* Overwrites the coefficients of a cell by those of the bodies first … first + count − 1. */
    void (*p2m)(const struct expansion *expansion, const struct expansion_bodies *bodies,
                int64_t first, int64_t count, void *multipoles, int64_t cell);

    /* Overwrites the coefficients of a cell by those of its children, which are consecutive cells.
     */
    void (*m2m)(const struct expansion *expansion, void *multipoles, int64_t cell,
                int64_t first_child, int64_t children);

    /* Adds to a cell's local coefficients the field of source cells. |z_target − z_source| must
     * exceed the sum of both radii. Sources are taken a vector at a time, so that long lists are
     * fastest. There is no form for both directions together: sharing D would save a tenth of the
     * operations, and scattering a second set of local coefficients takes more. */
    void (*m2l)(const struct expansion *expansion, const void *multipoles, void *locals,
                int64_t target, const int32_t *sources, int64_t count);

    /* The same of sources sorted by where their terms end, |α| + |β| ≤ q: counts[q] of each q ≤ p.
     * With tables. */
    void (*m2l_by_orders)(const struct expansion *expansion, const void *multipoles, void *locals,
                          int64_t target, const int32_t *sources, const int32_t *counts);

    /* Adds a cell's local expansion to those of its children. */
    void (*l2l)(const struct expansion *expansion, const void *multipoles, void *locals,
                int64_t cell, int64_t first_child, int64_t children);

    /* Adds a cell's local expansion to the field at the bodies first … first + count − 1. */
    void (*l2p)(const struct expansion *expansion, const void *multipoles, const void *locals,
                int64_t cell, const struct expansion_bodies *bodies, int64_t first, int64_t count,
                const struct expansion_field *field);

    /* Adds the field of source cells at the bodies first … first + count − 1, which must be outside
     * of these cells' radii. The gradient has terms of as many orders as the potential. */
    void (*m2p)(const struct expansion *expansion, const void *multipoles, const int32_t *sources,
                int64_t source_count, const struct expansion_bodies *bodies, int64_t first,
                int64_t count, const struct expansion_field *field);

    /* Adds the field of the bodies of all parts to a cell's local expansion, up to degree 2: of
     * order 2 at least, by 1/s, and of bodies no nearer than the cell's size. */
    void (*p2l)(const struct expansion *expansion, const void *multipoles, void *locals,
                int64_t cell, const struct expansion_part *parts, int32_t count);

    /* Multipole powers of the cells first … first + count − 1 (Dehnen 2014, eq. 12 and §3),
     * count × (p + 1) reals: P_n / s^n ≥ 0 with P_n² = Σ_m (n − m)! (n + m)! |M_n^m|² of the
     * solid harmonics M_n^m, or of expansion_series, whose f is not harmonic, P_n² = Σ_α n! α!
     * M_α², the norm of the tensor. For one charge at distance d of the center P_n = |q| d^n, else
     * P_n ≤ Σ |q_j| d_j^n; P_n does not change when all is rotated about the center. There is no
     * upward pass of their own: call it after the multipoles'. Writes the solid coefficients, if
     * records have them. */
    void (*powers)(const struct expansion *expansion, void *multipoles, int64_t first,
                   int64_t count, void *powers);
};

/* The reference of the kernels, in double precision with plain loops. */
extern const struct expansion_operators expansion_reference;

/* The kernels for KITH_F32 or KITH_F64 of an instruction set, a row of KITH_EACH_ISA. */
const struct expansion_operators *expansion_kernels_of(int32_t isa, kith_dtype dtype);

/* Coefficients of degree below n. */
KITH_BOTH_SIDES static inline int32_t expansion_count_below(enum expansion_basis basis, int32_t n)
{
    if (basis == expansion_harmonic)
        return n * n;
    return basis == expansion_full ? n * (n + 1) * (n + 2) / 6 : n * (n + 1) / 2;
}

/* Where the row of coefficients (0, b, c), (1, b, c), … begins, p − b − c + 1 of them. Rows are
 * ordered by c, then b; no row depends on how many c a basis has. The coefficient (a, b, c) is at
 * expansion_row + a, the total charge at 0. */
KITH_BOTH_SIDES static inline int32_t expansion_row(int32_t order, int32_t b, int32_t c)
{
    const int32_t m = order - c + 1; /* coefficients of the row b = 0 */
    return expansion_count_below(expansion_full, order + 1) -
           expansion_count_below(expansion_full, m) + b * m - b * (b - 1) / 2;
}

/* The largest c of a coefficient. */
KITH_BOTH_SIDES static inline int32_t expansion_max_c(enum expansion_basis basis, int32_t order)
{
    return basis == expansion_plane ? 0 : basis == expansion_harmonic ? 1 : order;
}

KITH_BOTH_SIDES static inline int32_t expansion_count(const struct expansion *expansion)
{
    return expansion_count_below(expansion->basis, expansion->order + 1);
}

/* Reals from one cell's coefficients to the next's: whole groups of four. */
KITH_BOTH_SIDES static inline int32_t expansion_local_length(const struct expansion *expansion)
{
    return (expansion_count(expansion) + 3) / 4 * 4;
}

enum { expansion_header = 4 }; /* reals before a multipole's coefficients */

/* Where the solid coefficients begin in a record. */
KITH_BOTH_SIDES static inline int32_t expansion_solid(const struct expansion *expansion)
{
    return expansion_header + expansion_local_length(expansion);
}

KITH_BOTH_SIDES static inline int32_t expansion_record_length(const struct expansion *expansion)
{
    const int32_t n = expansion->order + 1, solid = (n * (n + 1) + 3) / 4 * 4;
    return expansion_solid(expansion) + (expansion->has_solid ? solid : 0);
}

/* A unit of length for a cell of this radius (the largest distance of a body from the center): a
 * power of two from radius to 2·radius, but at least 2^−20 times the parent's size, so that the
 * cell of a single point has one. parent_size is 0 for the root. */
KITH_BOTH_SIDES static inline double expansion_size(double radius, double parent_size)
{
    const double least = ldexp(parent_size, -20);
    const double length = radius > least ? radius : least;
    int exponent = 0;
    if (!(length > 0))
        return 1;
    return frexp(length, &exponent) == 0.5 ? length : ldexp(1.0, exponent);
}

#endif
