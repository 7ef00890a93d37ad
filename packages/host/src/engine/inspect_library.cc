// SPDX-License-Identifier: Apache-2.0
#include "engine/engine.h"
#include "loader/dependency_closure.h"
#include "loader/entry_points.h"
#include "loader/loaded_library.h"

namespace ort_host {
namespace {

void FillFrom(const DependencyClosure& closure, LibraryReport& report) {
  const ElfFile& library = closure.files.front();
  report.exports = EntryPoints(library);
  report.hints = ExportHints(library);
  report.needed = library.needed();
  for (std::size_t i = 1; i < closure.files.size(); ++i) report.closure.push_back(closure.files[i].path());
  for (const DependencyClosure::Missing& missing : closure.missing) {
    report.closure.push_back(missing.name + " => not found");
  }
}

}  // namespace

LibraryReport InspectLibrary(const std::string& path) {
  try {
    LibraryReport report;
    report.path = ResolveLibraryPath(path);
    if (const AuditedLibrary* audit = FindAudited(report.path)) {
      report.audited_as = std::string(audit->name) + " " + audit->version;
    }
    try {
      const DependencyClosure closure = ReadDependencyClosure(report.path);
      FillFrom(closure, report);
      report.refused_because = WhyRefused(path, report.path, closure);
      if (report.refused_because.empty() && report.exports.empty()) {
        report.refused_because = "it exports neither RegisterCustomOps nor CreateEpFactories";
      }
    } catch (const HostError& error) {
      report.refused_because = error.what();
    }
    return report;
  } catch (const std::exception&) {
    RethrowAsHostError();
  }
}

}  // namespace ort_host
