// SPDX-License-Identifier: Apache-2.0
#include "verbs/ops.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>

#include "show/operator_table.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"

namespace stria::command {
namespace {

struct Count {
  size_t supported = 0, of_standard = 0, all_of_standard = 0;
};

void print_text(const std::vector<OperatorRow>& rows) {
  std::map<std::string, Count> counts;
  for (const OperatorRow& row : operator_rows()) {
    Count& count = counts[row.domain];
    count.supported += row.supported;
    count.of_standard += row.supported && !row.versions.empty();
    count.all_of_standard += !row.versions.empty();
  }
  size_t width = 0;
  for (const OperatorRow& row : rows) width = std::max(width, row.name.size());
  std::string domain;
  for (const OperatorRow& row : rows) {
    if (row.domain != domain) {
      const Count& count = counts[row.domain];
      std::printf("%s%s: %s\n", domain.empty() ? "" : "\n", row.domain.c_str(),
                  count.all_of_standard > 0 ? fmt::format("{} operators of the standard's {}",
                                                          count.of_standard, count.all_of_standard)
                                                  .c_str()
                                            : fmt::format("{} operators", count.supported).c_str());
    }
    domain = row.domain;
    std::string line = fmt::format("  {:<{}}  {}", row.name, width,
                                   row.versions.empty() ? "" : "versions " + row.versions);
    line += row.supported ? "" : "  not supported";
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", line.c_str());
  }
}

void print_json(const std::vector<OperatorRow>& rows) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const OperatorRow& row : rows)
    out.push_back({{"domain", row.domain},
                   {"name", row.name},
                   {"versions", nlohmann::ordered_json::parse("[" + row.versions + "]")},
                   {"supported", row.supported}});
  std::printf("%s\n", out.dump(2).c_str());
}

}  // namespace

Outcome ops(const OpsOptions& options) {
  std::vector<OperatorRow> rows = operator_rows();
  std::vector<std::string> known;
  for (const OperatorRow& row : rows) known.push_back(row.name);
  for (const std::string& name : options.names)
    if (std::find(known.begin(), known.end(), name) == known.end())
      return Outcome(ExitCode::program,
                     not_found("neither the standard nor stria has an operator '{}'{}",
                               shown_name(name), did_you_mean(name, known)));
  if (!options.names.empty())
    std::erase_if(rows, [&](const OperatorRow& row) {
      return std::find(options.names.begin(), options.names.end(), row.name) == options.names.end();
    });
  options.json ? print_json(rows) : print_text(rows);
  return Outcome();
}

}  // namespace stria::command
