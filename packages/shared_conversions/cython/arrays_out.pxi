# SPDX-License-Identifier: Apache-2.0
# Included by _conversions.pyx: tensors as numpy arrays.

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
