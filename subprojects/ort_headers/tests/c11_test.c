/* SPDX-License-Identifier: Apache-2.0 */
#include <ort_abi/ort_c_api.h>

_Static_assert(ORT_API_VERSION == 30, "another API version");
_Static_assert(sizeof(OrtApi) == 426 * sizeof(void*), "OrtApi has another number of slots");
_Static_assert(sizeof(OrtEpApi) == 74 * sizeof(void*), "OrtEpApi has another number of slots");

static const OrtApi* ORT_API_CALL NoApi(uint32_t version) {
  (void)version;
  return NULL;
}

int main(void) {
  OrtApiBase base = {NoApi, NULL};
  return base.GetApi(ORT_API_VERSION) == NULL ? 0 : 1;
}
