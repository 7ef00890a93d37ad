# SPDX-License-Identifier: Apache-2.0
# Included by _host.pyx: what concerns the process, not one session.

cdef str text(const string& value):
    return value.data()[:value.size()].decode("utf-8", "replace")


cdef list texts(const vector[string]& values):
    return [text(values[i]) for i in range(values.size())]


cdef bytes path_bytes(path):
    from os import fsencode

    if not isinstance(path, (str, bytes)) and not hasattr(path, "__fspath__"):
        raise TypeError(f"path: expected str, bytes or an object with __fspath__, got {type_name(path)}")
    cdef bytes native = fsencode(path)
    if b"\0" in native:  # what comes after it would not be seen, and another file be opened
        raise InvalidArgument(f"path: expected one without a null character, got {path!r}")
    return native


# ---- the process -----------------------------------------------------------------------------------------------------

def product_version():
    return engine.ProductVersion().decode()


def build_info():
    return engine.BuildInfo().decode()


def set_default_logger_severity(int severity):
    engine.SetDefaultLogSeverity(severity)


def enable_checked_mode():
    engine.EnableCheckedMode()


def checked_rules():
    cdef vector[engine.CheckedRule] rules = engine.CheckedRules()
    return {text(rules[i].name): text(rules[i].meaning) for i in range(rules.size())}


def checked_findings():
    cdef vector[engine.CheckedFinding] found = engine.CheckedFindings()
    return [Finding(text(found[i].rule), text(found[i].slot), text(found[i].sentence)) for i in range(found.size())]


def set_load_policy(policy):
    cdef engine.LoadPolicy native
    cdef vector[string] roots
    if policy.allowed_roots is not None:
        for root in policy.allowed_roots:
            roots.push_back(path_bytes(root))
        native.allowed_roots = roots
    native.follow_links = policy.follow_links
    native.require_owner = policy.require_owner
    native.audited_only = policy.audited_only
    native.unload = policy.unload
    native.provide_api_base = policy.provide_api_base
    engine.SetLoadPolicy(native)


def get_load_policy():
    cdef engine.LoadPolicy native = engine.GetLoadPolicy()
    return LoadPolicy(
        texts(native.allowed_roots.value()) if native.allowed_roots.has_value() else None, native.follow_links, native.require_owner, native.audited_only, native.unload,
        native.provide_api_base)


def inspect_library(path):
    cdef engine.LibraryReport report = engine.InspectLibrary(path_bytes(path))
    return LibraryReport(
        text(report.path), texts(report.exports), texts(report.needed), texts(report.closure),
        text(report.refused_because), text(report.audited_as), texts(report.hints), None)


cdef list argument_reports(const vector[engine.ArgumentReport]& arguments):
    cdef const engine.ArgumentReport* argument
    cdef size_t i
    result = []
    for i in range(arguments.size()):
        argument = &arguments[i]
        result.append(ArgumentReport(
            text(argument.type), text(argument.characteristic), text(argument.memory), argument.min_arity,
            argument.is_homogeneous))
    return result


cdef list index_pairs(const vector[pair[int, int]]& found):
    return [(found[i].first, found[i].second) for i in range(found.size())]


def inspect_registration(path):
    cdef string native = path_bytes(path)
    cdef engine.RegistrationReport report
    cdef engine.Failure failure
    cdef const engine.OperatorReport* op
    cdef size_t i
    with nogil:
        failure = engine.AttemptInspect(report, native)
    engine.RethrowFailure(failure)
    operators = []
    for i in range(report.operators.size()):
        op = &report.operators[i]
        operators.append(OperatorReport(
            text(op.domain), text(op.name), op.position, op.since_version,
            op.end_version if op.end_version >= 0 else None, argument_reports(op.inputs), argument_reports(op.outputs),
            text(op.provider), op.api_version, op.has_inference, index_pairs(op.may_inplace), index_pairs(op.aliases),
            text(op.problem)))
    versions = [report.api_versions[i] for i in range(report.api_versions.size())]
    providers = [provider_report(report.providers[i]) for i in range(report.providers.size())]
    return RegistrationReport(versions, operators, providers, text(report.failed_because))


cdef object provider_report(const engine.ProviderReport& provider):
    cdef const engine.KernelReport* kernel
    cdef size_t i
    kernels = []
    for i in range(provider.kernels.size()):
        kernel = &provider.kernels[i]
        kernels.append(KernelReport(
            text(kernel.domain), text(kernel.op_type), kernel.since_version,
            kernel.end_version if kernel.end_version >= 0 else None, texts_by_key(kernel.types),
            text(kernel.provider), index_pairs(kernel.may_inplace), index_pairs(kernel.aliases)))
    return ProviderReport(
        text(provider.name), text(provider.vendor), text(provider.version), texts(provider.devices),
        texts_by_key(provider.options), kernels, text(provider.problem))


cdef dict texts_by_key(const vector[pair[string, string]]& entries):
    return {text(entries[i].first): text(entries[i].second) for i in range(entries.size())}


def register_ep_library(str name, path):
    cdef string native_name = name.encode()
    cdef string native_path = path_bytes(path)
    cdef engine.Failure failure
    with nogil:
        failure = engine.AttemptRegisterEpLibrary(native_name, native_path)
    engine.RethrowFailure(failure)


def unregister_ep_library(str name):
    cdef string native_name = name.encode()
    cdef engine.Failure failure
    with nogil:
        failure = engine.AttemptUnregisterEpLibrary(native_name)
    engine.RethrowFailure(failure)


def ep_devices():
    cdef vector[engine.EpDeviceInfo] found = engine.EpDevices()
    cdef engine.EpDeviceInfo* device
    cdef engine.HardwareDeviceInfo* hardware
    cdef size_t i
    result = []
    for i in range(found.size()):
        device = &found[i]
        hardware = &device.device
        result.append(OrtEpDevice(
            text(device.ep_name), text(device.ep_vendor), texts_by_key(device.ep_metadata),
            texts_by_key(device.ep_options),
            OrtHardwareDevice(
                OrtHardwareDeviceType(hardware.type), hardware.vendor_id, text(hardware.vendor), hardware.device_id,
                texts_by_key(hardware.metadata), hardware.is_synthetic),
            text(device.registration_name), (device.id.library, device.id.index)))
    return result


def add_synthetic_hardware_device(int device_type, vendor_id, str vendor, device_id, dict metadata):
    cdef engine.HardwareDeviceInfo device
    device.type = device_type
    device.vendor_id = vendor_id
    device.device_id = device_id
    device.vendor = vendor.encode()
    device.metadata = entries_of(metadata)
    engine.AddSyntheticHardwareDevice(device)


def accepted_api_versions():
    cdef vector[uint32_t] versions = engine.AcceptedApiVersions()
    return [versions[i] for i in range(versions.size())]


def tested_libraries():
    cdef vector[engine.TestedLibrary] found = engine.TestedLibraries()
    cdef engine.TestedLibrary* library
    cdef size_t i
    result = []
    for i in range(found.size()):
        library = &found[i]
        result.append(TestedLibrary(
            text(library.name), text(library.version), text(library.file_name), library.bytes, text(library.sha256),
            text(library.profile), library.api_version, text(library.broken_groups)))
    return result


def support_matrix():
    cdef vector[engine.SupportRow] rows = engine.SupportMatrix()
    cdef engine.SupportRow* row
    cdef size_t i
    result = []
    for i in range(rows.size()):
        row = &rows[i]
        result.append(SupportRow(
            text(row.table), text(row.name), row.index, row.since, text(row.profile), text(row.status),
            text(row.limit)))
    return result
