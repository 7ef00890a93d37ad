# SPDX-License-Identifier: Apache-2.0
# Included by _host.pyx: what sessions are made with.

BROKEN_GROUPS = ("auto", "refuse", "split", "drop")


cdef vector[pair[string, string]] entries_of(dict items):
    """Returns text by text as UTF-8."""
    cdef vector[pair[string, string]] entries
    cdef pair[string, string] entry
    for key, value in items.items():
        entry.first = (<str> key).encode()
        entry.second = (<str> value).encode()
        entries.push_back(entry)
    return entries


cdef class SessionOptions:
    cdef unique_ptr[CppSessionOptions] native
    cdef str log_id
    cdef cbool override

    def __cinit__(self):
        self.native = make_unique[CppSessionOptions]()
        self.log_id = ""

    def __dealloc__(self):
        with nogil:
            self.native.reset()  # as a session: a library that goes with them may run Python, or wait for who does

    @property
    def intra_op_num_threads(self):
        return self.native.get().intra_op_threads()

    @intra_op_num_threads.setter
    def intra_op_num_threads(self, value):
        self.native.get().set_intra_op_threads(integer("intra_op_num_threads", value, 0, MAX_THREADS))

    @property
    def memory_limit_bytes(self):
        cdef size_t limit = self.native.get().memory_limit_bytes()
        return None if limit == numeric_limits[size_t].max() else limit

    @memory_limit_bytes.setter
    def memory_limit_bytes(self, value):
        cdef size_t limit = numeric_limits[size_t].max()
        if value is not None:
            limit = integer("memory_limit_bytes", value, 0, limit)
        self.native.get().set_memory_limit_bytes(limit)

    @property
    def log_severity_level(self):
        return self.native.get().log_severity()

    @log_severity_level.setter
    def log_severity_level(self, value):
        self.native.get().set_log_severity(integer("log_severity_level", value, -1, 4))

    @property
    def logid(self):
        return self.log_id

    @logid.setter
    def logid(self, value):
        self.native.get().set_log_id(readable_text("logid", value).encode())
        self.log_id = value

    @property
    def allow_onnx_domain_override(self):
        return self.override

    @allow_onnx_domain_override.setter
    def allow_onnx_domain_override(self, value):
        self.override = flag("allow_onnx_domain_override", value)
        self.native.get().set_allow_onnx_domain_override(self.override)

    @property
    def graph_optimization_level(self):
        return self.native.get().graph_optimization_level()

    @graph_optimization_level.setter
    def graph_optimization_level(self, value):
        self.native.get().set_graph_optimization_level(one_of(0, 1, 2, 3, 99)("graph_optimization_level", value))

    @property
    def reference_fallback(self):
        return self.native.get().reference_fallback()

    @reference_fallback.setter
    def reference_fallback(self, value):
        self.native.get().set_reference_fallback(flag("reference_fallback", value))

    @property
    def winograd(self):
        return self.native.get().winograd()

    @winograd.setter
    def winograd(self, value):
        self.native.get().set_winograd(flag("winograd", value))

    @property
    def broken_groups(self):
        return text(self.native.get().broken_groups())

    @broken_groups.setter
    def broken_groups(self, value):
        if readable_text("broken_groups", value) not in BROKEN_GROUPS:
            raise InvalidArgument(f"broken_groups: expected one of {list(BROKEN_GROUPS)}, got {value!r}")
        self.native.get().set_broken_groups(value.encode())

    @property
    def strict_layout(self):
        return self.native.get().strict_layout()

    @strict_layout.setter
    def strict_layout(self, value):
        self.native.get().set_strict_layout(flag("strict_layout", value))

    def has_providers(self):
        """Returns whether execution providers were added.

        Returns
        -------
        bool
            True once `add_provider_for_devices` was called with the devices of a plugin EP.
        """
        return self.native.get().has_providers()

    def _without_providers(self):
        """Returns a copy that selects no providers."""
        cdef SessionOptions copy = SessionOptions.__new__(SessionOptions)
        copy.native = self.native.get().CopyWithoutProviders()
        return copy

    def _add_provider(self, list ids, dict options):
        """Selects the devices with these ids, with options of the provider."""
        cdef vector[engine.EpDeviceId] devices
        cdef engine.EpDeviceId device
        cdef vector[pair[string, string]] entries
        cdef engine.Failure failure
        cdef CppSessionOptions* native = self.native.get()
        for library, index in ids:
            device.library, device.index = library, index
            devices.push_back(device)
        entries = entries_of(options)
        with nogil:
            failure = engine.AttemptAddProvider(dereference(native), devices, entries)
        engine.RethrowFailure(failure)

    def add_session_config_entry(self, key, value):
        readable_text("add_session_config_entry: key", key)
        readable_text("add_session_config_entry: value", value)
        self.native.get().AddConfigEntry(key.encode(), value.encode())

    def get_session_config_entry(self, key):
        cdef string value
        if not self.native.get().GetConfigEntry(readable_text("get_session_config_entry: key", key).encode(), &value):
            raise InvalidArgument(f"get_session_config_entry: expected a key that was added, got {key!r}")
        return text(value)

    def register_custom_ops_library(self, path):
        cdef string native_path = path_bytes(path)
        cdef CppSessionOptions* options = self.native.get()
        cdef engine.Failure failure
        with nogil:
            failure = engine.AttemptRegister(dereference(options), native_path)
        engine.RethrowFailure(failure)
