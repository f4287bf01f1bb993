// Laws: made of a text, their parameters, one pair by the reference.

#include "binding.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <vector>

static law_ref parse(const std::string &text, const std::vector<std::string> &names,
                     const std::vector<double> &values)
{
    std::vector<kith_law_parameter> parameters;
    for (size_t k = 0; k < names.size(); k++)
        parameters.push_back({names[k].c_str(), values[k]});
    law_ref parsed = std::make_shared<law>();
    calling([&] {
        return kith_law_parse(text.c_str(), (int64_t)parameters.size(), parameters.data(),
                              &parsed->handle);
    });
    return parsed;
}

static double get(const law &law, const std::string &name)
{
    double value = 0;
    calling([&] { return kith_law_get(law.handle, name.c_str(), &value); });
    return value;
}

static void set(law &law, const std::string &name, double value)
{
    calling([&] { return kith_law_set(law.handle, name.c_str(), value); });
}

static nb::tuple evaluate(const law &law, double dx, double dy, double dz, double softening,
                          double mass_i, double mass_j, double charge_i, double charge_j)
{
    const kith_law_pair pair = {{dx, dy, dz}, softening, mass_i, mass_j, charge_i, charge_j};
    double value = 0, force[3] = {0};
    calling([&] { return kith_law_evaluate(law.handle, &pair, &value, force); });
    return nb::make_tuple(value, nb::make_tuple(force[0], force[1], force[2]));
}

static nb::list table()
{
    nb::list found;
    int64_t count = 0;
    const kith_law_info *list = kith_law_list(&count);
    for (int64_t k = 0; k < count; k++) {
        nb::dict row;
        row["name"] = list[k].name;
        row["arguments"] = list[k].arguments;
        row["formula"] = list[k].formula;
        row["parameters"] = list[k].parameters;
        row["at_zero"] = list[k].at_zero;
        row["units"] = list[k].units;
        found.append(row);
    }
    return found;
}

void add_law(nb::module_ &module)
{
    nb::class_<law>(module, "Law")
        .def_prop_ro("text", [](const law &law) { return kith_law_text(law.handle); })
        .def("get", get, nb::arg("name"))
        .def("set", set, nb::arg("name"), nb::arg("value"))
        .def("evaluate", evaluate, nb::arg("dx"), nb::arg("dy"), nb::arg("dz"),
             nb::arg("softening"), nb::arg("mass_i"), nb::arg("mass_j"), nb::arg("charge_i"),
             nb::arg("charge_j"));
    module.def("parse_law", parse, nb::arg("text"), nb::arg("names"), nb::arg("values"));
    module.def("laws", table);
}
