// Simulations: advanced with an eye on the keyboard, seen in place, run into files.

#include "binding.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

struct simulation {
    context_ref where;
    law_ref law;
    kith_simulation_options options = {};
    std::string integrator, coordinates, kernel;
    std::vector<int64_t> exclude; // of options.forces, for runs
    int64_t systems = 0;          // 0: no ensemble
    kith_simulation *handle = nullptr;
    seen_ref shown; // which looks between two steps
    ~simulation()
    {
        freeing(where, [handle = handle] { kith_simulation_free(handle); });
    }
};

static std::shared_ptr<simulation>
create(context_ref where, const bodies &start, double dt, const std::string &integrator, double g,
       double softening, bool softening_of_bodies, bool single, law_ref law,
       const std::string &solver, double error, double theta, int32_t order, double eta,
       int on_collision, double restitution, double encounter, double escape,
       std::optional<int64_t> systems, std::optional<std::string> coordinates, int32_t corrector,
       std::optional<std::string> kernel, std::optional<std::string> thermostat, int32_t substeps,
       double cutoff, int shift, bool tail, double alpha, double absolute_error, int boundary,
       const std::vector<int32_t> &grid, const std::vector<int64_t> &exclude)
{
    auto made = std::make_shared<simulation>();
    made->integrator = integrator;
    made->law = std::move(law);
    kith_simulation_options &options = made->options;
    options.dt = dt;
    options.integrator = made->integrator.c_str();
    options.forces.gravitational_constant = g;
    options.forces.softening = softening;
    options.softening_of_bodies = softening_of_bodies;
    options.precision = single ? KITH_F32 : KITH_F64;
    options.forces.law = handle_of(made->law);
    options.forces.solver = solver_of(solver);
    options.forces.accuracy = {error, theta, order};
    options.eta = eta;
    options.on_collision = (kith_on_collision)on_collision;
    options.restitution = restitution;
    options.encounter = encounter;
    options.escape = escape;
    made->coordinates = coordinates.value_or("");
    made->kernel = kernel.value_or("");
    options.coordinates = coordinates ? made->coordinates.c_str() : nullptr;
    options.corrector = corrector;
    options.kernel = kernel ? made->kernel.c_str() : nullptr;
    options.substeps = substeps;
    options.forces.cutoff = cutoff;
    options.forces.shift = (kith_shift)shift;
    options.forces.tail = tail;
    made->exclude = exclude;
    options.forces.ewald = ewald_of(alpha, absolute_error, boundary, grid);
    if (!exclude.empty())
        options.forces.exclusions =
            kith_array_matrix(made->exclude.data(), KITH_I64, (int64_t)exclude.size() / 2, 2);
    if (thermostat)
        calling(*where,
                [&] { return kith_thermostat_parse(thermostat->c_str(), &options.thermostat); });
    made->systems = systems.value_or(0);
    calling(*where, [&] {
        return systems
                   ? kith_simulation_create_ensemble(where->handle, &options, *systems,
                                                     start.handle, &made->handle)
                   : kith_simulation_create(where->handle, &options, start.handle, &made->handle);
    });
    made->where = std::move(where);
    return made;
}

// What Ctrl-C has requested; signals are heard by the interpreter alone.
static void look_up()
{
    if (PyErr_CheckSignals() != 0)
        throw nb::python_error();
}

// Enough steps that checking for Ctrl-C between two calls costs nothing, and few enough that nobody
// waits.
static const double seconds_between_looks = 0.05;

class pace
{
  public:
    int64_t steps(int64_t left) const
    {
        return std::min(left, steps_);
    }
    template <class Call> void measure(Call &&call)
    {
        const auto start = std::chrono::steady_clock::now();
        call();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        if (took.count() < seconds_between_looks / 2)
            steps_ = std::min<int64_t>(2 * steps_, INT64_C(1) << 40);
        else if (took.count() > seconds_between_looks * 2)
            steps_ = std::max<int64_t>(steps_ / 2, 1);
    }

  private:
    int64_t steps_ = 16;
};

// As many steps as a view, if there is one, allows before it looks again.
static int64_t allowed(kith_view *looks, kith_simulation *handle, int64_t steps)
{
    const int64_t most = looks ? kith_view_between_steps(looks, handle) : 0;
    return most > 0 ? std::min(most, steps) : steps;
}

// The state after the last step.
static void show(simulation &of, kith_view *looks)
{
    if (looks)
        calling(*of.where, [&] {
            kith_view_between_steps(looks, of.handle);
            return KITH_OK;
        });
}

// On a device a call only starts the work.
static void step_in_pieces(simulation &of, int64_t steps)
{
    pace pace;
    const seen_ref shown = of.shown; // until the end, also if it is closed meanwhile
    kith_view *const looks = shown ? shown->handle : nullptr;
    if (steps <= 0)
        calling(*of.where, [&] { return kith_simulation_step(of.handle, steps); });
    while (steps > 0) {
        int64_t some = pace.steps(steps);
        pace.measure([&] {
            calling(*of.where, [&] {
                some = allowed(looks, of.handle, some);
                const kith_status status = kith_simulation_step(of.handle, some);
                return status != KITH_OK ? status : kith_context_synchronize(of.where->handle);
            });
        });
        steps = kith_simulation_has_stopped(of.handle) ? 0 : steps - some;
        look_up();
    }
    show(of, looks);
}

static void step_by(simulation &of, double h)
{
    calling(*of.where, [&] { return kith_simulation_step_by(of.handle, h); });
}

// At most this many steps in pieces, of which the last ends exactly at until.
static void run(simulation &of, double until, int64_t steps)
{
    pace pace;
    const seen_ref shown = of.shown;
    kith_view *const looks = shown ? shown->handle : nullptr;
    do {
        int64_t some = pace.steps(steps);
        pace.measure([&] {
            calling(*of.where, [&] {
                some = allowed(looks, of.handle, some);
                const kith_status status = kith_simulation_run_steps(of.handle, until, some);
                return status != KITH_OK ? status : kith_context_synchronize(of.where->handle);
            });
        });
        steps = kith_simulation_has_stopped(of.handle) ? 0 : steps - some;
        look_up();
    } while (steps > 0 && kith_simulation_time(of.handle) != until);
    show(of, looks);
}

// A column as it lies in the simulation; None where it is kept in other units.
static std::optional<view> column_of(nb::handle_t<simulation> self, int column)
{
    simulation &of = nb::cast<simulation &>(self);
    kith_array array;
    const kith_status status =
        kith_simulation_view(of.handle, (kith_simulation_column)column, &array);
    if (status == KITH_UNSUPPORTED)
        return std::nullopt;
    if (status != KITH_OK)
        raise(status, kith_error_message());
    return view_of(array, self);
}

static void get_bodies(simulation &of, bodies &to)
{
    calling(*of.where, [&] { return kith_simulation_get_bodies(of.handle, to.handle); });
}

static void set_bodies(simulation &of, const bodies &from)
{
    calling(*of.where, [&] { return kith_simulation_set_bodies(of.handle, from.handle); });
}

static nb::tuple three(const double numbers[3])
{
    return nb::make_tuple(numbers[0], numbers[1], numbers[2]);
}

static nb::dict dict_of(const kith_diagnostics &sums)
{
    nb::dict found;
    found["kinetic_energy"] = sums.kinetic_energy;
    found["potential_energy"] = sums.potential_energy;
    found["total_energy"] = sums.total_energy;
    found["momentum"] = three(sums.momentum);
    found["angular_momentum"] = three(sums.angular_momentum);
    found["center_of_mass"] = three(sums.center_of_mass);
    found["virial_ratio"] = sums.virial_ratio;
    found["temperature"] = sums.temperature;
    found["pressure"] = sums.pressure;
    found["virial"] =
        nb::make_tuple(three(sums.virial), three(sums.virial + 3), three(sums.virial + 6));
    return found;
}

static nb::dict diagnose(simulation &of)
{
    kith_diagnostics sums = {};
    calling(*of.where, [&] { return kith_simulation_diagnose(of.handle, &sums); });
    return dict_of(sums);
}

static nb::list diagnose_systems(simulation &of)
{
    const int64_t systems = kith_simulation_systems(of.handle);
    std::vector<kith_diagnostics> sums((size_t)systems);
    calling(*of.where,
            [&] { return kith_simulation_diagnose_systems(of.handle, 0, systems, sums.data()); });
    nb::list found;
    for (const kith_diagnostics &one : sums)
        found.append(dict_of(one));
    return found;
}

static nb::list events(const simulation &of)
{
    nb::list found;
    int64_t count = 0;
    const kith_event *list = kith_simulation_events(of.handle, &count);
    for (int64_t k = 0; k < count; k++)
        found.append(nb::make_tuple(kith_event_name(list[k].kind), list[k].step, list[k].time,
                                    list[k].body, list[k].other, list[k].distance, list[k].speed,
                                    list[k].mass, list[k].radius));
    return found;
}

// The rows of the bodies that are left; None if it is all of them.
static std::optional<std::vector<int64_t>> rows(const simulation &of)
{
    int64_t count = 0;
    const int64_t *list = kith_simulation_rows(of.handle, &count);
    if (!list)
        return std::nullopt;
    return std::vector<int64_t>(list, list + count);
}

struct run_words {
    std::string output, integrator;
    std::vector<std::string> units;
};

static kith_run_options run_options_of(const simulation &of, const run_words &words, double until,
                                       int64_t every, double every_time, int64_t pressure_every,
                                       double checkpoint_seconds, bool wrap, bool resume)
{
    kith_run_options options = {};
    options.simulation = of.options;
    options.until = until;
    options.every = every;
    options.every_time = every_time;
    options.pressure_every = pressure_every;
    options.output = words.output.c_str();
    options.checkpoint_seconds = checkpoint_seconds;
    options.wrap = wrap;
    options.resume = resume;
    for (size_t k = 0; k < 3 && k < words.units.size(); k++)
        options.units[k] = words.units[k].c_str();
    options.is_ensemble = of.systems > 0;
    options.systems = of.systems;
    return options;
}

static nb::dict dict_of(const kith_run_summary &summary)
{
    nb::dict found;
    found["bodies"] = summary.bodies;
    found["steps"] = summary.steps;
    found["dt"] = summary.dt;
    found["dt_min"] = summary.dt_min;
    found["dt_max"] = summary.dt_max;
    found["body_steps"] = summary.body_steps;
    found["collisions"] = summary.collisions;
    found["bodies_final"] = summary.bodies_final;
    found["time"] = summary.time;
    found["energy_initial"] = summary.energy_initial;
    found["energy_final"] = summary.energy_final;
    found["relative_energy_error"] = summary.relative_energy_error;
    found["max_relative_energy_error"] = summary.max_relative_energy_error;
    found["momentum_error"] = summary.momentum_error;
    found["interactions_per_second"] = summary.interactions_per_second;
    found["gflops"] = summary.gflops;
    found["seconds"] = summary.seconds;
    found["integrator"] = (const char *)summary.integrator;
    found["solver"] = (const char *)summary.solver;
    return found;
}

// Runs bodies, or those of the file that it resumes, into a file with the simulation's options.
// last gets the state at the end, also when a signal ends the run.
static nb::dict run_to_file(simulation &of, const bodies *start, bodies &last,
                            const std::string &path, double until, int64_t every, double every_time,
                            int64_t pressure_every, double checkpoint_seconds,
                            const std::vector<std::string> &units, bool wrap, bool resume)
{
    const run_words words = {path, of.integrator, units};
    kith_run_options options = run_options_of(of, words, until, every, every_time, pressure_every,
                                              checkpoint_seconds, wrap, resume);
    options.last = last.handle;
    const seen_ref shown = of.shown;
    if (shown) {
        options.between_steps = kith_view_between_steps;
        options.between_user = shown->handle;
    }
    kith_run_summary summary = {};
    calling(*of.where, [&] {
        return kith_run(of.where->handle, &options, start ? start->handle : nullptr, &summary);
    });
    return dict_of(summary);
}

static nb::list integrators()
{
    nb::list found;
    int64_t count = 0;
    const kith_integrator *list = kith_integrator_list(&count);
    for (int64_t k = 0; k < count; k++) {
        nb::dict row;
        row["name"] = list[k].name;
        row["description"] = list[k].description;
        row["order"] = list[k].order;
        row["evaluations"] = list[k].evaluations;
        row["symplectic"] = list[k].symplectic;
        row["adaptive"] = list[k].adaptive;
        row["central"] = list[k].central;
        found.append(row);
    }
    return found;
}

void add_simulation(nb::module_ &module)
{
    nb::class_<simulation>(module, "SimulationHandle")
        .def("step", step_in_pieces, nb::arg("steps"))
        .def("step_by", step_by, nb::arg("h"))
        .def("run", run, nb::arg("until"), nb::arg("steps") = INT64_MAX)
        .def_prop_ro("time", [](const simulation &s) { return kith_simulation_time(s.handle); })
        .def_prop_ro("steps", [](const simulation &s) { return kith_simulation_steps(s.handle); })
        .def_prop_ro("dt", [](const simulation &s) { return s.options.dt; })
        .def_rw("view", &simulation::shown, nb::arg("view").none())
        .def_prop_ro("systems",
                     [](const simulation &s) { return kith_simulation_systems(s.handle); })
        .def("column", column_of, nb::arg("column"))
        .def("get_bodies", get_bodies, nb::arg("bodies"))
        .def("set_bodies", set_bodies, nb::arg("bodies"))
        .def_prop_ro("collisions",
                     [](const simulation &s) { return kith_simulation_collisions(s.handle); })
        .def_prop_ro("has_stopped",
                     [](const simulation &s) { return kith_simulation_has_stopped(s.handle); })
        .def("events", events)
        .def("rows", rows)
        .def("diagnose", diagnose)
        .def("diagnose_systems", diagnose_systems)
        .def("run_to_file", run_to_file, nb::arg("start").none(), nb::arg("last"), nb::arg("path"),
             nb::arg("until"), nb::arg("every"), nb::arg("every_time"), nb::arg("pressure_every"),
             nb::arg("checkpoint_seconds"), nb::arg("units"), nb::arg("wrap"), nb::arg("resume"));
    module.def("create_simulation", create, nb::arg("context"), nb::arg("start"), nb::arg("dt"),
               nb::arg("integrator"), nb::arg("g"), nb::arg("softening"),
               nb::arg("softening_of_bodies"), nb::arg("single"), nb::arg("law").none(),
               nb::arg("solver"), nb::arg("error"), nb::arg("theta"), nb::arg("order"),
               nb::arg("eta"), nb::arg("on_collision"), nb::arg("restitution"),
               nb::arg("encounter"), nb::arg("escape"), nb::arg("systems").none(),
               nb::arg("coordinates").none(), nb::arg("corrector"), nb::arg("kernel").none(),
               nb::arg("thermostat").none(), nb::arg("substeps"), nb::arg("cutoff"),
               nb::arg("shift"), nb::arg("tail"), nb::arg("alpha"), nb::arg("absolute_error"),
               nb::arg("boundary"), nb::arg("grid"), nb::arg("exclude"));
    module.def("integrators", integrators);
    module.attr("column_position") = (int)KITH_SIMULATION_POSITION;
    module.attr("column_velocity") = (int)KITH_SIMULATION_VELOCITY;
    module.attr("column_mass") = (int)KITH_SIMULATION_MASS;
}
