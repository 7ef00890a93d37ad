// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "adapters/session_options.h"
#include "light/program.h"

namespace ort_host {

/// Throws light::Error (NOT_IMPLEMENTED) for what no session of this host can do: models that hold what a provider
/// compiled before (EPContext), writing such models, weights that stay elsewhere.
void RequireKnownModes(const light::ModelDef& model, const SessionOptionsAdapter& options);

/// Where the entry `session.disable_cpu_ep_fallback` is 1: throws light::Error (FAIL) if a node of the main graph is
/// left to our own kernels.
void RequireProvidersAlone(const light::Program& program, const SessionOptionsAdapter& options);

}  // namespace ort_host
