// SPDX-License-Identifier: Apache-2.0
#include "loader/library_search.h"

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "loader/elf_file.h"

namespace ort_host {
namespace {

constexpr const char* kSystemFolders =
    "/lib/x86_64-linux-gnu:/usr/lib/x86_64-linux-gnu:/lib64:/usr/lib64:/lib:/usr/lib";
constexpr const char* kCachePath = "/etc/ld.so.cache";

/// Puts `origin` where a folder of a search path says `$ORIGIN`. Answers "" for other `$` tokens, which depend on how
/// the loader was built.
std::string ExpandOrigin(std::string_view folder, const std::string& origin) {
  std::string expanded;
  while (!folder.empty()) {
    const std::size_t dollar = folder.find('$');
    expanded += folder.substr(0, dollar);
    if (dollar == std::string_view::npos) break;
    folder.remove_prefix(dollar);
    const std::string_view token = folder.starts_with("${ORIGIN}") ? "${ORIGIN}" : "$ORIGIN";
    if (!folder.starts_with(token)) return "";
    expanded += origin;
    folder.remove_prefix(token.size());
  }
  return expanded;
}

}  // namespace

LibrarySearch::LibrarySearch() : mapped_(MappedObjects()), program_rpath_(ProgramRpath()) {
  std::error_code ignored;
  program_folder_ = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  if (const char* path = std::getenv("LD_LIBRARY_PATH")) library_path_ = path;
  ReadCache();
}

std::string LibrarySearch::Find(const std::string& name, const Requester& requester) const {
  if (name.find('/') != std::string::npos) return ElfFile::IsLoadable(name) ? name : "";
  for (const MappedObject& object : mapped_) {
    const bool is_it =
        object.soname.empty() ? object.path.substr(object.path.rfind('/') + 1) == name : object.soname == name;
    if (is_it) return object.path;
  }
  if (requester.runpath.empty()) {
    for (const Requester* at = &requester; at != nullptr; at = at->loader) {
      const std::string found = FindIn(at->rpath, at->folder, name);
      if (!found.empty()) return found;
    }
    const std::string found = FindIn(program_rpath_, program_folder_, name);
    if (!found.empty()) return found;
  }
  std::string found = FindIn(library_path_, requester.folder, name);
  if (found.empty()) found = FindIn(requester.runpath, requester.folder, name);
  const auto [first, last] = cache_.equal_range(name);
  for (auto entry = first; found.empty() && entry != last; ++entry) {
    if (ElfFile::IsLoadable(entry->second)) found = entry->second;
  }
  return found.empty() ? FindIn(kSystemFolders, requester.folder, name) : found;
}

std::string LibrarySearch::FindIn(std::string_view search_path, const std::string& origin, const std::string& name) {
  while (!search_path.empty()) {
    const std::size_t end = std::min(search_path.find(':'), search_path.size());
    const std::string_view written = search_path.substr(0, end);
    search_path.remove_prefix(std::min(end + 1, search_path.size()));
    const std::string folder = written.empty() ? "." : ExpandOrigin(written, origin);
    if (folder.empty()) continue;
    const std::string candidate = folder + "/" + name;
    if (ElfFile::IsLoadable(candidate)) return candidate;
  }
  return "";
}

/// The cache is a header, an array of entries and the strings they point to (ldconfig's format since glibc 2.2; an
/// older table may come first). A cache that is not as expected is no cache.
void LibrarySearch::ReadCache() {
  constexpr std::string_view kMagic = "glibc-ld.so.cache1.1";
  constexpr std::size_t kHeaderBytes = 48;
  constexpr std::size_t kEntryBytes = 24;
  constexpr uint32_t kElf64X86 = 0x0303;
  std::ifstream file(kCachePath, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const std::size_t start = bytes.find(kMagic);
  if (start == std::string::npos || bytes.size() - start < kHeaderBytes) return;
  const std::string_view table = std::string_view(bytes).substr(start);
  const auto number = [&](std::size_t offset) {
    uint32_t value;
    std::memcpy(&value, table.data() + offset, sizeof(value));
    return value;
  };
  const auto text = [&](std::size_t offset) {
    return offset < table.size()
               ? std::string(table.data() + offset, strnlen(table.data() + offset, table.size() - offset))
               : std::string();
  };
  const std::size_t count = number(kMagic.size());
  if (count > (table.size() - kHeaderBytes) / kEntryBytes) return;
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t entry = kHeaderBytes + i * kEntryBytes;
    if (number(entry) == kElf64X86) cache_.emplace(text(number(entry + 4)), text(number(entry + 8)));
  }
}

}  // namespace ort_host
