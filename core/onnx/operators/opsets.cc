// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/translate/opsets.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <tuple>

#include "stria/base/shown_text.h"

namespace stria::onnx {
namespace {

int64_t number_at(std::string_view text, size_t at) {
  int64_t out = 0;
  std::from_chars(text.data() + at, text.data() + text.size(), out);
  return out;
}

StandardOperator standard(std::string_view domain, std::string_view name,
                          std::string_view versions) {
  const size_t comma = versions.rfind(' ');
  return {domain, name, versions, number_at(versions, 0),
          number_at(versions, comma == std::string_view::npos ? 0 : comma + 1)};
}

bool came_before(const StandardOperator& a, const StandardOperator& b) {
  return std::tie(a.domain, a.name) < std::tie(b.domain, b.name);
}

}  // namespace

std::span<const StandardOperator> standard_operators() {
  static const std::vector<StandardOperator> sorted = [] {
    std::vector<StandardOperator> all = {
#define STRIA_ONNX_STANDARD(domain, name, versions) standard(domain, #name, versions),
#include "stria/onnx/operators/standard_operators.def"
#undef STRIA_ONNX_STANDARD
    };
    std::sort(all.begin(), all.end(), came_before);
    return all;
  }();
  return sorted;
}

const StandardOperator* find_standard_operator(std::string_view domain, std::string_view name) {
  const std::span<const StandardOperator> all = standard_operators();
  const StandardOperator wanted{domain, name, {}};
  const auto at = std::lower_bound(all.begin(), all.end(), wanted, came_before);
  return at != all.end() && !came_before(wanted, *at) ? &*at : nullptr;
}

std::vector<std::string> wrong_opsets(const std::map<std::string, int64_t>& opsets) {
  std::vector<std::string> out;
  for (const auto& [domain, version] : opsets) {
    const std::string name = domain.empty() ? "ai.onnx" : shown_name(domain);
    if (version < 1) {
      out.push_back(fmt::format("opset {} of {}: versions begin with 1", version, name));
      continue;
    }
    int64_t newest = 0;
    for (const StandardOperator& each : standard_operators())
      if (each.domain == domain) newest = std::max(newest, each.last);
    if (newest > 0 && version > newest)
      out.push_back(
          fmt::format("opset {} of {}: the newest that is known is {}", version, name, newest));
  }
  return out;
}

}  // namespace stria::onnx
