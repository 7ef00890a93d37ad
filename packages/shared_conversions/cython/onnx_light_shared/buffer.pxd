# SPDX-License-Identifier: Apache-2.0
from libc.stdint cimport uint8_t
from libcpp.memory cimport shared_ptr
from libcpp.optional cimport optional

from onnx_light_shared.element_type cimport ElementType
from onnx_light_shared.shape cimport Extents


cdef extern from "conversions/buffer.h" namespace "conversions" nogil:
    cdef cppclass OwnedBuffer:
        void* data
        size_t bytes
        shared_ptr[void] owner

    OwnedBuffer AllocateBuffer(size_t bytes) except +
    OwnedBuffer AllocateStrings(size_t count) except +


cdef extern from "conversions/checked_size.h" namespace "conversions" nogil:
    optional[size_t] CheckedByteSize(ElementType type, Extents dims) noexcept


cdef extern from "conversions/packing.h" namespace "conversions" nogil:
    void PackSubByte(ElementType type, const uint8_t* unpacked, size_t count, uint8_t* packed) noexcept
    void UnpackSubByte(ElementType type, const uint8_t* packed, size_t count, uint8_t* unpacked) noexcept
