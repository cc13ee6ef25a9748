// SPDX-License-Identifier: Apache-2.0
#include "verbs/show.h"

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "inputs/onnx_inputs.h"
#include "message.h"
#include "show/device_fit.h"
#include "show/model_summary.h"
#include "stria/base/json_object.h"
#include "stria/base/shown_text.h"
#include "stria/base/text.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/inside.h"
#include "stria/tile/syntax/print.h"
#include "stria/type/tensor_shape.h"

namespace stria::command {
namespace {

using Json = nlohmann::ordered_json;

// "236.0 M": a number with at most four digits, in steps of 1000 or 1024.
std::string short_number(double value, double step, const std::vector<const char*>& units) {
  size_t unit = 0;
  for (; value >= step && unit + 1 < units.size(); ++unit) value /= step;
  return fmt::format("{:.{}f}{}{}", value, unit == 0 ? 0 : 1, *units[unit] ? " " : "", units[unit]);
}
std::string short_count(const std::optional<double>& operations) {
  return operations ? short_number(*operations, 1000, {"", "k", "M", "G", "T", "P"}) : "?";
}
std::string short_bytes(int64_t bytes) {
  return short_number(static_cast<double>(bytes), 1024, {"B", "KiB", "MiB", "GiB", "TiB"});
}

using Row = std::vector<std::string>;
// Columns behind `left` are numbers. What is wider than a column may be moves only its own row.
void print_table(const std::vector<Row>& rows, size_t left) {
  constexpr size_t kMaxWidth = 48;
  std::vector<size_t> widths(rows[0].size());
  for (const Row& row : rows)
    for (size_t c = 0; c < row.size(); ++c)
      if (row[c].size() <= kMaxWidth) widths[c] = std::max(widths[c], row[c].size());
  for (const Row& row : rows) {
    std::string line;
    for (size_t c = 0; c < row.size(); ++c)
      line += fmt::format(fmt::runtime(c < left ? "{}{:<{}}" : "{}{:>{}}"), c == 0 ? "" : "  ",
                          row[c], widths[c]);
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%s\n", line.c_str());
  }
}

void print_list(const char* title, const std::vector<std::string>& lines) {
  if (lines.empty()) return;
  std::printf("\n%s:\n", title);
  for (const std::string& line : lines) std::printf("  %s\n", line.c_str());
}

// ---- devices

// What each device lacks of the program. While sizes are open, nobody can say.
Outcome fit(const ShowOptions& options, const Compilation& program, std::vector<DeviceFit>& out) {
  if (options.devices == std::vector<std::string>{"none"}) return Outcome();
  return fit_devices(options.devices, program, out);
}

void print_fits(const std::vector<DeviceFit>& fits) {
  if (fits.empty()) return;
  std::vector<Row> rows;
  for (const DeviceFit& fit : fits) {
    std::vector<std::string> lacks;
    for (const DeviceLack& lack : fit.lacks) {
      std::vector<std::string> nodes = lack.needed_by;
      constexpr size_t kMost = 3;
      const size_t more = nodes.size() > kMost ? nodes.size() - kMost : 0;
      nodes.resize(nodes.size() - more);
      lacks.push_back(lack.what + (nodes.empty() ? "" : ", needed by " + join(nodes, ", ")) +
                      (more == 0 ? "" : fmt::format(" and {} more", more)));
    }
    rows.push_back({"  " + fit.selector, shown_name(fit.name),
                    !fit.trouble.empty() ? "cannot be opened: " + fit.trouble
                    : lacks.empty()      ? "has all that it needs"
                                         : "lacks " + shown_message(join(lacks, "; "))});
  }
  std::printf("\ndevices:\n");
  print_table(rows, rows[0].size());
}

Json json_of(const std::vector<DeviceFit>& fits) {
  Json out = Json::array();
  for (const DeviceFit& fit : fits) {
    Json lacks = Json::array();
    for (const DeviceLack& lack : fit.lacks)
      lacks.push_back({{"what", lack.what}, {"needed_by", lack.needed_by}});
    out.push_back({{"selector", fit.selector},
                   {"name", fit.name},
                   {"trouble", fit.trouble},
                   {"lacks", lacks}});
  }
  return out;
}

// ---- ONNX

std::vector<std::string> lines_of(const std::vector<SummaryValue>& values) {
  std::vector<std::string> out;
  for (const SummaryValue& value : values)
    out.push_back(shown_name(value.name) + ": " + value.text());
  return out;
}

void print_text(const ModelSummary& model, const std::vector<DeviceFit>& fits) {
  std::vector<std::string> opsets, inputs, operators;
  for (const auto& [domain, version] : model.opsets)
    opsets.push_back(fmt::format("{} {}", shown_name(domain), version));
  std::printf("%s: ONNX, IR %lld, opset %s%s\n", shown_name(model.file).c_str(),
              static_cast<long long>(model.ir_version), join(opsets, ", ").c_str(),
              model.producer.empty() ? "" : (", by " + shown_name(model.producer)).c_str());
  size_t defaults = 0;
  for (const OnnxInput& input : model.inputs) {
    defaults += input.has_default;
    if (!input.has_default) inputs.push_back(shown_message(input.text()));
  }
  if (defaults > 0) inputs.push_back(fmt::format("and {} with values in the model", defaults));
  print_list("inputs", inputs);
  print_list("outputs", lines_of(model.outputs));

  std::vector<Row> rows = {{"node", "operator", "result", "operations", "weights"}};
  for (const SummaryNode& node : model.nodes) {
    std::vector<std::string> results;
    for (const SummaryValue& value : node.results) results.push_back(value.text());
    std::string name = node.name;
    if (name.empty() && !node.results.empty()) name = node.results[0].name;
    rows.push_back({shown_name(name), shown_name(node.op) + (node.unknown ? " (unknown)" : ""),
                    join(results, ", "), node.known ? "known" : short_count(node.operations),
                    node.weight_bytes == 0 ? "" : short_bytes(node.weight_bytes)});
  }
  rows.push_back({"all", fmt::format("{} nodes", model.nodes.size()), "",
                  short_count(model.operations), short_bytes(model.weight_bytes)});
  std::printf("\n");
  print_table(rows, 3);
  for (const auto& [name, count] : model.operators)
    operators.push_back(fmt::format("{} {}", shown_name(name), count));
  std::printf("\noperators: %s\n", join(operators, ", ").c_str());
  print_list("unknown operators", model.unknown_operators);
  print_list("open sizes, which --shape or --input says", model.open);
  if (!model.missing.empty()) std::printf("\nmissing: %s\n", model.missing.c_str());
  print_fits(fits);
}

Json json_of(const std::vector<OnnxDimension>& dims) {
  Json out = Json::array();
  for (const OnnxDimension& dim : dims)
    out.push_back(dim.size ? Json(*dim.size) : dim.name.empty() ? Json() : Json(dim.name));
  return out;
}

Json json_of(const SummaryValue& value) {
  Json out = {{"name", value.name}};
  if (!value.type.empty()) out["type"] = value.type;
  if (value.has_dims) out["sizes"] = json_of(value.dims);
  return out;
}

void print_json(const ModelSummary& model, const std::vector<DeviceFit>& fits) {
  Json inputs = Json::array(), outputs = Json::array(), nodes = Json::array();
  for (const OnnxInput& input : model.inputs) {
    inputs.push_back({{"name", input.name},
                      {"type", input.type ? std::string(name_of(*input.type)) : input.element},
                      {"has_default", input.has_default}});
    if (input.has_dims) inputs.back()["sizes"] = json_of(input.dims);
  }
  for (const SummaryValue& output : model.outputs) outputs.push_back(json_of(output));
  const auto number = [](const std::optional<double>& value) {
    return value ? Json(*value) : Json();
  };
  for (const SummaryNode& node : model.nodes) {
    Json results = Json::array();
    for (const SummaryValue& result : node.results) results.push_back(json_of(result));
    nodes.push_back({{"name", node.name},
                     {"operator", node.op},
                     {"unknown", node.unknown},
                     {"known", node.known},
                     {"results", results},
                     {"operations", number(node.operations)},
                     {"weight_bytes", node.weight_bytes}});
  }
  const Json out = {{"file", model.file},
                    {"ir_version", model.ir_version},
                    {"producer", model.producer},
                    {"opsets", model.opsets},
                    {"inputs", inputs},
                    {"outputs", outputs},
                    {"nodes", nodes},
                    {"operators", model.operators},
                    {"operations", number(model.operations)},
                    {"weight_bytes", model.weight_bytes},
                    {"unknown_operators", model.unknown_operators},
                    {"open", model.open},
                    {"missing", model.missing},
                    {"devices", json_of(fits)}};
  std::printf("%s\n", out.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
}

Outcome show_onnx(const ShowOptions& options, GivenInputs& given) {
  STRIA_OR_FAIL(const OnnxModel model, ExitCode::program, OnnxModel::read(options.program));
  OnnxOptions how;
  OnnxTensors tensors;
  STRIA_FAIL_IF(take_onnx_inputs(model, given, how, tensors));
  ModelSummary summary = summary_of(model, options.program, how);
  std::vector<DeviceFit> fits;
  if (summary.open.empty() && summary.missing.empty()) {
    const auto compiled = [&]() -> Result<Compilation> {
      STRIA_ASSIGN(const Program program, model.program(how));
      return lower_program(program, {});
    }();
    if (compiled.ok())
      STRIA_FAIL_IF(fit(options, *compiled, fits));
    else
      summary.missing = compiled.status().message();
  }
  options.json ? print_json(summary, fits) : print_text(summary, fits);
  return Outcome();
}

// ---- Tile

// "matmul(A[M, K], B[K, N]) -> (C)"
std::string head_of(const tile::Function& function) {
  std::vector<std::string> parameters, results;
  for (const tile::Parameter& parameter : function.parameters) {
    std::vector<std::string> dims;
    for (const tile::Name& dim : parameter.dims) dims.push_back(dim.text);
    parameters.push_back(parameter.name.text +
                         (parameter.has_dims ? "[" + join(dims, ", ") + "]" : ""));
  }
  for (const tile::Name& result : function.results) results.push_back(result.text);
  return fmt::format("{}({}) -> ({})", function.name.text, join(parameters, ", "),
                     join(results, ", "));
}

Outcome show_tile(const ShowOptions& options, GivenInputs& given) {
  Program program;
  ReadInputs in;
  STRIA_FAIL_IF(read_program(options.program, "", given, Wanted::sizes, program, in));
  STRIA_FAIL_IF(read_inputs(program, given, in));
  InputTypes types = types_of_shapes(program, given);
  for (const auto& [name, type] : in.types) types[name] = type;
  STRIA_FAIL_IF(check_input_names(program, "--shape", given.shape_names()));
  STRIA_FAIL_IF(check_input_names(program, "--input", given.source_names()));
  std::vector<std::string> functions, open;
  for (const tile::Function& function : Inside::tile(program).functions)
    functions.push_back(head_of(function));
  for (const ProgramInput& input : program.inputs())
    if (!types.contains(input.name)) open.push_back(input.text());
  Json out = {{"file", options.program}, {"functions", functions}, {"entry", program.name()}};
  std::vector<Row> rows = {{"kernel", "operations"}};
  std::vector<std::string> outputs;
  double all = 0;
  std::vector<DeviceFit> fits;
  if (open.empty()) {
    Compilation compilation;
    STRIA_FAIL_IF(lower(program, types, {}, compilation));
    print_diagnostics(compilation.warnings);
    for (const size_t id : compilation.bound.outputs) {
      const tile::BoundTensor& tensor = compilation.bound.tensors[id];
      outputs.push_back(tensor.name + ": " + to_string(tensor.type, tensor.sizes));
      array_at(out, "outputs")
          .push_back(
              {{"name", tensor.name}, {"type", name_of(tensor.type)}, {"sizes", tensor.sizes}});
    }
    const std::map<std::string, double> operations = kernel_operations(compilation.generic);
    if (const stripe::Block* main = compilation.generic.main())
      for (const stripe::Statement& statement : main->stmts) {
        const stripe::Block* kernel = statement.block();
        if (kernel == nullptr) continue;
        const double count = operations.at(kernel->name);
        rows.push_back({kernel->name, short_count(count)});
        array_at(out, "kernels").push_back({{"name", kernel->name}, {"operations", count}});
        all += count;
      }
    out["operations"] = all;
    STRIA_FAIL_IF(fit(options, compilation, fits));
    out["devices"] = json_of(fits);
  }
  if (options.json) {
    out["open"] = open;
    std::printf("%s\n", out.dump(2, ' ', false, Json::error_handler_t::replace).c_str());
    return Outcome();
  }
  std::printf("%s: Tile, entry %s\n", shown_name(options.program).c_str(), program.name().c_str());
  print_list("functions", functions);
  print_list("outputs", outputs);
  if (open.empty()) {
    rows.push_back({"all", short_count(all)});
    std::printf("\n");
    print_table(rows, 1);
  }
  print_fits(fits);
  print_list("open sizes, which --shape or --input says", open);
  return Outcome();
}

}  // namespace

Outcome show(const ShowOptions& options) {
  STRIA_OR_FAIL(GivenInputs given, ExitCode::usage, parse_inputs(options.in));
  return is_onnx(options.program) ? show_onnx(options, given) : show_tile(options, given);
}

}  // namespace stria::command
