// SPDX-License-Identifier: Apache-2.0
// Every limit that a user can meet, one below it, at it and one beyond: what a message says of it
// is what happens.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>

#include "stria/base/shown_text.h"
#include "stria/edsl/edsl.h"
#include "stria/hal/files/manifest.h"
#include "stria/hal/files/trust.h"
#include "stria/hal/host/cores.h"
#include "stria/hwmodel/hardware_model.h"
#include "stria/lower/lower.h"
#include "stria/lower/piece_product.h"
#include "stria/pass/pipeline.h"
#include "stria/passes/all_passes.h"
#include "stria/semtree/build/build.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/verify/verifier.h"
#include "stria/template/json_text.h"
#include "stria/template/template_expression.h"
#include "stria/tile/bind/bind.h"
#include "stria/tile/gradient/gradient.h"
#include "stria/tile/syntax/parser.h"
#include "stria/type/tensor_shape.h"

namespace stria {
namespace {

using testing::HasSubstr;

std::string many(int64_t count, const std::string& piece) {
  std::string out;
  out.reserve(static_cast<size_t>(count) * piece.size());
  for (int64_t i = 0; i < count; ++i) out += piece;
  return out;
}

// ---- Tile

Status bound(const std::string& text) {
  STRIA_ASSIGN(const tile::Program program, tile::parse({"t.tile", text}));
  return tile::bind_program(program, "", {{"A", {DataType::fp32, {2}}}}).status();
}
Status value(const std::string& text) {
  return bound("function (A[N]) -> (R) { R = " + text + "; }");
}

// f0, f1, … each of which calls the one before.
std::string calls_within(int64_t depth) {
  std::string out = "function f0(A) -> (R) { R = A + A; }\n";
  for (int64_t i = 1; i < depth; ++i)
    out += fmt::format("function f{}(A) -> (R) {{ R = f{}(A); }}\n", i, i - 1);
  return out + fmt::format("function (A[N]) -> (R) {{ R = f{}(A); }}\n", depth - 1);
}

std::string function_of_statements(const std::string& name, int64_t count) {
  std::string out = fmt::format("function {}(A) -> (R) {{\n", name);
  for (int64_t i = 1; i < count; ++i)
    out += fmt::format("T{} = {} + A;\n", i, i > 1 ? fmt::format("T{}", i - 1) : "A");
  return out + fmt::format("R = {} + A;\n}}\n", count > 1 ? fmt::format("T{}", count - 1) : "A");
}

Status statements(int64_t count) {
  std::string text =
      function_of_statements("f", 1000) + function_of_statements("g", count - 199'000);
  text += "function (A[N]) -> (R) {\n";
  for (int i = 0; i < 199; ++i)
    text += fmt::format("U{} = f({});\n", i, i ? fmt::format("U{}", i - 1) : "A");
  return bound(text + "R = g(U198);\n}\n");
}

// Fifty calls for each statement.
Status calls(int64_t count) {
  std::string text = "function f1(A) -> (R) { R = A + A; }\n";
  for (int i = 2; i <= 51; ++i)
    text += fmt::format("function f{}(A) -> (R) {{ R = f{}(A); }}\n", i, i - 1);
  text += "function (A[N]) -> (R) {\n";
  for (int i = 0; i < 9999; ++i)
    text += fmt::format("U{} = f50({});\n", i, i ? fmt::format("U{}", i - 1) : "A");
  return bound(text + fmt::format("R = f{}(U9998);\n}}\n", count - 9999 * 50));
}

// ---- Stripe

std::string nested_blocks(int64_t depth) {
  std::string out = "stripe 1.0\n0: #program block [] (\n) {\n0: #main block [] (\n) {\n";
  for (int64_t i = 2; i < depth; ++i)
    out += i == 2 ? "0: #kernel block [] (\n) {\n" : "0: block [] (\n) {\n";
  return out + many(depth, "}\n");
}

Status verified(int64_t depth) {
  // The parser refuses it first: the innermost is put in by hand.
  STRIA_ASSIGN(stripe::Program program, stripe::parse({"t.stripe", nested_blocks(depth - 1)}));
  stripe::Block* block = &program.entry;
  while (!block->stmts.empty()) block = block->stmts[0].block();
  block->stmts.push_back(stripe::Block());
  return stripe::verify(program, {});
}

Status unrolled(int64_t limit, int64_t count) {
  STRIA_ASSIGN(stripe::Program program, stripe::parse({"t.stripe", fmt::format(R"(stripe 1.0
0: #program block [] (
    none new@0x0 R[0] i32({0}:1)
) {{
  0: #main block [] (
      out R[0] i32({0}:1)
  ) {{
    0: #kernel block [] (
        out R[0] i32({0}:1)
    ) {{
      0: #unroll block [i:{0}] (
          out R[i] i32(1:1)
      ) {{
        0: $i = load_index.i32(i)
        1: R = store($i)
      }}
    }}
  }}
}}
)",
                                                                               count)}));
  semtree::BuildOptions options;
  options.unrolled_statement_limit = limit;
  const stripe::Block& main = *program.main();
  return semtree::build(*main.stmts[0].block(), main, options).status();
}

// ---- templates, models, pipelines

Status rendered(const std::string& text) {
  return render_template({"t.json", text}, nlohmann::json::object()).status();
}
Status shown(const std::string& expression) { return rendered("{{ " + expression + " }}"); }

Status model(const std::string& field) {
  return load_hardware_model({"m.json", "{" + field + "}"}).status();
}
Status memory(const std::string& field) {
  return model(R"("mem_units": {"DRAM": {"count": 1, )" + field + "}}");
}

Status pipeline(const std::string& step) {
  return parse_pipeline({"p.json", "[" + step + "]"}, {}, empty_hardware_model(),
                        passes::pass_registry())
      .status();
}

// ---- the rest

Status form_of(int64_t terms) {
  const edsl::Dim n;
  const edsl::Index i;
  const edsl::Tensor a = edsl::input("A", n);
  edsl::Tensor r("R", n);
  edsl::Form form = i;  // a term; a sum adds two, a sign one
  for (int64_t t = 1; t + 2 <= terms; t += 2) form = form + i;
  if (terms % 2 == 0) form = edsl::Form::call("neg", {form});
  r(i) += a(form);
  return edsl::program("p", {a}, {r}).status();
}

Status threads(const std::string& text) {
  ::setenv("STRIA_THREADS", text.c_str(), 1);
  const Status status = hal::threads_asked_for().status();
  ::unsetenv("STRIA_THREADS");
  return status;
}

Status manifest(int64_t bytes) {
  std::string text =
      R"({"schema": 1, "id": "acme", "version": "1.2.0", "vendor": "Acme", "library": "l.so",
    "abi": {"major": 0, "minor": [1, 3]}, "stripe": {"major": 1, "minor": [0, 0]},
    "devices": {"npu": {"hw": "hw/npu.json", "pipeline": "passes/npu.json"}}})";
  text.resize(static_cast<size_t>(bytes), ' ');
  return hal::parse_manifest(text, "plugin.json").status();
}

Status folder_of(int64_t files) {
  std::string folder = (std::filesystem::temp_directory_path() / "stria_limits_XXXXXX").string();
  if (!::mkdtemp(folder.data())) return internal_error("no folder");
  for (int64_t i = 0; i < files; ++i) std::ofstream(folder + fmt::format("/{}", i));
  const Status status = hal::check_trust(folder);
  std::filesystem::remove_all(folder);
  return status;
}

Status uncut(size_t bytes, size_t most) {
  const std::string text(bytes, 'x');
  return cut_text(text, most) == text
             ? Status()
             : invalid_argument("cut to {} bytes", cut_text(text, most).size());
}

Status spent(uint64_t steps) {
  TemplateWork work;
  return work.spend(steps - 1) && work.spend(1)
             ? Status()
             : invalid_argument("{} steps", TemplateWork::kMaxSteps);
}

struct Limit {
  std::string name;
  int64_t at;
  std::function<Status(int64_t)> use;
  std::string said;  // of one more; {} is the limit
};

const std::vector<Limit> kLimits = {
    {"brackets of an expression", 250,
     [](int64_t n) { return value(many(n, "(") + "A" + many(n, ")")); }, "more than {} brackets"},
    {"signs", 250, [](int64_t n) { return value(many(n, "-") + "A"); }, "more than {} brackets"},
    {"calls of builtins in each other", 250,
     [](int64_t n) { return value(many(n, "exp(") + "A" + many(n, ")")); },
     "more than {} brackets"},
    {"conditions", 250, [](int64_t n) { return value(many(n, "A < 1 ? A : ") + "A"); },
     "more than {} brackets"},
    {"brackets of a form", 250,
     [](int64_t n) {
       return bound("function (A[N]) -> (R) { R[i : N] = +(A[" + many(n, "(") + "i" + many(n, ")") +
                    "]); }");
     },
     "more than {} brackets"},
    {"operators in a row", 1000, [](int64_t n) { return value("A" + many(n, " + A")); },
     "more than {} operations deep"},
    {"calls within calls", 100, [](int64_t n) { return bound(calls_within(n)); },
     "nested more than {} deep"},
    {"calls within calls of a derivative", 100,
     [](int64_t n) -> Status {
       STRIA_ASSIGN(const tile::Program program, tile::parse({"t.tile", calls_within(n)}));
       return tile::gradient(program, {}, nullptr).status();
     },
     "nested more than {} deep"},
    {"statements", 200'000, statements, "more than {} statements"},
    {"calls", 500'000, calls, "more than {} calls"},
    {"integers of Tile", INT64_MAX,
     [](int64_t n) { return value(n < 0 ? "A + 9223372036854775808" : fmt::format("A + {}", n)); },
     "beyond {}, the largest i64"},
    {"pieces of an output", 1000,
     [](int64_t n) { return lower_detail::check_piece_count({static_cast<size_t>(n)}); },
     "more than {} sets"},
    {"terms of a form in C++", 200, form_of, "more than {} operations and names"},

    {"blocks within blocks", 128,
     [](int64_t n) { return stripe::parse({"t.stripe", nested_blocks(n)}).status(); },
     "the limit of {}"},
    {"blocks within blocks that are verified", 128, verified, "the limit of {}"},
    {"statements of an unrolled kernel",
     31,  // Ten points of three statements each, and their block.
     [](int64_t n) { return unrolled(62 - n, 10); }, "more than 30 statements"},

    {"brackets of a template", 40,
     [](int64_t n) { return shown(many(n, "(") + "1" + many(n, ")")); }, "nested deeper than {}"},
    {"lists of a template", 40, [](int64_t n) { return shown(many(n, "[") + "1" + many(n, "]")); },
     "nested deeper than {}"},
    {"signs of a template", 40, [](int64_t n) { return shown(many(n, "-") + "1"); },
     "nested deeper than {}"},
    {"'not' of a template", 40, [](int64_t n) { return shown(many(n, "not ") + "1"); },
     "nested deeper than {}"},
    {"operations of a template", 300, [](int64_t n) { return shown("1" + many(n, " + 1")); },
     "more than {} operations in a row"},
    {"filters of a template", 300, [](int64_t n) { return shown("1" + many(n, " | int")); },
     "more than {} operations in a row"},
    {"loops within loops", 40,
     [](int64_t n) { return rendered(many(n, "{% for i in [1] %}") + many(n, "{% endfor %}")); },
     "nested deeper than {}"},
    {"conditions within conditions", 40,
     [](int64_t n) { return rendered(many(n, "{% if true %}") + many(n, "{% endif %}")); },
     "nested deeper than {}"},
    {"numbers of a range", 1 << 17,
     [](int64_t n) { return rendered(fmt::format("{{% for i in range({}) %}}{{% endfor %}}", n)); },
     "range of more than {} numbers"},
    {"steps of a template", 1 << 18,
     [](int64_t n) {
       // A set and a loop are a step each, and so is each round.
       const int64_t rounds = 261, steps = 2 + rounds * (1 + 1 + 1000);
       return rendered(
           fmt::format("{{% set l = range(1000) %}}{{% for i in range({}) %}}{{% for j in l %}}"
                       "{{% endfor %}}{{% endfor %}}{{% for i in range({}) %}}{{% endfor %}}",
                       rounds, n - steps - 1));
     },
     "more than {} steps"},
    {"steps of expressions", static_cast<int64_t>(TemplateWork::kMaxSteps),
     [](int64_t n) { return spent(static_cast<uint64_t>(n)); }, "{} steps"},
    {"bytes of a rendered template", int64_t{64} << 20,
     [](int64_t n) {
       const int64_t piece = int64_t{1} << 20, last = n - 63 * piece;
       return rendered("{% for i in range(63) %}" + std::string(static_cast<size_t>(piece), ' ') +
                       "{% endfor %}" + std::string(static_cast<size_t>(last), ' '));
     },
     "longer than {} bytes"},
    {"brackets of JSON", 200,
     [](int64_t n) { return parse_json_text({"t.json", many(n, "[") + many(n, "]")}).status(); },
     "nested deeper than {}"},
    {"numbers of a model", 1'000'000'000,
     [](int64_t n) { return model(fmt::format("\"clock_mhz\": {}", n)); }, "is outside 0 .. {}"},
    {"counts of a model", 1'000'000'000,
     [](int64_t n) { return model(fmt::format(R"("mem_units": {{"DRAM": {{"count": {}}}}})", n)); },
     "is outside 1 .. {}"},
    {"bytes of a memory", 8'796'093'022'208,
     [](int64_t n) { return memory(fmt::format("\"size_KiB\": {}", n)); }, "is outside 0 .. {}"},
    {"options of a pass", 1 << 20,
     [](int64_t n) {
       return pipeline(
           fmt::format(R"({{"thread": {{"unit": "CORE", "points_per_core": {}}}}})", n));
     },
     "is outside 0 .. {}"},

    {"bytes of a tensor", (int64_t{1} << 61) - 1,
     [](int64_t n) { return check_sizes(DataType::fp32, {n}, "'A'"); }, "2^63 bytes or more"},
    {"threads", hal::kMaxThreads, [](int64_t n) { return threads(std::to_string(n)); }, "1 to {}"},
    {"bytes of a manifest", 1 << 20, manifest, "at most {}"},
    {"files of a plugin", 10'000, folder_of, "more than {} files"},
    {"bytes of a message", static_cast<int64_t>(kMaxMessageBytes),
     [](int64_t n) { return uncut(static_cast<size_t>(n), kMaxMessageBytes); }, "cut to "},
    {"bytes of a name", static_cast<int64_t>(kMaxNameBytes),
     [](int64_t n) { return uncut(static_cast<size_t>(n), kMaxNameBytes); }, "cut to "},
};

TEST(Limits, AreWhereTheirMessagesSay) {
  for (const Limit& limit : kLimits) {
    EXPECT_EQ(limit.use(limit.at - 1).message(), "") << limit.name << ", one below its limit";
    EXPECT_EQ(limit.use(limit.at).message(), "") << limit.name << ", at its limit";
    const Status beyond = limit.use(static_cast<int64_t>(static_cast<uint64_t>(limit.at) + 1));
    EXPECT_THAT(beyond.message(), HasSubstr(fmt::format(fmt::runtime(limit.said), limit.at)))
        << limit.name << ", one beyond its limit";
  }
}

// What is no limit: as many as one likes.
TEST(Limits, OfElifThereIsNone) {
  EXPECT_EQ(rendered("{% if false %}" + many(5000, "{% elif false %}") + "{% endif %}").message(),
            "");
}

}  // namespace
}  // namespace stria
