#ifndef KITH_PYTHON_BINDING_H
#define KITH_PYTHON_BINDING_H

// What the files of the extension module share. They take arguments that the Python side of the
// package has brought into shape, and leave every check of values to the library.

#include <memory>
#include <mutex>
#include <string>
#include <utility>

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
kith_array array_of(const char *name, const output &array);

// The other way round; owner keeps the memory alive.
view view_of(const kith_array &array, nb::handle owner);

// Raises the exception that belongs to a status: ValueError, MemoryError, OSError …
[[noreturn]] void raise(kith_status status, const std::string &message);

struct context {
    kith_context *handle = nullptr;
    std::mutex busy; // a context may be used by one thread at a time
    ~context()
    {
        kith_context_free(handle);
    }
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

// The same for calls that use a context.
template <class Call> void calling(context &where, Call &&call)
{
    calling([&] {
        const std::lock_guard<std::mutex> alone(where.busy);
        return call();
    });
}

// Frees what was made with a context, when nobody uses that.
template <class Free> void freeing(const context_ref &where, Free &&free)
{
    if (!where)
        return;
    const nb::gil_scoped_release release;
    const std::lock_guard<std::mutex> alone(where->busy);
    free();
}

struct pairs {
    context_ref where;
    kith_pairs *handle = nullptr;
    ~pairs()
    {
        freeing(where, [&] { kith_pairs_free(handle); });
    }
};

void add_array(nb::module_ &module);
void add_bodies(nb::module_ &module);
void add_collisions(nb::module_ &module);
void add_context(nb::module_ &module);
void add_forces(nb::module_ &module);
void add_law(nb::module_ &module);
void add_matrix(nb::module_ &module);
void add_pairs(nb::module_ &module);
void add_simulation(nb::module_ &module);
void add_sparse(nb::module_ &module);
void add_status(nb::module_ &module);

#endif
