// SPDX-License-Identifier: Apache-2.0
#include "validate/scalesim_topology.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "stria/base/text.h"
#include "stria/cost/unit_operation.h"

namespace stria::sim {
namespace {

constexpr int64_t kLargest = 1'000'000'000;

std::string trimmed(const std::string& text) {
  const size_t first = text.find_first_not_of(" \t\r");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::optional<int64_t> positive(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > kLargest)
    return std::nullopt;
  return value;
}

}  // namespace

Result<std::vector<TopologyLayer>> read_topology(const SourceText& file) {
  std::vector<TopologyLayer> out;
  std::vector<std::string> heads;
  int number = 0;
  for (const std::string& line : split(file.text, '\n')) {
    ++number;
    if (trimmed(line).empty()) continue;
    std::vector<std::string> fields;
    for (const std::string& field : split(line, ',')) fields.push_back(trimmed(field));
    while (!fields.empty() && fields.back().empty()) fields.pop_back();
    if (heads.empty()) {
      heads = fields;
      if (heads.size() != 4 && heads.size() < 8)
        return invalid_argument(
            "{}:{}: error: a table of layers has 8 columns (name, ifmap height, ifmap width, "
            "filter "
            "height, filter width, channels, filters, stride) or 4 (name, M, N, K), this one {}",
            file.name, number, heads.size());
      continue;
    }
    const size_t columns = heads.size() == 4 ? 4 : 8;
    if (fields.size() < columns)
      return invalid_argument("{}:{}: error: {} fields, the table has {} columns", file.name,
                              number, fields.size(), columns);
    std::vector<double> values;
    for (size_t f = 1; f < columns; ++f) {
      const std::optional<int64_t> value = positive(fields[f]);
      if (!value)
        return invalid_argument("{}:{}: error: {} is '{}', not a whole number from 1 to {}",
                                file.name, number, heads[f], fields[f], kLargest);
      values.push_back(static_cast<double>(*value));
    }
    TopologyLayer layer{fields[0], {}};
    if (columns == 4) {
      layer.product = {values[0], values[1], values[2], 1};
    } else {
      if (values[2] > values[0] || values[3] > values[1])
        return invalid_argument(
            "{}:{}: error: a filter of {} x {} is larger than its input of {} x {}", file.name,
            number, values[2], values[3], values[0], values[1]);
      const auto outputs = [&](double size, double filter) {
        return std::ceil((size - filter + values[6]) / values[6]);
      };
      layer.product = {outputs(values[0], values[2]) * outputs(values[1], values[3]), values[5],
                       values[2] * values[3] * values[4], 1};
    }
    out.push_back(std::move(layer));
  }
  if (out.empty()) return invalid_argument("{}: error: there is no layer in it", file.name);
  return out;
}

Result<SystolicArray> parse_array(const std::string& sides, const std::string& dataflow) {
  SystolicArray out;
  const size_t by = sides.find('x');
  const auto rows = positive(sides.substr(0, by));
  const auto columns = by == std::string::npos ? std::nullopt : positive(sides.substr(by + 1));
  if (!rows || !columns)
    return invalid_argument("an array is ROWSxCOLUMNS such as 32x32, not '{}'", sides);
  out.rows = *rows;
  out.columns = *columns;
  const std::vector<std::string> names = {"os", "ws", "is"};
  const auto at = std::find(names.begin(), names.end(), dataflow);
  if (at == names.end())
    return invalid_argument("a dataflow is one of os, ws, is, not '{}'", dataflow);
  out.dataflow = static_cast<SystolicArray::Dataflow>(at - names.begin());
  return out;
}

std::string topology_table(const std::vector<TopologyLayer>& layers, const SystolicArray& array) {
  std::string out = fmt::format("{:<24} {:>10} {:>8} {:>10} {:>14} {:>6}\n", "layer", "M", "N", "K",
                                "cycles", "used");
  double all = 0, macs = 0;
  const double size = static_cast<double>(array.rows) * static_cast<double>(array.columns);
  for (const TopologyLayer& layer : layers) {
    const cost::Product& p = layer.product;
    const double cycles = cost::systolic_cycles(array, p);
    out += fmt::format("{:<24} {:>10.0f} {:>8.0f} {:>10.0f} {:>14.0f} {:>5.1f}%\n", layer.name, p.m,
                       p.n, p.k, cycles, 100 * p.m * p.n * p.k / cycles / size);
    all += cycles;
    macs += p.m * p.n * p.k;
  }
  return out + fmt::format("{:<24} {:>45.0f} {:>5.1f}%\n", "all", all, 100 * macs / all / size);
}

}  // namespace stria::sim
