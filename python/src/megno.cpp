// MEGNO and the Lyapunov time of bodies.

#include "binding.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/tuple.h>

#include <memory>
#include <tuple>

static_assert(sizeof(kith_megno_sample) == 4 * sizeof(double), "a sample is a row of four numbers");

// Writes samples into K × 4 numbers.
static std::tuple<double, double, double, double, int64_t>
compute_megno(context &where, const std::shared_ptr<bodies> &of, double until, double dt, double g,
              double softening, int64_t seed, const output &samples)
{
    const kith_array array = array_of("samples", samples);
    if (array.ndim != 2 || array.dtype != KITH_F64 || array.shape[1] != 4 || array.strides[0] != 4)
        throw nb::value_error("samples must be k x 4 numbers of float64, row by row");
    kith_megno_options options = {};
    options.until = until;
    options.dt = dt;
    options.gravitational_constant = g;
    options.softening = softening;
    options.seed = static_cast<uint64_t>(seed);
    options.samples = array.shape[0];
    kith_megno megno = {};
    calling(where, [&] {
        return kith_megno_compute(where.handle, &options, of->handle,
                                  static_cast<kith_megno_sample *>(array.data), &megno);
    });
    return {megno.megno, megno.mean_megno, megno.lyapunov_exponent, megno.lyapunov_time,
            megno.steps};
}

void add_megno(nb::module_ &module)
{
    module.def("compute_megno", compute_megno, nb::arg("context"), nb::arg("bodies"),
               nb::arg("until"), nb::arg("dt"), nb::arg("g"), nb::arg("softening"), nb::arg("seed"),
               nb::arg("samples"));
}
