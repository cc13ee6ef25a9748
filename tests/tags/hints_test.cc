// SPDX-License-Identifier: Apache-2.0
// Hints change no value (S20). Each golden program is as legal without its hints, and with hints
// wherever they may stand, and computes the same.
#include <gtest/gtest.h>

#include <random>

#include "device_programs.h"
#include "golden_programs.h"
#include "stria/interp/interpret.h"
#include "stria/stripe/tags.h"
#include "stria/stripe/verify/verifier.h"

namespace stria::tags {
namespace {

using Memory = std::map<std::string, std::vector<uint64_t>>;

int remove_hints(stripe::Program& program) {
  int removed = 0;
  visit_tags(program.entry, [&](stripe::Tags& tags) {
    const std::vector<stripe::Tag> all = tags.all();
    for (const stripe::Tag& tag : all) {
      const stripe::KnownTag* known = stripe::known_tag(tag.name);
      if (!known || known->meaning_class != stripe::TagClass::hint) continue;
      tags.remove(tag.name);
      ++removed;
    }
  });
  return removed;
}

// Every hint of the table on all that it may stand on.
void add_hints(stripe::Block& block, int depth) {
  for (const stripe::KnownTag& hint : stripe::known_tags()) {
    if (hint.meaning_class != stripe::TagClass::hint) continue;
    const std::string name(hint.name);
    stripe::TagValue value;
    if (hint.value == stripe::TagValueKind::number) value = int64_t{64};
    if (includes(hint.places, stripe::TagPlaces::block) && depth > 1) block.tags.set(name, value);
    if (includes(hint.places, stripe::TagPlaces::refinement))
      for (stripe::Refinement& ref : block.refs) ref.tags.set(name, value);
  }
  for (stripe::Statement& stmt : block.stmts)
    if (stripe::Block* inner = stmt.block()) add_hints(*inner, depth + 1);
}

// How often statements run, roughly: constraints are ignored.
double work_of(const stripe::Block& block) {
  double work = 1, points = 1;
  for (const stripe::Statement& stmt : block.stmts)
    work += stmt.block() ? work_of(*stmt.block()) : 1;
  for (const stripe::Index& index : block.idxs) points *= static_cast<double>(index.range);
  return points * work;
}

// Fills the program's tensors, runs it, and gives them back with what they hold then. `verdict` is
// "" or why it cannot run.
Memory run(const stripe::Program& program, std::string& verdict) {
  std::mt19937 random(7);
  Memory memory;
  std::vector<interp::TensorArg> tensors;
  for (const auto& found : {interp::program_inputs(program), interp::program_outputs(program)}) {
    if (!found.ok()) {
      verdict = found.status().message();
      return memory;
    }
    for (const interp::ProgramTensor& tensor : *found) {
      const auto [at, added] = memory.try_emplace(tensor.name);
      if (!added) continue;
      const auto count = static_cast<size_t>(tensor.shape.span_elements());
      at->second.resize(std::max<size_t>(count, 1));
      for (size_t i = 0; i < count; ++i) {
        const int number = static_cast<int>(random() % 17) - 8;
        store_scalar(tensor.shape.type, at->second.data(), static_cast<int64_t>(i),
                     is_float(tensor.shape.type) ? Scalar::of_float(tensor.shape.type, number / 8.0)
                                                 : Scalar::of_int(tensor.shape.type, number & 7));
      }
      tensors.push_back({tensor.name, at->second.data(), tensor.shape});
    }
  }
  const Status status = interp::interpret(program, tensors);
  verdict = status.ok() ? "" : status.message();
  return memory;
}

struct Counts {
  int programs = 0, with_hints = 0, legal = 0, compared = 0, hinted_compared = 0;
};

void expect_same(const std::string& name, const stripe::Program& program, bool had_hints,
                 const stripe::Program& other, double limit, Counts& counts) {
  const Status legal = stripe::verify(program), other_legal = stripe::verify(other);
  EXPECT_EQ(legal.ok(), other_legal.ok())
      << name << ": " << legal.to_string() << " / " << other_legal.to_string();
  counts.legal += legal.ok();
  if (!legal.ok() || work_of(program.entry) > limit) return;
  std::string verdict, other_verdict;
  const Memory values = run(program, verdict), other_values = run(other, other_verdict);
  EXPECT_EQ(verdict, other_verdict) << name;
  if (!verdict.empty()) return;
  EXPECT_TRUE(values == other_values) << name << ": another value";
  ++counts.compared;
  counts.hinted_compared += had_hints;
}

void check(const std::string& name, const stripe::Program& program, Counts& counts) {
  ++counts.programs;
  stripe::Program without = program;
  const bool had_hints = remove_hints(without) > 0;
  counts.with_hints += had_hints;
  if (had_hints) expect_same(name, program, true, without, 4e7, counts);
  stripe::Program with = without;
  add_hints(with.entry, 0);
  ASSERT_FALSE(with == without) << name;
  expect_same(name, without, false, with, 2e4, counts);
}

TEST(S20, GoldenProgramsAreTheSameWithoutTheirHintsAndWithMore) {
  Counts counts;
  for (const GoldenTest& test : golden_tests()) {
    if (test.input) check(test.name + ": input", *test.input, counts);
    if (test.output) check(test.name + ": output", *test.output, counts);
  }
  std::cout << counts.programs << " programs, " << counts.with_hints << " with hints; "
            << counts.legal << " comparisons of legal ones, " << counts.compared
            << " of their values, " << counts.hinted_compared << " of those that had hints\n";
  EXPECT_GT(counts.programs, 1000);
  EXPECT_GT(counts.with_hints, 20);
  EXPECT_GT(counts.compared, 300);
  EXPECT_GT(counts.hinted_compared, 15);
}

// At sizes that run: those of the files are printed ones.
TEST(S20, ProgramsByHandAreTheSameWithHints) {
  const std::pair<const char*, device_programs::Sizes> programs[] = {
      {"conv_gpu", {{"N", 16}, {"X", 6}, {"Y", 8}, {"CI", 16}, {"CO", 32}}},
      {"gemm_tensor_core", {{"M", 128}, {"N", 256}, {"K", 96}}}};
  for (const auto& [name, sizes] : programs) {
    Result<stripe::Program> program = device_programs::make(name, sizes);
    ASSERT_TRUE(program.ok()) << program.status().to_string();
    stripe::Program with = *program, without = *program;
    remove_hints(without);
    add_hints(with.entry, 0);
    Counts counts;
    expect_same(name, *program, false, with, 1e9, counts);
    expect_same(name, *program, false, without, 1e9, counts);
    EXPECT_EQ(counts.compared, 2) << name;
  }
}

// What is no hint is missed: the tests above would see a wrong class.
TEST(S20, OtherTagsAreNoHints) {
  int changed = 0;
  for (const GoldenTest& test : golden_tests()) {
    if (!test.input || work_of(test.input->entry) > 2e4) continue;
    stripe::Program without = *test.input;
    visit_tags(without.entry, [](stripe::Tags& tags) {
      tags.remove(stripe::tag::kZeroFill);
      tags.remove(stripe::tag::kDeps);
    });
    if (without == *test.input || !stripe::verify(*test.input).ok()) continue;
    std::string verdict, other_verdict;
    const Memory values = run(*test.input, verdict), others = run(without, other_verdict);
    changed += !stripe::verify(without).ok() || verdict != other_verdict || values != others;
  }
  EXPECT_GE(changed, 3);
}

}  // namespace
}  // namespace stria::tags
