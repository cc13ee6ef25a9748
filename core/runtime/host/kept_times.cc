// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/host/kept_times.h"

#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "stria/hal/files/sha256.h"
#include "stria/runtime/host/kept_plan.h"
#include "stria/runtime/host/user_cache.h"
#include "stria/stripe/text/printer.h"

namespace stria {
namespace {

hal::DiskCache& times_cache() { return user_cache("times"); }

}  // namespace

KeptTimes::KeptTimes(const stripe::Program& generic, bool fast_math) {
  if (build_id().empty()) return;
  // Each device's key has it: the text of a network is long.
  program_ = fmt::format("times 2\n{}\n{}\n{}\n", build_id(), fast_math,
                         hal::sha256(stripe::print(generic)));
}

std::string KeptTimes::key_of(const DeviceInfo& device) const {
  return fmt::format("{}{}\n{}\n{}\n", program_, device.plugin, device.id, device.name);
}

std::optional<TimeRange> KeptTimes::find(const DeviceInfo& device) const {
  if (program_.empty()) return std::nullopt;
  const std::optional<std::string> kept = times_cache().get(key_of(device));
  if (!kept) return std::nullopt;
  const auto json = nlohmann::json::parse(*kept, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  TimeRange out;
  const std::pair<const char*, double*> numbers[] = {
      {"seconds", &out.seconds}, {"least", &out.least}, {"most", &out.most}};
  for (const auto& [name, value] : numbers) {
    const auto at = json.find(name);
    if (at == json.end() || !at->is_number()) return std::nullopt;
    *value = at->get<double>();
    if (!std::isfinite(*value) || *value <= 0) return std::nullopt;
  }
  return out;
}

void KeptTimes::keep(const DeviceInfo& device, const TimeRange& run) const {
  if (program_.empty()) return;
  const nlohmann::json json = {{"seconds", run.seconds}, {"least", run.least}, {"most", run.most}};
  times_cache().put(key_of(device), json.dump());
}

}  // namespace stria
