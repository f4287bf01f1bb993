// Collisions on a lattice: counted now, promised, grouped, many conformations in one call.

#include "binding.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <optional>

using letters = std::optional<std::string>;

static const char *text_of(const letters &sequence)
{
    return sequence ? sequence->c_str() : nullptr;
}

static int64_t count(context &where, const input &beads, int method)
{
    const kith_collisions_options options = {(kith_collisions_method)method};
    const kith_array of = array_of("beads", beads);
    int64_t counted = 0;
    calling(where, [&] { return kith_collisions_count(where.handle, &options, of, &counted); });
    return counted;
}

static int choose(context &where, const input &beads, int method)
{
    const kith_collisions_options options = {(kith_collisions_method)method};
    const kith_array of = array_of("beads", beads);
    kith_collisions_method chosen = KITH_COLLISIONS_AUTO;
    calling(where, [&] { return kith_collisions_choose(where.handle, &options, of, &chosen); });
    return (int)chosen;
}

struct promise {
    context_ref where;
    input beads; // on a device they must stay as they are until the fetch
    kith_collisions_promise *handle = nullptr;
    ~promise()
    {
        freeing(where, [handle = handle] { kith_collisions_promise_free(handle); });
    }
};

static std::shared_ptr<promise> launch(context_ref where, input beads, int method)
{
    const kith_collisions_options options = {(kith_collisions_method)method};
    const kith_array of = array_of("beads", beads);
    auto launched = std::make_shared<promise>();
    calling(*where,
            [&] { return kith_collisions_launch(where->handle, &options, of, &launched->handle); });
    launched->where = std::move(where);
    if (of.device.kind != KITH_CPU)
        launched->beads = std::move(beads);
    return launched;
}

static int64_t fetch(promise &launched)
{
    int64_t counted = 0;
    calling(*launched.where, [&] { return kith_collisions_fetch(launched.handle, &counted); });
    return counted;
}

struct groups {
    kith_collisions_groups *handle = nullptr;
    ~groups()
    {
        kith_collisions_groups_free(handle);
    }
};

static std::shared_ptr<groups> group(context &where, const input &beads)
{
    const kith_array of = array_of("beads", beads);
    auto found = std::make_shared<groups>();
    calling(where, [&] { return kith_collisions_group(where.handle, of, &found->handle); });
    return found;
}

static void list_pairs(const groups &found, const output &pairs)
{
    const kith_array to = array_of("pairs", pairs);
    calling([&] { return kith_collisions_pairs(found.handle, static_cast<int64_t *>(to.data)); });
}

static int64_t contacts(context &where, const input &beads, const letters &sequence)
{
    const kith_array of = array_of("beads", beads);
    int64_t counted = 0;
    calling(where,
            [&] { return kith_contacts_count(where.handle, of, text_of(sequence), &counted); });
    return counted;
}

static void batch(context &where, const input &beads, const input &offsets, const letters &sequence,
                  const output &collisions, const output &contacts_out)
{
    const kith_array of = array_of("beads", beads), from = array_of("offsets", offsets);
    const kith_array to = array_of("collisions", collisions);
    const kith_array also_to = array_of("contacts", contacts_out);
    calling(where, [&] {
        return kith_collisions_batch(where.handle, of, from, text_of(sequence), to, also_to);
    });
}

// A dense vector of the groups' own.
static view numbers(nb::handle self, int64_t *data, int64_t length)
{
    return view_of(kith_array_vector(data, KITH_I64, length), self);
}

static nb::list methods()
{
    nb::list found;
    int64_t rows = 0;
    const kith_collisions_method_info *list = kith_collisions_method_list(&rows);
    for (int64_t k = 0; k < rows; k++)
        found.append(nb::make_tuple(list[k].name, list[k].description));
    return found;
}

void add_collisions(nb::module_ &module)
{
    nb::class_<promise>(module, "Promise").def("fetch", fetch);
    nb::class_<groups>(module, "Groups")
        .def_prop_ro("beads", [](const groups &g) { return g.handle->beads; })
        .def_prop_ro("collisions", [](const groups &g) { return g.handle->collisions; })
        .def_prop_ro("sites", [](const groups &g) { return g.handle->sites; })
        .def_prop_ro("max_at_site", [](const groups &g) { return g.handle->max_at_site; })
        .def_prop_ro("begin",
                     [](nb::handle_t<groups> self) {
                         const groups &g = nb::cast<const groups &>(self);
                         return numbers(self, g.handle->begin, g.handle->group_count + 1);
                     })
        .def_prop_ro("member",
                     [](nb::handle_t<groups> self) {
                         const groups &g = nb::cast<const groups &>(self);
                         const int64_t last = g.handle->begin[g.handle->group_count];
                         return numbers(self, g.handle->member, last);
                     })
        .def("pairs", list_pairs, nb::arg("pairs"));
    module.def("collisions", count, nb::arg("context"), nb::arg("beads"), nb::arg("method"));
    module.def("collisions_choose", choose, nb::arg("context"), nb::arg("beads"),
               nb::arg("method"));
    module.def("collisions_launch", launch, nb::arg("context"), nb::arg("beads"),
               nb::arg("method"));
    module.def("collisions_group", group, nb::arg("context"), nb::arg("beads"));
    module.def("contacts", contacts, nb::arg("context"), nb::arg("beads"),
               nb::arg("sequence").none());
    module.def("collisions_batch", batch, nb::arg("context"), nb::arg("beads"),
               nb::arg("offsets").none(), nb::arg("sequence").none(), nb::arg("collisions").none(),
               nb::arg("contacts").none());
    module.attr("collisions_methods") = methods();
}
