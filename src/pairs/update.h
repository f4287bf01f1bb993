#ifndef PAIRS_UPDATE_H
#define PAIRS_UPDATE_H

#include "pairs/arguments.h"

/* Makes a list, or rebuilds the old one; kith_pairs_compute without the wrapping of arguments. */
kith_status pairs_compute(const struct pairs_arguments *arguments, kith_pairs **pairs);

/* kith_pairs_update. */
kith_status pairs_update(const struct pairs_arguments *arguments, kith_pairs **pairs,
                         bool *rebuilt);

#endif
