// SPDX-License-Identifier: Apache-2.0
#include "stria/runtime/host/kept_conformance.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "stria/base/shown_text.h"
#include "stria/runtime/host/user_cache.h"

namespace stria {
namespace {

constexpr size_t kMostNameBytes = 200;
constexpr int kMostLevel = 4;

hal::DiskCache& conformance_cache() { return user_cache("conformance", 4 << 20); }

bool is_level(const nlohmann::json& json) {
  return json.is_number_integer() && json.get<int64_t>() >= 0 && json.get<int64_t>() <= kMostLevel;
}

}  // namespace

std::string KeptConformance::key_of(const std::string& device) const {
  return fmt::format("conformance 1\n{}\n{}\n", device, files_);
}

std::optional<Conformance> KeptConformance::find(const std::string& device) const {
  const std::optional<std::string> kept = conformance_cache().get(key_of(device));
  if (!kept) return std::nullopt;
  const auto json = nlohmann::json::parse(*kept, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto value = [&](const char* key) { return json.value(key, nlohmann::json()); };
  const nlohmann::json level = value("level"), asked = value("asked"), failed = value("failed"),
                       failures = value("failures"), day = value("day");
  if (!is_level(level) || !is_level(asked) || !failed.is_number_unsigned() ||
      !failures.is_array() || failures.size() > Conformance::kMostFailures || !day.is_string())
    return std::nullopt;
  Conformance out;
  out.level = level.get<int>();
  out.asked = asked.get<int>();
  out.failed = failed.get<size_t>();
  out.day = shown_name(day.get<std::string>(), kMostNameBytes);
  for (const nlohmann::json& name : failures) {
    if (!name.is_string()) return std::nullopt;
    out.failures.push_back(shown_name(name.get<std::string>(), kMostNameBytes));
  }
  return out;
}

void KeptConformance::keep(const std::string& device, const Conformance& verdict) const {
  const std::optional<Conformance> before = find(device);
  const bool holds = verdict.level >= verdict.asked;
  if (before && holds && before->asked > verdict.asked && before->level >= verdict.level) return;
  const nlohmann::json json = {{"level", verdict.level},
                               {"asked", verdict.asked},
                               {"failed", verdict.failed},
                               {"failures", verdict.failures},
                               {"day", verdict.day}};
  conformance_cache().put(key_of(device),
                          json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

}  // namespace stria
