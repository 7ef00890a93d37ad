// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace ort_host {

/// Result of looking at a library file without running anything of it.
struct LibraryReport {
  std::string path;                  ///< absolute, links resolved
  std::vector<std::string> exports;  ///< those of RegisterCustomOps, CreateEpFactories, ReleaseEpFactory it has
  std::vector<std::string> needed;   ///< direct dependencies as written
  std::vector<std::string> closure;  ///< paths of all dependencies, `name => not found` where there is none
  std::string refused_because;       ///< "" if it may be loaded
  std::string audited_as;            ///< name and version on the shipped list, else ""
  std::vector<std::string> hints;    ///< what its author may want to look at
};
LibraryReport InspectLibrary(const std::string& path);

/// One input or output that a custom op declares.
struct ArgumentReport {
  std::string type;            ///< `tensor(float)`; `any tensor` where the op takes all
  std::string characteristic;  ///< `required`, `optional` or `variadic`
  std::string memory;          ///< where an input is wanted: `default`, `cpu_input`, `cpu_output`
  int min_arity = 1;           ///< of a variadic
  bool is_homogeneous = true;  ///< the values of a variadic share a type
};

/// One custom op, as its descriptor says.
struct OperatorReport {
  std::string domain;
  std::string name;
  std::size_t position = 0;  ///< in its domain
  int since_version = 1;
  int end_version = -1;  ///< -1: none
  std::vector<ArgumentReport> inputs;
  std::vector<ArgumentReport> outputs;
  std::string provider;
  uint32_t api_version = 0;  ///< of the struct
  bool has_inference = false;
  std::vector<std::pair<int, int>> may_inplace;
  std::vector<std::pair<int, int>> aliases;
  std::string problem;  ///< which rule it breaks; a session with it fails. What comes after it was not read
};

/// One kernel that an execution provider registers.
struct KernelReport {
  std::string domain;
  std::string op_type;
  int since_version = 1;
  int end_version = -1;                                    ///< -1: none given, which matches the first alone
  std::vector<std::pair<std::string, std::string>> types;  ///< by type parameter: `tensor(float), tensor(double)`
  std::string provider;                                    ///< that it is for
  std::vector<std::pair<int, int>> may_inplace;
  std::vector<std::pair<int, int>> aliases;
};

/// One execution provider that a library offers.
struct ProviderReport {
  std::string name;
  std::string vendor;
  std::string version;
  std::vector<std::string> devices;  ///< as `CPU Intel`; none: it cannot be used on this machine
  std::vector<std::pair<std::string, std::string>> options;  ///< and their defaults
  std::vector<KernelReport> kernels;
  std::string problem;  ///< why no provider could be created; "" if one was, or if there is no device
};

/// What a library registers.
struct RegistrationReport {
  std::vector<uint32_t> api_versions;  ///< it has asked for, in that order
  std::vector<OperatorReport> operators;
  std::vector<ProviderReport> providers;
  std::string failed_because;  ///< "" if the registration succeeded
};
/// Loads the library and runs those of RegisterCustomOps and CreateEpFactories that it exports, without a model; what
/// it registered is dropped again, and providers are created and released. Throws HostError if it cannot be loaded.
RegistrationReport InspectRegistration(const std::string& path);

}  // namespace ort_host
