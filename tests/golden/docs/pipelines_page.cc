// SPDX-License-Identifier: Apache-2.0
#include "pipelines_page.h"

#include <algorithm>
#include <map>
#include <set>
#include <vector>

#include "made_parts.h"
#include "stria/base/file.h"
#include "stria/base/text.h"
#include "stria/pass/pipeline.h"
#include "stria/passes/all_passes.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/host/intrinsics.h"
#include "stria/runtime/program.h"
#include "stria/stripe/text/printer.h"

namespace stria {
namespace {

constexpr const char* kPipeline = "plugins/llvm_cpu/passes/cpu.json";
constexpr const char* kModel = "plugins/llvm_cpu/hw/cpu.json";
constexpr const char* kTile = R"(function (A[I, K], B[K, J], C[J]) -> (R) {
  P[i, j: I, J] = +(A[i, k] * B[k, j]);
  R = relu(P + C);
}
)";

std::string text_of(const std::string& file) {
  return read_file(std::string(STRIA_SOURCE_DIR "/") + file).value();
}

// The kernels of main, as text, by name.
std::map<std::string, std::string> kernels_of(const stripe::Program& program) {
  std::map<std::string, std::string> out;
  for (const stripe::Statement& section : program.entry.stmts) {
    if (!section.block() || !section.block()->tags.has("main")) continue;
    for (const stripe::Statement& stmt : section.block()->stmts)
      if (const stripe::Block* kernel = stmt.block()) out[kernel->name] = stripe::print(*kernel);
  }
  return out;
}

struct Followed {
  std::string generic;
  std::vector<StepReport> reports;
  std::map<std::string, std::string> after;  // step -> what it changed
};

// Runs the pipeline on the program, and keeps what each step changed.
Result<Followed> follow() {
  STRIA_ASSIGN(const HardwareModel model, load_hardware_model({kModel, text_of(kModel)}));
  STRIA_ASSIGN(const Pipeline pipeline,
               parse_pipeline({kPipeline, text_of(kPipeline)}, {}, model, passes::pass_registry()));
  STRIA_ASSIGN(const Program tile, Program::from_tile({"product.tile", kTile}));
  const InputTypes inputs = {{"A", {DataType::fp32, {256, 128}}},
                             {"B", {DataType::fp32, {128, 192}}},
                             {"C", {DataType::fp32, {192}}}};
  STRIA_ASSIGN(Compilation compilation, lower_program(tile, inputs, {}));
  stripe::Program program = std::move(compilation.generic);
  Followed out;
  out.generic = stripe::print(program);
  std::map<std::string, std::string> before = kernels_of(program);
  PipelineOptions how;
  how.verify_each = true;
  how.intrinsics = &intrinsic_signatures();
  how.evaluate = &intrinsic_evaluator();
  how.after_step = [&](int, const StepReport& report, const stripe::Program& now) {
    std::map<std::string, std::string> kernels = kernels_of(now);
    std::vector<std::string> changed;
    for (const auto& [name, text] : kernels)
      if (before[name] != text) changed.push_back(text);
    if (!changed.empty()) out.after[report.step] = join(changed, "\n");
    before = std::move(kernels);
  };
  STRIA_ASSIGN(out.reports, run_pipeline(program, pipeline, model, how));
  return out;
}

std::string table_of(const std::vector<StepReport>& reports) {
  std::string out = "| step | pass | what it did |\n|---|---|---|\n";
  for (const StepReport& report : reports) {
    const std::string text = report.to_string();
    std::string did = text.substr(text.find("): ") + 3);
    if (report.matched == 0) did = "matched nothing";
    out += fmt::format("| `{}` | `{}` | {} |\n", report.step, report.pass, did);
  }
  return out;
}

std::string code(const std::string& text, const std::string& kind = "") {
  return fmt::format("```{}\n{}{}```\n", kind, text, text.ends_with('\n') ? "" : "\n");
}

// What stands under the mark `what`.
Result<std::string> made(const std::string& what, const Followed& followed) {
  const std::string rest = what.substr(std::min(what.size(), what.find(' ') + 1));
  if (what == "tile") return code(kTile);
  if (what == "stripe") return code(followed.generic);
  if (what == "pipeline") return code(text_of(kPipeline), "js");
  if (what == "steps") return table_of(followed.reports);
  if (what.starts_with("fragment "))
    return code(text_of("core/passes/fragments/" + rest + ".json"), "js");
  if (what.starts_with("after ")) {
    const auto found = followed.after.find(rest);
    if (found != followed.after.end()) return code(found->second);
    return invalid_argument("the step '{}' changes no kernel: do not show it", rest);
  }
  return invalid_argument("'{}' is nothing that can be made", what);
}

}  // namespace

Result<std::string> pipelines_page(const std::string& page) {
  STRIA_ASSIGN(const Followed followed, follow());
  STRIA_ASSIGN(MadePage out, with_made_parts(page, [&](const std::string& what) {
                 return made(what, followed);
               }));
  for (const auto& [step, text] : followed.after)
    if (!out.made.count("after " + step))
      return invalid_argument("the step '{}' changes a kernel: show what it makes", step);
  return std::move(out.text);
}

}  // namespace stria
