# SPDX-License-Identifier: Apache-2.0
from cpython.object cimport PyObject
from libc.stdint cimport int64_t
from libcpp.memory cimport shared_ptr

from onnx_light_shared.element_type cimport ElementType
from onnx_light_shared.shape cimport TensorSpec


cdef extern from "conversions/array_interface.h" namespace "conversions" nogil:
    cdef cppclass ArrayView:
        ElementType type
        const void* data
        const int64_t* dims
        size_t rank
        PyObject* keep

    cdef struct ArrayInterface:
        int (*borrow)(PyObject*, const TensorSpec*, ArrayView*) except -1
        PyObject* (*wrap)(ElementType, const int64_t*, size_t, void*, shared_ptr[void]*, const char*) except NULL

    const char* kArrayInterfaceCapsule
