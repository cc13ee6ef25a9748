// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "reports/report.h"

namespace stria::conformance {
namespace {

using Json = nlohmann::ordered_json;

// What plugins print may be no UTF-8.
std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace

std::string json_report(const Report& report) {
  Json groups = Json::object();
  for (const Group& group : all_groups()) {
    const auto it = report.verdict.by_group.find(group.letter);
    if (it == report.verdict.by_group.end()) continue;
    Json counts = {{"name", group.name}};
    for (int i = 0; i < kEndings; ++i)
      if (const int count = it->second[static_cast<size_t>(i)]; count > 0)
        counts[std::string(name_of(static_cast<Ending>(i)))] = count;
    groups[std::string(1, group.letter)] = std::move(counts);
  }
  Json cases = Json::array();
  for (const CaseResult& result : report.results) {
    const Case& c = (*report.all)[result.index];
    Json one = {{"case", c.name},
                {"level", static_cast<int>(c.level)},
                {"ending", name_of(result.ending)},
                {"seconds", result.seconds}};
    if (!result.text.empty()) one["text"] = result.text;
    if (!is_good(result.ending)) {
      const std::vector<Quoted> rules = rules_of(c, result);
      one["rule"] = rules[0].sentence;
      one["source"] = rules[0].source;
      if (rules.size() > 1) {
        one["case_rule"] = rules[1].sentence;
        one["case_source"] = rules[1].source;
      }
      one["repeat"] = command_for(report, result);
      if (!result.output.empty()) one["output"] = result.output;
    }
    cases.push_back(std::move(one));
  }
  Json interpreted = Json::array();
  for (const auto& [reason, kernels] : report.interpreted)
    interpreted.push_back({{"reason", reason}, {"kernels", kernels}});
  return text_of({{"plugin", report.plugin},
                  {"version", report.version},
                  {"vendor", report.vendor},
                  {"directory", report.directory},
                  {"sha256", report.sha256},
                  {"device", report.device},
                  {"isolated", report.isolated},
                  {"suite", report.suite},
                  {"machine", report.machine},
                  {"day", report.day},
                  {"seconds", report.seconds},
                  {"kernels", report.kernels},
                  {"interpreted_kernels", report.interpreted_kernels},
                  {"interpreted", std::move(interpreted)},
                  {"level", report.verdict.level},
                  {"asked", static_cast<int>(report.verdict.asked)},
                  {"whole", report.verdict.whole},
                  {"holds", report.verdict.holds()},
                  {"groups", std::move(groups)},
                  {"cases", std::move(cases)}});
}

std::string badge(const Report& report) {
  const int level = report.verdict.level;
  // With --only no level is shown for what was not tried.
  const bool whole = report.verdict.whole;
  const char* color = !whole       ? "lightgrey"
                      : level == 0 ? "red"
                      : level == 1 ? "orange"
                      : level == 2 ? "green"
                                   : "brightgreen";
  const std::string message = !whole       ? "no verdict"
                              : level == 0 ? "does not load"
                                           : fmt::format("level {}", level);
  return text_of(
      {{"schemaVersion", 1}, {"label", "stria conform"}, {"message", message}, {"color", color}});
}

}  // namespace stria::conformance
