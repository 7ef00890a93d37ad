# SPDX-License-Identifier: Apache-2.0
# Included by _conversions.pyx: which numpy dtype belongs to which element type.

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
