// SPDX-License-Identifier: Apache-2.0
#include "show/selection_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/runtime/pick/glob.h"

namespace stria::command {
namespace {

using Json = nlohmann::ordered_json;

Json json_of(const Conformance& conformance) {
  return {{"level", conformance.level},
          {"asked", conformance.asked},
          {"failed", conformance.failed},
          {"failures", conformance.failures},
          {"day", conformance.day}};
}

}  // namespace

Json json_of_quarantine(const std::optional<Quarantine>& quarantine) {
  if (!quarantine) return Json();
  return {{"cause", name_of(quarantine->cause)},
          {"program", quarantine->program},
          {"why", quarantine->why},
          {"in_a_row", quarantine->in_a_row},
          {"seconds_ago", quarantine->ago_s},
          {"seconds_left", quarantine->left_s}};
}

bool is_called(const DeviceInfo& device, const std::string& name) {
  return name == device.plugin || glob_match(name, device.selector) ||
         glob_match(name, device.name);
}

std::string verdict_text(const DeviceVerdict& verdict, const DeviceSelector& selector) {
  // Of a device that is not meant nobody asks what else it lacks; --json has it.
  const bool meant = verdict.objections[0].gate != Gate::name;
  std::vector<std::string> reasons;
  for (const Objection& one : verdict.objections)
    if (meant || one.gate == Gate::name) reasons.push_back(text_of(one, selector));
  return "dropped: " + shown_message(join(reasons, "; ") + (meant ? history_text(verdict) : ""));
}

Json json_of_selector(const DeviceSelector& selector) {
  Json terms = Json::array();
  for (const SelectorTerm& term : selector.terms) terms.push_back(term.to_string());
  Json out = {{"text", selector.to_string()},
              {"isolated", selector.isolated},
              {"automatic", selector.automatic},
              {"terms", std::move(terms)}};
  // Null where nothing is said.
  out["objective"] = selector.objective == Objective::any
                         ? Json()
                         : Json(std::string(name_of(selector.objective)));
  out["runs"] = selector.runs ? Json(*selector.runs) : Json();
  out["deadline_s"] = selector.deadline_s ? Json(*selector.deadline_s) : Json();
  out["power_w"] = selector.power_w ? Json(*selector.power_w) : Json();
  return out;
}

std::string table_of(const std::vector<DeviceLine>& lines) {
  constexpr size_t kMaxWidth = 64;
  // What is wider than a column may be moves only its own line's rest.
  size_t selector_width = 0, name_width = 0;
  for (const DeviceLine& line : lines) {
    if (line.selector.size() <= kMaxWidth)
      selector_width = std::max(selector_width, line.selector.size());
    if (line.name.size() <= kMaxWidth) name_width = std::max(name_width, line.name.size());
  }
  std::string out;
  for (const DeviceLine& line : lines)
    out += fmt::format("{:<{}}  {:<{}}  {}\n", line.selector, selector_width, line.name, name_width,
                       line.said);
  return out;
}

std::string history_text(const DeviceVerdict& verdict) {
  const auto is_said = [&](Gate gate) {
    return std::any_of(verdict.objections.begin(), verdict.objections.end(),
                       [&](const Objection& one) { return one.gate == gate; });
  };
  std::string out;
  if (verdict.quarantine && !is_said(Gate::quarantine))
    out += "; in quarantine: " + verdict.quarantine->to_string();
  if (verdict.conformance && !is_said(Gate::conformance))
    out += "; " + verdict.conformance->to_string();
  return out;
}

void print_selection(const Selection& selection) {
  std::vector<DeviceLine> lines;
  for (const size_t at : selection.order) {
    const DeviceInfo& device = selection.devices[at].device;
    lines.push_back(
        {device.selector, device.name,
         (lines.empty() ? "kept, tried first" : "kept") + history_text(selection.devices[at])});
  }
  for (const DeviceVerdict& one : selection.devices)
    if (!one.kept())
      lines.push_back(
          {one.device.selector, one.device.name, verdict_text(one, selection.selector)});
  std::fputs(table_of(lines).c_str(), stdout);
}

Json json_of_verdict(const Selection& selection, size_t device) {
  const DeviceVerdict& one = selection.devices[device];
  Json reasons = Json::array();
  for (const Objection& objection : one.objections)
    reasons.push_back(
        {{"gate", std::string(name_of(objection.gate))},
         {"term",
          objection.term ? Json(selection.selector.terms[*objection.term].to_string()) : Json()},
         {"why", objection.why}});
  const auto place = std::find(selection.order.begin(), selection.order.end(), device);
  return {{"selector", one.device.selector},
          {"name", one.device.name},
          {"kind", one.device.kind},
          {"kept", one.kept()},
          {"place", one.kept() ? Json(place - selection.order.begin()) : Json()},
          {"reasons", std::move(reasons)},
          {"quarantine", json_of_quarantine(one.quarantine)},
          {"conformance", one.conformance ? json_of(*one.conformance) : Json()}};
}

void print_selection_json(const Selection& selection) {
  Json devices = Json::array();
  for (size_t i = 0; i < selection.devices.size(); ++i)
    devices.push_back(json_of_verdict(selection, i));
  // Texts come from plugins: bytes that are no UTF-8 are replaced, not thrown at us.
  const Json all = {{"selector", json_of_selector(selection.selector)},
                    {"devices", std::move(devices)}};
  std::printf("%s\n", all.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

}  // namespace stria::command
