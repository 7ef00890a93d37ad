// SPDX-License-Identifier: Apache-2.0
// A shared library for the loader's tests: what it exports, imports and needs depends on the build.

#if defined(NEEDS_OTHER)
extern "C" int SampleOther();
#endif
#if defined(IMPORTS_ENTRY_POINT)
extern "C" const void* OrtGetApiBase();
#endif

#if defined(IS_OTHER)
extern "C" [[gnu::visibility("default")]] int SampleOther() { return 7; }
#if defined(EXPORTS_ENTRY_POINT)
extern "C" [[gnu::visibility("default")]] const void* OrtGetApiBase() { return nullptr; }
#endif
#else
extern "C" [[gnu::visibility("default")]] int SampleAnswer() {
  int answer = 35;
#if defined(NEEDS_OTHER)
  answer += SampleOther();
#endif
#if defined(IMPORTS_ENTRY_POINT)
  answer += OrtGetApiBase() != nullptr;
#endif
  return answer;
}
#endif
