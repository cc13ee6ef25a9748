// SPDX-License-Identifier: Apache-2.0
#include "validate/scalesim_topology.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <optional>
#include <set>

#include "stria/base/number_text.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/cost/block/unit_operation.h"
#include "validate/table_text.h"

namespace stria::sim {
namespace {

constexpr int64_t kLargest = 1'000'000'000;
// More than this many messages help nobody.
constexpr size_t kMaxErrors = 20;

std::optional<int64_t> positive(std::string_view text) {
  const Result<int64_t> value = parse_integer(text, 1, kLargest);
  if (!value.ok()) return std::nullopt;
  return *value;
}

// A column of the table, by the names that SCALE-Sim's files give it; only letters and digits
// count.
struct Column {
  const char* shown;
  std::vector<std::string> names;
};
constexpr size_t kName = 0;
const std::vector<Column> kConvolution = {{"Layer name", {"layername", "layer", "name"}},
                                          {"IFMAP Height", {"ifmapheight"}},
                                          {"IFMAP Width", {"ifmapwidth"}},
                                          {"Filter Height", {"filterheight"}},
                                          {"Filter Width", {"filterwidth"}},
                                          {"Channels", {"channels", "channel"}},
                                          {"Num Filter", {"numfilter", "numfilters"}},
                                          {"Strides", {"strides", "stride"}},
                                          {"Sparsity", {"sparsity"}}};
const std::vector<Column> kProduct = {{"Layer", {"layer", "layername", "name"}},
                                      {"M", {"m"}},
                                      {"N", {"n"}},
                                      {"K", {"k"}},
                                      {"Sparsity", {"sparsity"}}};

std::string plain(std::string_view name) {
  std::string out;
  for (char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)))
      out += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return out;
}

std::optional<size_t> column_of(const std::vector<Column>& columns, std::string_view name) {
  for (size_t c = 0; c < columns.size(); ++c)
    if (std::find(columns[c].names.begin(), columns[c].names.end(), plain(name)) !=
        columns[c].names.end())
      return c;
  return std::nullopt;
}

std::string names_of(const std::vector<Column>& columns) {
  std::vector<std::string> names;
  for (size_t c = 0; c + 1 < columns.size(); ++c) names.push_back(columns[c].shown);
  return join(names, ", ");
}

class TopologyReader {
 public:
  explicit TopologyReader(const SourceText& file) : file_(file), diagnostics_(file) {}

  Result<std::vector<TopologyLayer>> read() {
    if (!check_is_text(file_, diagnostics_)) return diagnostics_.status();
    const std::vector<TableRow> rows = read_table(file_, diagnostics_);
    if (rows.empty()) return invalid_argument("{}: error: there is no layer in it", file_.name);
    if (!diagnostics_.has_errors()) read_head(rows[0]);
    for (size_t r = 1; r < rows.size() && !has_no_head_ && !stop(); ++r) read_layer(rows[r]);
    STRIA_RETURN_IF_ERROR(diagnostics_.status());
    if (layers_.empty()) return invalid_argument("{}: error: there is no layer in it", file_.name);
    return std::move(layers_);
  }

 private:
  bool stop() const { return diagnostics_.error_count() >= kMaxErrors; }

  // The columns are in the head's order.
  void read_head(const TableRow& row) {
    has_no_head_ = true;
    const auto is_number = [](const TableCell& cell) {
      return !cell.text.empty() &&
             cell.text.find_first_not_of("+-.0123456789eE") == std::string::npos &&
             cell.text.find_first_of("0123456789") != std::string::npos;
    };
    if (std::any_of(row.cells.begin() + 1, row.cells.end(), is_number))
      return diagnostics_.error(
          row.span,
          fmt::format("this is a layer, but the first line of a table names its columns: {}; "
                      "or {}",
                      names_of(kConvolution), names_of(kProduct)));
    const bool product = std::any_of(row.cells.begin(), row.cells.end(), [](const TableCell& cell) {
      return plain(cell.text).size() == 1 && column_of(kProduct, cell.text);
    });
    known_ = product ? &kProduct : &kConvolution;
    std::vector<std::string> shown;
    for (const Column& column : *known_) shown.push_back(column.shown);
    std::set<size_t> there;
    for (const TableCell& cell : row.cells) {
      const std::optional<size_t> column = column_of(*known_, cell.text);
      if (!column)
        diagnostics_.error(cell.span,
                           fmt::format("there is no column '{}' in a table of {}{} "
                                       "(its columns: {})",
                                       shown_name(cell.text), product ? "products" : "convolutions",
                                       did_you_mean(cell.text, shown), names_of(*known_)));
      else if (!there.insert(*column).second)
        diagnostics_.error(cell.span, fmt::format("there are two columns '{}'", shown[*column]));
      columns_.push_back(column.value_or(kName));
    }
    if (diagnostics_.has_errors()) return;
    for (size_t c = 0; c + 1 < known_->size(); ++c)
      if (!there.count(c))
        diagnostics_.error(
            row.span,
            fmt::format("the column '{}' is missing; the columns of a table of {} are {}", shown[c],
                        product ? "products" : "convolutions", names_of(*known_)));
    has_no_head_ = diagnostics_.has_errors();
  }

  void read_layer(const TableRow& row) {
    const size_t errors = diagnostics_.error_count();
    if (row.cells.size() > columns_.size())
      diagnostics_.error(
          row.cells[columns_.size()].span,
          fmt::format("{} cells, the table has {} columns", row.cells.size(), columns_.size()));
    TopologyLayer layer;
    std::vector<double> values(known_->size());
    std::vector<SourceSpan> spans(known_->size());
    for (size_t c = 0; c < columns_.size(); ++c) {
      const std::string head = (*known_)[columns_[c]].shown;
      const TableCell cell =
          c < row.cells.size() ? row.cells[c] : TableCell{"", {row.span.end, row.span.end}};
      spans[columns_[c]] = cell.span;
      if (cell.text.empty()) {
        diagnostics_.error(cell.span, fmt::format("{} is missing", head));
      } else if (columns_[c] == kName) {
        layer.name = shown_name(cell.text);
      } else if (columns_[c] + 1 == known_->size()) {
        check_dense(cell);
      } else if (const std::optional<int64_t> value = positive(cell.text)) {
        values[columns_[c]] = static_cast<double>(*value);
      } else {
        diagnostics_.error(cell.span, fmt::format("{} is '{}', not a whole number from 1 to {}",
                                                  head, shown_name(cell.text), kLargest));
      }
    }
    if (diagnostics_.error_count() > errors) return;
    if (known_ == &kProduct) {
      layer.product = {values[1], values[2], values[3], 1};
    } else {
      if (values[3] > values[1] || values[4] > values[2])
        return diagnostics_.error(
            spans[values[3] > values[1] ? 3 : 4],
            fmt::format("a filter of {} x {} is larger than its input of {} x {}", values[3],
                        values[4], values[1], values[2]));
      const auto outputs = [&](double size, double filter) {
        return std::ceil((size - filter + values[7]) / values[7]);
      };
      layer.product = {outputs(values[1], values[3]) * outputs(values[2], values[4]), values[6],
                       values[3] * values[4] * values[5], 1};
    }
    layers_.push_back(std::move(layer));
  }

  // "2:4": two of four elements are not zero.
  void check_dense(const TableCell& cell) {
    const size_t colon = cell.text.find(':');
    const auto some = positive(std::string_view(cell.text).substr(0, colon));
    const auto all = colon == std::string::npos
                         ? std::nullopt
                         : positive(std::string_view(cell.text).substr(colon + 1));
    if (!some || !all || *some != *all)
      diagnostics_.error(cell.span,
                         fmt::format("Sparsity is '{}': only dense layers are known, such as 1:1",
                                     shown_name(cell.text)));
  }

  const SourceText& file_;
  Diagnostics diagnostics_;
  const std::vector<Column>* known_ = nullptr;
  std::vector<size_t> columns_;  // of *known_, from left to right
  bool has_no_head_ = true;
  std::vector<TopologyLayer> layers_;
};

}  // namespace

Result<std::vector<TopologyLayer>> read_topology(const SourceText& file) {
  return TopologyReader(file).read();
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
