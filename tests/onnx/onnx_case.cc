// SPDX-License-Identifier: Apache-2.0
// Runs cases that tools/onnx/onnx_cases.py wrote on a device, and prints a line of JSON for each:
//
//   onnx_case --device SEL CASE_FOLDER…
//   {"case": "test_abs", "result": "passed"}
//
// Results: passed; failed (other values, types or sizes); unsupported; error (of the model or a
// device). "needs" names inputs that were bound by value; "ran": false is a case of which these
// and the model's constants leave nothing to the device. tools/onnx/onnx_conformance.py runs it,
// and goes on after a case that ends the process.
#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "stria/base/file.h"
#include "stria/onnx/model/model_reader.h"
#include "stria/onnx/translate/graph_translator.h"
#include "stria/onnx/translate/translate.h"
#include "stria/runtime/host/tile_evaluator.h"
#include "stria/runtime/stria.h"
#include "stria/tensor_io/png.h"
#include "stria/type/scalar.h"

namespace stria::onnx {
namespace {

using nlohmann::json;
namespace fs = std::filesystem;

// A tensor, strings, a sequence or nothing, as case.json names it.
struct CaseValue {
  std::string name, kind;
  TensorData data;
  std::shared_ptr<const HostTensor> tensor;  // null for types that a HostTensor does not have
  std::vector<CaseValue> items;
};

Result<CaseValue> read_value(const json& entry, const fs::path& folder) {
  CaseValue out;
  out.name = entry.at("name");
  out.kind = entry.at("kind");
  if (out.kind == "sequence")
    for (const json& item : entry.at("items")) {
      STRIA_ASSIGN(CaseValue one, read_value(item, folder));
      out.items.push_back(std::move(one));
    }
  if (out.kind != "tensor") return out;
  const fs::path path = folder / entry.at("file").get<std::string>();
  STRIA_ASSIGN(std::string text, read_file(path.string()));
  auto bytes = std::make_shared<const std::string>(std::move(text));
  STRIA_ASSIGN(out.data, parse_tensor(*bytes, bytes, path.filename().string()));
  if (auto tensor = outside_tensor_of(out.data); tensor.ok())
    out.tensor = std::make_shared<const HostTensor>(std::move(*tensor));
  return out;
}

// "" if the values agree.
std::string difference(const HostTensor& got, const HostTensor& wanted, double rtol, double atol) {
  if (got.type() != wanted.type())
    return fmt::format("type {} for {}", name_of(got.type()), name_of(wanted.type()));
  if (got.sizes() != wanted.sizes())
    return fmt::format("sizes [{}] for [{}]", fmt::join(got.sizes(), ","),
                       fmt::join(wanted.sizes(), ","));
  for (int64_t e = 0; e < got.element_count(); ++e) {
    const Scalar a = load_scalar(got.type(), got.data(), e);
    const Scalar b = load_scalar(wanted.type(), wanted.data(), e);
    bool same;
    if (is_float(got.type())) {
      same = (std::isnan(a.f) && std::isnan(b.f)) || a.f == b.f ||
             (std::isfinite(b.f) && std::abs(a.f - b.f) <= atol + rtol * std::abs(b.f));
    } else {
      same = a.i == b.i;
    }
    if (!same) return fmt::format("element {}: {} for {}", e, to_string(a), to_string(b));
  }
  return "";
}

// Numbers of `texts`, for strings. "" if they are the same.
std::string strings_differ(const HostTensor& numbers, const std::vector<std::string>& texts,
                           const TensorData& wanted) {
  if (numbers.sizes() != wanted.dims) return "other sizes";
  for (int64_t e = 0; e < numbers.element_count(); ++e) {
    const int64_t number = load_scalar(DataType::i64, numbers.data(), e).i;
    if (number < 0 || number >= static_cast<int64_t>(texts.size()))
      return fmt::format("element {} is text {} of {}", e, number, texts.size());
    if (texts[static_cast<size_t>(number)] != wanted.strings[static_cast<size_t>(e)])
      return fmt::format("element {} is another text", e);
  }
  return "";
}

using Results = std::map<std::string, HostTensor>;  // by their names in the program

std::string difference(const TranslatedOutput& shape, const Results& results,
                       const CaseValue& wanted, double rtol, double atol) {
  if (wanted.kind == "absent") return shape.is_sequence && shape.items.empty() ? "" : "not absent";
  if (wanted.kind == "sequence") {
    if (!shape.is_sequence) return "no sequence";
    if (shape.items.size() != wanted.items.size())
      return fmt::format("{} items for {}", shape.items.size(), wanted.items.size());
    for (size_t i = 0; i < wanted.items.size(); ++i)
      if (std::string text = difference(shape.items[i], results, wanted.items[i], rtol, atol);
          !text.empty())
        return fmt::format("item {}: {}", i, text);
    return "";
  }
  const auto at = results.find(shape.tile);
  if (wanted.data.type == ElementType::string) {
    if (at == results.end() || !shape.is_text) return "no strings";
    return strings_differ(at->second, shape.texts, wanted.data);
  }
  if (at == results.end() || !wanted.tensor)
    return fmt::format("elements of type {}", name_of(wanted.data.type));
  if (shape.is_text) return "text";
  if (shape.element != wanted.data.type)
    return fmt::format("type {} for {}", name_of(shape.element), name_of(wanted.data.type));
  return difference(at->second, *wanted.tensor, rtol, atol);
}

KnownValue known_value(const CaseValue& value) {
  KnownValue out;
  if (value.tensor) {
    out = KnownValue(value.tensor);
    out.element = value.data.type;
  } else if (value.kind == "tensor") {
    out.kind = Value::Kind::strings;
    out.strings = value.data.strings;
    out.sizes = value.data.dims;
  } else if (value.kind == "sequence") {
    out.kind = Value::Kind::sequence;
    for (const CaseValue& item : value.items) out.items.push_back(known_value(item));
  }
  return out;
}

struct Outcome {
  std::string result = "passed", reason;
  std::vector<std::string> needs;
  bool ran = false;  // on the device; else all is known before
};

Outcome of(const Status& status) {
  return {status.code() == StatusCode::unsupported ? "unsupported" : "error",
          status.message(),
          {},
          false};
}

// Inputs that cannot be tensors of a program are bound by value from the start.
Result<Translation> translation(const Model& model, const std::vector<CaseValue>& inputs,
                                Outcome& outcome) {
  TranslateOptions options;
  options.evaluate = TileEvaluator();
  options.read_image = [](std::string_view bytes) {
    return parse_png(bytes, "input", DataType::u8);
  };
  for (const CaseValue& input : inputs)
    if (input.tensor)
      options.sizes[input.name] = input.tensor->sizes();
    else if (input.kind != "tensor" || input.data.type == ElementType::string)
      options.values[input.name] = known_value(input);
  for (;;) {
    Missing missing;
    auto out = translate(model, options, &missing);
    if (out.ok() || !missing.operators.empty()) return out;
    bool more = false;
    for (const std::string& name : missing.inputs_by_value)
      for (const CaseValue& input : inputs)
        if (input.name == name && input.tensor && !options.values.contains(name)) {
          options.values[name] = input.tensor;
          outcome.needs.push_back(name);
          more = true;
        }
    if (!more) return out;
  }
}

Result<Results> run(const Device& device, const Translation& made,
                    const std::vector<CaseValue>& inputs) {
  STRIA_ASSIGN(const Program program, Program::from_tile({"case.tile", made.text}, made.function));
  InputTypes types;
  std::map<std::string, std::shared_ptr<const HostTensor>> values;
  CompileOptions options;
  for (const TranslatedConstant& constant : made.constants) {
    values[constant.tile] = constant.elements;
    options.constants.insert(constant.tile);
  }
  for (const TranslatedInput& input : made.inputs)
    for (const CaseValue& given : inputs)
      if (given.name == input.name) values[input.tile] = given.tensor;
  for (const auto& [name, tensor] : values) types[name] = {tensor->type(), tensor->sizes()};
  STRIA_ASSIGN(const Executable executable, device.compile(program, types, options));
  std::vector<Tensor> in, out;
  for (const TensorInfo& info : executable.inputs()) {
    STRIA_ASSIGN(Tensor tensor, device.create_tensor(info));
    STRIA_RETURN_IF_ERROR(tensor.write(values.at(info.name)->bytes()));
    in.push_back(std::move(tensor));
  }
  for (const TensorInfo& info : executable.outputs()) {
    STRIA_ASSIGN(Tensor tensor, device.create_tensor(info));
    out.push_back(std::move(tensor));
  }
  STRIA_ASSIGN(const Event event, executable.run(in, out));
  STRIA_RETURN_IF_ERROR(event.wait());
  Results results;
  for (size_t k = 0; k < out.size(); ++k) {
    STRIA_ASSIGN(HostTensor result, out[k].read());
    results[executable.outputs()[k].name] = std::move(result);
  }
  return results;
}

Outcome run_set(const Device& device, const Model& model, const json& set, const fs::path& folder,
                double rtol, double atol) {
  std::vector<CaseValue> inputs, wanted;
  for (const auto& [key, to] : {std::pair("inputs", &inputs), std::pair("outputs", &wanted)})
    for (const json& entry : set.at(key)) {
      auto value = read_value(entry, folder);
      if (!value.ok()) return of(value.status());
      to->push_back(std::move(*value));
    }
  Outcome outcome;
  auto made = translation(model, inputs, outcome);
  if (!made.ok()) return of(made.status());
  Results results;
  if (!made->text.empty()) {
    auto ran = run(device, *made, inputs);
    if (!ran.ok()) return of(ran.status());
    results = std::move(*ran);
    outcome.ran = true;
  }
  if (made->outputs.size() != wanted.size())
    return {
        "failed", fmt::format("{} outputs for {}", made->outputs.size(), wanted.size()), {}, true};
  // The standard does not say which numbers are drawn: types and sizes are all that can agree.
  const bool random = set.value("random", false);
  for (size_t k = 0; k < wanted.size(); ++k) {
    const TranslatedOutput& shape = made->outputs[k];
    const auto at = results.find(shape.tile);
    if (random && at != results.end() && wanted[k].tensor &&
        at->second.type() == wanted[k].tensor->type() &&
        at->second.sizes() == wanted[k].tensor->sizes())
      continue;
    if (std::string text = difference(shape, results, wanted[k], rtol, atol); !text.empty()) {
      outcome.result = "failed";
      outcome.reason = fmt::format("output '{}': {}", shape.name, text);
      return outcome;
    }
  }
  return outcome;
}

Outcome run_case(const Device& device, const fs::path& folder) {
  auto text = read_file((folder / "case.json").string());
  if (!text.ok()) return of(text.status());
  const json spec = json::parse(*text);
  auto model = read_model(folder / "model.onnx");
  if (!model.ok()) return of(model.status());
  Outcome outcome{"error", "no data", {}, false};
  for (const json& set : spec.at("sets")) {
    outcome = run_set(device, *model, set, folder, spec.at("rtol"), spec.at("atol"));
    if (outcome.result != "passed") break;
  }
  return outcome;
}

int run_all(const std::string& selector, const std::vector<std::string>& folders) {
  RuntimeOptions how;
  how.plugin_time_limit = std::chrono::minutes(1);  // other work may run beside it
  const Runtime runtime(how);
  auto device = runtime.open(selector);
  if (!device.ok()) {
    fmt::print(stderr, "onnx_case: {}\n", device.status().message());
    return 1;
  }
  fmt::print("{}\n", json{{"result", "device"}, {"name", device->info().name}}.dump());
  for (const std::string& folder : folders) {
    const std::string name = fs::path(folder).filename().string();
    fmt::print("{}\n", json{{"case", name}, {"result", "started"}}.dump());
    std::fflush(stdout);
    const Outcome outcome = run_case(*device, folder);
    json line{{"case", name}, {"result", outcome.result}};
    if (!outcome.reason.empty()) line["reason"] = outcome.reason;
    if (outcome.result == "passed" && !outcome.ran) line["ran"] = false;
    if (!outcome.needs.empty()) line["needs"] = outcome.needs;
    fmt::print("{}\n", line.dump(-1, ' ', false, json::error_handler_t::replace));
    std::fflush(stdout);
  }
  return 0;
}

}  // namespace
}  // namespace stria::onnx

int main(int argc, char** argv) {
  std::string device;
  std::vector<std::string> folders;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (argument == "--device" && i + 1 < argc)
      device = argv[++i];
    else
      folders.push_back(argument);
  }
  if (device.empty() || folders.empty()) {
    std::fputs("usage: onnx_case --device SELECTOR CASE_FOLDER...\n", stderr);
    return 2;
  }
  return stria::onnx::run_all(device, folders);
}
