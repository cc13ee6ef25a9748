// SPDX-License-Identifier: Apache-2.0
#include "tile_program.h"

#include <random>
#include <set>

#include "stria/base/file.h"
#include "stria/builtins/evaluate.h"
#include "stria/lower/lower.h"
#include "stria/passes/all_passes.h"
#include "stria/stripe/text/printer.h"
#include "stria/tile/syntax/parser.h"

namespace stria::passes {

Result<stripe::Program> lower_text(const std::string& text,
                                   const std::map<std::string, tile::TensorType>& inputs) {
  STRIA_ASSIGN(tile::Program parsed, tile::parse({"test.tile", text}));
  STRIA_ASSIGN(tile::BoundProgram bound, tile::bind_program(parsed, "", inputs));
  return lower(bound);
}

Result<TileProgram> make_program(const std::string& text,
                                 const std::map<std::string, tile::TensorType>& inputs,
                                 const std::map<std::string, std::vector<Scalar>>& values) {
  TileProgram program;
  STRIA_ASSIGN(program.generic, lower_text(text, inputs));
  STRIA_ASSIGN(std::vector<interp::ProgramTensor> tensors, interp::program_inputs(program.generic));
  std::mt19937_64 random(7);
  std::vector<interp::TensorArg> args;
  for (const interp::ProgramTensor& tensor : tensors) {
    TestTensor input{tensor.name, dense_shape(tensor.shape.type, tensor.shape.sizes()), {}};
    int64_t count = input.shape.element_count();
    input.bytes.resize(static_cast<size_t>(count * byte_size(input.shape.type)) + 64);
    auto given = values.find(input.name);
    for (int64_t n = 0; n < count; ++n) {
      Scalar value =
          is_float(input.shape.type)
              ? Scalar::of_float(input.shape.type,
                                 static_cast<double>(random() % 2000) / 1000.0 - 1)
              : Scalar::of_int(input.shape.type, static_cast<int64_t>(random() % 15) - 7);
      if (given != values.end()) value = given->second[static_cast<size_t>(n)];
      store_scalar(input.shape.type, input.bytes.data(), n, value);
    }
    program.inputs.push_back(std::move(input));
  }
  for (TestTensor& input : program.inputs) args.push_back(input.arg());
  STRIA_ASSIGN(program.expected, interp::interpret_with_bounds(program.generic, args));
  return program;
}

void mark_constants(stripe::Program& program, uint64_t seed) {
  std::set<std::string> names;
  for (stripe::Refinement& ref : program.main()->refs)
    if (ref.dir == stripe::RefDir::in && (seed >> (names.size() % 3)) % 2 == 0) {
      ref.is_const = true;
      names.insert(ref.from);
    }
  for (stripe::Refinement& ref : program.entry.refs)
    ref.is_const = ref.is_const || names.count(ref.into) > 0;
}

std::string wrong_values(TileProgram& original,
                         const std::function<Status(const std::vector<interp::TensorArg>&)>& run) {
  std::vector<interp::TensorArg> args;
  for (TestTensor& input : original.inputs) args.push_back(input.arg());
  std::vector<TestTensor> outputs;
  for (const interp::Reference& reference : original.expected) {
    TestTensor output{reference.name, reference.shape, {}};
    output.bytes.resize(static_cast<size_t>(reference.shape.span_bytes()) + 64);
    outputs.push_back(std::move(output));
  }
  for (TestTensor& output : outputs) args.push_back(output.arg());
  if (Status status = run(args); !status.ok()) return status.to_string();
  for (size_t i = 0; i < outputs.size(); ++i) {
    auto report = interp::compare(outputs[i].arg(), original.expected[i]);
    if (!report.ok()) return report.status().to_string();
    if (!report->passed()) return report->worst_text;
  }
  return "";
}

std::string wrong_values(const stripe::Program& program, TileProgram& original) {
  return wrong_values(original, [&](const std::vector<interp::TensorArg>& tensors) {
    return interp::interpret(program, tensors);
  });
}

std::string wrong_step(const std::string& pipeline, const TemplateSettings& settings,
                       const HardwareModel& model, TileProgram& original,
                       std::map<std::string, int64_t>* counters) {
  auto steps = parse_pipeline({"pipeline", pipeline}, settings, model, pass_registry());
  if (!steps.ok()) return steps.status().to_string();
  stripe::Program program = original.generic, before = program;
  std::string wrong;
  PipelineOptions options;
  options.verify_each = true;
  const EvaluateIntrinsic evaluator = evaluate;
  options.evaluate = &evaluator;
  options.after_step = [&](int, const StepReport& report, const stripe::Program& now) {
    if (counters) {
      (*counters)[report.pass + ": changed"] += report.changed;
      for (const auto& [name, count] : report.counters)
        (*counters)[report.pass + ": " + name] += count;
    }
    if (!wrong.empty()) return;
    wrong = wrong_values(now, original);
    // Dependencies are mended after a pass that says that it changed something.
    if (wrong.empty() && report.changed == 0 && !(now == before))
      wrong = "the program changed and the pass does not say so";
    before = now;
    if (!wrong.empty())
      wrong = fmt::format("after step '{}': {}\n{}\nfrom\n{}", report.step, wrong,
                          stripe::print(now), stripe::print(original.generic));
  };
  auto reports = run_pipeline(program, *steps, model, options);
  if (!reports.ok())
    return reports.status().to_string() + "\n" + stripe::print(program) + "\nfrom\n" +
           stripe::print(original.generic);
  return wrong;
}

std::string cpu_pipeline() {
  return read_file(STRIA_SOURCE_DIR "/plugins/llvm_cpu/passes/cpu.json").value();
}

HardwareModel small_model(int64_t vector_bytes, int64_t registers) {
  auto model = load_hardware_model(
      {"small model",
       fmt::format(R"({{"mem_units": {{"DRAM": {{"size_KiB": 1024}}, "REG": {{"count": 2}},
           "L2": {{"count": 2, "size_KiB": 1, "line_bytes": 8}}}},
           "exec_units": {{"CORE": {{"count": 2, "vector_bytes": {}, "vector_registers": {}}}}}}})",
                   vector_bytes, registers)});
  return std::move(model).value();
}

}  // namespace stria::passes
