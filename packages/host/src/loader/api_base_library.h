// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "loader/dependency_closure.h"

namespace ort_host {

/// True if the library, or one that it needs, imports OrtGetApiBase.
bool ImportsApiBase(const DependencyClosure& closure) noexcept;

/// Opens this package's library that exports OrtGetApiBase, for all libraries that are loaded from now on, and makes it
/// answer as this host. It stays until the process ends; a second call does nothing.
///
/// Throws HostError: ONNX Runtime is in the process, which exports the same name, or the library is not there.
void ProvideApiBase();

/// True if the address is that of the function that ProvideApiBase has brought.
bool IsOwnApiBase(const void* function) noexcept;

}  // namespace ort_host
