# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport int64_t
from libcpp cimport bool as cbool
from libcpp.string cimport string

from onnx_light_shared.element_type cimport ElementType


cdef extern from "<span>" nogil:
    cdef cppclass Extents "std::span<const int64_t>":
        Extents() noexcept
        Extents(const int64_t* data, size_t size) noexcept

    cdef cppclass Symbols "std::span<const std::string>":
        Symbols() noexcept
        Symbols(const string* data, size_t size) noexcept


cdef extern from "conversions/shape.h" namespace "conversions" nogil:
    cdef cppclass Shape:
        cbool has_rank() noexcept
        size_t rank() noexcept
        cbool Admits(Extents extents) noexcept
        string ToString() except +


cdef extern from "conversions/tensor_spec.h" namespace "conversions" nogil:
    cdef cppclass TensorSpec:
        string where
        ElementType type
        Shape shape

    Shape ShapeFromParts(cbool has_rank, Extents extents, Symbols symbols) except +
    const char* DisplayName(ElementType type) noexcept
    string Mismatch(const TensorSpec& spec, string given_type, Extents given_extents) except +
