// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/measure.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/stripe/printer.h"

namespace stria {
namespace {

using nlohmann::json;

// Whole, so that two things of one hash are told apart.
json key_of(const Measure& measure, const HardwareModel& model, const stripe::Program& program) {
  return {{"device", measure.device},
          {"model", model.to_string()},
          {"program", stripe::print(program)},
          {"rest", measure.rest}};
}

std::optional<double> kept(const std::filesystem::path& file, const json& key) {
  const Result<std::string> text = read_file(file, size_t{1} << 24);
  if (!text.ok()) return {};
  const json entry = json::parse(*text, nullptr, false);
  if (!entry.is_object() || entry.size() != 3 || entry.value("version", json()) != 1 ||
      entry.value("key", json()) != key)
    return {};
  const json ns = entry.value("ns", json());
  if (!ns.is_number() || !(ns.get<double>() > 0)) return {};
  return ns.get<double>();
}

}  // namespace

Result<MeasuredTime> measured_time(const Measure& measure, const HardwareModel& model,
                                   const stripe::Program& program) {
  std::filesystem::path file;
  json key;
  if (!measure.folder.empty()) {
    key = key_of(measure, model, program);
    file = measure.folder / fmt::format("time-{:016x}.json", stable_hash(key.dump()));
    if (std::optional<double> ns = kept(file, key)) return MeasuredTime{*ns, true};
  }
  STRIA_ASSIGN(const double ns, measure.time(program));
  if (!(ns > 0) || !std::isfinite(ns))
    return internal_error("device '{}' measured {} ns", measure.device, ns);
  if (!file.empty()) {
    std::error_code ignored;
    std::filesystem::create_directories(measure.folder, ignored);
    const json entry = {{"version", 1}, {"key", key}, {"ns", ns}};
    // A time that cannot be kept is measured again.
    static_cast<void>(write_file(file, entry.dump(2) + "\n"));
  }
  return MeasuredTime{ns, false};
}

}  // namespace stria
