// SPDX-License-Identifier: Apache-2.0
#include "stria/several/kept_rates.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "stria/runtime/host/kept_plan.h"
#include "stria/runtime/host/user_cache.h"

namespace stria {
namespace {

hal::DiskCache& rates_cache() { return user_cache("rates"); }

std::string text_of(const DeviceInfo& device) {
  return fmt::format("{}\n{}\n{}\n", device.plugin, device.id, device.name);
}

}  // namespace

KeptRate::KeptRate(const char* what, const DeviceInfo& from, const DeviceInfo& to) {
  if (build_id().empty()) return;
  key_ = fmt::format("rate 1\n{}\n{}\n{}{}", build_id(), what, text_of(from), text_of(to));
}

std::optional<MoveRate> KeptRate::find() const {
  if (key_.empty()) return std::nullopt;
  const std::optional<std::string> kept = rates_cache().get(key_);
  if (!kept) return std::nullopt;
  const auto json = nlohmann::json::parse(*kept, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  MoveRate out;
  const std::pair<const char*, double*> numbers[] = {{"bytes_per_s", &out.bytes_per_s},
                                                     {"latency_s", &out.latency_s}};
  for (const auto& [name, value] : numbers) {
    const auto at = json.find(name);
    if (at == json.end() || !at->is_number()) return std::nullopt;
    *value = at->get<double>();
    if (!std::isfinite(*value) || *value < 0) return std::nullopt;
  }
  return out.known() ? std::optional(out) : std::nullopt;
}

void KeptRate::keep(const MoveRate& rate) const {
  if (key_.empty()) return;
  const nlohmann::json json = {{"bytes_per_s", rate.bytes_per_s}, {"latency_s", rate.latency_s}};
  rates_cache().put(key_, json.dump());
}

}  // namespace stria
