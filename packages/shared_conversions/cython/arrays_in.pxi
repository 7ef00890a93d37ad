# SPDX-License-Identifier: Apache-2.0
# Included by _conversions.pyx: Python objects as tensors.

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
        if type(value) is not np.ndarray and np.ma.is_masked(value):
            raise ConversionError(
                f"{where}: expected an array without masked elements, got a masked array: its mask would be lost; "
                "give what value.filled(...) returns")
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
    if cnp.PyArray_CheckExact(<object>value):  # a kind of array, as a masked one, is looked at more closely
        array = <cnp.ndarray>value
        if (
            cnp.PyArray_TYPE(array) == direct_numbers[<int>spec.type]
            and cnp.PyArray_ISCARRAY_RO(array)
            and spec.shape.Admits(extents(array))
        ):
            return borrow_array(array, spec.type, view)
    return borrow_slowly(<object>value, spec, view)
