// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "loader/elf_file.h"
#include "loader/mapped_objects.h"

namespace ort_host {

/// A symbol of the library that is one for the whole process, whoever loads the library, and that by its name keeps
/// state of ORT's interface; or "". Such state is shared by all copies of the library.
std::string ProcessWideOrtState(const ElfFile& file);

/// Why the library may not be loaded into a process where ONNX Runtime is mapped too, or "": two hosts would share its
/// globals, such as the table that it was given. `is_ours` tells whether this host has loaded a file.
std::string RefuseBesideOnnxRuntime(const ElfFile& file, const std::function<bool(const FileId&)>& is_ours);

}  // namespace ort_host
