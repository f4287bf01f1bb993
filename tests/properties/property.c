#include "property.h"

#include "laid.h"

int64_t property_calls;

int64_t any_size(struct property *p, int64_t most)
{
    static const int64_t corners[] = {7,  8,  9,  15,  16,  17,  31,  32,  33,   63,
                                      64, 65, 66, 127, 128, 129, 255, 257, 1023, 1025};
    const int64_t corner = corners[whole(p, 0, sizeof corners / sizeof corners[0] - 1)];
    const int64_t size = chance(p, 0.5)   ? whole(p, 0, 6)
                         : chance(p, 0.5) ? corner
                                          : whole(p, 0, 200);
    return size <= most ? size : size % (most + 1);
}

kith_dtype any_real(struct property *p)
{
    return chance(p, 0.5) ? KITH_F64 : KITH_F32;
}

/* The case's memory: a list of blocks. */
struct block {
    struct block *next;
};
static struct block *blocks;

void *case_memory(size_t bytes)
{
    struct block *block = malloc(sizeof *block + 64 + bytes);
    assert_non_null(block);
    block->next = blocks;
    blocks = block;
    char *memory = (char *)block + 64; /* aligned as the block is */
    memset(memory, 0xa5, bytes);
    return memory;
}

void case_memory_free(void)
{
    while (blocks) {
        struct block *next = blocks->next;
        free(blocks);
        blocks = next;
    }
}

/* Strides of a layout, and how many elements it spans before and after the first. */
static void choose_strides(struct property *p, int32_t ndim, const int64_t shape[2],
                           int64_t strides[2])
{
    const int64_t columns = ndim == 2 ? shape[1] : 1, gap = whole(p, 1, 3);
    strides[0] = ndim == 2 ? columns : 1;
    strides[1] = ndim == 2;
    switch (whole(p, 0, 4)) {
    case 0: /* rows apart */
        strides[0] = columns + gap;
        break;
    case 1: /* by columns */
        strides[0] = 1;
        strides[1] = shape[0] + gap - 1;
        break;
    case 2: /* gaps everywhere */
        strides[1] = gap;
        strides[0] = columns * gap + whole(p, 0, 2);
        break;
    case 3: /* backwards */
        strides[0] = -strides[0] - gap;
        strides[1] = chance(p, 0.5) ? -strides[1] : strides[1];
        break;
    default:
        break;
    }
    if (ndim == 1)
        strides[1] = 0;
}

struct laid_array any_layout(struct property *p, kith_dtype dtype, int32_t ndim, int64_t rows,
                             int64_t columns)
{
    struct laid_array laid = {0};
    kith_array *array = &laid.array;
    *array = ndim == 1 ? kith_array_vector(NULL, dtype, rows)
                       : kith_array_matrix(NULL, dtype, rows, columns);
    choose_strides(p, ndim, array->shape, array->strides);
    int64_t before = 2, after = 2;
    for (int32_t k = 0; k < ndim; k++) {
        const int64_t span = array->shape[k] > 0 ? (array->shape[k] - 1) * array->strides[k] : 0;
        before += span < 0 ? -span : 0;
        after += span > 0 ? span : 0;
    }
    const int64_t each = kith_dtype_bytes(dtype);
    laid.bytes = (size_t)((before + after + 1) * each);
    laid.block = case_memory(laid.bytes);
    laid.before = case_memory(laid.bytes);
    array->data = laid.block + before * each;
    if (rows == 0 && chance(p, 0.5))
        array->data = NULL;
    return laid;
}

static char *element(kith_array array, int64_t i, int64_t j)
{
    const int64_t at = i * array.strides[0] + (array.ndim == 2 ? j * array.strides[1] : 0);
    return (char *)array.data + at * kith_dtype_bytes(array.dtype);
}

static int64_t columns_of(kith_array array)
{
    return array.ndim == 2 ? array.shape[1] : 1;
}

void assert_gaps_untouched(const struct laid_array *laid)
{
    const kith_array array = laid->array;
    unsigned char *now = case_memory(laid->bytes);
    memcpy(now, laid->block, laid->bytes);
    for (int64_t i = 0; array.data && i < array.shape[0]; i++)
        for (int64_t j = 0; j < columns_of(array); j++)
            memset(now + (element(array, i, j) - (char *)laid->block), 0xa5,
                   (size_t)kith_dtype_bytes(array.dtype));
    assert_memory_equal(now, laid->before, laid->bytes);
}

double array_get(kith_array array, int64_t i, int64_t j)
{
    const void *at = element(array, i, j);
    switch (array.dtype) {
    case KITH_F32:
        return *(const float *)at;
    case KITH_I64:
        return (double)*(const int64_t *)at;
    case KITH_I32:
        return *(const int32_t *)at;
    default:
        return *(const double *)at;
    }
}

void array_put(kith_array array, int64_t i, int64_t j, double value)
{
    void *at = element(array, i, j);
    switch (array.dtype) {
    case KITH_F32:
        *(float *)at = (float)value;
        return;
    case KITH_I64:
        *(int64_t *)at = (int64_t)value;
        return;
    case KITH_I32:
        *(int32_t *)at = (int32_t)value;
        return;
    default:
        *(double *)at = value;
    }
}

void assert_same_bits(const char *what, kith_array a, kith_array b)
{
    assert_int_equal(a.shape[0], b.shape[0]);
    for (int64_t i = 0; i < a.shape[0]; i++)
        for (int64_t j = 0; j < columns_of(a); j++)
            if (memcmp(element(a, i, j), element(b, i, j), (size_t)kith_dtype_bytes(a.dtype)) != 0)
                fail_msg("%s: element %lld, %lld is %.17g in one and %.17g in the other", what,
                         (long long)i, (long long)j, array_get(a, i, j), array_get(b, i, j));
}
