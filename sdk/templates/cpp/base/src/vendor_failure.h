// SPDX-License-Identifier: Apache-2.0
// From what a call of the driver came to, to a failure that the host understands.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "stria/sdk/error.h"
#include "vendor_result.h"

namespace acme_plugin {

// Null if all is well; `what` was done.
inline stria::sdk::Outcome failure_of(const std::string& what, const acme_result& result) {
  if (result.code == STRIA_OK) return nullptr;
  const std::string text = result.text == nullptr ? "it failed" : result.text;
  stria::sdk::Failure failure;
  failure.code = result.code;
  failure.message = what + ": " + text;
  failure.native_code = result.native_code;
  if (result.native_code != 0) failure.native_message = text;
  return std::make_shared<const stria::sdk::Failure>(std::move(failure));
}

// Throws it.
inline void check_call(const char* what, const acme_result& result) {
  if (result.code != STRIA_OK) throw stria::sdk::Error(failure_of(what, result));
}

}  // namespace acme_plugin
