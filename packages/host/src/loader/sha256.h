// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace ort_host {

/// SHA-256 of a file, in lower-case hexadecimal digits. Throws HostError (ORT_NO_SUCHFILE) if it cannot be read.
std::string Sha256OfFile(const std::string& path);

}  // namespace ort_host
