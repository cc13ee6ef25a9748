// SPDX-License-Identifier: Apache-2.0
#include "show/pick_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "show/selection_table.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/runtime/pick/glob.h"
#include "stria/runtime/pick/quantity.h"

namespace stria::command {
namespace {

using Json = nlohmann::ordered_json;

std::string shown_prediction(const Prediction& prediction) {
  std::string out = shown_range(prediction.run);
  out += fmt::format(", by {}", name_of(prediction.by));
  if (prediction.unknown_kernels > 0)
    out += fmt::format(", without {} kernels that cannot be predicted", prediction.unknown_kernels);
  if (prediction.prologue.seconds > 0)
    out += fmt::format("; constants {}", shown_seconds(prediction.prologue.seconds));
  if (prediction.build_s > 0) out += fmt::format("; build {}", shown_seconds(prediction.build_s));
  if (prediction.energy_j > 0) out += fmt::format("; {:.3g} J", prediction.energy_j);
  if (prediction.peak_bytes > 0)
    out += fmt::format("; {:.3g} MiB", static_cast<double>(prediction.peak_bytes) / (1 << 20));
  return out;
}

// What is said of a device that is kept.
std::string line_of(const Candidate& candidate) {
  if (const Prediction* best = candidate.best()) return shown_prediction(*best);
  return candidate.trouble.empty() ? "cannot be predicted"
                                   : "cannot be predicted: " + candidate.trouble;
}

bool means(const std::string& name, const DeviceInfo& device) {
  return name == device.plugin || glob_match(name, device.selector) ||
         glob_match(name, device.name);
}

Json json_of(const TimeRange& range) {
  return {{"seconds", range.seconds}, {"least", range.least}, {"most", range.most}};
}

Json json_of(const Prediction& prediction) {
  Json kernels = Json::array();
  for (const Prediction::Kernel& kernel : prediction.kernels)
    kernels.push_back({{"name", kernel.name},
                       {"prologue", kernel.prologue},
                       {"time", kernel.time ? json_of(*kernel.time) : Json()},
                       {"terms_us", kernel.terms}});
  return {{"by", name_of(prediction.by)},
          {"run", json_of(prediction.run)},
          {"prologue", json_of(prediction.prologue)},
          {"build_s", prediction.build_s},
          {"energy_j", prediction.energy_j},
          {"peak_bytes", prediction.peak_bytes},
          {"unknown_kernels", prediction.unknown_kernels},
          {"kernels", std::move(kernels)}};
}

}  // namespace

void print_pick(const Pick& pick, bool kernels) {
  std::vector<DeviceLine> lines;
  for (const size_t at : pick.selection.order) {
    const DeviceInfo& device = pick.selection.devices[at].device;
    const Candidate* candidate = pick.candidate(at);
    lines.push_back({device.selector, device.name, candidate ? line_of(*candidate) : ""});
  }
  for (const DeviceVerdict& one : pick.selection.devices)
    if (!one.kept())
      lines.push_back(
          {one.device.selector, one.device.name, verdict_text(one, pick.selection.selector)});
  print_lines(lines);
  if (pick.selection.order.empty()) return;
  const DeviceInfo& best = pick.selection.devices[pick.selection.order[0]].device;
  std::printf("\nbest: %s: %s%s\n", best.selector.c_str(), pick.why.c_str(),
              pick.is_close ? "; the intervals overlap, so measuring may say otherwise" : "");
  const Candidate* candidate = pick.candidate(pick.selection.order[0]);
  if (!kernels || !candidate) return;
  for (const Prediction& prediction : candidate->predictions)
    for (const Prediction::Kernel& kernel : prediction.kernels)
      std::printf(
          "  %-40s %s%s\n", cut_text(kernel.name, 40).c_str(),
          kernel.time ? (shown_range(*kernel.time) + ": " + kernel.terms).c_str() : "not known",
          kernel.prologue ? " (once for each set of constants)" : "");
}

void print_pick_json(const Pick& pick) {
  Json devices = Json::array();
  for (size_t at = 0; at < pick.selection.devices.size(); ++at) {
    Json one = json_of_verdict(pick.selection, at);
    one["predictions"] = Json::array();
    if (const Candidate* candidate = pick.candidate(at)) {
      for (const Prediction& prediction : candidate->predictions)
        one["predictions"].push_back(json_of(prediction));
      one["simulated"] = candidate->simulated;
      one["trouble"] = candidate->trouble;
    }
    devices.push_back(std::move(one));
  }
  Json best;
  if (!pick.selection.order.empty())
    best = pick.selection.devices[pick.selection.order[0]].device.selector;
  const Json out = {{"selector", json_of_selector(pick.selection.selector)},
                    {"best", best},
                    {"why", pick.why},
                    {"is_close", pick.is_close},
                    {"devices", std::move(devices)}};
  std::printf("%s\n", out.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

Status print_why_not(const Pick& pick, const std::string& names) {
  bool any = false;
  for (size_t at = 0; at < pick.selection.devices.size(); ++at) {
    const DeviceVerdict& verdict = pick.selection.devices[at];
    if (!means(names, verdict.device)) continue;
    any = true;
    const Candidate* candidate = pick.candidate(at);
    std::string said;
    if (!verdict.kept())
      said = verdict_text(verdict, pick.selection.selector);
    else if (at == pick.selection.order[0])
      said = "nothing: it is the best one: " + pick.why;
    else
      said = fmt::format("{}; {} is better: {}", candidate ? line_of(*candidate) : "",
                         pick.selection.devices[pick.selection.order[0]].device.selector, pick.why);
    std::printf("%s: %s\n", verdict.device.selector.c_str(), said.c_str());
  }
  if (!any) return not_found("--why-not: no device is called '{}'", shown_name(names));
  return Status();
}

}  // namespace stria::command
