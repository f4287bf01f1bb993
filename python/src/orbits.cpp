// Orbital elements of bodies.

#include "binding.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <memory>

static_assert(sizeof(kith_orbit) == 10 * sizeof(double), "an orbit is a row of ten numbers");

// Writes the orbits of all bodies but the first into (n − 1) × 10 numbers.
static void compute_orbits(const std::shared_ptr<bodies> &of, double g, int coordinates,
                           const output &numbers)
{
    const kith_array array = array_of("orbits", numbers);
    const int64_t rows = of->handle->count > 0 ? of->handle->count - 1 : 0;
    if (array.ndim != 2 || array.dtype != KITH_F64 || array.shape[0] != rows ||
        array.shape[1] != 10 || array.strides[0] != 10)
        throw nb::value_error("orbits must be (n - 1) x 10 numbers of float64, row by row");
    kith_orbits_options options = {};
    options.gravitational_constant = g;
    options.coordinates = static_cast<kith_orbit_coordinates>(coordinates);
    calling([&] {
        return kith_orbits_compute(&options, of->handle, static_cast<kith_orbit *>(array.data));
    });
}

void add_orbits(nb::module_ &module)
{
    module.def("compute_orbits", compute_orbits, nb::arg("bodies"), nb::arg("g"),
               nb::arg("coordinates"), nb::arg("orbits"));
    nb::dict coordinates;
    coordinates["heliocentric"] = (int)KITH_HELIOCENTRIC;
    coordinates["jacobi"] = (int)KITH_JACOBI;
    coordinates["barycentric"] = (int)KITH_BARYCENTRIC;
    module.attr("orbit_coordinates") = coordinates;
}
