// SPDX-License-Identifier: Apache-2.0
// From what a call of the driver came to, to a failure that the host understands.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "stria/sdk/error.h"
#include "vendor_result.h"

namespace acme_plugin {

// Null if all is well; `what` was done. The place of the failure is that of the call.
inline stria::sdk::Outcome failure_of(const std::string& what, const acme_result& result,
                                      const char* file = __builtin_FILE(),
                                      int line = __builtin_LINE()) {
  if (result.code == STRIA_OK) return nullptr;
  const std::string text = result.text == nullptr ? "it failed" : result.text;
  const bool is_native = result.native_code != 0;
  stria::sdk::Failure failure =
      *stria::sdk::Error(result.code, is_native ? what + " failed" : what + ": " + text, {}, file,
                         line)
           .outcome();
  failure.native_code = result.native_code;
  if (is_native) failure.native_message = text;
  return std::make_shared<const stria::sdk::Failure>(std::move(failure));
}

// Throws it.
inline void check_call(const char* what, const acme_result& result,
                       const char* file = __builtin_FILE(), int line = __builtin_LINE()) {
  if (result.code != STRIA_OK) throw stria::sdk::Error(failure_of(what, result, file, line));
}

}  // namespace acme_plugin
