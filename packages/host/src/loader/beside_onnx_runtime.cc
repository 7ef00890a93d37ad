// SPDX-License-Identifier: Apache-2.0
#include "loader/beside_onnx_runtime.h"

#include <set>
#include <string_view>

#include "engine/host_error.h"

namespace ort_host {
namespace {

/// In namespace Ort: every library that is built with ORT's C++ interface has it.
bool IsOfNamespaceOrt(const ElfFile::Symbol& symbol) noexcept {
  return symbol.is_defined && symbol.is_unique && symbol.name.find("3Ort") != std::string_view::npos;
}
/// Of a type or function of the library's own that deals with ORT's table.
bool NamesOrtApi(const ElfFile::Symbol& symbol) noexcept {
  return symbol.is_defined && symbol.is_unique && symbol.name.find("OrtApi") != std::string_view::npos;
}

/// A library that somebody else has loaded and that has one of the symbols, or "".
std::string ForeignSharer(const std::set<std::string_view>& symbols,
                          const std::function<bool(const FileId&)>& is_ours) {
  for (const MappedObject& object : MappedObjects()) {
    try {
      if (object.path[0] != '/' || is_ours(IdOfFile(object.path))) continue;
      for (const ElfFile file = ElfFile::Read(object.path); const ElfFile::Symbol& symbol : file.symbols()) {
        if (symbol.is_defined && symbol.is_unique && symbols.contains(symbol.name)) return object.path;
      }
    } catch (const HostError&) {
      continue;  // a file that is gone, or that only the kernel provides
    }
  }
  return "";
}

}  // namespace

std::string ProcessWideOrtState(const ElfFile& file) {
  for (const ElfFile::Symbol& symbol : file.symbols()) {
    if (IsOfNamespaceOrt(symbol) || NamesOrtApi(symbol)) return std::string(symbol.name);
  }
  return "";
}

std::string RefuseBesideOnnxRuntime(const ElfFile& file, const std::function<bool(const FileId&)>& is_ours) {
  const std::string runtime = MappedOnnxRuntime();
  if (runtime.empty()) return "";
  const FileId id = IdOfFile(file.path());
  if (IsMapped(id) && !is_ours(id)) {
    return "somebody else has loaded it into this process, where " + runtime +
           " is loaded too; two hosts would share its globals";
  }
  std::set<std::string_view> shareable;
  for (const ElfFile::Symbol& symbol : file.symbols()) {
    if (IsOfNamespaceOrt(symbol)) {
      return "it exports the process-wide symbol " + std::string(symbol.name) + ", and " + runtime +
             " is loaded; two hosts would share it";
    }
    if (NamesOrtApi(symbol)) shareable.insert(symbol.name);
  }
  if (shareable.empty()) return "";
  const std::string sharer = ForeignSharer(shareable, is_ours);
  if (sharer.empty()) return "";
  return "it exports the process-wide symbol " + std::string(*shareable.begin()) + ", which " + sharer +
         ", loaded by somebody else, has too, and " + runtime + " is loaded; two hosts would share it";
}

}  // namespace ort_host
