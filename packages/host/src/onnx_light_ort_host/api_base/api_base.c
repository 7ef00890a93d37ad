/* SPDX-License-Identifier: Apache-2.0
 * The entry point that libraries import which were built for linking with ONNX Runtime. The host opens this library for
 * them, on demand, before it opens them: see LoadPolicy(provide_api_base=True). */
#include <ort_abi/ort_c_api.h>
#include <stddef.h>

static const OrtApi* ORT_API_CALL NoApi(uint32_t version) { return (void)version, NULL; }
static const char* ORT_API_CALL NoVersion(void) { return ""; }

/* Not constant: the host puts its own functions here as soon as it has opened the library. */
static OrtApiBase base = {NoApi, NoVersion};

__attribute__((visibility("default"))) const OrtApiBase* ORT_API_CALL OrtGetApiBase(void) { return &base; }
