# SPDX-License-Identifier: Apache-2.0
# cython: language_level=3, boundscheck=False, wraparound=False
"""numpy arrays, DLPack objects and lists as tensors, and tensors as numpy arrays.

Other extension modules reach the two conversions through the capsule ``array_interface``, so that they neither link
with this module nor see numpy. ``TensorView`` and ``numpy_dtype`` are the same for Python.
"""

cimport cython
cimport numpy as cnp
from cpython.bytes cimport PyBytes_AsStringAndSize, PyBytes_Check
from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_New
from cpython.ref cimport Py_DECREF, Py_INCREF, Py_XDECREF
from cpython.unicode cimport PyUnicode_Check, PyUnicode_DecodeUTF8
from libc.stdint cimport int64_t, uint8_t
from libc.string cimport memcpy
from libcpp.memory cimport shared_ptr
from libcpp.optional cimport optional
from libcpp.string cimport string
from libcpp.vector cimport vector

from onnx_light_shared.array_interface cimport ArrayInterface, ArrayView, kArrayInterfaceCapsule
from onnx_light_shared.buffer cimport (
    AllocateBuffer,
    AllocateStrings,
    CheckedByteSize,
    OwnedBuffer,
    PackSubByte,
    UnpackSubByte,
)
from onnx_light_shared.element_type cimport ElementType, FromName, Info, IsSubByte, kElementTypeCount
from onnx_light_shared.shape cimport DisplayName, Extents, Mismatch, ShapeFromParts, Symbols, TensorSpec

import numpy as np

cnp.import_array()

cdef extern from "Python.h":
    const char* PyUnicode_AsUTF8AndSize(object text, Py_ssize_t* size) except NULL

cdef extern from *:
    """
    static_assert(sizeof(npy_intp) == sizeof(int64_t), "extents are handed over without a copy");

    // Returns an array over `data`, or over new memory if that is null. Takes the reference to `dtype`.
    static PyObject* MakeArray(PyObject* dtype, size_t rank, const int64_t* dims, void* data) {
        auto* extents = reinterpret_cast<npy_intp*>(const_cast<int64_t*>(dims));
        const int flags = data == nullptr ? 0 : NPY_ARRAY_CARRAY;
        return PyArray_NewFromDescr(&PyArray_Type, reinterpret_cast<PyArray_Descr*>(dtype), static_cast<int>(rank),
                                    extents, nullptr, data, flags, nullptr);
    }
    """
    cnp.ndarray MakeArray(PyObject* dtype, size_t rank, const int64_t* dims, void* data)

__all__ = ["ConversionError", "TensorView", "numpy_dtype"]


class ConversionError(ValueError):
    """An object cannot be taken as the tensor that was asked for, or a tensor has no numpy form.

    The message names the value, the expected and the given type and shape:
    ``input 'x': expected float32 [2, n], got float64 [2, 3]``.
    """


include "element_types.pxi"
include "arrays_in.pxi"
include "arrays_out.pxi"

cdef ArrayInterface interface
interface.borrow = borrow
interface.wrap = wrap
array_interface = PyCapsule_New(&interface, kArrayInterfaceCapsule, NULL)

include "tensor_view.pxi"
