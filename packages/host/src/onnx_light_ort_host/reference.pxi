# SPDX-License-Identifier: Apache-2.0
# The reference fallback: what bridge/reference_kernels.h asks of Python. Part of _host.pyx.

cdef extern from *:
    """
    // False on a thread that would wait for the lock of an interpreter that ends, and so for ever.
    static bool CanTakeGil() {
    #if PY_VERSION_HEX >= 0x030D0000
        return PyGILState_Check() != 0 || !Py_IsFinalizing();
    #else
        return PyGILState_Check() != 0 || !_Py_IsFinalizing();
    #endif
    }
    """
    bint CanTakeGil() noexcept nogil

cdef extern from "Python.h":
    void PyErr_SetInterrupt() noexcept

cdef const char* FINALIZING = b"the Python interpreter is shutting down"


cdef int explain(error, string& why) except -1:
    first_line = str(error).partition("\n")[0]
    (&why).assign(f"onnx.reference: {type(error).__name__}: {first_line}".encode("utf-8", "replace"))
    if isinstance(error, KeyboardInterrupt):  # raised again in the main thread, once the run has ended
        PyErr_SetInterrupt()
    return 0


cdef void* make_with_gil(const string& model, string& why) noexcept with gil:
    try:
        from onnx_light_ort_host.reference import NodeEvaluator

        evaluator = NodeEvaluator(model.data()[:model.size()])
        Py_INCREF(evaluator)
        return <void*>evaluator
    except BaseException as error:
        explain(error, why)
        return NULL


cdef void* make_evaluator(const string& model, string& why) noexcept nogil:
    if CanTakeGil():
        return make_with_gil(model, why)
    (&why).assign(FINALIZING)
    return NULL


cdef cbool run_with_gil(
    void* evaluator, const vector[const Value*]& inputs, const vector[ValueType]& output_types, vector[Value]& outputs,
    string& why
) noexcept with gil:
    cdef size_t i
    try:
        if arrays == NULL:
            load_conversions()
        given = [object_of(dereference(inputs[i]), f"input {i}".encode()) for i in range(inputs.size())]
        results = (<object>evaluator).run(given)
        for i in range(output_types.size()):
            outputs.push_back(value_of(results[i], output_types[i], f"output {i}".encode(), NULL))
        return True
    except BaseException as error:
        explain(error, why)
        return False


cdef cbool run_evaluator(
    void* evaluator, const vector[const Value*]& inputs, const vector[ValueType]& output_types, vector[Value]& outputs,
    string& why
) noexcept nogil:
    if CanTakeGil():
        return run_with_gil(evaluator, inputs, output_types, outputs, why)
    (&why).assign(FINALIZING)
    return False


cdef void release_with_gil(void* evaluator) noexcept with gil:
    Py_DECREF(<object>evaluator)


cdef void release_evaluator(void* evaluator) noexcept nogil:
    if CanTakeGil():  # else it stays, as does all of Python's memory
        release_with_gil(evaluator)


cdef engine.ReferenceHooks reference_hooks
reference_hooks.make = make_evaluator
reference_hooks.run = run_evaluator
reference_hooks.release = release_evaluator
engine.SetReferenceHooks(reference_hooks)
