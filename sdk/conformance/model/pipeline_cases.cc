// SPDX-License-Identifier: Apache-2.0
#include "model/pipeline_cases.h"

#include <algorithm>

#include "model/kind_files.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/host/intrinsics.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/text/printer.h"
#include "stria/stripe/verify/verifier.h"

namespace stria::conformance {
namespace {

constexpr std::string_view kEachKind =
    "Each pipeline has to take every legal program to device Stripe that is legal, too.";

struct Form {
  const char* name;
  const char* tile;
  InputTypes inputs;
};

// Sizes that no tile and no vector divides.
const std::vector<Form>& forms() {
  using D = DataType;
  static const std::vector<Form> all = {
      {"elementwise",
       "function f(A[N], B[N]) -> (R) { R = A * B + A; }",
       {{"A", {D::fp32, {1003}}}, {"B", {D::fp32, {1003}}}}},
      {"one_element", "function f(A[N]) -> (R) { R = -A; }", {{"A", {D::fp32, {1}}}}},
      {"product",
       "function f(A[M, K], B[K, N]) -> (R) { R[m, n : M, N] = +(A[m, k] * B[k, n]); }",
       {{"A", {D::fp32, {37, 53}}}, {"B", {D::fp32, {53, 29}}}}},
      {"product_i8",
       "function f(A[M, K], B[K, N]) -> (R) { R[m, n : M, N] = +(A[m, k] * B[k, n]); }",
       {{"A", {D::i8, {64, 64}}}, {"B", {D::i8, {64, 64}}}}},
      {"product_vector",
       "function f(A[M, K], B[K]) -> (R) { R[m : M] = +(A[m, k] * B[k]); }",
       {{"A", {D::fp32, {65, 257}}}, {"B", {D::fp32, {257}}}}},
      {"convolution",
       "function f(I[H, W, C], F[P, Q, C, O]) -> (R) {\n"
       "  R[x, y, o : H, W, O] = +(I[x + i - 1, y + j - 1, c] * F[i, j, c, o]);\n}",
       {{"I", {D::fp32, {13, 17, 7}}}, {"F", {D::fp32, {3, 3, 7, 11}}}}},
      {"strided",
       "function f(I[H, W], F[P, Q]) -> (R) {\n"
       "  R[x, y : (H + 1) / 2, (W + 1) / 2] = +(I[2*x + i - 1, 2*y + j - 1] * F[i, j]);\n}",
       {{"I", {D::fp32, {31, 15}}}, {"F", {D::fp32, {3, 3}}}}},
      {"sum",
       "function f(A[M, N]) -> (R) { R[m : M] = +(A[m, n]); }",
       {{"A", {D::fp32, {19, 1001}}}}},
      {"maximum", "function f(A[N]) -> (R) { R[] = >(A[n]); }", {{"A", {D::fp32, {4099}}}}},
      {"softmax",
       "function f(A[M, N]) -> (R) {\n  X[m, 0 : M, 1] = >(A[m, n]);\n  E = exp(A - X);\n"
       "  S[m, 0 : M, 1] = +(E[m, n]);\n  R = E / S;\n}",
       {{"A", {D::fp32, {7, 129}}}}},
      {"transpose",
       "function f(A[M, N]) -> (R) { R[n, m : N, M] = =(A[m, n]); }",
       {{"A", {D::fp32, {33, 65}}}}},
      {"window",
       "function f(A[N]) -> (R) { R[n : N] = +(A[n - k]), k < 9; }",
       {{"A", {D::fp32, {501}}}}},
      {"integers",
       "function f(A[N], B[N]) -> (R) { R = A / B + A % B; }",
       {{"A", {D::i32, {77}}}, {"B", {D::i32, {77}}}}},
      {"gather",
       "function f(A[M, N], I[K]) -> (R) { R = gather(A, I); }",
       {{"A", {D::fp32, {23, 9}}}, {"I", {D::i32, {14}}}}},
      {"two_outputs",
       "function f(A[N]) -> (R, S) { R = A + 1; S = A * A; }",
       {{"A", {D::fp32, {255}}}}},
  };
  return all;
}

Finding runs(Subject& subject, const std::string& kind, const Form& form,
             const TemplateSettings& settings = {}) {
  STRIA_ASSIGN(const HardwareModel model, model_of(subject, kind));
  STRIA_ASSIGN(const Pipeline pipeline, pipeline_of(subject, kind, model, settings));
  if (std::any_of(pipeline.steps.begin(), pipeline.steps.end(),
                  [](const PipelineStep& step) { return step.pass == "plugin_pass"; }))
    return Finding::skip("a step of it is the plugin's own, which needs a device");
  for (const auto& [name, type] : form.inputs)
    if (const auto lacked = model.lacking_types.find(type.type);
        lacked != model.lacking_types.end())
      return Finding::unsupported(fmt::format("the model lacks {}", name_of(type.type)));
  STRIA_ASSIGN(const Program program, Program::from_tile({"form.tile", form.tile}));
  STRIA_ASSIGN(Compilation compilation, lower_program(program, form.inputs));
  stripe::Program device = compilation.generic;
  PipelineOptions how;
  how.verify_each = true;
  how.intrinsics = &intrinsic_signatures();
  how.evaluate = &intrinsic_evaluator();
  STRIA_RETURN_IF_ERROR(run_pipeline(device, pipeline, model, how).status());
  // What the plugin gets is text.
  const std::string text = stripe::print(device);
  STRIA_ASSIGN(const stripe::Program again, stripe::parse({"device Stripe", text}));
  if (stripe::print(again) != text)
    return broken("the device Stripe reads back as another program");
  return {};
}

// With each value of each parameter that lists them: what stands under an `if` is read then.
Finding runs_with_settings(Subject& subject, const std::string& kind, const Form& form) {
  STRIA_ASSIGN(const std::vector<TemplateParameter> parameters, parameters_of(subject, kind));
  Finding last = Finding::skip("no parameter of it lists its values");
  for (const TemplateParameter& parameter : parameters)
    for (const std::string& value : parameter.choices) {
      Finding found = runs(subject, kind, form, {{parameter.name, value}});
      if (found.ending() == Ending::fail)
        return broken("with --set {}={}: {}", parameter.name, value, found.text());
      if (last.ending() != Ending::pass) last = std::move(found);
    }
  return last;
}

}  // namespace

void add_pipeline_cases(CaseMaker& maker, const std::string& kind) {
  const auto add = [&](std::string_view name, std::string_view sentence,
                       std::function<Finding(Subject&)> run) {
    Case& c = maker.add('H', fmt::format("{}.pipeline.{}", kind, name), Level::loads, sentence,
                        std::move(run));
    c.place = Place::bare;
    c.source = "guide/hardware_model.md";
    c.limit = std::chrono::seconds(30);
  };
  add("reads", sentence_of(Rule::pipeline), [kind](Subject& subject) -> Finding {
    STRIA_ASSIGN(const HardwareModel model, model_of(subject, kind));
    return pipeline_of(subject, kind, model).status();
  });
  add("has_steps", sentence_of(Rule::pipeline), [kind](Subject& subject) -> Finding {
    STRIA_ASSIGN(const HardwareModel model, model_of(subject, kind));
    STRIA_ASSIGN(const Pipeline pipeline, pipeline_of(subject, kind, model));
    for (const PipelineStep& step : pipeline.steps)
      if (step.name.empty()) return broken("step '{}' has no name", step.pointer);
    return {};
  });
  add("model_reads", sentence_of(Rule::model),
      [kind](Subject& subject) -> Finding { return model_of(subject, kind).status(); });
  for (const Form& form : forms())
    if (std::string_view(form.name) == "product")
      add("settings", sentence_of(Rule::pipeline),
          [kind, &form](Subject& subject) { return runs_with_settings(subject, kind, form); });
  for (const Form& form : forms())
    add(form.name, kEachKind,
        [kind, &form](Subject& subject) { return runs(subject, kind, form); });
}

}  // namespace stria::conformance
