# SPDX-License-Identifier: Apache-2.0
# The boundary of the host's engine (engine/engine.h), and nothing else of C++.
from cpython.object cimport PyObject
from libc.stdint cimport int64_t, uint8_t, uint32_t, uint64_t
from libcpp cimport bool as cbool
from libcpp.memory cimport shared_ptr, unique_ptr
from libcpp.optional cimport optional
from libcpp.pair cimport pair
from libcpp.string cimport string
from libcpp.vector cimport vector

from onnx_light_shared.element_type cimport ElementType
from onnx_light_shared.shape cimport Extents, Shape


cdef extern from *:
    """
    #include <cstring>
    #include <exception>
    #include <new>
    #include <stdexcept>
    #include "engine/host_error.h"

    namespace {

    // OrtErrorCode -> exception class, and the class for other codes under None. Set once, never released.
    PyObject* error_classes = nullptr;

    // Called while a C++ exception is being handled, with the GIL held.
    void RaiseHostError() {
        try {
            throw;
        } catch (const ort_host::HostError& error) {
            PyObject* code = PyLong_FromLong(error.code());
            PyObject* known = code != nullptr ? PyDict_GetItemWithError(error_classes, code) : nullptr;
            PyObject* type = known != nullptr ? known : PyDict_GetItemWithError(error_classes, Py_None);
            // A library's message may be in any encoding.
            const auto size = static_cast<Py_ssize_t>(std::strlen(error.what()));
            PyObject* text = PyUnicode_DecodeUTF8(error.what(), size, "replace");
            PyObject* value = text != nullptr && type != nullptr ? PyObject_CallOneArg(type, text) : nullptr;
            if (value != nullptr) {
                if (known == nullptr) PyObject_SetAttrString(value, "code", code);
                PyErr_SetObject(type, value);
            }
            Py_XDECREF(value);
            Py_XDECREF(text);
            Py_XDECREF(code);
        } catch (const std::bad_alloc&) {
            PyErr_NoMemory();
        } catch (const std::exception& error) {
            PyErr_SetString(PyExc_RuntimeError, error.what());
        }
    }

    void SetErrorClasses(PyObject* classes) {
        Py_INCREF(classes);
        error_classes = classes;
    }

    }  // namespace
    """
    void RaiseHostError()
    void SetErrorClasses(object classes)


cdef extern from "light/tensor.h" namespace "light" nogil:
    cdef cppclass Dims "conversions::Dims":
        const int64_t* data() noexcept
        size_t rank() noexcept

    cdef cppclass Tensor:
        ElementType type() noexcept
        const Dims& dims() noexcept
        void* data() noexcept
        @staticmethod
        Tensor Borrow(ElementType type, Extents dims, void* data) except +RaiseHostError
        const shared_ptr[void]& owner() noexcept
        void set_owner(shared_ptr[void] owner) noexcept


cdef extern from "light/value_type.h" namespace "light" nogil:
    cdef enum class TypeKind "light::ValueType::Kind"(uint8_t):
        kTensor
        kSequence
        kOptional

    cdef cppclass ValueType:
        TypeKind kind
        ElementType element
        Shape shape
        shared_ptr[const ValueType] inner
        string ToString() except +RaiseHostError


cdef extern from "light/value.h" namespace "light" nogil:
    cdef enum class ValueKind "light::Value::Kind"(uint8_t):
        kTensor
        kSequence
        kOptional

    cdef cppclass Value

    cdef cppclass ValueList:
        size_t size() noexcept
        void push_back(Value value) except +
        const Value& operator[](size_t i) noexcept

    cdef cppclass Sequence:
        ValueType element_type
        ValueList elements

    cdef cppclass Value:
        Value() noexcept
        Value(Tensor tensor) noexcept
        Value(Sequence sequence) except +RaiseHostError
        @staticmethod
        Value Optional(Value content) except +RaiseHostError
        ValueKind kind() noexcept
        cbool is_none() noexcept
        cbool is_tensor() noexcept
        Tensor& tensor() noexcept
        const Sequence& sequence() except +RaiseHostError
        const Value& content() except +RaiseHostError


cdef extern from "light/graph.h" namespace "light" nogil:
    cdef cppclass ModelInfo:
        string producer_name
        string domain
        int64_t model_version
        string doc_string
        vector[pair[string, string]] metadata


cdef extern from "bridge/reference_kernels.h" namespace "ort_host" nogil:
    cdef cppclass ReferenceOutputs:
        cbool Put(size_t k, const Value& value) noexcept

    cdef struct ReferenceHooks:
        void* (*make)(const string&, string&) noexcept nogil
        cbool (*run)(
            void*, const vector[const Value*]&, const vector[ValueType]&, ReferenceOutputs&, string&) noexcept nogil
        void (*release)(void*) noexcept nogil

    void SetReferenceHooks(const ReferenceHooks& hooks) noexcept


cdef extern from "engine/engine.h" namespace "ort_host" nogil:
    const char* ProductVersion() noexcept
    const char* BuildInfo() noexcept

    cdef cppclass LoadPolicy:
        optional[vector[string]] allowed_roots
        cbool follow_links
        cbool require_owner
        cbool audited_only
        cbool unload
        cbool provide_api_base

    void SetLoadPolicy(LoadPolicy policy) except +RaiseHostError
    LoadPolicy GetLoadPolicy() except +RaiseHostError
    void EnableCheckedMode() except +RaiseHostError

    cdef cppclass CheckedRule:
        string name
        string meaning

    cdef cppclass CheckedFinding:
        string rule
        string slot
        string sentence

    vector[CheckedRule] CheckedRules() except +RaiseHostError
    vector[CheckedFinding] CheckedFindings() except +RaiseHostError
    void SetDefaultLogSeverity(int severity) except +RaiseHostError

    cdef cppclass LibraryReport:
        string path
        vector[string] exports
        vector[string] needed
        vector[string] closure
        string refused_because
        string audited_as
        vector[string] hints

    LibraryReport InspectLibrary(const string& path) except +RaiseHostError

    cdef cppclass ArgumentReport:
        string type
        string characteristic
        string memory
        int min_arity
        cbool is_homogeneous

    cdef cppclass OperatorReport:
        string domain
        string name
        size_t position
        int since_version
        int end_version
        vector[ArgumentReport] inputs
        vector[ArgumentReport] outputs
        string provider
        uint32_t api_version
        cbool has_inference
        vector[pair[int, int]] may_inplace
        vector[pair[int, int]] aliases
        string problem

    cdef cppclass KernelReport:
        string domain
        string op_type
        int since_version
        int end_version
        vector[pair[string, string]] types
        string provider
        vector[pair[int, int]] may_inplace
        vector[pair[int, int]] aliases

    cdef cppclass ProviderReport:
        string name
        string vendor
        string version
        vector[string] devices
        vector[pair[string, string]] options
        vector[KernelReport] kernels
        string problem

    cdef cppclass RegistrationReport:
        vector[uint32_t] api_versions
        vector[OperatorReport] operators
        vector[ProviderReport] providers
        string failed_because

    vector[uint32_t] AcceptedApiVersions() except +RaiseHostError

    cdef cppclass TestedLibrary:
        string name
        string version
        string file_name
        uint64_t bytes
        string sha256
        string profile
        int api_version
        string broken_groups

    vector[TestedLibrary] TestedLibraries() except +RaiseHostError

    cdef cppclass HardwareDeviceInfo:
        int type
        uint32_t vendor_id
        uint32_t device_id
        string vendor
        vector[pair[string, string]] metadata
        cbool is_synthetic

    cdef cppclass EpDeviceId:
        uint64_t library
        size_t index

    cdef cppclass EpDeviceInfo:
        string ep_name
        string ep_vendor
        vector[pair[string, string]] ep_metadata
        vector[pair[string, string]] ep_options
        HardwareDeviceInfo device
        string registration_name
        EpDeviceId id

    vector[EpDeviceInfo] EpDevices() except +RaiseHostError
    void AddSyntheticHardwareDevice(HardwareDeviceInfo device) except +RaiseHostError

    cdef cppclass SupportRow:
        string table
        string name
        int index
        int since
        string profile
        string status
        string limit

    vector[SupportRow] SupportMatrix() except +RaiseHostError

    cdef cppclass CppSessionOptions "ort_host::SessionOptions":
        CppSessionOptions() except +RaiseHostError
        void set_intra_op_threads(int threads) except +RaiseHostError
        int intra_op_threads() except +RaiseHostError
        void set_memory_limit_bytes(size_t bytes) except +RaiseHostError
        size_t memory_limit_bytes() except +RaiseHostError
        void set_log_severity(int severity) except +RaiseHostError
        int log_severity() except +RaiseHostError
        void set_log_id(const string& id) except +RaiseHostError
        void set_allow_onnx_domain_override(cbool allow) except +RaiseHostError
        void set_graph_optimization_level(int level) except +RaiseHostError
        int graph_optimization_level() except +RaiseHostError
        void set_reference_fallback(cbool allow) except +RaiseHostError
        cbool reference_fallback() except +RaiseHostError
        void set_winograd(cbool allow) except +RaiseHostError
        cbool winograd() except +RaiseHostError
        void set_broken_groups(const string& policy) except +RaiseHostError
        string broken_groups() except +RaiseHostError
        void set_strict_layout(cbool strict) except +RaiseHostError
        cbool strict_layout() except +RaiseHostError
        cbool has_providers() except +RaiseHostError
        unique_ptr[CppSessionOptions] CopyWithoutProviders() except +RaiseHostError
        void AddConfigEntry(const string& key, const string& value) except +RaiseHostError
        cbool GetConfigEntry(const string& key, string* value) except +RaiseHostError

    cdef cppclass CppNodeArg "ort_host::NodeArg":
        string name
        string type
        int element_type
        cbool has_shape
        vector[int64_t] extents
        vector[string] symbols
        cbool is_optional

    cdef cppclass AssignmentRow:
        string graph
        int index
        string name
        string domain
        string op_type
        string provider
        string kernel
        int partition
        string reason
        string library
        vector[string] inputs
        vector[string] outputs

    cdef cppclass PartitionRow:
        string graph
        int index
        string name
        string provider
        string library
        vector[int] nodes
        vector[string] inputs
        vector[string] outputs
        vector[string] constants

    cdef cppclass ProviderInfo:
        string name
        string library
        string audit
        vector[pair[string, string]] options
        string notes

    cdef cppclass CppSession "ort_host::Session":
        const vector[CppNodeArg]& inputs() noexcept
        const vector[CppNodeArg]& outputs() noexcept
        const ValueType& input_type(size_t i) noexcept
        const ModelInfo& model() noexcept
        const string& graph_name() noexcept
        const string& graph_doc_string() noexcept
        vector[AssignmentRow] assignments() except +RaiseHostError
        vector[PartitionRow] partitions() except +RaiseHostError
        vector[ProviderInfo] providers() except +RaiseHostError

    cdef cppclass RunCall:
        RunCall(CppSession& session) except +RaiseHostError
        void SetInput(
            size_t i, ElementType type, const int64_t* dims, size_t rank, const void* data) except +RaiseHostError
        void SetInputValue(size_t i, Value value) except +RaiseHostError
        Value& output(size_t i) noexcept
        void Clear() noexcept
        void SetInterrupt(cbool (*interrupted)(void*) noexcept, void* context) noexcept


cdef extern from *:
    """
    // Calls in which Python may run again. A thread that asks for Python's lock when the interpreter ends is ended by
    // unwinding its stack, which the handlers that Cython writes would stop, and with it the process. These stop
    // exceptions alone.
    template <class Call>
    static std::exception_ptr Attempt(Call call) {
        try {
            call();
        } catch (const std::exception&) {
            return std::current_exception();
        }
        return nullptr;
    }
    static std::exception_ptr AttemptRun(ort_host::RunCall& run) {
        return Attempt([&] { run.Run(); });
    }
    static std::exception_ptr AttemptOpenFile(
            std::unique_ptr<ort_host::Session>& opened, const std::string& path,
            const ort_host::SessionOptions& options) {
        return Attempt([&] { opened = ort_host::Session::FromFile(path, options); });
    }
    static std::exception_ptr AttemptOpenBytes(
            std::unique_ptr<ort_host::Session>& opened, const void* bytes, size_t size,
            const ort_host::SessionOptions& options) {
        return Attempt([&] { opened = ort_host::Session::FromBytes(bytes, size, options); });
    }
    static std::exception_ptr AttemptRegister(ort_host::SessionOptions& options, const std::string& path) {
        return Attempt([&] { options.RegisterCustomOpsLibrary(path); });
    }
    static std::exception_ptr AttemptAddProvider(
            ort_host::SessionOptions& options, const std::vector<ort_host::EpDeviceId>& devices,
            const std::vector<std::pair<std::string, std::string>>& entries) {
        return Attempt([&] { options.AddProviderForDevices(devices, entries); });
    }
    static std::exception_ptr AttemptRegisterEpLibrary(const std::string& name, const std::string& path) {
        return Attempt([&] { ort_host::RegisterEpLibrary(name, path); });
    }
    static std::exception_ptr AttemptUnregisterEpLibrary(const std::string& name) {
        return Attempt([&] { ort_host::UnregisterEpLibrary(name); });
    }
    static std::exception_ptr AttemptInspect(ort_host::RegistrationReport& report, const std::string& path) {
        return Attempt([&] { report = ort_host::InspectRegistration(path); });
    }
    static void RethrowFailure(const std::exception_ptr& failure) {
        if (failure) std::rethrow_exception(failure);
    }
    """
    cdef cppclass Failure "std::exception_ptr":
        Failure() noexcept nogil

    Failure AttemptRun(RunCall& run) noexcept nogil
    Failure AttemptOpenFile(
        unique_ptr[CppSession]& opened, const string& path, const CppSessionOptions& options) noexcept nogil
    Failure AttemptOpenBytes(
        unique_ptr[CppSession]& opened, const void* bytes, size_t size,
        const CppSessionOptions& options) noexcept nogil
    Failure AttemptRegister(CppSessionOptions& options, const string& path) noexcept nogil
    Failure AttemptAddProvider(
        CppSessionOptions& options, const vector[EpDeviceId]& devices,
        const vector[pair[string, string]]& entries) noexcept nogil
    Failure AttemptRegisterEpLibrary(const string& name, const string& path) noexcept nogil
    Failure AttemptUnregisterEpLibrary(const string& name) noexcept nogil
    Failure AttemptInspect(RegistrationReport& report, const string& path) noexcept nogil
    void RethrowFailure(const Failure& failure) except +RaiseHostError


cdef extern from *:
    """
    // One run under way: the engine's call, and the Python objects whose memory it borrows.
    struct PendingCall {
        explicit PendingCall(ort_host::Session& session) : run(session) { run.SetRunConfig(&config); }
        ort_host::RunCall run;
        std::vector<std::pair<std::string, std::string>> config;  // entries of the run options
        std::vector<PyObject*> borrowed;
        PyObject* interrupt = nullptr;  // owned: what a signal handler raised while the run was under way
    };
    // The output's memory, which the call gives up.
    static std::shared_ptr<void> TakeOwner(light::Tensor& tensor) {
        std::shared_ptr<void> owner = tensor.owner();
        tensor.set_owner({});
        return owner;
    }
    """
    cdef cppclass PendingCall:
        PendingCall(CppSession& session) except +RaiseHostError
        RunCall run
        vector[pair[string, string]] config
        vector[PyObject*] borrowed
        PyObject* interrupt
    shared_ptr[void] TakeOwner(Tensor& tensor)
