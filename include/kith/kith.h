#ifndef KITH_KITH_H
#define KITH_KITH_H

/* kith: interactions between pairs of particles. This header includes all others of the library.
 *
 * libkith.so exports the functions that are declared with KITH_API and nothing else. */

#include "kith/array.h"
#include "kith/bodies.h"
#include "kith/build.h"
#include "kith/cell.h"
#include "kith/choose.h"
#include "kith/collisions.h"
#include "kith/context.h"
#include "kith/ensemble.h"
#include "kith/forces.h"
#include "kith/initial.h"
#include "kith/integers.h"
#include "kith/io.h"
#include "kith/law.h"
#include "kith/law_sum.h"
#include "kith/matrix.h"
#include "kith/megno.h"
#include "kith/memory.h"
#include "kith/npy.h"
#include "kith/orbits.h"
#include "kith/pairs.h"
#include "kith/particles.h"
#include "kith/ranks.h"
#include "kith/run.h"
#include "kith/simulation.h"
#include "kith/solver.h"
#include "kith/sparse.h"
#include "kith/status.h"
#include "kith/sums.h"
#include "kith/table.h"
#include "kith/thermostat.h"
#include "kith/trajectory.h"
#include "kith/tuning.h"
#include "kith/update.h"
#include "kith/view.h"

#endif
