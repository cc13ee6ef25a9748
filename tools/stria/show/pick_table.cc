// SPDX-License-Identifier: Apache-2.0
#include "show/pick_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "show/selection_table.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"
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

// What is said of a device or a model that is kept.
template <typename Known>
std::string line_of(const Known& known) {
  if (const Prediction* best = known.best()) return shown_prediction(*best);
  return known.trouble.empty() ? "cannot be predicted" : "cannot be predicted: " + known.trouble;
}

DeviceLine line_of_device(const Pick& pick, size_t at, bool is_first) {
  const DeviceVerdict& verdict = pick.selection.devices[at];
  const Candidate* candidate = pick.candidate(at);
  std::string said = !verdict.kept() ? verdict_text(verdict, pick.selection.selector)
                     : candidate     ? line_of(*candidate)
                     : is_first      ? "kept, tried first"
                                     : "kept";
  if (verdict.kept()) said += history_text(verdict);
  return {verdict.device.selector, verdict.device.name, std::move(said)};
}

DeviceLine line_of_model(const PickedModel& model, const DeviceSelector& selector) {
  std::vector<std::string> reasons;
  for (const Objection& one : model.objections) reasons.push_back(text_of(one, selector));
  const std::string said =
      model.kept() ? line_of(model) : "dropped: " + shown_message(join(reasons, "; "));
  return {shown_name(model.file), model.name,
          fmt::format("{}; a model, not executable; pipeline of {}", said, model.kind)};
}

// Why the first one is taken first.
std::string choice_text(const Pick& pick) {
  const Selection& selection = pick.selection;
  const std::string& best = selection.devices[selection.order[0]].device.selector;
  // Without a program nothing was predicted.
  if (pick.candidates.empty())
    return fmt::format("first: {}: {}", best,
                       selection.selector.automatic
                           ? "its model promises the most operations per second"
                           : "the selector names it first");
  return fmt::format(
      "{}: {}: {}{}", selection.selector.automatic ? "best" : "first of the list", best, pick.why,
      pick.is_close ? "; the intervals overlap, so measuring may say otherwise" : "");
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

Json json_of(const std::vector<Prediction>& predictions) {
  Json out = Json::array();
  for (const Prediction& one : predictions) out.push_back(json_of(one));
  return out;
}

// Of a model: no term of the selector is about it.
Json json_of(const std::vector<Objection>& objections) {
  Json out = Json::array();
  for (const Objection& one : objections)
    out.push_back({{"gate", name_of(one.gate)}, {"why", one.why}});
  return out;
}

}  // namespace

std::string pick_text(const Pick& pick, bool kernels) {
  const DeviceSelector& selector = pick.selection.selector;
  const std::vector<size_t>& order = pick.selection.order;
  std::vector<DeviceLine> lines;
  for (size_t place = 0; place <= order.size(); ++place) {
    for (const PickedModel& model : pick.models)
      if (model.place == place && model.kept()) lines.push_back(line_of_model(model, selector));
    if (place < order.size()) lines.push_back(line_of_device(pick, order[place], place == 0));
  }
  for (size_t at = 0; at < pick.selection.devices.size(); ++at)
    if (!pick.selection.devices[at].kept()) lines.push_back(line_of_device(pick, at, false));
  for (const PickedModel& model : pick.models)
    if (!model.kept()) lines.push_back(line_of_model(model, selector));
  std::string out = table_of(lines);
  if (order.empty()) return out;
  out += "\n" + choice_text(pick) + "\n";
  const Candidate* candidate = pick.candidate(order[0]);
  if (!kernels || !candidate) return out;
  for (const Prediction& prediction : candidate->predictions)
    for (const Prediction::Kernel& kernel : prediction.kernels)
      out +=
          fmt::format("  {:<40} {}{}\n", cut_text(kernel.name, 40),
                      kernel.time ? shown_range(*kernel.time) + ": " + kernel.terms : "not known",
                      kernel.prologue ? " (once for each set of constants)" : "");
  return out;
}

std::string pick_json(const Pick& pick) {
  Json devices = Json::array();
  for (size_t at = 0; at < pick.selection.devices.size(); ++at) {
    Json one = json_of_verdict(pick.selection, at);
    one["predictions"] = Json::array();
    if (const Candidate* candidate = pick.candidate(at)) {
      one["predictions"] = json_of(candidate->predictions);
      one["simulated"] = candidate->simulated;
      one["trouble"] = candidate->trouble;
    }
    devices.push_back(std::move(one));
  }
  Json models = Json::array();
  for (const PickedModel& model : pick.models)
    models.push_back({{"file", model.file},
                      {"name", model.name},
                      {"kind", model.kind},
                      {"executable", false},
                      {"kept", model.kept()},
                      {"place", model.kept() ? Json(model.place) : Json()},
                      {"reasons", json_of(model.objections)},
                      {"predictions", json_of(model.predictions)},
                      {"trouble", model.trouble}});
  Json best;
  if (!pick.selection.order.empty())
    best = pick.selection.devices[pick.selection.order[0]].device.selector;
  const Json out = {{"selector", json_of_selector(pick.selection.selector)},
                    {"best", best},
                    {"why", pick.why},
                    {"is_close", pick.is_close},
                    {"devices", std::move(devices)},
                    {"models", std::move(models)}};
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Status print_why_not(const Pick& pick, const std::string& names) {
  bool any = false;
  for (size_t at = 0; at < pick.selection.devices.size(); ++at) {
    const DeviceVerdict& verdict = pick.selection.devices[at];
    if (!is_called(verdict.device, names)) continue;
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
