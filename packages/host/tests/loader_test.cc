// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <ort_abi/ort_c_api.h>

#include "check.h"
#include "engine/engine.h"
#include "engine/host_error.h"
#include "loader/dependency_closure.h"
#include "loader/elf_file.h"
#include "loader/load_policy.h"
#include "loader/loaded_library.h"
#include "loader/mapped_objects.h"
#include "loader/sha256.h"

namespace {

namespace fs = std::filesystem;
using namespace ort_host;

fs::path g_samples;
fs::path g_scratch;

std::string ReadBytes(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

std::string Write(const std::string& name, const std::string& bytes) {
  const fs::path path = g_scratch / name;
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return path.string();
}

std::string Sample(const std::string& name) { return fs::canonical(g_samples / (name + ".so")).string(); }

bool Has(const std::vector<std::string>& items, const std::string& item) {
  return std::find(items.begin(), items.end(), item) != items.end();
}

void TestReadsALibrary() {
  const ElfFile file = ElfFile::Read(Sample("sample_with_other"));
  CHECK(file.Exports("SampleAnswer"));
  CHECK(!file.Exports("SampleOther"));
  CHECK(file.Imports("SampleOther"));
  CHECK(!file.Imports("SampleAnswer"));
  CHECK(Has(file.needed(), "libsample_other.so"));
}

void TestTellsWhatIsNoLibrary() {
  const auto message = [](const std::string& path) {
    const HostError error = CHECK_THROWS(HostError, ElfFile::Read(path));
    CHECK(error.code() == ORT_FAIL);
    CHECK(Contains(error.what(), path));
    return std::string(error.what());
  };
  CHECK(Contains(message(Write("empty", "")), "not a shared library"));
  CHECK(Contains(message(Write("text", std::string(200, 'x'))), "not a shared library"));
  CHECK(Contains(message("/proc/self/exe"), "an executable"));
  std::string other = ReadBytes(Sample("sample"));
  other[18] = static_cast<char>(183);  // e_machine
  other[19] = 0;
  CHECK(Contains(message(Write("aarch64", other)), "built for aarch64, this process is x86-64"));
  other[5] = 2;  // EI_DATA: the other byte order
  other[18] = 0;
  other[19] = 22;
  CHECK(Contains(message(Write("s390x", other)), "built for s390x (big-endian), this process is x86-64"));
  CHECK(CHECK_THROWS(HostError, ElfFile::Read("/no/such/file.so")).code() == ORT_NO_SUCHFILE);
}

/// Damage must give HostError or a result, never a crash: run with the sanitizers on.
void TestSurvivesDamage() {
  const std::string good = ReadBytes(Sample("sample_with_other"));
  std::size_t refused = 0;
  for (std::size_t size = 0; size < good.size(); size += 1 + size / 40) {
    try {
      ElfFile::Read(Write("cut", good.substr(0, size)));
    } catch (const HostError&) {
      ++refused;
    }
  }
  CHECK(refused > 10);
  const ElfFile whole = ElfFile::Read(Sample("sample_with_other"));
  unsigned state = 1;
  for (int round = 0; round < 3000; ++round) {
    std::string bad = good;
    for (int k = 0; k < 8; ++k) {
      state = state * 1664525u + 1013904223u;
      // Headers, the dynamic tables and the symbols lie at the ends of the file.
      const std::size_t at = (state >> 8) % (round % 2 == 0 ? std::size_t{1024} : bad.size());
      bad[at] = static_cast<char>(state >> 24);
    }
    try {
      ElfFile::Read(Write("flipped", bad));
    } catch (const HostError&) {
    }
  }
}

void TestFindsDependenciesAsTheLoaderDoes() {
  const DependencyClosure closure = ReadDependencyClosure(Sample("sample_with_other"));
  CHECK(closure.missing.empty());
  const auto is_other = [](const ElfFile& file) { return file.path() == Sample("libsample_other"); };
  CHECK(std::any_of(closure.files.begin(), closure.files.end(), is_other));
  CHECK(RefuseClosure(closure).empty());

  // A library of the system: what it needs is mapped already.
  const auto mapped = MappedObjects();
  const auto runtime = std::find_if(mapped.begin(), mapped.end(),
                                    [](const MappedObject& object) { return object.soname == "libstdc++.so.6"; });
  CHECK(runtime != mapped.end());
  const DependencyClosure system = ReadDependencyClosure(fs::canonical(runtime->path));
  CHECK(system.missing.empty());
  CHECK(std::any_of(system.files.begin(), system.files.end(),
                    [](const ElfFile& file) { return file.soname() == "libc.so.6"; }));
}

void TestTellsAMissingDependencyByName() {
  // The sample finds its dependency beside itself, so a copy elsewhere does not.
  const fs::path lonely = g_scratch / "lonely.so";
  fs::copy_file(Sample("sample_with_other"), lonely);
  const DependencyClosure closure = ReadDependencyClosure(lonely);
  CHECK(closure.missing.size() == 1);
  CHECK(closure.missing[0].name == "libsample_other.so");
  CHECK(Contains(RefuseClosure(closure), "libsample_other.so, which is not found"));
  CHECK(Contains(CHECK_THROWS(HostError, LoadLibrary(lonely, "SampleAnswer")).what(), "libsample_other.so"));
}

void TestRefusesOnnxRuntime() {
  const auto reason = [](const std::string& path) { return RefuseClosure(ReadDependencyClosure(path)); };
  CHECK(Contains(reason(Sample("sample_imports_entry")), "imports OrtGetApiBase"));
  CHECK(Contains(reason(Sample("libsample_exports_entry")), "exports OrtGetApiBase"));
  CHECK(Contains(reason(Sample("sample_needs_exporter")), Sample("libsample_exports_entry") + " exports"));
  const fs::path renamed = g_scratch / "libonnxruntime.so.1.30.0";
  fs::copy_file(Sample("sample"), renamed);
  CHECK(Contains(reason(renamed), "ONNX Runtime itself"));
  for (const char* name : {"libonnxruntime.so", "libonnxruntime.so.1", "libonnxruntime-12345678.so.1.20",
                           "libonnxruntime_providers_shared.so", "onnxruntime_pybind11_state.cpython-311.so"}) {
    CHECK(IsOnnxRuntimeName(name));
  }
  for (const char* name : {"libonnxruntime_ggml.so", "libonnxruntime_providers_openvino_plugin.so", "libmy_ops.so"}) {
    CHECK(!IsOnnxRuntimeName(name));
  }
}

void TestRelativeNamesAreNeverSearched() {
  const fs::path before = fs::current_path();
  fs::current_path(g_scratch);
  CHECK(CHECK_THROWS(HostError, ResolveLibraryPath("libc.so.6")).code() == ORT_NO_SUCHFILE);
  Write("here.so", "x");
  CHECK(ResolveLibraryPath("here.so") == fs::canonical(g_scratch / "here.so"));
  fs::current_path(before);
  CHECK(Contains(CHECK_THROWS(HostError, ResolveLibraryPath("")).what(), "no such file"));
  CHECK(CHECK_THROWS(HostError, ResolveLibraryPath(g_scratch.string())).code() == ORT_FAIL);
}

void TestPolicy() {
  const std::string path = Write("policy.so", "x");
  fs::permissions(path, fs::perms::owner_all);
  const fs::path link = g_scratch / "link.so";
  fs::create_symlink(path, link);
  LoadPolicy policy;
  CHECK(RefuseByPolicy(policy, link, path).empty());
  policy.follow_links = false;
  CHECK(RefuseByPolicy(policy, path, path).empty());
  CHECK(Contains(RefuseByPolicy(policy, link, path), link.string() + " is one"));
  fs::create_directory(g_scratch / "inner");
  fs::create_directory_symlink(g_scratch / "inner", g_scratch / "door");
  CHECK(Contains(RefuseByPolicy(policy, g_scratch / "door" / ".." / "policy.so", path), "door is one"));
  CHECK(RefuseByPolicy(policy, g_scratch / "inner" / ".." / "policy.so", path).empty());
  policy = {};
  policy.require_owner = true;
  CHECK(RefuseByPolicy(policy, path, path).empty());
  fs::permissions(path, fs::perms::group_write, fs::perm_options::add);
  CHECK(Contains(RefuseByPolicy(policy, path, path), "others may write " + path));
  fs::permissions(path, fs::perms::group_write, fs::perm_options::remove);
  // Who may write the folder may put another file there.
  fs::permissions(g_scratch, fs::perms::others_write, fs::perm_options::add);
  CHECK(Contains(RefuseByPolicy(policy, path, path), "others may write " + g_scratch.string()));
  fs::permissions(g_scratch, fs::perms::sticky_bit, fs::perm_options::add);
  CHECK(RefuseByPolicy(policy, path, path).empty());
  fs::permissions(g_scratch, fs::perms::others_write | fs::perms::sticky_bit, fs::perm_options::remove);
  policy = {};
  policy.allowed_roots.emplace({g_scratch.string()});
  CHECK(RefuseByPolicy(policy, path, path).empty());
  policy.allowed_roots.emplace({g_scratch.string() + "/"});
  CHECK(RefuseByPolicy(policy, path, path).empty());
  // A root is a folder, not the beginning of a name.
  fs::create_directory(g_scratch / "pol");
  policy.allowed_roots.emplace({(g_scratch / "pol").string()});
  CHECK(Contains(RefuseByPolicy(policy, path, path), "other folders"));
  // A list that was computed and came out empty opens no door.
  policy.allowed_roots.emplace();
  CHECK(Contains(RefuseByPolicy(policy, path, path), "allows no folder at all"));
  policy.allowed_roots.emplace(1, "");
  CHECK(CHECK_THROWS(HostError, SetLoadPolicy(policy)).code() == ORT_INVALID_ARGUMENT);
}

void TestARelativeRootIsOfTheMomentItIsSet() {
  const fs::path before = fs::current_path();
  fs::current_path(g_scratch);
  LoadPolicy policy;
  policy.allowed_roots.emplace(1, "inner");
  SetLoadPolicy(policy);
  fs::current_path(before);
  CHECK(GetLoadPolicy().allowed_roots->front() == (g_scratch / "inner").string());
  SetLoadPolicy({});
}

void TestTheOwnerRuleReachesDependencies() {
  const fs::path folder = g_scratch / "family";
  fs::create_directory(folder);
  for (const char* name : {"sample_with_other.so", "libsample_other.so"}) {
    fs::copy_file(g_samples / name, folder / name);
    fs::permissions(folder / name, fs::perms::owner_all);
  }
  const std::string other = folder / "libsample_other.so";
  fs::permissions(other, fs::perms::others_write, fs::perm_options::add);
  LoadPolicy policy;
  policy.require_owner = true;
  SetLoadPolicy(policy);
  CHECK(Contains(CHECK_THROWS(HostError, LoadLibrary(folder / "sample_with_other.so", "SampleAnswer")).what(),
                 "others may write " + other));
  SetLoadPolicy({});
}

void TestLoadsOnceWhateverPathLeadsToIt() {
  const fs::path link = g_scratch / "alias.so";
  fs::create_symlink(Sample("sample"), link);
  const auto first = LoadLibrary(Sample("sample"), "SampleAnswer");
  CHECK(LoadLibrary(link, "SampleAnswer") == first);
  CHECK(first->path() == Sample("sample"));
  CHECK(first->audit() == nullptr);
  CHECK(first->Find<int()>("SampleAnswer")() == 35);
  CHECK(first->Find<int()>("NoSuchSymbol") == nullptr);
  CHECK(HasLoadedLibraries());
  const auto other = LoadLibrary(Sample("sample_with_other"), "SampleAnswer");
  CHECK(other->Find<int()>("SampleAnswer")() == 42);
}

void TestRefusesByPolicyAndByExport() {
  CHECK(Contains(CHECK_THROWS(HostError, LoadLibrary(Sample("sample_late"), "RegisterCustomOps")).what(),
                 "exports no RegisterCustomOps"));
  CHECK(!IsMapped(IdOfFile(Sample("sample_late"))));
  LoadPolicy policy;
  policy.audited_only = true;
  SetLoadPolicy(policy);
  CHECK(Contains(CHECK_THROWS(HostError, LoadLibrary(Sample("sample_late"), "SampleAnswer")).what(), "not on it"));
  CHECK(!IsMapped(IdOfFile(Sample("sample_late"))));
  SetLoadPolicy({});
}

void TestStaysMappedUnlessThePolicyUnloads() {
  const std::string path = Sample("sample_late");
  LoadPolicy policy;
  policy.unload = true;
  SetLoadPolicy(policy);
  LoadLibrary(path, "SampleAnswer").reset();
  CHECK(!IsMapped(IdOfFile(path)));
  SetLoadPolicy({});
  LoadLibrary(path, "SampleAnswer").reset();
  CHECK(IsMapped(IdOfFile(path)));
}

void TestInspectionRunsNothing() {
  const LibraryReport report = InspectLibrary(Sample("sample_inspected"));
  CHECK(!IsMapped(IdOfFile(Sample("sample_inspected"))));
  CHECK(report.exports.empty());
  CHECK(Contains(report.refused_because, "exports neither"));
  CHECK(report.audited_as.empty());
  CHECK(Contains(InspectLibrary(Write("letter.txt", "Dear loader,")).refused_because, "not a shared library"));
  CHECK(CHECK_THROWS(HostError, InspectLibrary("/no/such/file.so")).code() == ORT_NO_SUCHFILE);
}

/// The examples of FIPS 180-4.
void TestSha256() {
  CHECK(Sha256OfFile(Write("sum", "")) == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  CHECK(Sha256OfFile(Write("sum", "abc")) == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  CHECK(Sha256OfFile(Write("sum", "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")) ==
        "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  CHECK(Sha256OfFile(Write("sum", std::string(1000000, 'a'))) ==
        "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

}  // namespace

int main(int argc, char** argv) {
  CHECK(argc == 2);
  g_samples = argv[1];
  g_scratch = fs::temp_directory_path() / ("loader_test." + std::to_string(getpid()));
  fs::create_directory(g_scratch);
  g_scratch = fs::canonical(g_scratch);
  unsetenv("LD_LIBRARY_PATH");  // meson puts the samples' folder on it, where even a lonely copy finds its dependency
  TestReadsALibrary();
  TestTellsWhatIsNoLibrary();
  TestSurvivesDamage();
  TestFindsDependenciesAsTheLoaderDoes();
  TestTellsAMissingDependencyByName();
  TestRefusesOnnxRuntime();
  TestRelativeNamesAreNeverSearched();
  TestPolicy();
  TestARelativeRootIsOfTheMomentItIsSet();
  TestTheOwnerRuleReachesDependencies();
  TestLoadsOnceWhateverPathLeadsToIt();
  TestRefusesByPolicyAndByExport();
  TestStaysMappedUnlessThePolicyUnloads();
  TestInspectionRunsNothing();
  TestSha256();
  fs::remove_all(g_scratch);
  return 0;
}
