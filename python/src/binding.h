#ifndef KITH_PYTHON_BINDING_H
#define KITH_PYTHON_BINDING_H

// What the files of the extension module share. They take arguments that the Python side of the
// package has brought into shape, and leave every check of values to the library.

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "kith/kith.h"

namespace nb = nanobind;

// An array of the caller's, by DLPack or the buffer protocol; None where a function allows none.
using input = nb::ndarray<nb::ro>;
using output = nb::ndarray<>;

// A view of memory that another Python object owns.
using view = nb::ndarray<nb::array_api>;

// The library's view of an array; TypeError if it has no such dtype, dimensions or place.
kith_array array_of(const char *name, const input &array);

// A cell of 3 × 3 double vectors and 3 int32 flags.
kith_cell cell_from(const input &vectors, const input &periodic);
kith_array array_of(const char *name, const output &array);

// The reverse; owner keeps the memory alive.
view view_of(const kith_array &array, nb::handle owner);

// Raises the exception that belongs to a status: ValueError, MemoryError, OSError …
[[noreturn]] void raise(kith_status status, const std::string &message);

struct context {
    kith_context *handle = nullptr;
    PyObject *messages = nullptr;              // of a job's rank: python/kith/_ranks.py
    std::timed_mutex busy;                     // a context may be used by one thread at a time,
    std::atomic<std::thread::id> user;         // which is this one; or none
    std::vector<std::function<void()>> unused; // to be freed after the user's call
    bool is_mine() const
    {
        return user.load() == std::this_thread::get_id();
    }
    ~context();
};
using context_ref = std::shared_ptr<context>;

struct law {
    kith_law *handle = nullptr;
    ~law()
    {
        kith_law_free(handle);
    }
};
using law_ref = std::shared_ptr<law>;

/* Of a name; "auto" is NULL. */
const kith_solver *solver_of(const std::string &name);

// What the solvers of periodic images take; an empty grid: chosen.
kith_ewald ewald_of(double alpha, double absolute_error, int boundary,
                    const std::vector<int32_t> &grid);

inline const kith_law *handle_of(const law_ref &law)
{
    return law ? law->handle : nullptr;
}

struct bodies {
    kith_bodies *handle = nullptr;
    ~bodies()
    {
        kith_bodies_free(handle);
    }
};

// Calls the library while other Python threads run; raises what goes wrong.
template <class Call> void calling(Call &&call)
{
    kith_status status = KITH_OK;
    std::string message;
    {
        nb::gil_scoped_release release;
        status = call();
        if (status != KITH_OK)
            message = kith_error_message();
    }
    if (status != KITH_OK)
        raise(status, message);
}

// The exception that a signal's handler has raised during a call.
using raised_by_signal = std::optional<nb::python_error>;

// Runs the handlers of signals that have come, if this is Python's main thread; true if one of them
// raises an exception, as that of Ctrl-C. A kith_poll.
bool has_signal(void *raised);

// The use of a context by this thread: its long calls look for signals.
class using_context
{
  public:
    // is_taken is false if a signal's exception came first.
    using_context(context &where, raised_by_signal &raised);
    ~using_context();
    using_context(const using_context &) = delete;
    using_context &operator=(const using_context &) = delete;
    bool is_taken() const
    {
        return is_taken_;
    }

  private:
    context &where_;
    raised_by_signal &raised_;
    bool is_taken_ = false;
};

// The same for calls that use a context; a signal's exception cancels the call.
template <class Call> void calling(context &where, Call &&call)
{
    raised_by_signal raised;
    if (where.is_mine())
        throw std::runtime_error("the context is computing; give a signal's handler or a callback "
                                 "a kith.Context of its own");
    calling([&] {
        const using_context use(where, raised);
        const kith_status status = use.is_taken() ? call() : KITH_CANCELLED;
        return raised ? KITH_OK : status;
    });
    if (raised)
        throw std::move(*raised);
}

// The same for calls whose options have a poll function instead of a context.
template <class Options, class Call> void polling(Options &options, Call &&call)
{
    raised_by_signal raised;
    options.poll = has_signal;
    options.poll_user = &raised;
    calling([&] {
        const kith_status status = call();
        return raised ? KITH_OK : status;
    });
    if (raised)
        throw std::move(*raised);
}

// Frees what was made with a context, when nobody uses that. Signals' handlers, and the garbage
// collector, may run in the middle of a call.
template <class Free> void freeing(const context_ref &where, Free &&free)
{
    if (!where)
        return;
    if (where->is_mine()) {
        where->unused.push_back(free);
        return;
    }
    const nb::gil_scoped_release release;
    const std::lock_guard<std::timed_mutex> alone(where->busy);
    free();
}

// A live view, of a simulation or of a file's frames. close stops its server, which waits for a
// page.
struct seen {
    kith_trajectory *trajectory = nullptr;
    kith_view *handle = nullptr;
    ~seen();
};
using seen_ref = std::shared_ptr<seen>;

struct pairs {
    context_ref where;
    kith_pairs *handle = nullptr;
    kith_pairs stored = {}; // of arrays of Python's, which keep holds
    std::vector<input> keep;
    ~pairs()
    {
        if (handle != &stored)
            freeing(where, [handle = handle] { kith_pairs_free(handle); });
    }
};

void add_array(nb::module_ &module);
void add_bodies(nb::module_ &module);
void add_collisions(nb::module_ &module);
void add_context(nb::module_ &module);
void add_ranks(nb::module_ &module);
void add_forces(nb::module_ &module);
void add_law(nb::module_ &module);
void add_matrix(nb::module_ &module);
void add_megno(nb::module_ &module);
void add_orbits(nb::module_ &module);
void add_pairs(nb::module_ &module);
void add_simulation(nb::module_ &module);
void add_sparse(nb::module_ &module);
void add_status(nb::module_ &module);
void add_sums(nb::module_ &module);
void add_trajectory(nb::module_ &module);
void add_view(nb::module_ &module);

#endif
