// SPDX-License-Identifier: Apache-2.0
#include "show/operator_table.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "stria/onnx/translate/operator.h"
#include "stria/onnx/translate/opsets.h"

namespace stria::command {
namespace {

constexpr const char* kHead = R"(# ONNX operators

Made from the operators of `core/onnx/operators` and the list of the standard's in
`core/onnx/operators/standard_operators.def`: `tools/golden_update.sh docs` writes this page, and
`stria ops` prints the same. The versions are those of the domain in which an operator came or
changed. What a model uses that is not here, or in a way that an operator does not support, is told
by `stria show model.onnx`, all at once.
)";

}  // namespace

std::vector<OperatorRow> operator_rows() {
  std::map<std::pair<std::string, std::string>, OperatorRow> rows;
  const auto row = [&](std::string_view domain, std::string_view name) -> OperatorRow& {
    OperatorRow& out = rows[{std::string(domain), std::string(name)}];
    out.domain = domain.empty() ? "ai.onnx" : std::string(domain);
    out.name = name;
    return out;
  };
  for (const onnx::StandardOperator& each : onnx::standard_operators())
    row(each.domain, each.name).versions = each.versions;
  for (const onnx::Operator& each : onnx::all_operators())
    row(each.domain, each.name).supported = true;
  std::vector<OperatorRow> out;
  for (auto& [key, value] : rows) out.push_back(std::move(value));
  return out;
}

std::string operators_page() {
  std::string out = kHead, domain;
  for (const OperatorRow& row : operator_rows()) {
    if (row.domain != domain)
      out += fmt::format("\n## {}\n\n| operator | versions | supported |\n|---|---|---|\n",
                         row.domain);
    domain = row.domain;
    out += fmt::format("| {} | {} | {} |\n", row.name, row.versions, row.supported ? "yes" : "no");
  }
  return out;
}

}  // namespace stria::command
