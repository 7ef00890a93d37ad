// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "loader/elf_file.h"

namespace ort_host {

/// Those of RegisterCustomOps, CreateEpFactories and ReleaseEpFactory that the library exports.
std::vector<std::string> EntryPoints(const ElfFile& file);

/// What the author of the library may want to look at, a sentence each: exported or hidden functions whose names come
/// near an entry point that is not exported, one of a pair that is missing, exports that are better kept inside.
std::vector<std::string> ExportHints(const ElfFile& file);

}  // namespace ort_host
