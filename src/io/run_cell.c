#include <stddef.h>

#include "io/run_file.h"
#include "kith/solver.h"

bool run_parameters_have_images(const struct run_parameters *parameters)
{
    const kith_solver *solver = NULL;
    return kith_solver_find(parameters->solver, &solver) == KITH_OK &&
           kith_solver_describe(solver).is_periodic;
}

bool run_parameters_have_cell(const struct run_parameters *parameters)
{
    return parameters->cutoff > 0 || run_parameters_have_images(parameters);
}
