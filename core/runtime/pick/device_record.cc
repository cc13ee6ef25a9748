// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/pick/device_record.h"

#include <fmt/format.h>

#include <cmath>

#include "stria/base/text.h"

namespace stria {
namespace {

// "3 minutes", as people say it.
std::string span_of(double seconds) {
  const auto said = [](double count, const char* unit) {
    const auto whole = static_cast<long long>(std::floor(count));
    return fmt::format("{} {}{}", whole, unit, whole == 1 ? "" : "s");
  };
  constexpr double kMinute = 60, kHour = 3600;
  if (seconds < kMinute) return said(std::max(seconds, 0.0), "second");
  if (seconds < 2 * kHour) return said(seconds / kMinute, "minute");
  return said(seconds / kHour, "hour");
}

}  // namespace

std::string_view name_of(Quarantine::Cause cause) {
  switch (cause) {
    case Quarantine::Cause::lost: return "lost";
    case Quarantine::Cause::wrong: return "wrong";
  }
  return "";
}

std::string Quarantine::to_string() const {
  return fmt::format("{} {} ago in '{}': {}; again from {}",
                     cause == Cause::lost ? "lost" : "it gave wrong results", span_of(ago_s),
                     program, why, again_at);
}

std::string Conformance::to_string() const {
  if (!is_objection()) return fmt::format("conforms to level {} ({})", level, day);
  std::string which = join(failures, ", ");
  if (failed > failures.size()) which += fmt::format(" and {} more", failed - failures.size());
  return fmt::format("fails level {} of conformance: {} ({})", level + 1, which, day);
}

}  // namespace stria
