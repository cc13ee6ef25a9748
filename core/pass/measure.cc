// SPDX-License-Identifier: Apache-2.0
#include "stria/pass/measure.h"

#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "stria/base/cache_folder.h"
#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/stripe/text/printer.h"

namespace stria {
namespace {

using nlohmann::json;

// Of what is kept. 4: timed on a device that is at other work until all runs are queued, with warm
// caches.
constexpr int kVersion = 4;

// Whole, so that two things of one hash are told apart.
json key_of(const Measure& measure, const HardwareModel& model, const stripe::Program& program) {
  return {{"device", measure.device},
          {"model", model.to_string()},
          {"program", stripe::print(program)},
          {"rest", measure.rest}};
}

std::optional<double> kept(const std::filesystem::path& file, const json& key) {
  const Result<std::string> text = read_file(file, size_t{1} << 24, kNoPatience);
  if (!text.ok()) return {};
  const json entry = json::parse(*text, nullptr, false);
  if (!entry.is_object() || entry.size() != 3 || entry.value("version", json()) != kVersion ||
      entry.value("key", json()) != key)
    return {};
  const json ns = entry.value("ns", json());
  if (!ns.is_number() || !(ns.get<double>() > 0)) return {};
  return ns.get<double>();
}

std::filesystem::path file_of(const Measure& measure, const json& key) {
  return measure.folder / fmt::format("time-{:016x}.json", stable_hash(key.dump()));
}

void keep(const Measure& measure, const json& key, double ns) {
  static_cast<void>(make_cache_folder(measure.folder));
  const json entry = {{"version", kVersion}, {"key", key}, {"ns", ns}};
  // A time that cannot be kept is measured again.
  static_cast<void>(write_cache_file(file_of(measure, key), entry.dump(2) + "\n"));
}

}  // namespace

std::function<std::vector<Result<double>>(const Measure::Programs&)> one_by_one(
    Measure::OneTime time) {
  return [time = std::move(time)](const Measure::Programs& programs) {
    std::vector<Result<double>> out;
    for (const stripe::Program& program : programs) out.push_back(time(program));
    return out;
  };
}

std::vector<Result<MeasuredTime>> measured_times(const Measure& measure, const HardwareModel& model,
                                                 const Measure::Programs& programs) {
  const bool keeps = !measure.folder.empty();
  std::vector<Result<MeasuredTime>> out;
  std::vector<json> keys;
  Measure::Programs open;
  std::vector<size_t> positions;  // of those
  for (size_t i = 0; i < programs.size(); ++i) {
    std::optional<double> ns;
    if (keeps) {
      keys.push_back(key_of(measure, model, programs[i]));
      ns = kept(file_of(measure, keys[i]), keys[i]);
    }
    out.emplace_back(MeasuredTime{ns.value_or(0), ns.has_value()});
    if (ns) continue;
    open.push_back(programs[i]);
    positions.push_back(i);
  }
  if (open.empty()) return out;
  const std::vector<Result<double>> times = measure.times(open);
  STRIA_CHECK(times.size() == open.size(), "device '{}' measured {} of {} programs", measure.device,
              times.size(), open.size());
  for (size_t n = 0; n < times.size(); ++n) {
    Result<MeasuredTime>& result = out[positions[n]];
    if (!times[n].ok()) {
      result = times[n].status();
    } else if (const double ns = *times[n]; !(ns > 0) || !std::isfinite(ns)) {
      result = internal_error("device '{}' measured {} ns", measure.device, ns);
    } else {
      result = MeasuredTime{ns, false};
      if (keeps) keep(measure, keys[positions[n]], ns);
    }
  }
  return out;
}

}  // namespace stria
