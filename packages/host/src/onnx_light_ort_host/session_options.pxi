# SPDX-License-Identifier: Apache-2.0
# Included by _host.pyx: what sessions are made with.

cdef class SessionOptions:
    cdef unique_ptr[CppSessionOptions] native
    cdef str log_id
    cdef bint override

    def __cinit__(self):
        self.native = make_unique[CppSessionOptions]()
        self.log_id = ""

    @property
    def intra_op_num_threads(self):
        return self.native.get().intra_op_threads()

    @intra_op_num_threads.setter
    def intra_op_num_threads(self, value):
        if not hasattr(value, "__index__") or not 0 <= value <= MAX_THREADS:
            raise InvalidArgument(f"intra_op_num_threads: expected an integer from 0 to {MAX_THREADS}, got {value!r}")
        self.native.get().set_intra_op_threads(value)

    @property
    def memory_limit_bytes(self):
        cdef size_t limit = self.native.get().memory_limit_bytes()
        return None if limit == numeric_limits[size_t].max() else limit

    @memory_limit_bytes.setter
    def memory_limit_bytes(self, value):
        if value is not None and (not hasattr(value, "__index__") or not 0 <= value <= numeric_limits[size_t].max()):
            raise InvalidArgument(f"memory_limit_bytes: expected a size in bytes or None, got {value!r}")
        self.native.get().set_memory_limit_bytes(numeric_limits[size_t].max() if value is None else <size_t>value)

    @property
    def log_severity_level(self):
        return self.native.get().log_severity()

    @log_severity_level.setter
    def log_severity_level(self, int value):
        if not -1 <= value <= 4:
            raise InvalidArgument(f"log_severity_level: expected -1 to 4, got {value}")
        self.native.get().set_log_severity(value)

    @property
    def logid(self):
        return self.log_id

    @logid.setter
    def logid(self, str value not None):
        self.native.get().set_log_id(value.encode())
        self.log_id = value

    @property
    def allow_onnx_domain_override(self):
        return self.override

    @allow_onnx_domain_override.setter
    def allow_onnx_domain_override(self, bint value):
        self.native.get().set_allow_onnx_domain_override(value)
        self.override = value

    @property
    def reference_fallback(self):
        return self.native.get().reference_fallback()

    @reference_fallback.setter
    def reference_fallback(self, bint value):
        self.native.get().set_reference_fallback(value)

    def add_session_config_entry(self, str key not None, str value not None):
        self.native.get().AddConfigEntry(key.encode(), value.encode())

    def get_session_config_entry(self, str key not None):
        cdef string value
        if not self.native.get().GetConfigEntry(key.encode(), &value):
            raise InvalidArgument(f"get_session_config_entry: expected a key that was added, got {key!r}")
        return text(value)

    def register_custom_ops_library(self, path):
        cdef string native_path = path_bytes(path)
        cdef CppSessionOptions* options = self.native.get()
        cdef engine.Failure failure
        with nogil:
            failure = engine.AttemptRegister(dereference(options), native_path)
        engine.RethrowFailure(failure)
