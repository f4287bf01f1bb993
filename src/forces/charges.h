#ifndef FORCES_CHARGES_H
#define FORCES_CHARGES_H

#include "kith/array.h"
#include "kith/law.h"
#include "kith/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Up to this, the product of two charges, and of the law's constant, is finite where a solver, or
 * one that auto may choose, multiplies them in the precision of the problem; infinity where it does
 * not, for formulas, and without a law. And the remedy of charges that are larger. */
double forces_largest_charge(const kith_solver *solver, const kith_law *law, kith_dtype dtype);
const char *forces_remedy_of_charge(kith_dtype dtype);

#ifdef __cplusplus
}
#endif

#endif
