#ifndef KITH_LAW_H
#define KITH_LAW_H

#include "kith/context.h"
#include "kith/status.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A law: the value of a pair of particles.
 *
 * With d = x_j − x_i and r² = |d|² + ε², ε the softening (0 unless a caller gives one), the value
 * V(i, j) of a physical law is the energy of the pair, and the force on i is minus its gradient:
 * −∂V/∂x_i = (dV/dr)/r · d. A law is a row of a table, with parameters, or a formula of the user.
 * It is the same on every device and in every precision, and belongs to no context. */
typedef struct kith_law kith_law;

/* A row of the table of laws. */
typedef struct kith_law_info {
    const char *name;       /* "yukawa" */
    const char *arguments;  /* after the colon: "L", "[EPS,SIGMA]" or "" */
    const char *formula;    /* V, as after "expr:": "k * q_i * q_j * exp(-r / L) / r" */
    const char *parameters; /* their names, defaults and ranges, "L > 0, k = 1" */
    const char *at_zero;    /* value and force at r = 0 */
    const char *units;      /* of the parameters and the value */
} kith_law_info;

/* The table of built-in laws; *count rows, static memory. */
KITH_API const kith_law_info *kith_law_list(int64_t *count);

typedef struct kith_law_parameter {
    const char *name;
    double value;
} kith_law_parameter;

/* Makes a law from a text: a name of the table with its arguments, "power:2.5",
 * "lennard-jones:1,3.4", or "expr:" and a formula (below).
 *
 *   text        as in kith --law
 *   count       of parameters
 *   parameters  by name; those of a built-in law have defaults or follow the colon, and may not be
 *               given twice. NULL with count 0
 *   law         [out] owned by the caller; free with kith_law_free; NULL on failure
 *
 * A formula is an expression of C in
 *
 *     r, r2        the softened distance and its square
 *     dx, dy, dz   x_j − x_i; dz is 0 in two dimensions
 *     m_i, m_j     the masses, 1 if not given
 *     q_i, q_j     the charges, 1 if not given
 *     pi, and the parameters by their names
 *
 * with numbers, + − * / unary, comparisons, && || !, ?: and the functions that docs/laws.md lists.
 * All numbers are real: 1/2 is 0.5. Formulas are parsed here and compiled at their first use, or by
 * kith_law_compile.
 *
 * Errors: KITH_INVALID_ARGUMENT (an unknown law: the message lists the known ones; parameters
 *         missing, unknown, given twice, not finite or out of range; an invalid formula: the
 *         message shows the position), KITH_OUT_OF_MEMORY. */
KITH_API kith_status kith_law_parse(const char *text, int64_t count,
                                    const kith_law_parameter *parameters, kith_law **law);

/* Makes a law from a formula, without "expr:" before it, and compiles it for a context: errors of
 * the formula or of the compiler are returned now instead of at the first use.
 *
 * On the CPU this needs a C compiler: $CC, or cc, gcc or clang on the PATH; on a GPU NVIDIA's NVRTC
 * library. Compiled code is kept in the user's cache folder ($XDG_CACHE_HOME/kith or
 * ~/.cache/kith), or only with the law if no cache folder is usable.
 *
 * Errors: those of kith_law_parse; KITH_UNSUPPORTED (no compiler), KITH_IO_ERROR (no folder to
 *         compile in), KITH_INTERNAL_ERROR (the compiler rejects the generated code). */
KITH_API kith_status kith_law_compile(kith_context *context, const char *expression, int64_t count,
                                      const kith_law_parameter *parameters, kith_law **law);

/* Frees a law; NULL is fine. No function may be using it. A formula that was compiled for a GPU
 * waits for the work on all GPUs of the process, which may still run its code. Do not free it while
 * a thread captures a CUDA graph: CUDA ends a capture when a thread waits for the device. */
KITH_API void kith_law_free(kith_law *law);

/* The text from which the law was made: "yukawa:2.5". Valid as long as the law. */
KITH_API const char *kith_law_text(const kith_law *law);

/* Sets a parameter by its name. Errors: KITH_INVALID_ARGUMENT, as kith_law_parse. */
KITH_API kith_status kith_law_set(kith_law *law, const char *name, double value);

/* The value of a parameter by its name. Errors: KITH_INVALID_ARGUMENT. */
KITH_API kith_status kith_law_get(const kith_law *law, const char *name, double *value);

/* The arguments of a law. */
typedef struct kith_law_pair {
    double d[3];      /* x_j − x_i */
    double softening; /* ε */
    double mass_i, mass_j, charge_i, charge_j;
} kith_law_pair;

/* The value of one pair and the force on i, by the reference in double precision.
 *
 *   value  [out] or NULL
 *   force  [out] or NULL
 *
 * Errors: KITH_INVALID_ARGUMENT (a number that is not finite).
 * Error:  a few units in the last place, times the exponent where there is an exponential. */
KITH_API kith_status kith_law_evaluate(const kith_law *law, const kith_law_pair *pair,
                                       double *value, double force[3]);

#ifdef __cplusplus
}
#endif

#endif
