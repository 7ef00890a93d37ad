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


# ---- element types ---------------------------------------------------------------------------------------------------

cdef enum:
    NOT_DIRECT = -2  # strings and packed types: array elements are not tensor elements
    NOT_LOADED = -1  # a type of ml_dtypes, which is imported when the first such type appears

# numpy type numbers by element type, for types whose array elements are tensor elements.
cdef int[32] direct_numbers

cdef void fill_direct_numbers() noexcept:
    cdef int i
    for i in range(32):
        direct_numbers[i] = NOT_LOADED
    direct_numbers[<int>ElementType.kUndefined] = NOT_DIRECT
    direct_numbers[<int>ElementType.kString] = NOT_DIRECT
    for i in range(kElementTypeCount):
        if IsSubByte(<ElementType>i):
            direct_numbers[i] = NOT_DIRECT
    direct_numbers[<int>ElementType.kFloat] = cnp.NPY_FLOAT32
    direct_numbers[<int>ElementType.kUint8] = cnp.NPY_UINT8
    direct_numbers[<int>ElementType.kInt8] = cnp.NPY_INT8
    direct_numbers[<int>ElementType.kUint16] = cnp.NPY_UINT16
    direct_numbers[<int>ElementType.kInt16] = cnp.NPY_INT16
    direct_numbers[<int>ElementType.kInt32] = cnp.NPY_INT32
    direct_numbers[<int>ElementType.kInt64] = cnp.NPY_INT64
    direct_numbers[<int>ElementType.kBool] = cnp.NPY_BOOL
    direct_numbers[<int>ElementType.kFloat16] = cnp.NPY_FLOAT16
    direct_numbers[<int>ElementType.kDouble] = cnp.NPY_FLOAT64
    direct_numbers[<int>ElementType.kUint32] = cnp.NPY_UINT32
    direct_numbers[<int>ElementType.kUint64] = cnp.NPY_UINT64
    direct_numbers[<int>ElementType.kComplex64] = cnp.NPY_COMPLEX64
    direct_numbers[<int>ElementType.kComplex128] = cnp.NPY_COMPLEX128

fill_direct_numbers()
# dtypes of ml_dtypes that were asked for, by element type: numpy does not know them by name.
cdef dict low_precision = {}


cdef object dtype_of(ElementType type, str where):
    """Returns the numpy dtype of array elements; that of packed types has one element per byte."""
    cdef int number = direct_numbers[<int>type]
    if number >= 0:
        return cnp.PyArray_DescrFromType(number)
    if type == ElementType.kString:
        return np.dtype(object)
    found = low_precision.get(<int>type)
    if found is not None:
        return found
    name = DisplayName(type).decode()
    try:
        import ml_dtypes
    except ImportError as error:
        raise ImportError(f"{where}: {name} arrays need the package ml_dtypes: {error}") from error
    scalar = getattr(ml_dtypes, name, None)
    if scalar is None:
        raise ConversionError(f"{where}: ml_dtypes {ml_dtypes.__version__} has no type {name}")
    found = np.dtype(scalar)
    low_precision[<int>type] = found
    if number == NOT_LOADED:
        direct_numbers[<int>type] = found.num
    return found


cdef ElementType type_of_name(str name) except *:
    cdef string text = name.encode()
    cdef optional[ElementType] found
    if text.compare(0, 7, b"tensor(") == 0 and text.back() == c")":
        text = text.substr(7, text.size() - 8)
    found = FromName(text)
    if not found.has_value() or found.value() == ElementType.kUndefined:
        raise ValueError(f"element type: expected an ONNX type such as 'tensor(float)', got {name!r}")
    return found.value()


def numpy_dtype(element_type):
    """Returns the numpy dtype of a tensor type.

    Parameters
    ----------
    element_type : str
        An ONNX type, as ``tensor(float)`` or ``float``.

    Returns
    -------
    numpy.dtype
        Of ``ml_dtypes`` for the types that numpy lacks, ``object`` for strings.

    Raises
    ------
    ValueError
        If there is no such type.
    ImportError
        If the type needs ``ml_dtypes``, which is not installed.
    """
    return dtype_of(type_of_name(element_type), element_type)


# ---- Python objects as tensors ---------------------------------------------------------------------------------------

@cython.final
@cython.freelist(64)
cdef class _Memory:
    """Native memory as the base of an array, and the array whose extents a view borrows."""
    cdef shared_ptr[void] owner
    cdef object array


cdef inline Extents extents(cnp.ndarray array) noexcept:
    return Extents(<const int64_t*>cnp.PyArray_DIMS(array), <size_t>cnp.PyArray_NDIM(array))


cdef size_t byte_size(ElementType type, Extents dims) except? 0:
    cdef optional[size_t] bytes = CheckedByteSize(type, dims)
    if not bytes.has_value():
        raise MemoryError
    return bytes.value()


cdef int mismatch(const TensorSpec* spec, cnp.ndarray array) except -1:
    raise ConversionError(Mismatch(spec[0], str(array.dtype).encode(), extents(array)).decode())


cdef str expected(const TensorSpec* spec):
    text = DisplayName(spec.type).decode()
    return text + " " + spec.shape.ToString().decode() if spec.shape.has_rank() else text


cdef cnp.ndarray as_array(object value, const TensorSpec* spec):
    """Returns an array of any dtype and layout that shares memory with `value`, or holds a copy of a list."""
    where = spec.where.decode()
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, np.generic):
        return np.asarray(value)
    if isinstance(value, list):
        try:
            return np.array(value, dtype=dtype_of(spec.type, where))
        except (ValueError, TypeError, OverflowError) as error:
            raise ConversionError(
                f"{where}: expected {expected(spec)}, got a list that does not convert: {error}") from error
    if hasattr(value, "__dlpack__"):
        device = value.__dlpack_device__()
        if device[0] != 1:
            raise ConversionError(
                f"{where}: expected CPU memory (DLPack device type 1), got device type {int(device[0])}")
        try:
            return np.from_dlpack(value)
        except (BufferError, ValueError, TypeError, RuntimeError) as error:
            raise ConversionError(
                f"{where}: expected {expected(spec)}, got a DLPack tensor that numpy refuses: {error}") from error
    raise ConversionError(
        f"{where}: expected {expected(spec)} as a numpy array, an object with __dlpack__ or a list, "
        f"got {type(value).__name__}")


cdef OwnedBuffer strings_of(cnp.ndarray array, const TensorSpec* spec) except *:
    """Copies an array of str or bytes into native strings, text as UTF-8."""
    cdef cnp.ndarray elements = cnp.PyArray_FROM_OF(array.astype(object), cnp.NPY_ARRAY_CARRAY_RO)
    cdef size_t count = <size_t>cnp.PyArray_SIZE(elements)
    cdef OwnedBuffer buffer = AllocateStrings(count)
    cdef string* strings = <string*>buffer.data
    cdef PyObject** items = <PyObject**>cnp.PyArray_DATA(elements)
    cdef object item
    cdef const char* text
    cdef char* raw = NULL
    cdef Py_ssize_t size = 0
    cdef size_t i
    for i in range(count):
        item = <object>items[i]
        if PyUnicode_Check(item):
            try:
                text = PyUnicode_AsUTF8AndSize(item, &size)
            except UnicodeEncodeError as error:
                raise ConversionError(f"{spec.where.decode()}: element {i} has no UTF-8 form: {error}") from error
            strings[i].assign(text, <size_t>size)
        elif PyBytes_Check(item):
            PyBytes_AsStringAndSize(item, &raw, &size)
            strings[i].assign(raw, <size_t>size)
        else:
            raise ConversionError(
                f"{spec.where.decode()}: expected str or bytes, got {type(item).__name__} as element {i}")
    return buffer


cdef int lend(_Memory memory, const OwnedBuffer& buffer, ElementType type, ArrayView* view) except -1:
    cdef cnp.ndarray array = memory.array
    memory.owner = buffer.owner
    view.type = type
    view.data = buffer.data
    view.dims = <const int64_t*>cnp.PyArray_DIMS(array)
    view.rank = <size_t>cnp.PyArray_NDIM(array)
    view.keep = <PyObject*>memory
    Py_INCREF(memory)
    return 0


cdef int borrow_array(cnp.ndarray array, ElementType type, ArrayView* view) except -1:
    view.type = type
    view.data = cnp.PyArray_DATA(array)
    view.dims = <const int64_t*>cnp.PyArray_DIMS(array)
    view.rank = <size_t>cnp.PyArray_NDIM(array)
    view.keep = <PyObject*>array
    Py_INCREF(array)
    return 0


cdef int borrow_slowly(object value, const TensorSpec* spec, ArrayView* view) except -1:
    """Everything but a ready array of the expected type and shape."""
    cdef ElementType type = spec.type
    cdef cnp.ndarray array = as_array(value, spec)
    cdef _Memory memory
    cdef OwnedBuffer buffer
    if not spec.shape.Admits(extents(array)):
        mismatch(spec, array)
    if type == ElementType.kString:
        if array.dtype.kind not in "OUST":  # T: numpy's variable-width strings
            mismatch(spec, array)
        memory = _Memory.__new__(_Memory)
        memory.array = array
        return lend(memory, strings_of(array, spec), type, view)
    dtype = dtype_of(type, spec.where.decode())
    if not cnp.PyArray_EquivTypenums(cnp.PyArray_TYPE(array), dtype.num):
        mismatch(spec, array)
    array = cnp.PyArray_FROM_OF(array, cnp.NPY_ARRAY_CARRAY_RO | cnp.NPY_ARRAY_NOTSWAPPED)
    if not IsSubByte(type):
        return borrow_array(array, type, view)
    memory = _Memory.__new__(_Memory)
    memory.array = array
    buffer = AllocateBuffer(byte_size(type, extents(array)))
    PackSubByte(type, <const uint8_t*>cnp.PyArray_DATA(array), <size_t>cnp.PyArray_SIZE(array), <uint8_t*>buffer.data)
    return lend(memory, buffer, type, view)


cdef int borrow(PyObject* value, const TensorSpec* spec, ArrayView* view) except -1:
    cdef cnp.ndarray array
    if cnp.PyArray_Check(<object>value):
        array = <cnp.ndarray>value
        if (
            cnp.PyArray_TYPE(array) == direct_numbers[<int>spec.type]
            and cnp.PyArray_ISCARRAY_RO(array)
            and spec.shape.Admits(extents(array))
        ):
            return borrow_array(array, spec.type, view)
    return borrow_slowly(<object>value, spec, view)


# ---- tensors as arrays -----------------------------------------------------------------------------------------------

cdef object decode(const string& text, size_t i, const char* where):
    try:
        return PyUnicode_DecodeUTF8(text.data(), <Py_ssize_t>text.size(), NULL)
    except UnicodeDecodeError as error:
        raise ConversionError(f"{where.decode()}: element {i} is not UTF-8 text, got {bytes(text)!r}") from error


cdef cnp.ndarray copy_elements(ElementType type, const int64_t* dims, size_t rank, const void* data, const char* where):
    """Returns an array of its own memory."""
    cdef object dtype = dtype_of(type, where.decode())
    cdef cnp.ndarray array
    cdef size_t count
    cdef size_t i
    cdef PyObject** items
    cdef object item
    Py_INCREF(dtype)
    array = MakeArray(<PyObject*>dtype, rank, dims, NULL)
    count = <size_t>cnp.PyArray_SIZE(array)
    if count == 0:
        return array
    if type == ElementType.kString:
        items = <PyObject**>cnp.PyArray_DATA(array)
        for i in range(count):
            item = decode((<const string*>data)[i], i, where)
            Py_INCREF(item)
            Py_XDECREF(items[i])
            items[i] = <PyObject*>item
    elif IsSubByte(type):
        UnpackSubByte(type, <const uint8_t*>data, count, <uint8_t*>cnp.PyArray_DATA(array))
    else:
        memcpy(cnp.PyArray_DATA(array), data, <size_t>cnp.PyArray_NBYTES(array))
    return array


cdef bint fits_numpy(const int64_t* dims, size_t rank) noexcept:
    """Tells whether numpy takes the extents: it multiplies all but the zeros, also of an array without elements."""
    cdef double bytes = 16  # of the largest element
    cdef size_t i
    for i in range(rank):
        if dims[i] > 0:
            bytes *= <double>dims[i]
    return bytes < 9.2e18


cdef PyObject* wrap(
    ElementType type, const int64_t* dims, size_t rank, void* data, shared_ptr[void]* owner, const char* where
) except NULL:
    cdef int number = direct_numbers[<int>type]
    cdef cnp.ndarray array
    cdef _Memory memory
    if rank > <size_t>cnp.NPY_MAXDIMS:
        raise ConversionError(f"{where.decode()}: numpy has arrays of at most {cnp.NPY_MAXDIMS} dimensions, got {rank}")
    if not fits_numpy(dims, rank):
        given = [dims[i] for i in range(rank)]
        raise ConversionError(f"{where.decode()}: numpy has no arrays of such extents, got {given}")
    if number == NOT_LOADED:
        dtype_of(type, where.decode())
        number = direct_numbers[<int>type]
    if number < 0 or data == NULL or owner.get() == NULL:
        array = copy_elements(type, dims, rank, data, where)
    else:
        dtype = cnp.PyArray_DescrFromType(number)
        Py_INCREF(dtype)
        array = MakeArray(<PyObject*>dtype, rank, dims, data)
        memory = _Memory.__new__(_Memory)
        memory.owner.swap(owner[0])
        Py_INCREF(memory)  # taken by the call
        cnp.PyArray_SetBaseObject(array, memory)
    Py_INCREF(array)
    return <PyObject*>array


# ---- for other extension modules, and for Python ---------------------------------------------------------------------

cdef ArrayInterface interface
interface.borrow = borrow
interface.wrap = wrap
array_interface = PyCapsule_New(&interface, kArrayInterfaceCapsule, NULL)


@cython.final
cdef class TensorView:
    """A Python object as native code sees it: what is borrowed, and what had to be copied.

    Parameters
    ----------
    value : numpy.ndarray, list or object with ``__dlpack__``
        Borrowed where its elements are contiguous, aligned and in native byte order, else copied. Strings and
        sub-byte types are always copied.
    element_type : str
        The expected ONNX type, as ``tensor(float)`` or ``float``.
    shape : sequence of int, str or None, optional
        The expected shape: an extent, the name of a symbolic one, None for an unknown one. Without it any shape fits.
    where : str, optional
        What messages call the value.

    Raises
    ------
    ConversionError
        If the value does not fit.
    """

    cdef ArrayView view
    cdef object where

    def __cinit__(self, value, str element_type, shape=None, str where="value"):
        cdef TensorSpec spec
        cdef vector[int64_t] dims
        cdef vector[string] symbols
        self.view.keep = NULL
        self.where = where
        spec.where = where.encode()
        spec.type = type_of_name(element_type)
        for dim in () if shape is None else shape:
            dims.push_back(dim if isinstance(dim, int) else -1)
            symbols.push_back(dim.encode() if isinstance(dim, str) else b"")
        spec.shape = ShapeFromParts(
            shape is not None, Extents(dims.data(), dims.size()),
            Symbols(symbols.data(), symbols.size()))
        borrow(<PyObject*>value, &spec, &self.view)

    def __dealloc__(self):
        Py_XDECREF(self.view.keep)

    @property
    def address(self):
        """Address of the first element; 0 where there is no element and no memory."""
        return <size_t>self.view.data

    @property
    def element_type(self):
        """The ONNX name of the element type."""
        return Info(self.view.type).name.decode()

    @property
    def shape(self):
        """The extents, as a tuple."""
        return tuple([self.view.dims[i] for i in range(self.view.rank)])

    @property
    def nbytes(self):
        """Size of the elements in bytes, packed; for strings that of the string objects."""
        return byte_size(self.view.type, Extents(self.view.dims, self.view.rank))

    def tobytes(self):
        """Returns the elements as they lie in memory; not for strings."""
        if self.view.type == ElementType.kString:
            raise TypeError("TensorView: a string tensor has no bytes of its own")
        return (<const char*>self.view.data)[:self.nbytes]

    def numpy(self):
        """Returns a copy of the elements as an array."""
        cdef shared_ptr[void] nobody
        cdef bytes where = self.where.encode()
        cdef PyObject* made = wrap(
            self.view.type, self.view.dims, self.view.rank, <void*>self.view.data, &nobody, where)
        array = <object>made
        Py_DECREF(array)
        return array
