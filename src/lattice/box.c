#include "lattice/box.h"

#include "device/context.h"
#include "lattice/collisions_kernel.h"

const struct collisions_kernels *collisions_kernels_of(const kith_context *context,
                                                       kith_dtype dtype)
{
#define ADDRESSES(isa) {&collisions_32_##isa, &collisions_64_##isa},
    static const struct collisions_kernels *const each_isa[][2] = {KITH_EACH_ISA(ADDRESSES)};
#undef ADDRESSES
    return each_isa[context->isa][dtype == KITH_I64];
}

/* That a coordinate takes. */
static int32_t bits_for(uint64_t value)
{
    const int32_t length = value == 0 ? 0 : 64 - __builtin_clzll(value);
    return length > collisions_least_bits ? length : collisions_least_bits;
}

/* From the lowest and the highest coordinates. */
static struct collisions_box box_between(int32_t dimensions, const int64_t low[3],
                                         const int64_t high[3])
{
    struct collisions_box box = {.total_bits = 0};
    for (int64_t c = 0; c < 3; c++) {
        box.low[c] = low[c];
        box.range[c] = (uint64_t)high[c] - (uint64_t)low[c];
        box.shift[c] = box.total_bits;
        if (c < dimensions)
            box.bits[c] = box.range[c] >= UINT64_MAX - 1 ? 65 : bits_for(box.range[c] + 2);
        box.total_bits += box.bits[c];
    }
    return box;
}

struct collisions_box collisions_box_of(const kith_context *context,
                                        const struct collisions_problem *problem)
{
    int64_t low[3] = {0}, high[3] = {0};
    if (problem->count > 0)
        collisions_kernels_of(context, problem->dtype)
            ->extent(problem->beads, problem->count, problem->dimensions, low, high);
    return box_between(problem->dimensions, low, high);
}

int64_t collisions_box_sites(const struct collisions_box *box)
{
    int64_t sites = 1;
    for (int64_t c = 0; c < 3; c++)
        if (box->range[c] >= INT64_MAX ||
            __builtin_mul_overflow(sites, (int64_t)box->range[c] + 1, &sites))
            return INT64_MAX;
    return sites;
}

static void keys_by_steps(const kith_context *context, const struct collisions_problem *problem,
                          int64_t begin, int64_t end, const uint64_t origin[3],
                          const uint64_t step[3], uint64_t *keys)
{
    const char *first = (const char *)problem->beads +
                        begin * problem->dimensions * kith_dtype_bytes(problem->dtype);
    collisions_kernels_of(context, problem->dtype)
        ->keys(first, end - begin, problem->dimensions, origin, step, keys);
}

void collisions_keys(const kith_context *context, const struct collisions_problem *problem,
                     const struct collisions_box *box, int64_t begin, int64_t end, uint64_t *keys)
{
    uint64_t origin[3], step[3] = {0};
    for (int64_t c = 0; c < 3; c++) {
        origin[c] = (uint64_t)box->low[c] - 1;
        if (c < problem->dimensions)
            step[c] = collisions_step(box, c);
    }
    keys_by_steps(context, problem, begin, end, origin, step, keys);
}

void collisions_site_numbers(const kith_context *context, const struct collisions_problem *problem,
                             const struct collisions_box *box, int64_t begin, int64_t end,
                             uint64_t *numbers)
{
    uint64_t origin[3], step[3], sites = 1;
    for (int64_t c = 0; c < 3; c++) {
        origin[c] = (uint64_t)box->low[c];
        step[c] = sites;
        sites *= box->range[c] + 1;
    }
    keys_by_steps(context, problem, begin, end, origin, step, numbers);
}
