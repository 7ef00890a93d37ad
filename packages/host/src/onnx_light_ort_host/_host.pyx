# SPDX-License-Identifier: Apache-2.0
# cython: language_level=3, boundscheck=False, wraparound=False, always_allow_keywords=True
"""The native engine for Python. Private: use ``onnx_light_ort_host``."""

from cpython.buffer cimport PyBUF_SIMPLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.dict cimport PyDict_GetItemWithError, PyDict_Next
from cpython.exc cimport PyErr_CheckSignals
from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_GetPointer
from cpython.ref cimport Py_DECREF, Py_INCREF
from cython.operator cimport dereference
from libc.stdint cimport uint32_t
from libcpp cimport bool as cbool
from libcpp.limits cimport numeric_limits
from libcpp.memory cimport make_unique, shared_ptr, unique_ptr
from libcpp.string cimport string
from libcpp.utility cimport move, pair
from libcpp.vector cimport vector

from onnx_light_ort_host cimport _engine as engine
from onnx_light_ort_host._engine cimport (
    CppNodeArg,
    CppSession,
    CppSessionOptions,
    PendingCall,
    Sequence,
    TakeOwner,
    Tensor,
    TypeKind,
    Value,
    ValueKind,
    ValueList,
    ValueType,
)
from onnx_light_shared.array_interface cimport ArrayInterface, ArrayView, kArrayInterfaceCapsule
from onnx_light_shared.element_type cimport ElementType
from onnx_light_shared.shape cimport Extents, ShapeFromParts, Symbols, TensorSpec

from onnx_light_ort_host.arguments import flag, integer, one_of
from onnx_light_ort_host.arguments import text as readable_text
from onnx_light_ort_host.ep_devices import OrtEpDevice, OrtHardwareDevice, OrtHardwareDeviceType, Provider
from onnx_light_ort_host.errors import BY_CODE, InvalidArgument, NotImplemented, OrtHostError
from onnx_light_ort_host.library_report import (
    ArgumentReport, KernelReport, LibraryReport, OperatorReport, ProviderReport, RegistrationReport)
from onnx_light_ort_host.records import (
    Finding, LoadPolicy, ModelMetadata, NodeArg, NodeAssignment, Partition, SupportRow, TestedLibrary)

engine.SetErrorClasses({**BY_CODE, None: OrtHostError})

MAX_THREADS = 1024  # as many as a pool may have

cdef ArrayInterface* arrays = NULL
cdef object ConversionError = None


include "values.pxi"


cdef int load_conversions() except -1:
    """Imports the module that sees numpy, which importing this package must not."""
    global arrays, ConversionError
    from onnx_light_ort_host import _conversions

    ConversionError = _conversions.ConversionError
    arrays = <ArrayInterface*>PyCapsule_GetPointer(_conversions.array_interface, kArrayInterfaceCapsule)
    return 0


include "process.pxi"

cdef extern from "Python.h":
    # With references that are given away.
    list PyList_New(Py_ssize_t size)
    void PyList_SET_ITEM(object target, Py_ssize_t i, PyObject* item)


include "reference.pxi"


# ---- sessions --------------------------------------------------------------------------------------------------------

include "session_options.pxi"


cdef object node_arg(const CppNodeArg& arg):
    shape = None
    if arg.has_shape:
        shape = []
        for i in range(arg.extents.size()):
            if arg.extents[i] >= 0:
                shape.append(arg.extents[i])
            else:
                shape.append(text(arg.symbols[i]) or None if i < arg.symbols.size() else None)
    return NodeArg(text(arg.name), text(arg.type), shape)


cdef void release(PendingCall* call) noexcept:
    cdef size_t i
    call.run.Clear()
    for i in range(call.borrowed.size()):
        Py_DECREF(<object>call.borrowed[i])
    call.borrowed.clear()


cdef cbool interrupted(void* pending) noexcept with gil:
    """Lets pending signals be handled, and tells whether a handler raised."""
    cdef PendingCall* call = <PendingCall*>pending
    try:
        PyErr_CheckSignals()
    except BaseException as error:
        Py_INCREF(error)
        call.interrupt = <PyObject*>error
        return True
    return False


cdef object take_interrupt(PendingCall* call):
    error = <object>call.interrupt
    Py_DECREF(error)
    call.interrupt = NULL
    return error


cdef class Session:
    """A model that is ready to run; the part of ``InferenceSession`` that is native."""
    cdef unique_ptr[CppSession] native
    cdef dict input_indices
    cdef dict output_indices
    cdef vector[TensorSpec] input_specs
    cdef vector[char] input_required
    cdef size_t required_count
    cdef vector[string] output_labels
    cdef vector[PendingCall*] idle  # calls that can be used again

    def __dealloc__(self):
        cdef size_t i
        for i in range(self.idle.size()):
            del self.idle[i]  # before the session that they belong to
        # Here an exception that is on its way is put aside: kernels of a library may run Python when they are destroyed,
        # or wait for a thread that does.
        with nogil:
            self.native.reset()
        ReleaseParkedEvaluators()

    cdef int refuse_second(self) except -1:
        """A session keeps its model: other threads may be running it."""
        if self.native.get() != NULL:
            raise InvalidArgument("InferenceSession: expected a new object, got one that has a model already")
        return 0

    cdef int adopt(self, unique_ptr[CppSession]& opened) except -1:
        """Keeps the session that was opened without the GIL, and what every run looks up."""
        self.refuse_second()
        self.native.swap(opened)
        cdef const vector[CppNodeArg]* args = &self.native.get().inputs()
        cdef TensorSpec spec
        cdef const CppNodeArg* arg
        cdef size_t i
        self.input_indices = {}
        self.output_indices = {}
        for i in range(args.size()):
            arg = &dereference(args)[i]
            spec.where = b"input '" + arg.name + b"'"
            spec.type = <ElementType>arg.element_type  # undefined for what is no tensor
            spec.shape = ShapeFromParts(
                arg.has_shape, Extents(arg.extents.data(), arg.extents.size()),
                Symbols(arg.symbols.data(), arg.symbols.size()))
            self.input_specs.push_back(spec)
            self.input_indices[text(arg.name)] = i
            self.input_required.push_back(not arg.is_optional)
            self.required_count += not arg.is_optional
        args = &self.native.get().outputs()
        for i in range(args.size()):
            arg = &dereference(args)[i]
            self.output_labels.push_back(b"output '" + arg.name + b"'")
            self.output_indices[text(arg.name)] = i
        return 0

    def _open_file(self, path, SessionOptions options):
        cdef string native_path = path_bytes(path)
        cdef unique_ptr[CppSession] opened
        cdef engine.Failure failure
        self.refuse_second()
        with nogil:
            failure = engine.AttemptOpenFile(opened, native_path, dereference(options.native))
        ReleaseParkedEvaluators()  # of a session that failed
        engine.RethrowFailure(failure)
        self.adopt(opened)

    def _open_bytes(self, model, SessionOptions options):
        # A typed memoryview would make importing this module import collections.abc.
        cdef Py_buffer buffer
        cdef unique_ptr[CppSession] opened
        cdef engine.Failure failure
        self.refuse_second()
        PyObject_GetBuffer(model, &buffer, PyBUF_SIMPLE)
        try:
            with nogil:
                failure = engine.AttemptOpenBytes(
                    opened, buffer.buf, <size_t>buffer.len, dereference(options.native))
        finally:
            PyBuffer_Release(&buffer)
        ReleaseParkedEvaluators()
        engine.RethrowFailure(failure)
        self.adopt(opened)

    cdef CppSession* checked(self) except NULL:
        if self.native.get() == NULL:
            raise InvalidArgument("InferenceSession: expected a session with a model, got one without __init__")
        return self.native.get()

    cdef int feed(self, PendingCall* call, input_feed) except -1:
        cdef dict feeds
        cdef PyObject* key = NULL
        cdef PyObject* value = NULL
        cdef PyObject* found
        cdef Py_ssize_t position = 0
        cdef size_t index
        cdef size_t required = 0
        cdef Py_ssize_t size
        cdef object name
        cdef object item
        cdef ArrayView view
        if type(input_feed) is dict:
            feeds = input_feed
        elif hasattr(input_feed, "keys"):
            feeds = dict(input_feed)
        else:
            raise TypeError(f"input feed: expected a dict of names and arrays, got {type(input_feed).__name__}")
        size = len(feeds)
        while PyDict_Next(feeds, &position, &key, &value):
            # Held: comparing a name and converting a value may run Python code that changes the dict.
            name = <object>key
            item = <object>value
            found = PyDict_GetItemWithError(self.input_indices, name)
            if found == NULL:
                if not isinstance(name, str):
                    raise TypeError(f"input feed: expected names, got {name!r}")
                raise InvalidArgument(f"input feed: expected names of {list(self.input_indices)}, got {name!r}")
            index = <object>found
            if self.input_specs[index].type == ElementType.kUndefined:
                call.run.SetInputValue(index, value_of(
                    item, self.native.get().input_type(index), self.input_specs[index].where,
                    &call.borrowed))
            else:
                arrays.borrow(<PyObject*>item, &self.input_specs[index], &view)
                call.borrowed.push_back(view.keep)
                call.run.SetInput(index, view.type, view.dims, view.rank, view.data)
            required += self.input_required[index]
            if len(feeds) != size:
                raise InvalidArgument("input feed: the dict changed while it was read")
        if required != self.required_count:
            missing = [name for name, i in self.input_indices.items() if self.input_required[i] and name not in feeds]
            raise InvalidArgument(f"input feed: expected all required inputs, got none for {missing}")
        return 0

    cdef object collect(self, PendingCall* call, list indices):
        cdef size_t count = self.output_labels.size() if indices is None else <size_t>len(indices)
        cdef list results = PyList_New(count)
        cdef size_t i
        cdef size_t index
        cdef Value* value
        cdef Tensor* tensor
        cdef shared_ptr[void] owner
        for i in range(count):
            index = i if indices is None else <size_t>indices[i]
            value = &call.run.output(index)
            if value.is_tensor():
                tensor = &value.tensor()
                owner = TakeOwner(dereference(tensor))
                PyList_SET_ITEM(results, i, arrays.wrap(
                    tensor.type(), tensor.dims().data(), tensor.dims().rank(), tensor.data(), &owner,
                    self.output_labels[index].c_str()))
            else:
                result = object_of(dereference(value), self.output_labels[index])
                Py_INCREF(result)
                PyList_SET_ITEM(results, i, <PyObject*>result)
        return results

    def run(self, output_names, input_feed, run_options=None):
        """Runs the model once. Safe from many threads.

        Parameters
        ----------
        output_names : sequence of str or None
            Outputs to return, in this order; None or no names for all of them in the model's order.
        input_feed : dict of str to numpy.ndarray, list or object with ``__dlpack__``
            One value per input. Arrays are borrowed for the call where they are contiguous and in native byte order,
            and never written. A list is converted to the input's element type. A sequence is a list or tuple of such
            values, an optional is None or a value.
        run_options : RunOptions, optional
            Defaults without it.

        Returns
        -------
        list of numpy.ndarray, list or None
            Arrays have memory of their own; they are ``object`` arrays of ``str`` for string tensors. A sequence is a
            list, an empty optional is None.

        Raises
        ------
        InvalidArgument
            If a name is unknown, a required input is missing, or a type or shape does not fit.
        RuntimeException, Fail, EPFail, NotImplemented
            What a kernel or a library reported, with the node's name and operator.
        """
        cdef CppSession* session = self.checked()
        cdef PendingCall* call
        cdef list indices = None
        cdef engine.Failure failure
        cdef vector[pair[string, string]] config
        if run_options is not None:
            from onnx_light_ort_host.run_options import check_run_options

            config = entries_of(check_run_options(run_options))
        if arrays == NULL:
            load_conversions()
        if output_names is not None:
            indices = self.find_outputs(output_names)
        if self.idle.empty():
            call = new PendingCall(dereference(session))
            call.run.SetInterrupt(interrupted, call)
        else:
            call = self.idle.back()
            self.idle.pop_back()
        try:
            call.config.swap(config)
            self.feed(call, input_feed)
            with nogil:
                failure = engine.AttemptRun(call.run)
            if call.interrupt != NULL:
                raise take_interrupt(call)
            engine.RethrowFailure(failure)
            return self.collect(call, indices)
        except ConversionError as error:
            raise InvalidArgument(str(error)) from None
        finally:
            release(call)
            self.idle.push_back(call)

    cdef list find_outputs(self, output_names):
        """Returns the positions of outputs, None for no names."""
        cdef list indices = []
        if isinstance(output_names, (str, bytes)) or not hasattr(output_names, "__iter__"):
            raise TypeError(f"output names: expected a list of names or None, got {output_names!r}")
        for name in output_names:
            if not isinstance(name, str):
                raise TypeError(f"output names: expected names, got {name!r}")
            index = self.output_indices.get(name)
            if index is None:
                raise InvalidArgument(f"output names: expected names of {list(self.output_indices)}, got {name!r}")
            indices.append(index)
        return indices or None

    def get_inputs(self):
        """Returns the inputs that have to be fed.

        Returns
        -------
        list of NodeArg
            In the model's order, without initializers that have a default.
        """
        return self.args(False)

    def get_overridable_initializers(self):
        """Returns the initializers that may be fed.

        Returns
        -------
        list of NodeArg
            In the model's order.
        """
        return self.args(True)

    cdef list args(self, bint optional):
        cdef const vector[CppNodeArg]* found = &self.checked().inputs()
        cdef size_t i
        result = []
        for i in range(found.size()):
            if dereference(found)[i].is_optional == optional:
                result.append(node_arg(dereference(found)[i]))
        return result

    def get_outputs(self):
        """Returns the outputs.

        Returns
        -------
        list of NodeArg
            In the model's order.
        """
        cdef const vector[CppNodeArg]* found = &self.checked().outputs()
        return [node_arg(dereference(found)[i]) for i in range(found.size())]

    def get_modelmeta(self):
        """Returns what the model says about itself.

        Returns
        -------
        ModelMetadata
            Strings are empty where the model says nothing.
        """
        cdef CppSession* session = self.checked()
        cdef const engine.ModelInfo* info = &session.model()
        cdef size_t i
        metadata = {}
        for i in range(info.metadata.size()):
            metadata[text(info.metadata[i].first)] = text(info.metadata[i].second)
        return ModelMetadata(
            text(info.producer_name), text(session.graph_name()), text(info.domain), text(info.doc_string),
            text(session.graph_doc_string()), info.model_version, metadata)

    def _providers(self):
        """Returns the execution providers in the order in which they were asked, the host's own last."""
        cdef vector[engine.ProviderInfo] found = self.checked().providers()
        cdef engine.ProviderInfo* info
        cdef size_t i
        result = []
        for i in range(found.size()):
            info = &found[i]
            result.append(Provider(
                text(info.name), text(info.library), text(info.audit), texts_by_key(info.options), text(info.notes)))
        return result

    def partitions(self):
        """Returns the groups of nodes that execution providers compiled and run as one step each.

        Returns
        -------
        list of Partition
            Those of a graph after those of the subgraphs in it.
        """
        cdef vector[engine.PartitionRow] rows = self.checked().partitions()
        cdef engine.PartitionRow* row
        cdef size_t i
        result = []
        for i in range(rows.size()):
            row = &rows[i]
            result.append(Partition(
                row.index, text(row.name), text(row.provider), text(row.library), text(row.graph), list(row.nodes),
                texts(row.inputs), texts(row.outputs), texts(row.constants)))
        return result

    def node_assignments(self):
        """Returns who runs which node.

        Returns
        -------
        list of NodeAssignment
            One per node, in the order in which they run; the nodes of a subgraph after the node that it belongs to.
        """
        cdef vector[engine.AssignmentRow] rows = self.checked().assignments()
        cdef engine.AssignmentRow* row
        cdef size_t i
        result = []
        for i in range(rows.size()):
            row = &rows[i]
            result.append(NodeAssignment(
                row.index, text(row.name), text(row.domain), text(row.op_type), text(row.provider), text(row.kernel),
                row.partition, text(row.reason), text(row.library), text(row.graph),
                texts(row.inputs), texts(row.outputs)))
        return result
