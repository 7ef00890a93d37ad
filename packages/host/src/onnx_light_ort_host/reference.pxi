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

cdef extern from *:
    """
    #include <atomic>

    // A Python object that native code owns. It is given up where nobody may wait for Python's lock, in destructors and
    // on threads that are ended by unwinding, so that only parks it; who has the lock lets it go.
    struct Evaluator {
        PyObject* object;
        Evaluator* next;
    };
    static std::atomic<Evaluator*> parked_evaluators{nullptr};

    static void* OwnEvaluator(PyObject* object) {
        auto* evaluator = new Evaluator{object, nullptr};
        Py_INCREF(object);
        return evaluator;
    }
    static PyObject* ObjectOf(void* evaluator) { return static_cast<Evaluator*>(evaluator)->object; }
    static void ParkEvaluator(void* given) noexcept {
        auto* evaluator = static_cast<Evaluator*>(given);
        evaluator->next = parked_evaluators.load(std::memory_order_relaxed);
        while (!parked_evaluators.compare_exchange_weak(
            evaluator->next, evaluator, std::memory_order_release, std::memory_order_relaxed)) {
        }
    }
    // With Python's lock.
    static void ReleaseParkedEvaluators() {
        Evaluator* evaluator = parked_evaluators.exchange(nullptr, std::memory_order_acquire);
        while (evaluator != nullptr) {
            Evaluator* next = evaluator->next;
            Py_DECREF(evaluator->object);
            delete evaluator;
            evaluator = next;
        }
    }
    """
    void* OwnEvaluator(PyObject* object) except +
    PyObject* ObjectOf(void* evaluator) noexcept
    void ParkEvaluator(void* evaluator) noexcept nogil
    void ReleaseParkedEvaluators() noexcept

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
        return OwnEvaluator(<PyObject*>evaluator)
    except BaseException as error:
        explain(error, why)
        return NULL


cdef void* make_evaluator(const string& model, string& why) noexcept nogil:
    if CanTakeGil():
        return make_with_gil(model, why)
    (&why).assign(FINALIZING)
    return NULL


cdef cbool run_with_gil(
    void* evaluator, const vector[const Value*]& inputs, const vector[ValueType]& output_types,
    engine.ReferenceOutputs& outputs, string& why
) noexcept with gil:
    cdef vector[PyObject*] borrowed
    cdef Value value
    cdef size_t i
    try:
        if arrays == NULL:
            load_conversions()
        given = [object_of(dereference(inputs[i]), f"input {i}".encode()) for i in range(inputs.size())]
        results = (<object>ObjectOf(evaluator)).run(given)
        for i in range(output_types.size()):
            value = value_of(results[i], output_types[i], f"output {i}".encode(), &borrowed)
            if not (&outputs).Put(i, value):
                return False
        return True
    except BaseException as error:
        explain(error, why)
        return False
    finally:
        for i in range(borrowed.size()):
            Py_DECREF(<object>borrowed[i])


cdef cbool run_evaluator(
    void* evaluator, const vector[const Value*]& inputs, const vector[ValueType]& output_types,
    engine.ReferenceOutputs& outputs, string& why
) noexcept nogil:
    if CanTakeGil():
        return run_with_gil(evaluator, inputs, output_types, outputs, why)
    (&why).assign(FINALIZING)
    return False


cdef engine.ReferenceHooks reference_hooks
reference_hooks.make = make_evaluator
reference_hooks.run = run_evaluator
reference_hooks.release = ParkEvaluator
engine.SetReferenceHooks(reference_hooks)
