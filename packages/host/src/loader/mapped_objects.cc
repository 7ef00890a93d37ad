// SPDX-License-Identifier: Apache-2.0
#include "loader/mapped_objects.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>

#include <ort_abi/ort_c_api.h>

#include "engine/host_error.h"
#include "loader/api_base_library.h"
#include "loader/dependency_closure.h"

namespace ort_host {
namespace {

/// A string of the object's dynamic section, read where it is mapped; "" if it has none.
std::string DynamicString(const dl_phdr_info& object, ElfW(Sxword) tag) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    if (object.dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const auto* entry = reinterpret_cast<const ElfW(Dyn)*>(object.dlpi_addr + object.dlpi_phdr[i].p_vaddr);
    ElfW(Addr) strings = 0;
    ElfW(Xword) offset = 0;
    bool found = false;
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_STRTAB) strings = entry->d_un.d_ptr;
      if (entry->d_tag == tag) {
        offset = entry->d_un.d_val;
        found = true;
      }
    }
    if (strings == 0 || !found) return "";
    // The loader turns the entry into an address, except in objects whose dynamic section is read-only.
    if (strings < object.dlpi_addr) strings += object.dlpi_addr;
    return reinterpret_cast<const char*>(strings) + offset;
  }
  return "";
}

int Collect(dl_phdr_info* object, std::size_t, void* list) {
  if (object->dlpi_name != nullptr && object->dlpi_name[0] != '\0') {
    static_cast<std::vector<MappedObject>*>(list)->push_back({object->dlpi_name, DynamicString(*object, DT_SONAME)});
  }
  return 0;
}

int ReadProgramRpath(dl_phdr_info* object, std::size_t, void* rpath) {
  if (DynamicString(*object, DT_RUNPATH).empty()) *static_cast<std::string*>(rpath) = DynamicString(*object, DT_RPATH);
  return 1;  // the program comes first
}

}  // namespace

std::vector<MappedObject> MappedObjects() {
  std::vector<MappedObject> objects;
  dl_iterate_phdr(Collect, &objects);
  return objects;
}

std::string ProgramRpath() {
  std::string rpath;
  dl_iterate_phdr(ReadProgramRpath, &rpath);
  return rpath;
}

FileId IdOfFile(const std::string& path) {
  struct stat status;
  if (stat(path.c_str(), &status) != 0) {
    throw HostError(ORT_NO_SUCHFILE, path + ": cannot be read: " + std::strerror(errno));
  }
  return {status.st_dev, status.st_ino};
}

bool IsMapped(const FileId& file) {
  for (const MappedObject& object : MappedObjects()) {
    struct stat status;
    if (object.path[0] == '/' && stat(object.path.c_str(), &status) == 0 &&
        FileId{status.st_dev, status.st_ino} == file) {
      return true;
    }
  }
  return false;
}

std::string MappedOnnxRuntime() {
  for (const MappedObject& object : MappedObjects()) {
    if (IsOnnxRuntimeName(object.path.substr(object.path.rfind('/') + 1)) || IsOnnxRuntimeName(object.soname)) {
      return object.path;
    }
  }
  if (void* entry = dlsym(RTLD_DEFAULT, "OrtGetApiBase"); entry != nullptr && !IsOwnApiBase(entry)) {
    Dl_info where;
    if (dladdr(entry, &where) != 0 && where.dli_fname != nullptr) return where.dli_fname;
    return "the program itself";
  }
  return "";
}

}  // namespace ort_host
