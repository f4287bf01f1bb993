// Arrays in and out: DLPack's words and the library's are nearly the same.

#include "binding.h"

#include <nanobind/stl/string.h>

static kith_dtype dtype_of(const char *name, nb::dlpack::dtype dtype)
{
    if (dtype.lanes == 1 && (dtype.bits == 64 || dtype.bits == 32)) {
        if (dtype.code == (uint8_t)nb::dlpack::dtype_code::Float)
            return dtype.bits == 64 ? KITH_F64 : KITH_F32;
        if (dtype.code == (uint8_t)nb::dlpack::dtype_code::Int)
            return dtype.bits == 64 ? KITH_I64 : KITH_I32;
    }
    throw nb::type_error(
        (std::string(name) +
         " has an unsupported dtype; convert it to float64, float32, int64 or int32")
            .c_str());
}

// Memory that a GPU's driver has locked or manages is at hand for both sides.
static kith_device device_of(const char *name, int32_t kind, int32_t index)
{
    switch (kind) {
    case nb::device::cpu::value:
    case nb::device::cuda_host::value:
        return {KITH_CPU, 0};
    case nb::device::cuda::value:
    case nb::device::cuda_managed::value:
        return {KITH_CUDA, index};
    default:
        throw nb::type_error((std::string(name) + " is on a device of DLPack's kind " +
                              std::to_string(kind) + "; give one in host memory or on a CUDA GPU")
                                 .c_str());
    }
}

template <class Array> static kith_array converted(const char *name, const Array &from)
{
    kith_array array = kith_array_none();
    if (!from.is_valid())
        return array;
    if (from.ndim() < 1 || from.ndim() > KITH_MAX_DIMENSIONS)
        throw nb::value_error((std::string(name) + " has " + std::to_string(from.ndim()) +
                               " dimensions; give 1 to " + std::to_string(KITH_MAX_DIMENSIONS))
                                  .c_str());
    array.data = const_cast<void *>(static_cast<const void *>(from.data()));
    array.device = device_of(name, from.device_type(), from.device_id());
    array.dtype = dtype_of(name, from.dtype());
    array.ndim = (int32_t)from.ndim();
    // What libraries call the strides of an empty array says nothing.
    int64_t dense = 1;
    for (size_t k = from.ndim(); k-- > 0;) {
        array.shape[k] = (int64_t)from.shape(k);
        array.strides[k] = from.size() > 0 ? from.stride(k) : dense;
        dense *= array.shape[k] > 0 ? array.shape[k] : 1;
    }
    return array;
}

kith_array array_of(const char *name, const input &array)
{
    return converted(name, array);
}

kith_array array_of(const char *name, const output &array)
{
    return converted(name, array);
}

static nb::dlpack::dtype dtype_of(kith_dtype dtype)
{
    switch (dtype) {
    case KITH_F64:
        return nb::dtype<double>();
    case KITH_F32:
        return nb::dtype<float>();
    case KITH_I64:
        return nb::dtype<int64_t>();
    default:
        return nb::dtype<int32_t>();
    }
}

view view_of(const kith_array &array, nb::handle owner)
{
    size_t shape[KITH_MAX_DIMENSIONS] = {0};
    for (int32_t k = 0; k < array.ndim; k++)
        shape[k] = (size_t)array.shape[k];
    return view(array.data, (size_t)array.ndim, shape, owner, array.strides, dtype_of(array.dtype),
                array.device.kind == KITH_CUDA ? nb::device::cuda::value : nb::device::cpu::value,
                array.device.index);
}

// A dense array of somebody else's memory by its address, for libraries whose arrays cannot be
// written through DLPack.
static view view_at(uintptr_t address, const std::string &dtype, int32_t device_kind,
                    int32_t device_index, nb::tuple shape, nb::object owner)
{
    kith_array array = kith_array_none();
    array.data = reinterpret_cast<void *>(address);
    array.device = {device_kind == nb::device::cuda::value ? KITH_CUDA : KITH_CPU, device_index};
    array.dtype = dtype == "float64"   ? KITH_F64
                  : dtype == "float32" ? KITH_F32
                  : dtype == "int64"   ? KITH_I64
                                       : KITH_I32;
    array.ndim = (int32_t)shape.size();
    int64_t dense = 1;
    for (int32_t k = array.ndim - 1; k >= 0; k--) {
        array.shape[k] = nb::cast<int64_t>(shape[(size_t)k]);
        array.strides[k] = dense;
        dense *= array.shape[k];
    }
    return view_of(array, owner);
}

// Where an array's first number is: by this one sees that nothing was copied.
static uintptr_t address_of(const input &array)
{
    return reinterpret_cast<uintptr_t>(array.data());
}

void add_array(nb::module_ &module)
{
    module.def("view_at", view_at, nb::arg("address"), nb::arg("dtype"), nb::arg("device_kind"),
               nb::arg("device_index"), nb::arg("shape"), nb::arg("owner"));
    module.def("address_of", address_of, nb::arg("array"));
}
