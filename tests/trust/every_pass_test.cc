// SPDX-License-Identifier: Apache-2.0
// Every pass alone, with several sets of options, on generated legal programs: what it leaves is
// legal and computes the same.
#include <gtest/gtest.h>

#include <chrono>
#include <iostream>
#include <map>
#include <set>

#include "coverage.h"
#include "known_intrinsics.h"
#include "legal_program.h"
#include "option_sets.h"
#include "settings.h"
#include "stria/base/file.h"
#include "stria/builtins/evaluate.h"
#include "stria/interp/program_values.h"
#include "stria/pass/reproducer.h"
#include "stria/passes/all_passes.h"
#include "stria/stripe/text/printer.h"

namespace stria::trust {
namespace {

const EvaluateIntrinsic kEvaluate = evaluate;

// What these look for is in few generated programs, or in none; or the machine has no unit for it.
const std::set<std::string> kFindsNothing = {"chain_kernels", "delay_stores", "join_pieces",
                                             "matrix_groups", "matrix_units", "merge_views",
                                             "pack_inputs",   "pad",          "stage_operands",
                                             "swizzle",       "winograd"};

struct PassRecord {
  int64_t runs = 0, matched = 0, changed = 0, refused = 0, failures = 0;
  double milliseconds = 0;
  std::map<std::string, int64_t> refusals;
};

class EveryPass {
 public:
  EveryPass() : machine_(small_machine()), passes_(passes::all_passes()) {
    for (const PassInfo& pass : passes_)
      sets_[pass.name] = option_sets(pass, machine_, number_from("STRIA_TRUST_SETS", 8), 1);
  }

  void run_all(uint64_t seed) {
    const stripe::Program program = legal_program(seed);
    coverage_.add(program);
    auto values = interp::run_on_random(program, seed);
    if (!values.ok()) {
      ADD_FAILURE() << "seed " << seed << ": " << values.status().to_string();
      return;
    }
    const std::string only = text_from("STRIA_TRUST_PASS", "");
    checked_ = {};
    for (const PassInfo& pass : passes_) {
      if (!only.empty() && pass.name != only) continue;
      PassRecord& record = records_[pass.name];
      const auto& sets = sets_[pass.name];
      // In turn, so that all sets have theirs; the next one as well where one does nothing.
      const int64_t done = record.changed + record.refused;
      for (size_t n = 0; n < std::min<size_t>(2, sets.size()); ++n)
        if (record.changed + record.refused == done && record.failures < 3)
          run_one(seed, program, *values, pass, sets[(seed + n) % sets.size()], record);
    }
  }

  void print() const {
    for (const auto& [name, record] : records_) {
      std::cout << fmt::format(
          "  {}: {} sets, {} runs, {} changed a program, {} refused, {:.0f} ms\n", name,
          sets_.at(name).size(), record.runs, record.changed, record.refused, record.milliseconds);
      for (const auto& [why, count] : record.refusals)
        std::cout << "    " << count << " " << why << "\n";
    }
    std::cout << coverage_.to_string();
  }

  // A pass that never did anything was not tested.
  void expect_work(int64_t programs) const {
    EXPECT_FALSE(records_.empty()) << "no pass '" << text_from("STRIA_TRUST_PASS", "") << "'";
    for (const auto& [name, record] : records_) {
      EXPECT_FALSE(sets_.at(name).empty()) << name << ": no options fit; see given_sets()";
      if (programs < 500) continue;  // of which these say little
      if (!kFindsNothing.count(name)) {
        EXPECT_GT(record.changed, 0) << name;
      }
      EXPECT_LE(record.refused * 2, record.runs) << name << " refuses too much";
    }
  }

 private:
  void run_one(uint64_t seed, const stripe::Program& program, interp::ProgramValues& values,
               const PassInfo& pass, const std::string& options, PassRecord& record) {
    PipelineOptions how;
    how.verify_each = false;
    how.evaluate = &kEvaluate;
    std::string before = step_before(pass.name, options);
    stripe::Program prepared = program;
    if (!before.empty()) {
      auto steps = parse_pipeline({"before", "[" + before + "]"}, {}, machine_, passes_);
      ASSERT_TRUE(steps.ok()) << steps.status().to_string();
      if (!run_pipeline(prepared, *steps, machine_, how).ok() || prepared == program) return;
      before += ", ";
    }
    const std::string json = fmt::format(R"([{}{{"{}": {}}}])", before, pass.name, options);
    auto steps = parse_pipeline({"pipeline", fmt::format(R"([{{"{}": {}}}])", pass.name, options)},
                                {}, machine_, passes_);
    ASSERT_TRUE(steps.ok()) << steps.status().to_string();
    stripe::Program after = prepared;
    auto reports = run_pipeline(after, *steps, machine_, how);
    ++record.runs;
    std::string wrong;
    if (!reports.ok()) {
      const StatusCode code = reports.status().code();
      if (code == StatusCode::unsupported || code == StatusCode::unknown) {
        ++record.refused;
        ++record.refusals[std::string(reports.status().message()).substr(0, 200)];
        return;
      }
      wrong = "fails: " + reports.status().to_string();
    } else {
      record.matched += reports->back().matched;
      record.milliseconds += reports->back().milliseconds;
      if (after == prepared) return;
      ++record.changed;
      // The set before often comes to the same.
      const bool says_so = reports->back().changed > 0;
      if (after == checked_ && says_so) return;
      // Dependencies are mended after a pass that says that it changed something.
      wrong = says_so ? what_is_wrong(after, values, pass.name)
                      : "changes the program and does not say so";
      checked_ = std::move(after);
    }
    if (wrong.empty()) return;
    ++record.failures;
    Reproducer reproducer;
    reproducer.verify_each = true;
    reproducer.pipeline = json;
    reproducer.hw = machine_.to_string();
    reproducer.program = stripe::print(program);
    reproducer.failure = wrong;
    const std::string path =
        fmt::format("{}/every_pass_{}_{}.stripe", STRIA_BINARY_DIR, pass.name, seed);
    (void)write_file(path, reproducer.to_string());
    ADD_FAILURE() << fmt::format(
        "{} with {}\n{}\nagain: STRIA_TRUST_SEED={} STRIA_TRUST_PROGRAMS=1 STRIA_TRUST_PASS={} "
        "every_pass_test\nsmaller: stria reduce {} --seed {}{}\n",
        pass.name, options, wrong, seed, pass.name, path, seed,
        regroups(pass.name) ? "" : " --exact");
  }

  std::string what_is_wrong(const stripe::Program& after, interp::ProgramValues& values,
                            const std::string& pass) {
    const auto units = machine_.units();
    stripe::VerifyOptions options;
    options.intrinsics = &known_intrinsics();
    options.units = &units;
    if (Status legal = stripe::verify(after, options); !legal.ok())
      return "is not legal: " + legal.message();
    const Refusal wrong = interp::difference(
        after, values, regroups(pass) ? interp::Same::within_bounds : interp::Same::exact);
    return wrong ? wrong.reason() : "";
  }

  HardwareModel machine_;
  std::vector<PassInfo> passes_;
  std::map<std::string, std::vector<std::string>> sets_;
  std::map<std::string, PassRecord> records_;
  Coverage coverage_;
  stripe::Program checked_;  // what a pass made of the program at hand, last
};

TEST(EveryPass, KeepsValuesOfGeneratedPrograms) {
  const uint64_t first = number_from("STRIA_TRUST_SEED", 1);
  const uint64_t count = number_from("STRIA_TRUST_PROGRAMS", 500);
  EveryPass test;
  // Whoever only wants to know whether something is wrong.
  const bool all = number_from("STRIA_TRUST_STOP", 0) == 0;
  for (uint64_t seed = first; seed < first + count && (all || !testing::Test::HasFailure()); ++seed)
    test.run_all(seed);
  std::cout << count << " programs from seed " << first << "\n";
  test.print();
  test.expect_work(static_cast<int64_t>(count));
}

}  // namespace
}  // namespace stria::trust
