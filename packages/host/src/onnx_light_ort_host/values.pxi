# SPDX-License-Identifier: Apache-2.0
# Python objects as values of any kind, and back. Part of _host.pyx.

cdef Value value_of(object given, const ValueType& type, const string& where, vector[PyObject*]* borrowed) except *:
    """Returns a value of the type that borrows from `given`: what keeps the memory is added to `borrowed`."""
    cdef ArrayView view
    cdef Tensor tensor
    cdef TensorSpec spec
    cdef Sequence sequence
    cdef Value content
    if type.kind == TypeKind.kTensor:
        spec.where = where
        spec.type = type.element
        spec.shape = type.shape
        arrays.borrow(<PyObject*>given, &spec, &view)
        borrowed.push_back(view.keep)
        tensor = Tensor.Borrow(view.type, Extents(view.dims, view.rank), <void*>view.data)
        return Value(tensor)
    if type.kind == TypeKind.kOptional and type.inner.get() != NULL:
        if given is not None:
            content = value_of(given, dereference(type.inner), where, borrowed)
        return Value.Optional(move(content))
    if type.kind == TypeKind.kSequence and type.inner.get() != NULL:
        if not isinstance(given, (list, tuple)):
            raise InvalidArgument(
                f"{text(where)}: expected {text(type.ToString())} as a list, got {type_name(given)}")
        sequence.element_type = dereference(type.inner)
        for i, element in enumerate(given):
            sequence.elements.push_back(value_of(
                element, dereference(type.inner), where + f", element {i}".encode(), borrowed))
        return Value(move(sequence))
    raise NotImplemented(
        f"{text(where)}: values of this type (profile non_tensor_values) are not in this version, "
        f"got {text(type.ToString())}")


cdef object object_of(const Value& value, const string& where):
    """Returns an array, a list, what an optional holds, or None, all with memory of their own."""
    cdef shared_ptr[void] nobody
    cdef const ValueList* elements
    cdef PyObject* made
    cdef Tensor* tensor
    cdef size_t i
    if value.is_tensor():
        tensor = &(<Value*>&value).tensor()
        made = arrays.wrap(
            tensor.type(), tensor.dims().data(), tensor.dims().rank(), tensor.data(), &nobody, where.c_str())
        array = <object>made
        Py_DECREF(array)
        return array
    if value.kind() == ValueKind.kSequence:
        elements = &value.sequence().elements
        result = []
        for i in range(elements.size()):
            result.append(object_of(dereference(elements)[i], where + f", element {i}".encode()))
        return result
    if value.kind() == ValueKind.kOptional:
        return object_of(value.content(), where)
    return None


cdef str type_name(object given):
    return type(given).__name__
