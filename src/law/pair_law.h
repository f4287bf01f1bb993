#ifndef LAW_PAIR_LAW_H
#define LAW_PAIR_LAW_H

/* How a kernel takes a law. (law_values_kernel_body.h is the shortest that does.)
 *
 * Host: law_look (law/law.h) says what a law is: view.form, of which one kernel is compiled for
 * each, view.numbers, which the kernel gets, view.weight, the column that holds the weights (of a
 * custom law, masses and charges), and view.is_central.
 *
 * CPU kernel, a file of its own, compiled once for each instruction set (kith_add_kernels):
 *
 *     #include "law/real_law.h"
 *
 * and for each real type (REALS), includes law_body.h for vectors of REAL. (Kernels that are not
 * compiled for each include law/for_each_real.h, with KERNEL_BODY.) The kernel writes its loop
 * once, as an always-inlined function of a constant struct law_form, fills a struct NAME(law_pair)
 * with vectors and calls
 *
 *     VREAL NAME(law_value)(form, &law, &pair)          V, any s² ≥ 0
 *     VREAL NAME(law_factor)(form, &law, &pair)         force on i = factor · d, any s² ≥ 0; only
 * if the law is central void NAME(law_force)(form, &law, &pair, force)    the force on i, of every
 * law
 *
 * with law = NAME(law_load)(&numbers) before the loops. NAME(law_u)(kind, &law, s2), NAME(law_f)
 * and NAME(law_g) are value, factor and (df/ds)/s for weights 1 and s² > 0, unspecified at s² = 0,
 * for loops that take the weights out of the sum or have their own treatment of coincident pairs.
 * law_writer.c makes them of the formulas in laws.c when the library is built. Fields of the pair
 * that the law does not use need not be set.
 *
 * One function for each form is made with LAW_EACH_BUILT_IN, and is in a table by kind:
 *
 *     #define DEFINE(kind)                                                                  \
 *         static void NAME(compute_##kind)(const struct problem *problem)                   \
 *         {                                                                                 \
 *             NAME(compute)((struct law_form){law_##kind, law_unweighted}, problem);        \
 *         }
 *     LAW_EACH_BUILT_IN(DEFINE)
 *
 * The weighting is better chosen outside the loops over pairs, where it is one of three, or inside
 * as a factor: as it costs little, kernels may treat law_unweighted as law_product of ones.
 *
 * CUDA kernel, a .cu file or a text for NVRTC: the same, with
 *
 *     #include "law/law_kinds.h"
 *     #include "law/law_math_cuda.h"
 *     #define REAL float ... as in law/for_each_real.h, VREAL the same as REAL
 *     #include "law/law_body.h"
 *
 * and a template over enum law_kind or the same macro.
 *
 * Reference: law_reference.h, one pair at a time in double precision.
 *
 * Custom laws: the kernel's file is compiled at run time (law/compiled.h) with LAW_CUSTOM_BODY
 * defined as the file with the formula's functions, and instantiated for law_custom only: inside
 * #ifdef LAW_CUSTOM_BODY a kernel's file defines its entry instead of its table.
 *
 * law_parts_body.h takes laws apart for sums over j; law_rate_body.h has the rates of forces. */

#include "law/law_kinds.h"

#endif
