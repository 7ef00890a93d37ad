// SPDX-License-Identifier: Apache-2.0
#include "loader/entry_points.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "loader/beside_onnx_runtime.h"
#include "loader/local_functions.h"

namespace ort_host {
namespace {

constexpr std::string_view kRegister = "RegisterCustomOps";
constexpr std::string_view kCreate = "CreateEpFactories";
constexpr std::string_view kRelease = "ReleaseEpFactory";

/// How many letters must be put in, left out or exchanged to make one name of the other.
std::size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t k = 0; k < row.size(); ++k) row[k] = k;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t k = 0; k < b.size(); ++k) {
      const std::size_t exchanged = diagonal + (a[i] == b[k] ? 0 : 1);
      diagonal = row[k + 1];
      row[k + 1] = std::min({exchanged, row[k] + 1, row[k + 1] + 1});
    }
  }
  return row.back();
}

/// Why an exported name is not `entry`, which it was probably meant to be; "" if it was not.
std::string Miss(std::string_view name, std::string_view entry) {
  if (name.starts_with("_Z") && ContainsInAnyCase(name, entry)) {
    return "a C++ name: declare the function extern \"C\"";
  }
  if (name.size() == entry.size() && ContainsInAnyCase(name, entry)) return "other upper and lower case";
  constexpr std::size_t kNear = 3;
  const bool may_be_near = name.size() + kNear >= entry.size() && name.size() <= entry.size() + kNear;
  return may_be_near && EditDistance(name, entry) <= kNear ? "another spelling" : "";
}

void AddNearMisses(const ElfFile& file, std::string_view entry, std::vector<std::string>& hints) {
  const std::string wanted = "no " + std::string(entry) + " is exported, but ";
  for (const ElfFile::Symbol& symbol : file.symbols()) {
    // Another entry point is no misspelt one.
    if (!symbol.is_defined || symbol.name == kCreate || symbol.name == kRelease || symbol.name == kRegister) continue;
    const std::string miss = Miss(symbol.name, entry);
    if (!miss.empty()) hints.push_back(wanted + std::string(symbol.name) + " is: " + miss);
  }
  for (const std::string& name : LocalFunctions(file.path(), entry)) {
    if (file.Exports(name)) continue;
    hints.push_back(wanted + name + " is there, hidden: give the function default visibility" +
                    (name.starts_with("_Z") ? " and declare it extern \"C\"" : ""));
  }
}

}  // namespace

std::vector<std::string> EntryPoints(const ElfFile& file) {
  std::vector<std::string> names;
  for (const std::string_view name : {kRegister, kCreate, kRelease}) {
    if (file.Exports(name)) names.emplace_back(name);
  }
  return names;
}

std::vector<std::string> ExportHints(const ElfFile& file) {
  std::vector<std::string> hints;
  const std::vector<std::string> found = EntryPoints(file);
  const bool creates = file.Exports(kCreate);
  const bool releases = file.Exports(kRelease);
  if (!file.Exports(kRegister) && !(creates && releases)) AddNearMisses(file, kRegister, hints);
  for (const std::string_view entry : {kCreate, kRelease}) {
    if (!file.Exports(entry) && (creates || releases || found.empty())) AddNearMisses(file, entry, hints);
  }
  if (creates != releases) {
    hints.push_back("CreateEpFactories and ReleaseEpFactory belong together, got " +
                    std::string(creates ? kCreate : kRelease) + " alone");
  }
  std::size_t exports = 0;
  std::size_t unique = 0;
  for (const ElfFile::Symbol& symbol : file.symbols()) {
    if (!symbol.is_defined) continue;
    ++exports;
    if (symbol.is_unique) ++unique;
  }
  if (exports > found.size()) {
    hints.push_back("it exports " + std::to_string(exports - found.size()) +
                    " more symbols than its entry points, which other libraries may be bound to: hide them");
  }
  if (unique > 0) {
    hints.push_back("of its symbols, the loader keeps one copy each for the whole process (STB_GNU_UNIQUE), got " +
                    std::to_string(unique) + ": it can never be unloaded");
  }
  if (const std::string state = ProcessWideOrtState(file); !state.empty()) {
    hints.push_back(
        "its symbol " + state +
        " is one for the whole process, also if the file is copied: beside ONNX Runtime only one of the two "
        "can use the library");
  }
  return hints;
}

}  // namespace ort_host
