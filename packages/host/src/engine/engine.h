// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bridge/ep_device_id.h"
#include "engine/host_error.h"
#include "engine/library_report.h"
#include "light/boundary_io.h"
#include "light/session.h"
#include "loader/load_policy.h"

// What the Python face sees of the host, and all it sees. Every function here throws HostError and nothing else.

namespace ort_host {

class SessionOptionsImpl;
class SessionImpl;

/// Version of this product, e.g. `0.1.0`.
const char* ProductVersion() noexcept;
/// `onnx-light-ort-host X.Y.Z, ORT C ABI 30, not ONNX Runtime`.
const char* BuildInfo() noexcept;

/// Turns the process-wide checked mode on. Throws HostError once a library has been loaded.
void EnableCheckedMode();

/// A rule that libraries break and that checked mode watches.
struct CheckedRule {
  std::string name;
  std::string meaning;
};
std::vector<CheckedRule> CheckedRules();
/// What a library did against a rule, in checked mode.
struct CheckedFinding {
  std::string rule;
  std::string slot;
  std::string sentence;
};
std::vector<CheckedFinding> CheckedFindings();

/// 0 verbose, 1 info, 2 warning, 3 error, 4 fatal.
void SetDefaultLogSeverity(int severity);

/// Versions of the API that plugins are granted, ascending.
std::vector<uint32_t> AcceptedApiVersions();
/// A published library that the tests of this host run, unmodified.
struct TestedLibrary {
  std::string name;
  std::string version;
  std::string file_name;
  uint64_t bytes = 0;
  std::string sha256;
  std::string profile;
  int api_version = 0;
  std::string broken_groups;  ///< what SessionOptions::broken_groups is for it where that is `auto`
};
std::vector<TestedLibrary> TestedLibraries();

/// A piece of hardware; `type` is 0 CPU, 1 GPU, 2 NPU.
struct HardwareDeviceInfo {
  int type = 0;
  uint32_t vendor_id = 0;
  uint32_t device_id = 0;
  std::string vendor;
  std::vector<std::pair<std::string, std::string>> metadata;
  bool is_synthetic = false;  ///< a caller made it up
};
/// A piece of hardware as an execution provider offers it.
struct EpDeviceInfo {
  std::string ep_name;
  std::string ep_vendor;
  std::vector<std::pair<std::string, std::string>> ep_metadata;
  std::vector<std::pair<std::string, std::string>> ep_options;
  HardwareDeviceInfo device;
  std::string registration_name;  ///< of the library; "" for the host's own provider
  EpDeviceId id;                  ///< 0 of the host's own provider
};
/// Loads a library of execution providers and asks it for factories and devices. Throws HostError.
void RegisterEpLibrary(const std::string& name, const std::string& path);
/// Throws HostError for an unknown name.
void UnregisterEpLibrary(const std::string& name);
/// The host's own first, then those of libraries in the order of their registration.
std::vector<EpDeviceInfo> EpDevices();
/// Adds a device that libraries registered from now on are offered. Throws HostError for a type that there is not.
void AddSyntheticHardwareDevice(HardwareDeviceInfo device);

/// One row of the support matrix.
struct SupportRow {
  std::string table;
  std::string name;
  int index = 0;
  int since = 0;
  std::string profile;  ///< `shared`, `custom_ops`, ..., `unlisted`; several are joined by commas
  std::string status;   ///< `supported`, `not_implemented`, or for a plugin callback when it is invoked
  std::string limit;    ///< what a supported slot does not do, else ""
};
std::vector<SupportRow> SupportMatrix();

/// What a session is made from; the object behind the OrtSessionOptions of a library's registration. Sessions keep what
/// they need of it, so it may go away first. Thread-safe.
class SessionOptions {
 public:
  SessionOptions();
  ~SessionOptions();
  SessionOptions(const SessionOptions&) = delete;

  void set_intra_op_threads(int threads);
  int intra_op_threads() const;
  void set_memory_limit_bytes(std::size_t bytes);
  std::size_t memory_limit_bytes() const;
  void set_log_severity(int severity);  ///< -1: the default logger's
  int log_severity() const;
  void set_log_id(const std::string& id);
  /// Lets the custom ops of these options replace native kernels in the ONNX domain.
  void set_allow_onnx_domain_override(bool allow);
  /// 0: every node is a step of its own. Anything else: nodes of our kernels may run together.
  void set_graph_optimization_level(int level);
  int graph_optimization_level() const;
  /// Lets onnx.reference run the nodes of standard operators that nothing else runs.
  void set_reference_fallback(bool allow);
  bool reference_fallback() const;
  /// Lets convolutions use Winograd's transform.
  void set_winograd(bool allow);
  bool winograd() const;

  /// What becomes of a group that a provider proposes and that cannot run as one step: `refuse`, `split`, `drop`, or
  /// `auto` for what the list of tested libraries says of the provider's, else `refuse`.
  void set_broken_groups(const std::string& policy);
  std::string broken_groups() const;
  /// Refuses a provider that prefers another layout than the model's.
  void set_strict_layout(bool strict);
  bool strict_layout() const;

  void AddConfigEntry(const std::string& key, const std::string& value);
  /// False if there is no such entry.
  bool GetConfigEntry(const std::string& key, std::string* value) const;

  /// Loads the library (or takes it as loaded) and runs its RegisterCustomOps. All or nothing.
  void RegisterCustomOpsLibrary(const std::string& path);

  /// Puts a provider behind those that were added before and before our kernels. Library code runs. All or nothing.
  void AddProviderForDevices(const std::vector<EpDeviceId>& devices,
                             const std::vector<std::pair<std::string, std::string>>& options);
  bool has_providers() const;
  std::unique_ptr<SessionOptions> CopyWithoutProviders() const;

  SessionOptionsImpl& impl() const noexcept { return *impl_; }

 private:
  std::unique_ptr<SessionOptionsImpl> impl_;
};

/// An input or output of a model.
struct NodeArg {
  std::string name;
  std::string type;      ///< as ONNX writes it: `tensor(float)`
  int element_type = 0;  ///< ONNX number, for a tensor
  bool has_shape = false;
  std::vector<int64_t> extents;      ///< -1 where not known
  std::vector<std::string> symbols;  ///< "" where there is none
  bool is_optional = false;          ///< an input with a default
};

struct AssignmentRow {
  std::string graph;  ///< "" for the main graph, else the nodes and attributes on the way: `#3.body/#0.then_branch`
  int index = 0;
  std::string name;
  std::string domain;
  std::string op_type;
  std::string provider;
  std::string kernel;
  int partition = -1;
  std::string reason;                ///< of a library's kernel also whether the library is on the list of tested ones
  std::string library;               ///< path of the library that brought the kernel, else ""
  std::vector<std::string> inputs;   ///< names of values, "" where omitted
  std::vector<std::string> outputs;  ///< likewise
};

/// Nodes that a provider compiled and runs as one step.
struct PartitionRow {
  std::string graph;  ///< as of AssignmentRow, whose `partition` is `index`
  int index = 0;
  std::string name;
  std::string provider;
  std::string library;                 ///< path of the provider's library
  std::vector<int> nodes;              ///< positions in the graph, in its order
  std::vector<std::string> inputs;     ///< names of what the step receives, in its order
  std::vector<std::string> outputs;    ///< and of what it makes
  std::vector<std::string> constants;  ///< initializers that it was compiled with and does not receive
};

/// A provider of a session.
struct ProviderInfo {
  std::string name;
  std::string library;  ///< path; "" for the host's own
  std::string audit;    ///< `unaudited`, or name and version of the tested library
  std::vector<std::pair<std::string, std::string>> options;
  std::string notes;  ///< what else a user should know, joined by "; "
};

class Session {
 public:
  static std::unique_ptr<Session> FromFile(const std::string& path, const SessionOptions& options);
  /// The bytes are not needed afterwards.
  static std::unique_ptr<Session> FromBytes(const void* bytes, std::size_t size, const SessionOptions& options);
  ~Session();

  const std::vector<NodeArg>& inputs() const noexcept;
  const std::vector<NodeArg>& outputs() const noexcept;
  const light::ValueType& input_type(std::size_t i) const noexcept;
  const light::ModelInfo& model() const noexcept;
  const std::string& graph_name() const noexcept;
  const std::string& graph_doc_string() const noexcept;
  std::vector<AssignmentRow> assignments() const;
  /// Of a graph after those of the bodies in it.
  std::vector<PartitionRow> partitions() const;
  /// In the order in which they were asked, the host's own last.
  std::vector<ProviderInfo> providers() const;

  SessionImpl& impl() const noexcept { return *impl_; }

 private:
  explicit Session(std::unique_ptr<SessionImpl> impl);
  std::unique_ptr<SessionImpl> impl_;
};

/// One call of Run: inputs in, run, outputs out. May be used for one run after another, by one thread at a time;
/// several calls of one session may be under way at once. Must not outlive its session.
class RunCall final : public light::BoundaryIo {
 public:
  explicit RunCall(Session& session);
  ~RunCall() override;

  /// Borrows a tensor for the next Run: `data` stays the caller's, aligned for the type, and is not written.
  void SetInput(std::size_t i, light::ElementType type, const int64_t* dims, std::size_t rank, const void* data);
  /// Takes a value of any kind for the next Run; memory that nothing in it owns is borrowed likewise.
  void SetInputValue(std::size_t i, light::Value value);

  /// Has `interrupted(context)` asked now and then, between nodes and on the process's main thread only: true ends the
  /// run with a HostError. It may take a lock that Run's caller has given up.
  void SetInterrupt(bool (*interrupted)(void*), void* context) noexcept;

  /// What providers may ask for in runs from now on. The entries outlive those.
  void SetRunConfig(const std::vector<std::pair<std::string, std::string>>* entries) noexcept { config_ = entries; }

  /// Checks the inputs and runs. On failure nothing counts as produced.
  void Run();
  /// Output `i` of the last Run. A tensor has its own storage: Tensor::owner() keeps it alive on its own. What a
  /// sequence or an optional holds may belong to an input or to another output: copy it before Clear.
  light::Value& output(std::size_t i) noexcept { return outputs_[i]; }
  /// Forgets inputs and outputs, keeps the memory of the arrays.
  void Clear() noexcept;

  const light::Value& Input(std::size_t i) override { return inputs_[i]; }
  light::Tensor& CreateOutput(std::size_t i, light::ElementType type, std::span<const int64_t> dims) override;
  void SetOutput(std::size_t i, light::Value value) override;
  light::Cancellation* cancellation() noexcept override;

 private:
  static void CheckInterrupt(void* self);

  Session& session_;
  std::vector<light::Value> inputs_;
  std::vector<light::Value> outputs_;
  std::size_t charged_ = 0;  // bytes of outputs, while Run is under way
  const std::vector<std::pair<std::string, std::string>>* config_ = nullptr;
  bool (*interrupted_)(void*) = nullptr;
  void* interrupt_context_ = nullptr;
  std::optional<light::Cancellation> cancellation_;  // of the Run under way
};

}  // namespace ort_host
