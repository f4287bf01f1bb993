// The interaction matrix, kept or reduced.

#include "binding.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

// Which particles, by what law, how: what all functions of the matrix take.
struct question {
    context_ref where;
    law_ref law;
    kith_matrix_options options = {};
    input keep[6]; // what rows and columns refer to
    kith_particles rows = {}, columns = {};
    bool has_columns = false;

    const kith_particles *second() const
    {
        return has_columns ? &columns : nullptr;
    }
};

static std::shared_ptr<question> ask(context_ref where, law_ref law, double softening, int diagonal,
                                     double diagonal_value, int method, int32_t block,
                                     bool symmetric, input positions, input masses, input charges,
                                     input column_positions, input column_masses,
                                     input column_charges)
{
    auto asked = std::make_shared<question>();
    asked->where = std::move(where);
    asked->law = std::move(law);
    asked->options.softening = softening;
    asked->options.diagonal = (kith_matrix_diagonal)diagonal;
    asked->options.diagonal_value = diagonal_value;
    asked->options.method = (kith_matrix_method)method;
    asked->options.block = block;
    asked->options.symmetric = symmetric;
    asked->rows = {array_of("positions", positions),
                   {{"m", array_of("masses", masses)}, {"q", array_of("charges", charges)}}};
    asked->has_columns = column_positions.is_valid();
    asked->columns = {array_of("columns", column_positions),
                      {{"m", array_of("column_masses", column_masses)},
                       {"q", array_of("column_charges", column_charges)}}};
    input *keep = asked->keep;
    for (input *array :
         {&positions, &masses, &charges, &column_positions, &column_masses, &column_charges})
        *keep++ = std::move(*array);
    return asked;
}

static void compute(const question &asked, const output &matrix)
{
    const kith_array to = array_of("out", matrix);
    calling(*asked.where, [&] {
        return kith_matrix_compute(asked.where->handle, handle_of(asked.law), &asked.options,
                                   &asked.rows, asked.second(), to);
    });
}

static double write_file(const question &asked, int64_t memory, const std::string &path)
{
    double seconds = 0;
    calling(*asked.where, [&] {
        return kith_matrix_write(asked.where->handle, handle_of(asked.law), &asked.options,
                                 &asked.rows, asked.second(), memory, path.c_str(), &seconds);
    });
    return seconds;
}

static void reduce(const question &asked, int reduction, const output &out)
{
    const kith_array to = array_of("out", out);
    calling(*asked.where, [&] {
        return kith_matrix_reduce(asked.where->handle, handle_of(asked.law), &asked.options,
                                  &asked.rows, asked.second(), (kith_matrix_reduction)reduction,
                                  to);
    });
}

static void histogram(const question &asked, double low, double high, const output &counts)
{
    const kith_array to = array_of("counts", counts);
    calling(*asked.where, [&] {
        return kith_matrix_histogram(asked.where->handle, handle_of(asked.law), &asked.options,
                                     &asked.rows, asked.second(), low, high, to);
    });
}

static void multiply(const question &asked, const input &b, const output &y)
{
    const kith_array from = array_of("b", b), to = array_of("out", y);
    calling(*asked.where, [&] {
        return kith_matrix_multiply(asked.where->handle, handle_of(asked.law), &asked.options,
                                    &asked.rows, asked.second(), from, to);
    });
}

void add_matrix(nb::module_ &module)
{
    nb::class_<question>(module, "MatrixQuestion")
        .def("compute", compute, nb::arg("matrix"))
        .def("write", write_file, nb::arg("memory"), nb::arg("path"))
        .def("reduce", reduce, nb::arg("reduction"), nb::arg("out"))
        .def("histogram", histogram, nb::arg("low"), nb::arg("high"), nb::arg("counts"))
        .def("multiply", multiply, nb::arg("b"), nb::arg("y"));
    module.def("ask_matrix", ask, nb::arg("context"), nb::arg("law").none(), nb::arg("softening"),
               nb::arg("diagonal"), nb::arg("diagonal_value"), nb::arg("method"), nb::arg("block"),
               nb::arg("symmetric"), nb::arg("positions"), nb::arg("masses").none(),
               nb::arg("charges").none(), nb::arg("column_positions").none(),
               nb::arg("column_masses").none(), nb::arg("column_charges").none());
    nb::dict methods, diagonals, reductions;
    methods["auto"] = (int)KITH_MATRIX_AUTO;
    methods["reference"] = (int)KITH_MATRIX_REFERENCE;
    methods["direct"] = (int)KITH_MATRIX_DIRECT;
    methods["tile-p"] = (int)KITH_MATRIX_TILE_P;
    methods["tile-p2"] = (int)KITH_MATRIX_TILE_P2;
    diagonals["zero"] = (int)KITH_DIAGONAL_ZERO;
    diagonals["keep"] = (int)KITH_DIAGONAL_KEEP;
    reductions["sum"] = (int)KITH_REDUCE_SUM;
    reductions["min"] = (int)KITH_REDUCE_MIN;
    reductions["max"] = (int)KITH_REDUCE_MAX;
    reductions["argmin"] = (int)KITH_REDUCE_ARGMIN;
    module.attr("matrix_methods") = methods;
    module.attr("matrix_diagonals") = diagonals;
    module.attr("matrix_diagonal_value") = (int)KITH_DIAGONAL_VALUE;
    module.attr("matrix_reductions") = reductions;
}
