/* The state of a simulation as arrays in place. */

#include <string.h>

#include "core/arguments.h"
#include "simulation/domain.h"

static kith_status check_shown(bool is_shown, const char *what, double unit)
{
    if (!is_shown)
        return kith_fail(KITH_UNSUPPORTED,
                         "%s are kept in units of %g, as they are very large or small; copy the "
                         "bodies out instead, or give them in other units",
                         what, unit);
    return KITH_OK;
}

/* The axes of bodies: [N], of an ensemble [M][N]. */
static kith_array bodies_of(const kith_simulation *simulation, void *data)
{
    kith_array view = {
        .data = data, .device = simulation->context->device, .dtype = simulation->dtype};
    const int64_t step = simulation_layout(simulation, simulation->systems).step;
    if (simulation->is_ensemble) {
        view.shape[view.ndim] = simulation->systems;
        view.strides[view.ndim++] = 1;
    }
    view.shape[view.ndim] = simulation->count;
    view.strides[view.ndim++] = step;
    return view;
}

/* From now on the arrays have the state after every call. */
static kith_status begin_views(const kith_simulation *simulation)
{
    kith_simulation *changed = NULL;
    memcpy(&changed, &simulation, sizeof(void *));
    changed->is_viewed = true;
    return simulation_reunite(changed);
}

kith_status kith_simulation_view(const kith_simulation *simulation, kith_simulation_column column,
                                 kith_array *view)
{
    KITH_TRY(kith_check_pointer(view, "view"));
    *view = kith_array_none();
    KITH_TRY(kith_check_pointer(simulation, "simulation"));
    KITH_TRY(begin_views(simulation));
    switch (column) {
    case KITH_SIMULATION_POSITION:
    case KITH_SIMULATION_VELOCITY:
        KITH_TRY(check_shown(simulation->units.length == 1, "lengths", simulation->units.length));
        *view =
            bodies_of(simulation,
                      simulation->memory[column == KITH_SIMULATION_POSITION ? POSITION : VELOCITY]);
        view->shape[view->ndim] = simulation->dimensions;
        view->strides[view->ndim++] = simulation->stride;
        return KITH_OK;
    case KITH_SIMULATION_MASS:
        KITH_TRY(check_shown(simulation->shows_masses, "masses", simulation->units.mass));
        *view = bodies_of(simulation, simulation->shown_mass);
        return KITH_OK;
    }
    return kith_fail(KITH_INVALID_ARGUMENT, "column is %d; give one of kith_simulation_column",
                     (int)column);
}
