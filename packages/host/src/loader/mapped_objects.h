// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace ort_host {

/// A shared object that is mapped into this process.
struct MappedObject {
  std::string path;    ///< as the dynamic loader knows it
  std::string soname;  ///< "" if it has none
};

/// The objects mapped now, the program itself excepted.
std::vector<MappedObject> MappedObjects();

/// The search path that the program itself carries (DT_RPATH, without a DT_RUNPATH), or "".
std::string ProgramRpath();

/// What tells files apart, whatever path leads to them.
struct FileId {
  dev_t device = 0;
  ino_t inode = 0;
  friend auto operator<=>(const FileId&, const FileId&) = default;
};

/// Throws HostError (ORT_NO_SUCHFILE) if there is no such file.
FileId IdOfFile(const std::string& path);

/// True if the file is mapped by anybody.
bool IsMapped(const FileId& file);

/// The path of a mapped ONNX Runtime, or "".
std::string MappedOnnxRuntime();

}  // namespace ort_host
