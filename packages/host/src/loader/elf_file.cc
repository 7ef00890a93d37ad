// SPDX-License-Identifier: Apache-2.0
#include "loader/elf_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <ort_abi/ort_c_api.h>

#include "engine/host_error.h"

namespace ort_host {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kThisMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kThisMachine = EM_AARCH64;
#else
constexpr uint16_t kThisMachine = EM_NONE;
#endif

std::string MachineName(uint16_t machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "aarch64";
    case EM_386:
      return "i386";
    case EM_ARM:
      return "arm";
    case EM_PPC64:
      return "ppc64";
    case EM_S390:
      return "s390x";
    case EM_RISCV:
      return "riscv";
    default:
      return "machine " + std::to_string(machine);
  }
}

class File {
 public:
  explicit File(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  File(const File&) = delete;
  ~File() {
    if (fd_ >= 0) close(fd_);
  }
  int fd() const noexcept { return fd_; }

  bool ReadAt(uint64_t offset, void* to, std::size_t bytes) const noexcept {
    auto* at = static_cast<char*>(to);
    while (bytes > 0) {
      const ssize_t got = pread(fd_, at, bytes, static_cast<off_t>(offset));
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += got;
      offset += static_cast<uint64_t>(got);
      bytes -= static_cast<std::size_t>(got);
    }
    return true;
  }

 private:
  int fd_;
};

bool IsElf64(const Elf64_Ehdr& header) noexcept {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 && header.e_ident[EI_CLASS] == ELFCLASS64 &&
         header.e_ident[EI_DATA] == ELFDATA2LSB;
}

}  // namespace

const char* ThisMachine() noexcept {
#if defined(__x86_64__)
  return "x86-64";
#elif defined(__aarch64__)
  return "aarch64";
#else
  return "an unsupported machine";
#endif
}

/// One pass over a file, filling an ElfFile.
class ElfFile::Reader {
 public:
  explicit Reader(const std::string& path) : file_(path), path_(path) {
    struct stat status;
    if (file_.fd() < 0 || fstat(file_.fd(), &status) != 0) {
      throw HostError(ORT_NO_SUCHFILE, path + ": cannot be read: " + std::strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) NotALibrary("no regular file");
    size_ = static_cast<uint64_t>(status.st_size);
  }

  ElfFile Read() {
    result_.path_ = path_;
    ReadHeader();
    ReadDynamic();
    return std::move(result_);
  }

 private:
  [[noreturn]] void NotALibrary(const std::string& got) const {
    throw HostError(ORT_FAIL, path_ + ": not a shared library, got " + got);
  }
  [[noreturn]] void Damaged(const std::string& what) const {
    throw HostError(ORT_FAIL, path_ + ": damaged shared library, got " + what);
  }

  template <class T>
  std::vector<T> ReadArray(uint64_t offset, uint64_t count, const char* what) const {
    if (offset > size_ || count > (size_ - offset) / sizeof(T)) {
      Damaged(std::string(what) + " beyond the end of the file");
    }
    std::vector<T> items(static_cast<std::size_t>(count));
    if (!file_.ReadAt(offset, items.data(), items.size() * sizeof(T))) {
      Damaged(std::string(what) + " that cannot be read");
    }
    return items;
  }

  void ReadHeader() {
    Elf64_Ehdr header;
    if (size_ < sizeof(header)) {
      NotALibrary(size_ == 0 ? "an empty file" : "a file of " + std::to_string(size_) + " bytes");
    }
    if (!file_.ReadAt(0, &header, sizeof(header))) NotALibrary("an unreadable file");
    if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) NotALibrary("a file that is no ELF object");
    if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB ||
        header.e_machine != kThisMachine) {
      const bool is_big_endian = header.e_ident[EI_DATA] == ELFDATA2MSB;
      const uint16_t machine = is_big_endian ? __builtin_bswap16(header.e_machine) : header.e_machine;
      throw HostError(ORT_FAIL, path_ + ": built for " + MachineName(machine) + (is_big_endian ? " (big-endian)" : "") +
                                    (header.e_ident[EI_CLASS] == ELFCLASS32 ? " (32 bits)" : "") +
                                    ", this process is " + ThisMachine());
    }
    if (header.e_type != ET_DYN) {
      NotALibrary(header.e_type == ET_REL    ? "an object file"
                  : header.e_type == ET_EXEC ? "an executable"
                                             : "another ELF file");
    }
    if (header.e_phentsize != sizeof(Elf64_Phdr)) Damaged("program headers of an unknown size");
    segments_ = ReadArray<Elf64_Phdr>(header.e_phoff, header.e_phnum, "program headers");
  }

  /// The place in the file of an address, with `bytes` of the same segment behind it.
  uint64_t OffsetOf(uint64_t address, uint64_t bytes, const char* what) const {
    for (const Elf64_Phdr& segment : segments_) {
      if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
      const uint64_t inside = address - segment.p_vaddr;
      if (inside > segment.p_filesz || bytes > segment.p_filesz - inside) continue;
      if (segment.p_offset > size_ || inside > size_ - segment.p_offset) continue;
      return segment.p_offset + inside;
    }
    Damaged(std::string(what) + " outside every segment");
  }
  template <class T>
  std::vector<T> ReadAddress(uint64_t address, uint64_t count, const char* what) const {
    if (count > size_ / sizeof(T)) Damaged(std::string(what) + " larger than the file");
    return ReadArray<T>(OffsetOf(address, count * sizeof(T), what), count, what);
  }

  std::string String(uint64_t offset, const char* what) const {
    if (offset >= strings_size_) Damaged(std::string(what) + " outside the string table");
    return result_.strings_.get() + offset;  // the table ends with a NUL of ours
  }

  void ReadDynamic() {
    const auto dynamic = std::find_if(segments_.begin(), segments_.end(),
                                      [](const Elf64_Phdr& segment) { return segment.p_type == PT_DYNAMIC; });
    if (dynamic == segments_.end()) NotALibrary("an ELF object without a dynamic section");
    const auto entries =
        ReadArray<Elf64_Dyn>(dynamic->p_offset, dynamic->p_filesz / sizeof(Elf64_Dyn), "the dynamic section");
    uint64_t strings = 0, symbols = 0, hash = 0, gnu_hash = 0, flags = 0;
    std::vector<uint64_t> needed;
    uint64_t soname = kNone, rpath = kNone, runpath = kNone;
    for (const Elf64_Dyn& entry : entries) {
      if (entry.d_tag == DT_NULL) break;
      switch (entry.d_tag) {
        case DT_STRTAB:
          strings = entry.d_un.d_ptr;
          break;
        case DT_STRSZ:
          strings_size_ = entry.d_un.d_val;
          break;
        case DT_SYMTAB:
          symbols = entry.d_un.d_ptr;
          break;
        case DT_HASH:
          hash = entry.d_un.d_ptr;
          break;
        case DT_GNU_HASH:
          gnu_hash = entry.d_un.d_ptr;
          break;
        case DT_NEEDED:
          needed.push_back(entry.d_un.d_val);
          break;
        case DT_SONAME:
          soname = entry.d_un.d_val;
          break;
        case DT_RPATH:
          rpath = entry.d_un.d_val;
          break;
        case DT_RUNPATH:
          runpath = entry.d_un.d_val;
          break;
        case DT_FLAGS_1:
          flags = entry.d_un.d_val;
          break;
        default:
          break;
      }
    }
    if ((flags & DF_1_PIE) != 0) NotALibrary("an executable");
    if (strings == 0) NotALibrary("an ELF object without a string table");
    ReadStrings(strings);
    for (const uint64_t name : needed) result_.needed_.push_back(String(name, "the name of a dependency"));
    if (soname != kNone) result_.soname_ = String(soname, "the library's name");
    if (runpath != kNone) {
      result_.runpath_ = String(runpath, "the run path");
    } else if (rpath != kNone) {
      result_.rpath_ = String(rpath, "the run path");
    }
    if (symbols != 0) ReadSymbols(symbols, CountSymbols(hash, gnu_hash));
  }

  void ReadStrings(uint64_t address) {
    if (strings_size_ > size_) Damaged("a string table larger than the file");
    const uint64_t offset = OffsetOf(address, strings_size_, "the string table");
    const auto bytes = static_cast<std::size_t>(strings_size_);
    result_.strings_ = std::make_unique<char[]>(bytes + 1);
    if (!file_.ReadAt(offset, result_.strings_.get(), bytes)) Damaged("a string table that cannot be read");
  }

  /// The dynamic section does not say how many symbols there are; the hash tables do.
  uint64_t CountSymbols(uint64_t hash, uint64_t gnu_hash) const {
    if (hash != 0) return ReadAddress<uint32_t>(hash, 2, "the hash table")[1];
    if (gnu_hash == 0) return 0;
    const auto header = ReadAddress<uint32_t>(gnu_hash, 4, "the hash table");  // buckets, first symbol, bloom words
    const uint64_t buckets_at = gnu_hash + 16 + uint64_t{header[2]} * 8;
    const auto buckets = ReadAddress<uint32_t>(buckets_at, header[0], "the hash table's buckets");
    const uint32_t first = header[1];
    const uint32_t last = buckets.empty() ? 0 : *std::max_element(buckets.begin(), buckets.end());
    if (last < first) return first;
    // The chain of the last bucket ends with the last symbol, marked by its lowest bit.
    const uint64_t chain = buckets_at + uint64_t{header[0]} * 4;
    for (uint64_t index = last;; ++index) {
      if (ReadAddress<uint32_t>(chain + (index - first) * 4, 1, "the hash table's chain")[0] & 1) return index + 1;
    }
  }

  void ReadSymbols(uint64_t address, uint64_t count) {
    for (const Elf64_Sym& symbol : ReadAddress<Elf64_Sym>(address, count, "the symbol table")) {
      const unsigned char binding = ELF64_ST_BIND(symbol.st_info);
      if (binding == STB_LOCAL || symbol.st_name >= strings_size_) continue;
      result_.symbols_.push_back(
          {result_.strings_.get() + symbol.st_name, symbol.st_shndx != SHN_UNDEF, binding == STB_GNU_UNIQUE});
    }
  }

  static constexpr uint64_t kNone = ~uint64_t{0};

  File file_;
  std::string path_;
  uint64_t size_ = 0;
  uint64_t strings_size_ = 0;
  std::vector<Elf64_Phdr> segments_;
  ElfFile result_;
};

ElfFile ElfFile::Read(const std::string& path) { return Reader(path).Read(); }

bool ElfFile::IsLoadable(const std::string& path) noexcept {
  const File file(path);
  Elf64_Ehdr header;
  return file.fd() >= 0 && file.ReadAt(0, &header, sizeof(header)) && IsElf64(header) &&
         header.e_machine == kThisMachine && header.e_type == ET_DYN;
}

bool ElfFile::Exports(std::string_view name) const noexcept {
  return std::any_of(symbols_.begin(), symbols_.end(),
                     [&](const Symbol& symbol) { return symbol.is_defined && symbol.name == name; });
}

bool ElfFile::Imports(std::string_view name) const noexcept {
  return std::any_of(symbols_.begin(), symbols_.end(),
                     [&](const Symbol& symbol) { return !symbol.is_defined && symbol.name == name; });
}

}  // namespace ort_host
