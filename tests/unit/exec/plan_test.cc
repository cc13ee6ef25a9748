// SPDX-License-Identifier: Apache-2.0
// Plans of small programs by hand, and of random ones by simulation: whatever order the
// dependencies allow, every kernel must find in memory exactly what a run in program order would
// have left there.
#include "stria/exec/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "stria/hal/boundary/error.h"

namespace stria::exec {
namespace {

using hal::Direction;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

stripe::Refinement tensor(stripe::RefDir dir, const std::string& from, const std::string& into,
                          int64_t elements) {
  stripe::Refinement ref;
  ref.dir = dir;
  ref.from = from;
  ref.into = into;
  ref.access = {Affine(0)};
  ref.shape = dense_shape(DataType::fp32, {elements});
  return ref;
}

// A program of named kernels over named tensors, and the library that a plugin would make of it.
struct Maker {
  stripe::Program program;
  std::vector<hal::KernelInfo> kernels;

  Maker() {
    program.entry.name = "test";
    program.entry.tags.set("program");
  }
  stripe::Block& part(const char* tag) {
    for (stripe::Statement& stmt : program.entry.stmts)
      if (stmt.block()->tags.has(tag)) return *stmt.block();
    stripe::Block block;
    block.name = tag;
    block.tags.set(tag);
    program.entry.stmts.emplace_back(std::move(block));
    return *program.entry.stmts.back().block();
  }
  void program_tensor(const char* part_tag, stripe::RefDir dir, const std::string& name,
                      int64_t n) {
    if (!program.entry.find_ref(name))
      program.entry.refs.push_back(tensor(stripe::RefDir::none, "", name, n));
    part(part_tag).refs.push_back(tensor(dir, name, name, n));
  }
  void temporary(const std::string& name, int64_t n, const char* part_tag = "main") {
    part(part_tag).refs.push_back(tensor(stripe::RefDir::none, "", name, n));
  }
  void kernel(const std::vector<std::string>& outs, const std::vector<std::string>& ins,
              const char* part_tag = "main", Direction out_direction = Direction::out) {
    stripe::Block block;
    block.name = "kernel_" + std::to_string(kernels.size());
    hal::KernelInfo info;
    info.name = block.name;
    info.part =
        part_tag == std::string("main") ? hal::ProgramPart::main : hal::ProgramPart::prologue;
    info.statement = part(part_tag).stmts.size();
    auto use = [&](const std::string& name, Direction direction, stripe::RefDir dir) {
      info.arguments.push_back({name, direction, 0, {}});
      block.refs.push_back(tensor(dir, name, std::to_string(block.refs.size()), 1));
    };
    for (const std::string& name : outs)
      use(name, out_direction,
          out_direction == Direction::out ? stripe::RefDir::out : stripe::RefDir::inout);
    for (const std::string& name : ins) use(name, Direction::in, stripe::RefDir::in);
    part(part_tag).stmts.emplace_back(std::move(block));
    kernels.push_back(info);
  }
  Result<Plan> plan() const { return make_plan(program, kernels); }
};

TEST(Plan, AChainReusesTwoPlaces) {
  Maker m;
  m.program_tensor("main", stripe::RefDir::in, "A", 64);
  m.program_tensor("main", stripe::RefDir::out, "R", 64);
  std::string last = "A";
  for (int i = 0; i < 10; ++i) {
    std::string name = "T" + std::to_string(i);
    m.temporary(name, 64);
    m.kernel({name}, {last});
    last = name;
  }
  m.kernel({"R"}, {last});
  auto plan = m.plan();
  ASSERT_TRUE(plan.ok()) << plan.status().to_string();
  EXPECT_EQ(plan->main.arena_bytes, 512u);
  EXPECT_EQ(plan->main.live_bytes, 512u);
  ASSERT_EQ(plan->main.kernels.size(), 11u);
  EXPECT_THAT(plan->main.kernels[0].after, IsEmpty());
  EXPECT_THAT(plan->main.kernels[1].after, ElementsAre(0));
  // T2 takes T0's place: kernel 2 waits for the writer of what it reads (1), which also read T0.
  EXPECT_THAT(plan->main.kernels[2].after, ElementsAre(0, 1));
  ASSERT_EQ(plan->inputs.size(), 1u);
  EXPECT_EQ(plan->tensors[plan->inputs[0]].name, "A");
  ASSERT_EQ(plan->outputs.size(), 1u);
  EXPECT_EQ(plan->tensors[plan->outputs[0]].bytes, 256u);
}

TEST(Plan, IndependentKernelsDoNotWait) {
  Maker m;
  m.program_tensor("main", stripe::RefDir::in, "A", 8);
  m.program_tensor("main", stripe::RefDir::out, "R", 8);
  m.program_tensor("main", stripe::RefDir::out, "S", 8);
  m.kernel({"R"}, {"A"});
  m.kernel({"S"}, {"A"});
  auto plan = m.plan();
  EXPECT_THAT(plan->main.kernels[1].after, IsEmpty());
  EXPECT_EQ(plan->main.arena_bytes, 0u);
}

TEST(Plan, OverwritingWaitsForReadersAndWriter) {
  Maker m;
  m.program_tensor("main", stripe::RefDir::in, "A", 8);
  m.program_tensor("main", stripe::RefDir::out, "R", 8);
  m.program_tensor("main", stripe::RefDir::out, "S", 8);
  m.kernel({"R"}, {"A"});                            // 0
  m.kernel({"S"}, {"R"});                            // 1 reads 0's
  m.kernel({"R"}, {"A"}, "main", Direction::inout);  // 2 after 0 and 1
  m.kernel({"R"}, {}, "main", Direction::inout);     // 3 after 2
  auto plan = m.plan();
  EXPECT_THAT(plan->main.kernels[1].after, ElementsAre(0));
  EXPECT_THAT(plan->main.kernels[2].after, ElementsAre(0, 1));
  EXPECT_THAT(plan->main.kernels[3].after, ElementsAre(2));
}

TEST(Plan, PrologueResultsAreDerived) {
  Maker m;
  m.program_tensor("prologue", stripe::RefDir::in, "W", 16);
  m.program_tensor("prologue", stripe::RefDir::out, "P", 16);
  m.temporary("T", 16, "prologue");
  m.program_tensor("main", stripe::RefDir::in, "P", 16);
  m.program_tensor("main", stripe::RefDir::in, "A", 16);
  m.program_tensor("main", stripe::RefDir::out, "R", 16);
  m.kernel({"T"}, {"W"}, "prologue");
  m.kernel({"P"}, {"T"}, "prologue");
  m.kernel({"R"}, {"A", "P"});
  auto plan = m.plan();
  ASSERT_TRUE(plan.ok()) << plan.status().to_string();
  std::vector<std::string> inputs;
  for (size_t t : plan->inputs) inputs.push_back(plan->tensors[t].name);
  EXPECT_THAT(inputs, ElementsAre("A", "W"));
  EXPECT_FALSE(plan->tensors[plan->inputs[0]].prologue_reads);
  EXPECT_TRUE(plan->tensors[plan->inputs[1]].prologue_reads);
  EXPECT_EQ(plan->derived_bytes, 256u);
  EXPECT_EQ(plan->prologue.kernels.size(), 2u);
  EXPECT_EQ(plan->main.kernels.size(), 1u);
  EXPECT_THAT(plan->main.kernels[0].after, IsEmpty());
}

TEST(Plan, WrongLibrariesAndPrograms) {
  auto failure = [](const Maker& m) {
    auto plan = m.plan();
    return plan.ok() ? "ok" : plan.status().message();
  };
  EXPECT_THAT(failure(Maker()), HasSubstr("no block tagged #main"));
  Maker unwritten;
  unwritten.program_tensor("main", stripe::RefDir::out, "R", 8);
  unwritten.temporary("T", 8);
  unwritten.kernel({"R"}, {"T"});
  EXPECT_THAT(failure(unwritten), HasSubstr("reads 'T', which no kernel before it writes"));
  Maker unknown;
  unknown.program_tensor("main", stripe::RefDir::out, "R", 8);
  unknown.kernel({"R"}, {"X"});
  EXPECT_THAT(failure(unknown), HasSubstr("argument 'X'"));
  Maker beyond;
  beyond.program_tensor("main", stripe::RefDir::out, "R", 8);
  beyond.kernel({"R"}, {});
  beyond.kernels[0].statement = 7;
  EXPECT_THAT(failure(beyond), HasSubstr("statement 7"));
  Maker dangling;
  dangling.program_tensor("main", stripe::RefDir::out, "R", 8);
  dangling.part("main").refs[0].from = "Q";
  EXPECT_THAT(failure(dangling), HasSubstr("tensor 'Q'"));
}

// R = f(T), T = g(A), with what a library might make of it.
struct TwoStatements : Maker {
  TwoStatements() {
    program_tensor("main", stripe::RefDir::in, "A", 8);
    program_tensor("main", stripe::RefDir::out, "R", 8);
    temporary("T", 8);
    kernel({"T"}, {"A"});
    kernel({"R"}, {"T"});
  }
  Status verdict() const { return plan().status(); }
};

TEST(Plan, EachStatementHasOneKernelInOrder) {
  EXPECT_TRUE(TwoStatements().verdict().ok());
  auto refused = [](const TwoStatements& m, const char* why) {
    EXPECT_EQ(m.verdict().code(), hal::kPluginFault) << why;
    EXPECT_THAT(m.verdict().message(), HasSubstr(why));
  };
  TwoStatements none;
  none.kernels.clear();
  refused(none, "no kernel for statement 0 of 'main', which has 2");
  TwoStatements few;
  few.kernels.pop_back();
  refused(few, "no kernel for statement 1 of 'main', which has 2");
  TwoStatements twice;
  twice.kernels.insert(twice.kernels.begin(), twice.kernels[0]);
  refused(twice,
          "kernel 'kernel_0' for statement 0 of 'main', which has 2 statements, comes where "
          "that for statement 1 is due");
  TwoStatements many;
  many.kernels.push_back(many.kernels[1]);
  refused(many, "comes where none is due any more");
  TwoStatements turned;
  std::swap(turned.kernels[0], turned.kernels[1]);
  refused(turned, "comes where that for statement 0 is due");
  TwoStatements elsewhere;
  elsewhere.kernels[1].part = hal::ProgramPart::prologue;
  refused(elsewhere, "no kernel for statement 1");
}

TEST(Plan, KernelsTakeWhatTheirStatementsSay) {
  auto refused = [](const TwoStatements& m, const char* why) {
    EXPECT_EQ(m.verdict().code(), hal::kPluginFault) << why;
    EXPECT_THAT(m.verdict().message(), HasSubstr(why));
  };
  TwoStatements turned;
  turned.kernels[1].arguments[0].direction = Direction::inout;
  refused(turned,
          "kernel 'kernel_1' for statement 1 of 'main' takes (inout R, in T), the program "
          "wants (out R, in T)");
  TwoStatements other;
  other.kernels[1].arguments[1].name = "A";
  refused(other, "takes (out R, in A), the program wants (out R, in T)");
  TwoStatements short_one;
  short_one.kernels[1].arguments.pop_back();
  refused(short_one, "takes (out R), the program wants (out R, in T)");
}

TEST(Plan, OneKernelForAllOfAPart) {
  TwoStatements whole;
  whole.kernels.pop_back();
  whole.kernels[0].statement = STRIA_WHOLE_PART;
  whole.kernels[0].arguments = {{"R", Direction::out, 0, {}}, {"A", Direction::in, 0, {}}};
  EXPECT_TRUE(whole.verdict().ok()) << whole.verdict().to_string();
  TwoStatements own = whole;  // with room for what is temporary
  own.kernels[0].arguments.insert(own.kernels[0].arguments.begin() + 1,
                                  {"T", Direction::out, 0, {}});
  EXPECT_TRUE(own.verdict().ok()) << own.verdict().to_string();
  TwoStatements blind = whole;
  blind.kernels[0].arguments.pop_back();
  EXPECT_THAT(blind.verdict().message(), HasSubstr("for all of 'main' takes (out R), the program "
                                                   "wants (out R, in A)"));
  TwoStatements both = whole;
  both.kernels.push_back(TwoStatements().kernels[1]);
  EXPECT_EQ(both.verdict().code(), hal::kPluginFault);
}

// Runs the kernels in `order` on a memory of bytes that remember who wrote them: (tensor, version).
// Returns what each kernel read, by kernel.
using Seen = std::vector<std::vector<std::pair<size_t, int>>>;
Seen simulate(const Plan& plan, const Maker& m, const std::vector<size_t>& order,
              const std::vector<std::vector<int>>& version_written) {
  const uint64_t unit = kArenaAlignment;
  std::vector<std::pair<size_t, int>> arena(plan.main.arena_bytes / unit, {99999, -1});
  std::map<size_t, std::pair<size_t, int>> own;  // tensors of the caller
  Seen seen(order.size());
  for (size_t k : order) {
    const PlannedKernel& kernel = plan.main.kernels[k];
    for (bool writes : {false, true})
      for (size_t a = 0; a < kernel.arguments.size(); ++a) {
        const size_t t = kernel.arguments[a].tensor;
        if (writes != (m.kernels[k].arguments[a].direction == Direction::out)) continue;
        const PlannedTensor& tensor = plan.tensors[t];
        const std::pair<size_t, int> mark{t, version_written[k][a]};
        if (tensor.role != TensorRole::temporary) {
          if (writes) own[t] = mark;
          if (!writes) seen[k].push_back(own.count(t) ? own[t] : std::pair<size_t, int>{t, 0});
          continue;
        }
        for (uint64_t at = tensor.offset; at < tensor.offset + tensor.bytes; at += unit) {
          if (writes) arena[at / unit] = mark;
          if (!writes) seen[k].push_back(arena[at / unit]);
        }
      }
  }
  return seen;
}

TEST(Plan, RandomProgramsInEveryAllowedOrder) {
  std::mt19937 random(20240607);
  auto pick = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  double worst = 0;
  uint64_t reused = 0;
  for (int round = 0; round < 1000; ++round) {
    Maker m;
    m.program_tensor("main", stripe::RefDir::in, "A", 8);
    m.program_tensor("main", stripe::RefDir::out, "R", 8);
    const int count = 1 + pick(20);
    std::vector<std::string> written = {"A"};
    for (int i = 0; i < count; ++i) {
      std::vector<std::string> outs, ins;
      for (int j = pick(3); j >= 0; --j) {
        // Mostly recent tensors, so that lifetimes end.
        int back = std::min<int>(static_cast<int>(written.size()), 1 + pick(4));
        ins.push_back(written[written.size() - static_cast<size_t>(back)]);
      }
      if (pick(6) == 0 && written.size() > 1) {
        outs.push_back(written[1 + pick(static_cast<int>(written.size()) - 1)]);  // written again
        std::erase(ins, outs[0]);
      } else {
        outs.push_back("T" + std::to_string(i));
        m.temporary(outs[0], 64 * pick(9));
        written.push_back(outs[0]);
      }
      m.kernel(outs, ins);
    }
    m.kernel({"R"}, {written.back()});
    auto plan = m.plan();
    ASSERT_TRUE(plan.ok()) << plan.status().to_string();
    ASSERT_GE(plan->main.arena_bytes, plan->main.live_bytes);
    if (plan->main.live_bytes > 0)
      worst = std::max(worst, static_cast<double>(plan->main.arena_bytes) / plan->main.live_bytes);
    uint64_t all = 0;
    for (const PlannedTensor& t : plan->tensors)
      if (t.role == TensorRole::temporary) all += t.bytes;
    reused += all - std::min(all, plan->main.arena_bytes);

    const size_t kernels = plan->main.kernels.size();
    std::vector<std::vector<int>> versions(kernels);
    std::map<size_t, int> version;
    for (size_t k = 0; k < kernels; ++k)
      for (size_t a = 0; a < plan->main.kernels[k].arguments.size(); ++a) {
        const bool out = m.kernels[k].arguments[a].direction == Direction::out;
        versions[k].push_back(out ? ++version[plan->main.kernels[k].arguments[a].tensor] : 0);
      }
    std::vector<size_t> in_order(kernels);
    for (size_t k = 0; k < kernels; ++k) in_order[k] = k;
    const Seen expected = simulate(*plan, m, in_order, versions);
    for (const auto& reads : expected)
      for (const auto& mark : reads) ASSERT_NE(mark.first, 99999u) << "in order already wrong";
    for (int shuffle = 0; shuffle < 5; ++shuffle) {
      std::vector<size_t> order;
      std::vector<bool> done(kernels);
      while (order.size() < kernels) {
        std::vector<size_t> ready;
        for (size_t k = 0; k < kernels; ++k) {
          const auto& after = plan->main.kernels[k].after;
          if (!done[k] &&
              std::all_of(after.begin(), after.end(), [&](uint32_t b) { return done[b]; }))
            ready.push_back(k);
        }
        ASSERT_FALSE(ready.empty());
        // The last ready one as often as a random one: the order farthest from the program's.
        size_t next = shuffle == 0 ? ready.back() : ready[pick(static_cast<int>(ready.size()))];
        done[next] = true;
        order.push_back(next);
      }
      ASSERT_EQ(simulate(*plan, m, order, versions), expected) << "round " << round;
    }
  }
  EXPECT_GT(reused, 0u);
  RecordProperty("worst_arena_over_live", std::to_string(worst));
  EXPECT_LE(worst, 1.1);
}

}  // namespace
}  // namespace stria::exec
