// SPDX-License-Identifier: Apache-2.0
#include "numbers/relation_cases.h"

#include <algorithm>
#include <charconv>

#include "numbers/form.h"
#include "stria/base/text.h"
#include "stria/hal/files/inside_file.h"
#include "stria/template/template_parameters.h"

namespace stria::conformance {
namespace {

using D = DataType;

// What passes may choose changes no value, but for how sums are rounded.
constexpr std::string_view kSameValues =
    "that changes no value, except for the rounding of sums (M10).";
constexpr std::string_view kPrecision =
    "Sums of floats may be reassociated. A product and a sum may become one fused operation. "
    "Nothing else is relaxed unless `fast_math` is asked for";

// What tiles, vectors and lanes are chosen for.
std::vector<Form> tiled() {
  return {
      {"product", "A 37,53; B 53,29", "A[M, K], B[K, N] -> C",
       "  C[i, j : M, N] = +(A[i, k] * B[k, j]);\n"},
      {"convolution", "I 1,15,13,5; K 5,5,5,7", "I[N, X, Y, C], K[P, Q, C, E] -> O",
       "  O[n, x, y, e : N, X, Y, E] = +(I[n, x + i - 2, y + j - 2, c] * K[i, j, c, e]);\n"},
      {"rows", "A 19,301", "A[M, N] -> R", "  R[i : M] = +(A[i, j]);\n"},
      {"columns", "A 301,19", "A[M, N] -> R", "  R[j : N] = >(A[i, j]);\n"},
      {"transpose", "A 67,41", "A[M, N] -> R", "  R[j, i : N, M] = =(A[i, j]);\n"},
      {"elementwise", "A 1003; B 1003", "A, B -> R", "  R = max(A * B, A) - B;\n"},
      {"window", "A 301", "A[N] -> R", "  R[n : N] = +(A[n - k]), k < 9;\n"},
  };
}

// ---- settings of the pipeline

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out(1);
  for (const char c : text)
    if (c == ' ' || c == ',') {
      if (!out.back().empty()) out.emplace_back();
    } else {
      out.back() += c;
    }
  if (out.back().empty()) out.pop_back();
  return out;
}

// Some legal values of a parameter: the ends, small ones and odd ones.
std::vector<std::string> values_of(const TemplateParameter& parameter) {
  std::vector<std::string> out;
  const std::vector<std::string> words = words_of(parameter.legal);
  const auto number = [](const std::string& word) -> std::optional<int64_t> {
    int64_t value = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (error != std::errc() || end != word.data() + word.size()) return std::nullopt;
    return value;
  };
  if (parameter.legal.rfind("a whole number from ", 0) == 0 && words.size() == 7) {
    const auto low = number(words[4]), high = number(words[6]);
    if (!low || !high) return {};
    std::vector<int64_t> values = {*low};
    for (const int64_t value : {int64_t{2}, int64_t{5}, int64_t{16}, *high})
      if (value > values.back() && value <= *high) values.push_back(value);
    for (const int64_t value : values) out.push_back(std::to_string(value));
  } else if (parameter.legal.rfind("a ", 0) != 0) {
    for (const std::string& word : words)
      if (word != "or") out.push_back(word);
  }
  return out;
}

// Times of the device decide, and it takes seconds to take them.
bool is_measured(const TemplateParameter& parameter) {
  return parameter.initial_reads.count("tune") > 0;
}

Finding run_with(Subject& subject, const std::string& kind, const std::string& parameter,
                 const std::string& value, const Form& form, D type) {
  if (subject.device_info().kind != kind)
    return Finding::skip(fmt::format("the device is no '{}'", kind));
  TestProgram program = program_of(form, type);
  program.name = "conform";
  program.settings[parameter] = value;
  const ProgramRun run = run_program(subject, program);
  if (!run.status.ok()) return finding_of(run.status);
  for (const OutputRun& output : run.outputs)
    if (!output.status.ok())
      return output.status.with_context(fmt::format("{}={}", parameter, value));
  return {};
}

void add_settings(CaseMaker& maker) {
  const Result<hal::Manifest> manifest = hal::read_manifest(maker.directory);
  if (!manifest.ok()) return;
  constexpr size_t kMaxBytes = size_t{1} << 20;
  for (const hal::DeviceKind& kind : manifest->devices) {
    const auto text = hal::read_inside(maker.directory, kind.pipeline, kMaxBytes, "the pipeline");
    if (!text.ok()) continue;
    const auto parameters = declared_parameters({kind.pipeline.string(), *text});
    if (!parameters.ok()) continue;
    for (const TemplateParameter& parameter : *parameters) {
      if (is_measured(parameter)) continue;
      for (const std::string& value : values_of(parameter))
        for (const Form& form : tiled())
          for (const D type : {D::fp32, D::i32}) {
            Case& c = maker.add(
                'K',
                fmt::format("setting.{}.{}_{}.{}.{}", kind.name, parameter.name, value, form.name,
                            stria::name_of(type)),
                Level::robust, kSameValues,
                [kind = kind.name, name = parameter.name, value, form, type](Subject& subject) {
                  return run_with(subject, kind, name, value, form, type);
                });
            c.source = "docs/semantics.md";
            c.limit = std::chrono::seconds(60);
          }
    }
  }
}

// ---- options of the build

void add_options(CaseMaker& maker) {
  for (const Form& form : tiled())
    for (const D type : {D::fp32, D::i32, D::i8})
      add_program_case(maker, {kSameValues},
                       type == D::i32 && form.name == "product" ? Level::right : Level::robust,
                       fmt::format("option.no_peepholes.{}.{}", form.name, stria::name_of(type)),
                       [form, type] {
                         TestProgram program = program_of(form, type);
                         program.no_peepholes = true;
                         return program;
                       });
  // Of integers nothing is relaxed.
  for (const Form& form : tiled())
    for (const D type : {D::i32, D::i8, D::u64})
      add_program_case(maker, {kPrecision},
                       type == D::i32 && form.name == "product" ? Level::right : Level::robust,
                       fmt::format("option.fast_math.{}.{}", form.name, stria::name_of(type)),
                       [form, type] {
                         TestProgram program = program_of(form, type);
                         program.fast_math = true;
                         return program;
                       });
}

// ---- programs that mean the same

// Each computes P and Q in two ways, and R = P - Q, which is 0 everywhere.
std::vector<Form> twice() {
  return {
      {"split_sum", "A 17,24", "A[M, N] -> P, R",
       "  P[i : M] = +(A[i, j]);\n  X[i : M] = +(A[i, j]), j < 11;\n"
       "  Y[i : M] = +(A[i, j + 11]), j < 13;\n  R = P - (X + Y);\n"},
      {"split_product", "A 13,20; B 20,11", "A[M, K], B[K, N] -> P, R",
       "  P[i, j : M, N] = +(A[i, k] * B[k, j]);\n"
       "  X[i, j : M, N] = +(A[i, k] * B[k, j]), k < 9;\n"
       "  Y[i, j : M, N] = +(A[i, k + 9] * B[k + 9, j]), k < 11;\n  R = P - (X + Y);\n"},
      {"transposed_product", "A 13,20; B 20,11", "A[M, K], B[K, N] -> P, R",
       "  P[i, j : M, N] = +(A[i, k] * B[k, j]);\n"
       "  X[j, i : N, M] = +(B[k, j] * A[i, k]);\n  Q[i, j : M, N] = =(X[j, i]);\n  R = P - Q;\n"},
      {"product_of_copies", "A 13,20; B 20,11", "A[M, K], B[K, N] -> P, R",
       "  P[i, j : M, N] = +(A[i, k] * B[k, j]);\n  X[k, i : K, M] = =(A[i, k]);\n"
       "  Y[j, k : N, K] = =(B[k, j]);\n  Q[i, j : M, N] = +(X[k, i] * Y[j, k]);\n  R = P - Q;\n"},
      {"transposed_twice", "A 29,31", "A[M, N] -> P, R",
       "  X[j, i : N, M] = =(A[i, j]);\n  P[i, j : M, N] = =(X[j, i]);\n  R = P - A;\n"},
      {"sum_of_sums", "A 9,11,13", "A[L, M, N] -> P, R",
       "  P[] = +(A[i, j, k]);\n  X[i, j : L, M] = +(A[i, j, k]);\n  Y[j : M] = +(X[i, j]);\n"
       "  Q[] = +(Y[j]);\n  R = P - Q;\n"},
      {"maximum_is_a_minimum", "A 17,19", "A[M, N] -> P, R",
       "  P[i : M] = >(A[i, j]);\n  X = -A;\n  Y[i : M] = <(X[i, j]);\n  R = P + Y;\n"},
      {"convolution_by_windows", "I 33,3; K 3,3,5", "I[X, C], K[W, C, E] -> P, R",
       "  P[x, e : X - 2, E] = +(I[x + k, c] * K[k, c, e]);\n"
       "  V[x, k, c : X - 2, 3, C] = =(I[x + k, c]);\n"
       "  Q[x, e : X - 2, E] = +(V[x, k, c] * K[k, c, e]);\n  R = P - Q;\n"},
      {"reversed_twice", "A 43", "A[N] -> P, R",
       "  X[N - 1 - i : N] = =(A[i]);\n  P[N - 1 - i : N] = =(X[i]);\n  R = P - A;\n"},
      {"gather_of_all_rows", "A 14,5", "A[M, N] -> P, R",
       "  X[i : M] = +(A[i, j]);\n  P = gather(A, index(X, 0));\n  R = P - A;\n"},
      {"cumulative_in_two_parts", "A 26", "A[N] -> P, R",
       "  P[i : N] = +(A[k]), i - k < N;\n  X[i : N] = +(A[i - k]), k < N;\n  R = P - X;\n"},
  };
}

}  // namespace

void add_relation_cases(CaseMaker& maker) {
  add_options(maker);
  for (const Form& form : twice()) {
    const bool of_level_2 = form.name == "split_product" || form.name == "transposed_twice";
    add_form_cases(maker, {kSameValues}, of_level_2 ? Level::right : Level::robust, "relation",
                   {form}, {D::i32});
    add_form_cases(maker, {kSameValues}, Level::robust, "relation", {form}, {D::fp32, D::u64});
  }
  add_settings(maker);
}

}  // namespace stria::conformance
