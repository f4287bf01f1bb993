// Sparse matrices.

#include "binding.h"

#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

struct sparse {
    context_ref where;
    kith_sparse *handle = nullptr;
    ~sparse()
    {
        freeing(where, [handle = handle] { kith_sparse_free(handle); });
    }
};
using sparse_ref = std::shared_ptr<sparse>;

static kith_sparse_options options_of(int format, int kernel, int32_t block, int32_t index_base,
                                      bool tune, bool single)
{
    kith_sparse_options options = {};
    options.format = (kith_sparse_format)format;
    options.kernel = (kith_sparse_kernel)kernel;
    options.block = block;
    options.index_base = index_base;
    options.tune = tune;
    options.dtype = single ? KITH_F32 : KITH_F64;
    return options;
}

static sparse_ref from_coo(context_ref where, const kith_sparse_options &options, int64_t rows,
                           int64_t columns, const input &row, const input &column,
                           const input &values)
{
    const kith_array of_row = array_of("row", row), of_column = array_of("column", column);
    const kith_array of_values = array_of("values", values);
    auto made = std::make_shared<sparse>();
    calling(*where, [&] {
        return kith_sparse_create_coo(where->handle, &options, rows, columns, of_row, of_column,
                                      of_values, &made->handle);
    });
    made->where = std::move(where);
    return made;
}

static sparse_ref from_csr(context_ref where, const kith_sparse_options &options, int64_t columns,
                           const input &row_start, const input &column, const input &values)
{
    const kith_array starts = array_of("row_start", row_start);
    const kith_array of_column = array_of("column", column);
    const kith_array of_values = array_of("values", values);
    auto made = std::make_shared<sparse>();
    calling(*where, [&] {
        return kith_sparse_create_csr(where->handle, &options, columns, starts, of_column,
                                      of_values, &made->handle);
    });
    made->where = std::move(where);
    return made;
}

static sparse_ref from_dense(context_ref where, const kith_sparse_options &options,
                             const input &matrix)
{
    const kith_array of = array_of("matrix", matrix);
    auto made = std::make_shared<sparse>();
    calling(*where,
            [&] { return kith_sparse_create_dense(where->handle, &options, of, &made->handle); });
    made->where = std::move(where);
    return made;
}

static sparse_ref from_pairs(context_ref where, const kith_sparse_options &options,
                             const pairs &list, const law_ref &law, const input &masses,
                             const input &charges, double softening, bool half, bool laplacian,
                             int64_t column_count)
{
    kith_sparse_graph graph = {};
    graph.law = handle_of(law);
    graph.mass = array_of("masses", masses);
    graph.charge = array_of("charges", charges);
    graph.softening = softening;
    graph.half = half;
    graph.laplacian = laplacian;
    graph.column_count = column_count;
    auto made = std::make_shared<sparse>();
    calling(*where, [&] {
        return kith_sparse_create_pairs(where->handle, &options, list.handle, &graph,
                                        &made->handle);
    });
    made->where = std::move(where);
    return made;
}

static sparse_ref from_file(context_ref where, const kith_sparse_options &options,
                            const std::string &path)
{
    auto made = std::make_shared<sparse>();
    calling(*where,
            [&] { return kith_sparse_read(where->handle, &options, path.c_str(), &made->handle); });
    made->where = std::move(where);
    return made;
}

static void write_file(sparse &matrix, const std::string &path)
{
    calling(*matrix.where, [&] { return kith_sparse_write(matrix.handle, path.c_str()); });
}

static nb::dict describe(sparse &matrix, bool transposed)
{
    kith_sparse_info info = {};
    calling(*matrix.where, [&] {
        return kith_sparse_describe(matrix.handle,
                                    transposed ? KITH_SPARSE_TRANSPOSED : KITH_SPARSE_AS_IS, &info);
    });
    int64_t count = 0;
    nb::dict found;
    found["rows"] = info.rows;
    found["columns"] = info.columns;
    found["nonzeros"] = info.nonzeros;
    found["dtype"] = info.dtype == KITH_F32 ? "float32" : "float64";
    found["format"] = kith_sparse_format_list(&count)[info.format].name;
    found["kernel"] = kith_sparse_kernel_list(&count)[info.kernel].name;
    found["reason"] = info.reason;
    found["bytes"] = info.bytes;
    found["convert_seconds"] = info.convert_seconds;
    return found;
}

static void copy_csr(sparse &matrix, const output &row_start, const output &column,
                     const output &values)
{
    calling(*matrix.where, [&] {
        return kith_sparse_copy_csr(matrix.handle, static_cast<int64_t *>(row_start.data()),
                                    static_cast<int32_t *>(column.data()), values.data());
    });
}

static void multiply(sparse &matrix, bool transposed, double alpha, const input &x, double beta,
                     const output &y)
{
    const kith_array from = array_of("x", x), to = array_of("y", y);
    calling(*matrix.where, [&] {
        return kith_sparse_multiply(matrix.handle,
                                    transposed ? KITH_SPARSE_TRANSPOSED : KITH_SPARSE_AS_IS, alpha,
                                    from, beta, to);
    });
}

static nb::dict names_of(const kith_sparse_choice *(*list)(int64_t *))
{
    nb::dict found;
    int64_t count = 0;
    const kith_sparse_choice *rows = list(&count);
    for (int64_t k = 0; k < count; k++)
        found[rows[k].name] = k;
    return found;
}

void add_sparse(nb::module_ &module)
{
    nb::class_<kith_sparse_options>(module, "SparseOptions");
    module.def("sparse_options", options_of, nb::arg("format"), nb::arg("kernel"), nb::arg("block"),
               nb::arg("index_base"), nb::arg("tune"), nb::arg("single"));
    nb::class_<sparse>(module, "Sparse")
        .def_prop_ro("context", [](const sparse &s) { return s.where; })
        .def("describe", describe, nb::arg("transposed"))
        .def("copy_csr", copy_csr, nb::arg("row_start"), nb::arg("column"), nb::arg("values"))
        .def("multiply", multiply, nb::arg("transposed"), nb::arg("alpha"), nb::arg("x"),
             nb::arg("beta"), nb::arg("y"))
        .def("write", write_file, nb::arg("path"));
    module.def("sparse_from_coo", from_coo, nb::arg("context"), nb::arg("options"), nb::arg("rows"),
               nb::arg("columns"), nb::arg("row"), nb::arg("column"), nb::arg("values").none());
    module.def("sparse_from_csr", from_csr, nb::arg("context"), nb::arg("options"),
               nb::arg("columns"), nb::arg("row_start"), nb::arg("column"),
               nb::arg("values").none());
    module.def("sparse_from_dense", from_dense, nb::arg("context"), nb::arg("options"),
               nb::arg("matrix"));
    module.def("sparse_from_pairs", from_pairs, nb::arg("context"), nb::arg("options"),
               nb::arg("pairs"), nb::arg("law").none(), nb::arg("masses").none(),
               nb::arg("charges").none(), nb::arg("softening"), nb::arg("half"),
               nb::arg("laplacian"), nb::arg("column_count"));
    module.def("sparse_from_file", from_file, nb::arg("context"), nb::arg("options"),
               nb::arg("path"));
    module.attr("sparse_formats") = names_of(kith_sparse_format_list);
    module.attr("sparse_kernels") = names_of(kith_sparse_kernel_list);
}
