# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport int32_t
from libcpp cimport bool as cbool
from libcpp.optional cimport optional
from libcpp.string cimport string


cdef extern from "conversions/element_type.h" namespace "conversions" nogil:
    cdef enum class ElementType(int32_t):
        kUndefined
        kFloat
        kUint8
        kInt8
        kUint16
        kInt16
        kInt32
        kInt64
        kString
        kBool
        kFloat16
        kDouble
        kUint32
        kUint64
        kComplex64
        kComplex128

    cdef struct ElementTypeInfo:
        ElementType type
        int32_t onnx
        const char* name
        int bits
        const char* numpy_name
        size_t alignment

    const int32_t kElementTypeCount
    const ElementTypeInfo& Info(ElementType type) noexcept
    optional[ElementType] FromName(string name) noexcept
    cbool IsSubByte(ElementType type) noexcept
