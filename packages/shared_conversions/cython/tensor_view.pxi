# SPDX-License-Identifier: Apache-2.0
# Included by _conversions.pyx: a Python object as native code sees it, for Python.

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
