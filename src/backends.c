/* The kinds of devices of this build, and which functions each room has for them: the one file that
 * knows both. */

#include "backends.h"

#include <stddef.h>

#include "device/context.h"
#include "forces/backend.h"
#include "forces/direct.h"
#include "forces/tree_sums.h"
#include "lattice/backend.h"
#include "matrix/backend.h"
#include "pairs/backend.h"
#include "pairs/pairs_cpu.h"
#include "simulation/advance_cpu.h"
#include "simulation/backend.h"
#include "simulation/massive.h"
#include "sparse/assemble.h"
#include "sparse/backend.h"
#include "sparse/sparse_cpu.h"
#include "sums/backend.h"

static const struct room_backends rooms_cpu = {
    .forces =
        &(const struct forces_backend){.evaluate = forces_direct_cpu, .trees = &forces_tree_cpu},
    .matrix = &matrix_cpu,
    .pairs = &(const struct pairs_backend){.list = pairs_cpu, .verlet = &pairs_verlet_cpu},
    .collisions = &collisions_cpu,
    .sparse = &(const struct sparse_backend){.transpose = sparse_transpose_cpu,
                                             .inspect = sparse_inspect_cpu,
                                             .predict = sparse_predict_cpu,
                                             .convert = sparse_convert_cpu,
                                             .multiply = sparse_multiply_cpu},
    .sums = &(const struct sums_backend){.compute = sums_cpu, .update = update_cpu},
    .simulation = &(const struct simulation_backend){.advance = advance_cpu,
                                                     .pick = massive_pick_cpu,
                                                     .place = massive_place_cpu},
};

#ifdef KITH_HAS_CUDA
#include "forces/cutoff_cuda.h"
#include "forces/in_place.h"
#include "mesh/pme_cuda.h"
#include "pairs/pairs_cuda.h"
#include "simulation/advance_cuda.h"
#include "simulation/hermite_block_cuda.h"
#include "simulation/massive_cuda.h"
#include "simulation/radau_cuda.h"
#include "simulation/radau_numbers.h"
#include "simulation/thermostat_cuda.h"
#include "simulation/whfast_cuda.h"
#include "sparse/product_cuda.h"

static const struct room_backends rooms_cuda = {
    .forces = &(const struct forces_backend){.evaluate = forces_direct_cuda,
                                             .evaluate_in_place = forces_in_place_cuda,
                                             .bad_of = forces_bad_cuda,
                                             .trees = &forces_tree_cuda,
                                             .cutoff = &cutoff_cuda,
                                             .pme = &pme_cuda,
                                             .take_excluded = excluded_take_cuda,
                                             .free_excluded = excluded_free_cuda},
    .matrix = &matrix_cuda,
    .pairs = &(const struct pairs_backend){.list = pairs_cuda, .verlet = &pairs_verlet_cuda},
    .collisions = &collisions_cuda,
    .sparse = &(const struct sparse_backend){.assemble = sparse_assemble_cuda,
                                             .transpose = sparse_transpose_cuda,
                                             .inspect = sparse_inspect_cuda,
                                             .predict = sparse_predict_cuda,
                                             .convert = sparse_convert_cuda,
                                             .dispose = sparse_dispose_cuda,
                                             .multiply = sparse_multiply_cuda},
    .sums = &(const struct sums_backend){.compute = sums_cuda, .update = update_cuda},
    .simulation = &(const struct simulation_backend){.advance = advance_cuda,
                                                     .whfast = whfast_cuda,
                                                     .radau = radau_cuda,
                                                     .radau_numbers = &radau_numbers_cuda,
                                                     .blocks = hermite_block_cuda,
                                                     .thermostat = &thermostat_cuda,
                                                     .pick = massive_pick_cuda,
                                                     .place = massive_place_cuda},
};
#endif

static const struct device_kind kinds[] = {
#ifdef KITH_HAS_CUDA
    {&device_cuda, &rooms_cuda},
#endif
    {&device_cpu, &rooms_cpu},
};

enum { kind_count = sizeof kinds / sizeof kinds[0] };

struct device_kind device_kind_at(int32_t k)
{
    return k >= 0 && k < kind_count ? kinds[k] : (struct device_kind){NULL, NULL};
}

const struct forces_backend *forces_backend_of(const kith_context *context)
{
    return context->rooms->forces;
}

const struct matrix_backend *matrix_backend_of(const kith_context *context)
{
    return context->rooms->matrix;
}

const struct pairs_backend *pairs_backend_of(const kith_context *context)
{
    return context->rooms->pairs;
}

const struct collisions_backend *collisions_backend_of(const kith_context *context)
{
    return context->rooms->collisions;
}

const struct sparse_backend *sparse_backend_of(const kith_context *context)
{
    return context->rooms->sparse;
}

const struct sums_backend *sums_backend_of(const kith_context *context)
{
    return context->rooms->sums;
}

const struct simulation_backend *simulation_backend_of(const kith_context *context)
{
    return context->rooms->simulation;
}
