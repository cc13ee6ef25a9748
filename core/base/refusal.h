// SPDX-License-Identifier: Apache-2.0
// Why something that may be done or left was left, or that nothing speaks against it. A refusal is
// no error: a pass that refuses leaves its program as it was and notes the reason.
#pragma once

#include <optional>
#include <string>
#include <utility>

namespace stria {

// A plain value. True where something was refused:
//   if (Refusal refusal = why_not_fused(a, b)) context.note(refusal.reason());
class [[nodiscard]] Refusal {
 public:
  // Nothing speaks against it.
  static Refusal none() { return Refusal(); }
  // `reason` is a clause for people without a full stop: "its rows are no plain loop".
  Refusal(std::string reason) : reason_(std::move(reason)) {}
  Refusal(const char* reason) : reason_(reason) {}

  explicit operator bool() const { return reason_.has_value(); }
  // Only of a refusal.
  const std::string& reason() const { return reason_.value(); }

 private:
  Refusal() = default;
  std::optional<std::string> reason_;
};

// Returns from the function around what `expression` refuses.
#define STRIA_RETURN_IF_REFUSED(expression)                                  \
  do {                                                                       \
    if (::stria::Refusal stria_refusal = (expression)) return stria_refusal; \
  } while (false)

}  // namespace stria
