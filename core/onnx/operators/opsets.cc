// SPDX-License-Identifier: Apache-2.0
#include "stria/onnx/translate/opsets.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <map>
#include <vector>

#include "stria/onnx/translate/find_by_name.h"

namespace stria::onnx {
namespace {

// What tools write into models of opsets before the one in which it came: of all operators of the
// standard, ONNX Runtime 1.32 loads these (tried with one node each, 2026-11).
constexpr std::string_view kEarlier[] = {"LayerNormalization", "MeanVarianceNormalization",
                                         "ThresholdedRelu"};

constexpr size_t kMany = std::numeric_limits<size_t>::max();

int64_t number_at(std::string_view text, size_t at) {
  int64_t out = 0;
  std::from_chars(text.data() + at, text.data() + text.size(), out);
  return out;
}

StandardOperator standard(std::string_view domain, std::string_view name, std::string_view versions,
                          size_t inputs, size_t outputs) {
  const size_t space = versions.rfind(' ');
  const bool earlier = domain.empty() && std::find(std::begin(kEarlier), std::end(kEarlier),
                                                   name) != std::end(kEarlier);
  return {domain,
          name,
          versions,
          earlier ? 1 : number_at(versions, 0),
          number_at(versions, space == std::string_view::npos ? 0 : space + 1),
          inputs,
          outputs};
}

}  // namespace

std::span<const StandardOperator> standard_operators() {
  static const std::vector<StandardOperator> sorted = sorted_by_name<StandardOperator>({
#define STRIA_ONNX_STANDARD(domain, name, versions, inputs, outputs) \
  standard(domain, #name, versions, inputs, outputs),
#include "stria/onnx/operators/standard_operators.def"
#undef STRIA_ONNX_STANDARD
  });
  return sorted;
}

const StandardOperator* find_standard_operator(std::string_view domain, std::string_view name) {
  return find_by_name(standard_operators(), domain, name);
}

int64_t newest_version(std::string_view domain) {
  static const std::map<std::string_view, int64_t> newest = [] {
    std::map<std::string_view, int64_t> out;
    for (const StandardOperator& each : standard_operators())
      out[each.domain] = std::max(out[each.domain], each.last);
    return out;
  }();
  const auto at = newest.find(domain);
  return at == newest.end() ? 0 : at->second;
}

}  // namespace stria::onnx
