// SPDX-License-Identifier: Apache-2.0
#include "loader/local_functions.h"

#include <elf.h>

#include <algorithm>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <fstream>

namespace ort_host {
namespace {

constexpr std::size_t kMostNames = 16;

/// Reads what lies inside the file, and nothing where something does not.
class File {
 public:
  explicit File(const std::string& path) : stream_(path, std::ios::binary | std::ios::ate) {
    if (stream_) size_ = static_cast<uint64_t>(stream_.tellg());
  }

  template <class T>
  std::vector<T> Read(uint64_t offset, uint64_t count) {
    std::vector<T> items;
    if (offset > size_ || count > (size_ - offset) / sizeof(T)) return items;
    items.resize(static_cast<std::size_t>(count));
    stream_.seekg(static_cast<std::streamoff>(offset));
    stream_.read(reinterpret_cast<char*>(items.data()), static_cast<std::streamsize>(items.size() * sizeof(T)));
    if (!stream_) items.clear();
    return items;
  }

 private:
  std::ifstream stream_;
  uint64_t size_ = 0;
};

bool IsHidden(const Elf64_Sym& symbol) noexcept {
  const unsigned char visibility = ELF64_ST_VISIBILITY(symbol.st_other);
  return ELF64_ST_BIND(symbol.st_info) == STB_LOCAL || visibility == STV_HIDDEN || visibility == STV_INTERNAL;
}

}  // namespace

bool ContainsInAnyCase(std::string_view text, std::string_view part) noexcept {
  const auto same = [](char a, char b) {
    return std::tolower(static_cast<unsigned char>(a)) == std::tolower(static_cast<unsigned char>(b));
  };
  return std::search(text.begin(), text.end(), part.begin(), part.end(), same) != text.end();
}

std::vector<std::string> LocalFunctions(const std::string& path, std::string_view part) {
  std::vector<std::string> names;
  File file(path);
  const auto header = file.Read<Elf64_Ehdr>(0, 1);
  if (header.empty() || std::memcmp(header[0].e_ident, ELFMAG, SELFMAG) != 0 ||
      header[0].e_shentsize != sizeof(Elf64_Shdr)) {
    return names;
  }
  const auto sections = file.Read<Elf64_Shdr>(header[0].e_shoff, header[0].e_shnum);
  for (const Elf64_Shdr& section : sections) {
    if (section.sh_type != SHT_SYMTAB || section.sh_link >= sections.size()) continue;
    const Elf64_Shdr& texts = sections[section.sh_link];
    std::vector<char> strings = file.Read<char>(texts.sh_offset, texts.sh_size);
    strings.push_back('\0');  // every name ends
    for (const Elf64_Sym& symbol : file.Read<Elf64_Sym>(section.sh_offset, section.sh_size / sizeof(Elf64_Sym))) {
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_shndx == SHN_UNDEF || !IsHidden(symbol)) continue;
      if (symbol.st_name >= strings.size()) continue;
      const std::string_view name = strings.data() + symbol.st_name;
      if (ContainsInAnyCase(name, part) && names.size() < kMostNames) names.emplace_back(name);
    }
  }
  return names;
}

}  // namespace ort_host
