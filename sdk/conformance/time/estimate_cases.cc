// SPDX-License-Identifier: Apache-2.0
#include "model/kind_files.h"
#include "stria/runtime/compilation.h"
#include "stria/runtime/host/intrinsics.h"
#include "stria/stripe/text/printer.h"
#include "time/estimates.h"

namespace stria::conformance {
namespace {

struct Sized {
  const char* name;
  const char* tile;
  std::vector<int64_t> sizes;  // of A
};

// From little to much, of each form.
const std::vector<Sized>& programs() {
  static const char* const kSquare =
      "function f(A[N, M]) -> (R) { R[i, j : N, N] = +(A[i, k] * A[j, k]); }";
  static const char* const kAdd = "function f(A[N]) -> (R) { R = A * A + 1; }";
  static const char* const kSum = "function f(A[M, N]) -> (R) { R[m : M] = +(A[m, n]); }";
  static const std::vector<Sized> all = {
      {"product.16", kSquare, {16, 16}},    {"product.64", kSquare, {64, 64}},
      {"product.256", kSquare, {256, 256}}, {"elementwise.1", kAdd, {1}},
      {"elementwise.1000", kAdd, {1000}},   {"elementwise.1000000", kAdd, {1'000'000}},
      {"sum.100", kSum, {10, 10}},          {"sum.1000000", kSum, {1000, 1000}},
  };
  return all;
}

Result<std::string> device_stripe(Subject& s, const Sized& program) {
  STRIA_RETURN_IF_ERROR(s.open());
  const std::string& kind = s.device_info().kind;
  STRIA_ASSIGN(const auto model, reported_model(s, kind));
  STRIA_ASSIGN(const Pipeline pipeline, pipeline_of(s, kind, *model));
  STRIA_ASSIGN(const Program tile, Program::from_tile({"program.tile", program.tile}));
  STRIA_ASSIGN(Compilation compilation,
               lower_program(tile, {{"A", {DataType::fp32, program.sizes}}}));
  PipelineOptions how;
  how.intrinsics = &intrinsic_signatures();
  how.evaluate = &intrinsic_evaluator();
  STRIA_RETURN_IF_ERROR(run_pipeline(compilation.generic, pipeline, *model, how).status());
  return stripe::print(compilation.generic);
}

// Adds a case of level 2.
void add(CaseMaker& maker, std::string_view name, std::string_view sentence,
         std::function<Finding(Subject&, const stria_estimate_table&)> run) {
  add_estimate_case(maker, name, Level::right, sentence, std::move(run));
}

}  // namespace

void add_estimate_cases(CaseMaker& maker) {
  constexpr std::string_view kUnknown =
      "Each is 0 where the plugin does not know it; `low` and `high` enclose what is expected in "
      "nine runs of ten.";
  constexpr std::string_view kSame =
      "The same program has the same estimate, and hundreds of times the work do not take less "
      "time.";
  for (const Sized& program : programs()) {
    add(maker, fmt::format("{}.in_order", program.name), kUnknown,
        [&program](Subject& s, const stria_estimate_table& table) -> Finding {
          STRIA_ASSIGN(const std::string text, device_stripe(s, program));
          STRIA_ASSIGN(const stria_estimate out, estimate(s, table, text));
          const uint64_t low = out.low_time_ns, time = out.time_ns, high = out.high_time_ns;
          if ((low && time && low > time) || (time && high && time > high))
            return broken("a time of {} ns with bounds of {} and {} ns", time, low, high);
          if (time == 0 && out.energy_pj == 0 && out.prologue_ns == 0 && out.build_ns == 0)
            return broken_rule(Rule::judges,
                               "it knows nothing of this program and does not say so");
          return {};
        });
    add(maker, fmt::format("{}.again", program.name), kSame,
        [&program](Subject& s, const stria_estimate_table& table) -> Finding {
          STRIA_ASSIGN(const std::string text, device_stripe(s, program));
          STRIA_ASSIGN(const stria_estimate first, estimate(s, table, text));
          STRIA_ASSIGN(const stria_estimate second, estimate(s, table, text));
          if (first.time_ns != second.time_ns || first.energy_pj != second.energy_pj)
            return broken("asked twice it says {} ns and {} ns", first.time_ns, second.time_ns);
          return {};
        });
  }
  add(maker, "more_takes_longer", kSame,
      [](Subject& s, const stria_estimate_table& table) -> Finding {
        // The largest of each form against the smallest, a factor of hundreds of work.
        for (const auto& [less, more] : {std::pair<size_t, size_t>{0, 2}, {3, 5}, {6, 7}}) {
          STRIA_ASSIGN(const std::string small, device_stripe(s, programs()[less]));
          STRIA_ASSIGN(const std::string large, device_stripe(s, programs()[more]));
          STRIA_ASSIGN(const stria_estimate a, estimate(s, table, small));
          STRIA_ASSIGN(const stria_estimate b, estimate(s, table, large));
          if (a.time_ns && b.time_ns && a.time_ns > b.time_ns)
            return broken("{} takes {} ns, {} only {} ns", programs()[less].name, a.time_ns,
                          programs()[more].name, b.time_ns);
        }
        return {};
      });
  add(maker, "bad_text",
      "Of device Stripe as stria_compiler_table.build takes it; of any other text it fails.",
      [](Subject& s, const stria_estimate_table& table) -> Finding {
        for (const char* text : {"", "stripe 1.0\n", "0: #program block [] ("}) {
          const Status status = estimate(s, table, text).status();
          if (status.ok()) return broken("it estimates a time for '{}', which is no program", text);
          if (status.code() == StatusCode::unimplemented) return status;  // it estimates nothing
        }
        return {};
      });
}

}  // namespace stria::conformance
