/* Verlet lists: a list with a skin is kept as long as no point has moved by more than half of it.
 */

#include "pairs/update.h"

#include <string.h>

#include "device/context.h"
#include "pairs/backend.h"
#include "pairs/memory.h"
#include "pairs/stage.h"
#include "pairs/verlet.h"

static bool same_shape(kith_array a, kith_array b)
{
    return a.ndim == b.ndim && a.dtype == b.dtype && a.device.kind == b.device.kind &&
           a.device.index == b.device.index &&
           (a.ndim == 0 || (a.shape[0] == b.shape[0] && (a.ndim == 1 || a.shape[1] == b.shape[1])));
}

static bool same_options(const kith_pairs_options *a, const kith_pairs_options *b)
{
    return a->cutoff == b->cutoff && a->skin == b->skin && a->quantities == b->quantities &&
           a->half == b->half && a->unsorted == b->unsorted && a->narrow == b->narrow &&
           a->memory_limit == b->memory_limit && a->method == b->method &&
           same_shape(a->queries, b->queries) && same_shape(a->radii, b->radii) &&
           same_shape(a->query_radii, b->query_radii) &&
           same_shape(a->exclusion_offsets, b->exclusion_offsets) &&
           same_shape(a->exclusions, b->exclusions) &&
           same_shape(a->system_offsets, b->system_offsets) &&
           same_shape(a->query_system_offsets, b->query_system_offsets);
}

static int64_t offsets_bytes(kith_array offsets)
{
    return kith_array_is_none(offsets) ? 0 : offsets.shape[0] * (int64_t)sizeof(int64_t);
}

/* The cells and the offsets of systems after each other. */
static int64_t cells_bytes(const struct pairs_arguments *arguments)
{
    const kith_pairs_options *options = &arguments->options;
    const int64_t cells =
        arguments->cell ? pairs_system_count(arguments) * (int64_t)sizeof(kith_cell) : 0;
    return cells + offsets_bytes(options->system_offsets) +
           offsets_bytes(options->query_system_offsets);
}

/* Compares or stores one of them; the padding of a cell is undefined. */
static bool visit(char **at, const void *now, int64_t bytes, bool store)
{
    char *begin = *at;
    *at += bytes;
    if (bytes == 0)
        return true;
    if (store)
        memcpy(begin, now, (size_t)bytes);
    return store || memcmp(begin, now, (size_t)bytes) == 0;
}

static bool visit_cells(const struct pairs_arguments *arguments, char *at, bool store)
{
    const kith_pairs_options *options = &arguments->options;
    bool same = true;
    for (int64_t s = 0; arguments->cell && s < pairs_system_count(arguments); s++) {
        const kith_cell *cell = &arguments->cell[s];
        same = visit(&at, cell->vectors, sizeof cell->vectors, store) && same;
        same = visit(&at, cell->periodic, sizeof cell->periodic, store) && same;
    }
    same =
        visit(&at, options->system_offsets.data, offsets_bytes(options->system_offsets), store) &&
        same;
    return visit(&at, options->query_system_offsets.data,
                 offsets_bytes(options->query_system_offsets), store) &&
           same;
}

static bool same_problem(const struct pairs_arguments *arguments, const struct pairs_kept *kept)
{
    return kept->valid && same_options(&arguments->options, &kept->options) &&
           same_shape(arguments->positions, kept->shape) &&
           (arguments->cell != NULL) == kept->has_cell &&
           visit_cells(arguments, kept->cells.data, false);
}

static int64_t dense_bytes(kith_array array)
{
    return kith_array_is_none(array)
               ? 0
               : array.shape[0] * array.shape[1] * kith_dtype_bytes(array.dtype);
}

static bool is_on_host(const struct pairs_arguments *arguments)
{
    return arguments->positions.device.kind == KITH_CPU;
}

static const struct pairs_verlet *verlet_of(const struct pairs_arguments *arguments)
{
    return is_on_host(arguments) ? &pairs_verlet_cpu : pairs_backend_of(arguments->context)->verlet;
}

/* The positions of the list's making, where the arrays are: those of the queries follow. */
static kith_status take_positions(const struct pairs_arguments *arguments, struct pairs_kept *kept,
                                  void **positions)
{
    static const char what[] = "the positions of a list's making";
    const int64_t bytes =
        dense_bytes(arguments->positions) + dense_bytes(arguments->options.queries) + 1;
    struct pairs_buffer *buffer = is_on_host(arguments) ? &kept->positions : &kept->on_device;
    KITH_TRY(is_on_host(arguments) ? pairs_host_buffer_grow(buffer, bytes, what)
                                   : pairs_buffer_grow(arguments->context, buffer, bytes, what));
    *positions = buffer->data;
    return KITH_OK;
}

/* Remembers what the list was made of. */
static kith_status keep(const struct pairs_arguments *arguments, struct pairs_kept *kept)
{
    const kith_array queries = arguments->options.queries;
    const struct pairs_verlet *verlet = verlet_of(arguments);
    void *positions = NULL;
    KITH_TRY(pairs_host_buffer_grow(&kept->cells, cells_bytes(arguments) + 1, "the cells"));
    KITH_TRY(take_positions(arguments, kept, &positions));
    visit_cells(arguments, kept->cells.data, true);
    KITH_TRY(verlet->copy(arguments->context, arguments->positions, positions));
    if (!kith_array_is_none(queries))
        KITH_TRY(verlet->copy(arguments->context, queries,
                              (char *)positions + dense_bytes(arguments->positions)));
    kept->options = arguments->options;
    kept->shape = arguments->positions;
    kept->has_cell = arguments->cell != NULL;
    kept->valid = true;
    return KITH_OK;
}

static kith_status may_be_kept(const struct pairs_arguments *arguments,
                               const struct pairs_kept *kept, bool *may)
{
    const kith_array positions = arguments->positions, queries = arguments->options.queries;
    const struct pairs_verlet *verlet = verlet_of(arguments);
    const double most = arguments->options.skin / 2;
    char *then = is_on_host(arguments) ? kept->positions.data : kept->on_device.data;
    bool moved = false;
    *may = false;
    if (!same_problem(arguments, kept))
        return KITH_OK;
    KITH_TRY(verlet->has_moved(arguments->context, positions, then, most, &moved));
    if (!moved && !kith_array_is_none(queries))
        KITH_TRY(verlet->has_moved(arguments->context, queries, then + dense_bytes(positions), most,
                                   &moved));
    *may = !moved;
    return KITH_OK;
}

static bool has_lengths(const kith_pairs_options *options)
{
    return (options->quantities & (KITH_PAIRS_VECTORS | KITH_PAIRS_DISTANCES)) != 0;
}

kith_status pairs_update(const struct pairs_arguments *arguments, kith_pairs **pairs, bool *rebuilt)
{
    struct pairs_arguments made = *arguments;
    const bool refreshed = has_lengths(&arguments->options);
    if (rebuilt)
        *rebuilt = false;
    if (refreshed) /* what refreshing needs besides */
        made.options.quantities |= KITH_PAIRS_J | KITH_PAIRS_SHIFTS;
    KITH_TRY(pairs_check_arguments(&made));
    if (!verlet_of(arguments))
        return kith_fail(KITH_UNSUPPORTED,
                         "backend %s keeps no lists of pairs; use kith_pairs_compute",
                         arguments->context->services->name);
    bool kept = false;
    if (*pairs && (*pairs)->memory->context == arguments->context)
        KITH_TRY(may_be_kept(&made, &(*pairs)->memory->kept, &kept));
    if (kept)
        return refreshed ? verlet_of(arguments)->refresh(arguments, *pairs) : KITH_OK;
    if (rebuilt)
        *rebuilt = true;
    KITH_TRY(pairs_compute(&made, pairs));
    return keep(&made, &(*pairs)->memory->kept);
}
