#ifndef FORCES_MIXING_H
#define FORCES_MIXING_H

#include <stdbool.h>

#include "core/status.h"
#include "kith/law.h"

/* The law lennard-jones with an ε and a σ of each particle, mixed by Lorentz (1881) and Berthelot
 * (1898): ε = √(ε_i ε_j), σ = (σ_i + σ_j) / 2. It is a formula of the weights √ε, instead of
 * masses, and the charges σ.
 *
 *   owner  what has the columns, for messages
 *   mixed  [out] owned by the caller; free with kith_law_free; NULL if the law is another or there
 *          are no columns
 *
 * Errors: KITH_INVALID_ARGUMENT (one of the columns alone; a law whose ε or σ is not 1). */
kith_status forces_mix(const kith_law *law, const char *owner, bool has_epsilon, bool has_sigma,
                       kith_law **mixed);

#endif
