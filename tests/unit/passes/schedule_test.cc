// SPDX-License-Identifier: Apache-2.0
// Schedules of random layer graphs: legal, and how close to what the machine needs at the least.
#include "stria/passes/staging/schedule.h"
#include "list_schedule.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <random>
#include <set>

#include "stria/hwmodel/hardware_model.h"
#include "stria/pass/model_rules.h"
#include "stria/passes/overlap/compute_deps.h"
#include "stria/passes/staging/scratchpad_space.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/verify/verifier.h"

namespace stria::passes {
namespace {

using testing::HasSubstr;

constexpr int64_t kBytesPerCycle = 16;

HardwareModel accelerator() {
  auto model = load_hardware_model({"accelerator", R"({
    "clock_mhz": 1000,
    "mem_units": {"DRAM": {"size_KiB": 1048576, "policy": "managed"},
                  "SRAM": {"count": 2, "size_KiB": 64, "policy": "managed"}},
    "exec_units": {"CONV": {"ops_per_cycle": 2048, "pipeline_depth": 2},
                   "DSP": {"ops_per_cycle": 64, "pipeline_depth": 2}},
    "tx_units": {"DMA": {"count": 2}},
    "buses": [
      {"sources": ["DRAM[0]"], "sinks": ["DMA[0]", "DMA[1]"], "bytes_per_cycle": 16},
      {"sources": ["DMA[0]", "DMA[1]"], "sinks": ["SRAM[0]"], "bytes_per_cycle": 16},
      {"sources": ["SRAM[0]"], "sinks": ["DMA[0]", "DMA[1]"], "bytes_per_cycle": 16},
      {"sources": ["DMA[0]", "DMA[1]"], "sinks": ["DRAM[0]"], "bytes_per_cycle": 16}]})"});
  EXPECT_TRUE(model.ok()) << model.status().to_string();
  return std::move(model).value();
}

ScheduleOptions scratchpad_options() {
  ScheduleOptions options;
  options.mem_loc.path.push_back({"SRAM", {Affine(0)}, {}});
  options.xfer_loc.path.push_back({"DMA", {}, {}});
  options.alignment = 16;
  return options;
}

struct Graph {
  std::string text;
  double naive_transfers = 0;  // cycles if each layer brings and takes away all that it touches
};

// Layers that read one or two of the last few results: products with weights of their own, or sums.
// What nobody reads is an output.
Graph random_graph(uint64_t seed, int64_t layers) {
  std::mt19937_64 random(seed);
  auto below = [&](int64_t n) { return static_cast<int64_t>(random() % static_cast<uint64_t>(n)); };
  const int64_t size = int64_t{64} << below(5);
  Graph graph;
  std::string tensors, views, temporaries, kernels;
  std::vector<int64_t> readers(static_cast<size_t>(layers) + 1);
  auto tensor = [&](const std::string& name, int64_t elements, const char* dir) {
    tensors += fmt::format("none new@0x0<DRAM[0]> {}[0] fp32({}:1)\n", name, elements);
    views += fmt::format("{}<DRAM[0]> {}[0] fp32({}:1)\n", dir, name, elements);
  };
  tensor("T0", size, "in");
  for (int64_t i = 1; i <= layers; ++i) {
    auto before = [&] { return i - 1 - std::min(below(4) * below(2), i - 1); };
    const int64_t a = before(), b = before();
    const bool product = below(4) > 0;
    ++readers[static_cast<size_t>(a)];
    std::string block =
        fmt::format("{}: #kernel block<{}> [x:{}", i - 1, product ? "CONV" : "DSP", size);
    const int64_t weights = 64 + below(1984);
    int64_t elements = 2 * size;
    if (product) {
      tensor(fmt::format("W{}", i), weights, "in");
      block += fmt::format(", m:{}", weights);
      elements += weights;
    }
    block += fmt::format("] ( in<DRAM[0]> T{}[x] fp32(1:1)\n", a);
    if (product) block += fmt::format("in<DRAM[0]> W{}[m] fp32(1:1)\n", i);
    const bool two = a != b;
    if (two) {
      ++readers[static_cast<size_t>(b)];
      elements += size;
      block += fmt::format("in<DRAM[0]> T{}[x] fp32(1:1)\n", b);
    }
    block += fmt::format("out<DRAM[0]> T{}[x]{} fp32(1:1) ) {{\n", i, product ? ":add.fp32" : "");
    int line = 0;
    auto add = [&](const std::string& statement) {
      block += fmt::format("{}: {}\n", line++, statement);
    };
    add(fmt::format("$a = load(T{})", a));
    std::string value = "$a";
    if (two) {
      add(fmt::format("$b = load(T{})", b));
      add("$s = add.fp32($a, $b)");
      value = "$s";
    }
    if (product) {
      add(fmt::format("$w = load(W{})", i));
      add(fmt::format("$p = mul.fp32({}, $w)", value));
      value = "$p";
    }
    add(fmt::format("T{} = store({})", i, value));
    kernels += block + "}\n";
    graph.naive_transfers +=
        static_cast<double>(elements * 4) / static_cast<double>(kBytesPerCycle);
  }
  for (int64_t i = 1; i <= layers; ++i) {
    if (readers[static_cast<size_t>(i)] == 0)
      tensor(fmt::format("T{}", i), size, "out");
    else
      temporaries += fmt::format("none new@0x0<DRAM[0]> T{}[0] fp32({}:1)\n", i, size);
  }
  graph.text = "0: #program block [] (\n" + tensors + ") {\n0: #main block [] (\n" + views +
               temporaries + ") {\n" + kernels + "} }\n";
  return graph;
}

stripe::Program parsed(const std::string& text) {
  auto program = stripe::parse({"graph", text});
  EXPECT_TRUE(program.ok()) << program.status().to_string();
  return program.ok() ? std::move(program).value() : stripe::Program();
}

TEST(Schedule, RandomLayerGraphsRunCloseToTheLeastThatTheMachineNeeds) {
  const HardwareModel model = accelerator();
  auto rules = ModelRules::of(model);
  ASSERT_TRUE(rules.ok());
  double worst = 0, sum = 0, gain = 0, gain_alone = 0;
  constexpr uint64_t kGraphs = 200;
  for (uint64_t seed = 1; seed <= kGraphs; ++seed) {
    const Graph graph = random_graph(seed, 50);
    stripe::Program program = parsed(graph.text);
    PassContext context(model);
    ScheduleOptions options = scratchpad_options();
    options.mem_KiB = seed % 2 == 0 ? 64 : 40;
    const Status status = schedule(program, options, context);
    ASSERT_TRUE(status.ok()) << "seed " << seed << ": " << status.to_string();
    stripe::VerifyOptions checks = rules->options(nullptr);
    if (seed % 20 != 0) checks.accesses = stripe::AccessRules::none();  // slow
    const Status legal = stripe::verify(program, checks);
    ASSERT_TRUE(legal.ok()) << "seed " << seed << ": " << legal.to_string();
    auto time = cost::list_schedule(*program.main(), model);
    ASSERT_TRUE(time.ok()) << "seed " << seed << ": " << time.status().to_string();
    double kernels = 0;
    for (const cost::StatementTime& statement : time->statements)
      if (!statement.transfers) kernels += statement.end - statement.start;
    const double ratio = time->cycles / time->at_least;
    EXPECT_GE(ratio, 1 - 1e-9) << "seed " << seed;
    EXPECT_LE(ratio, 1.15) << "seed " << seed;
    worst = std::max(worst, ratio);
    sum += ratio;
    gain += (kernels + graph.naive_transfers) / time->cycles;
    gain_alone += time->one_at_a_time / time->cycles;
  }
  std::printf(
      "%d graphs of 50 layers: makespan over the least %.3f on average, %.3f at worst; %.2f times "
      "as "
      "fast as one at a time without keeping anything near, %.2f times as one statement at a "
      "time\n",
      static_cast<int>(kGraphs), sum / kGraphs, worst, gain / kGraphs, gain_alone / kGraphs);
}

TEST(Schedule, DependenciesAreTheFewest) {
  const HardwareModel model = accelerator();
  stripe::Program program = parsed(random_graph(3, 30).text);
  PassContext context(model);
  ASSERT_TRUE(schedule(program, scratchpad_options(), context).ok());
  // Without any one of them the program is not legal.
  stripe::VerifyOptions checks;
  checks.accesses = stripe::AccessRules::none();
  ASSERT_TRUE(stripe::verify(program, checks).ok());
  for (stripe::Statement& stmt : program.main()->stmts) {
    for (size_t d = 0; d < stmt.deps.size(); ++d) {
      const std::vector<int64_t> all = stmt.deps;
      stmt.deps.erase(stmt.deps.begin() + static_cast<std::ptrdiff_t>(d));
      EXPECT_FALSE(stripe::verify(program, checks).ok());
      stmt.deps = all;
    }
  }
}

TEST(Schedule, RoutesAreThoseOfTheModel) {
  const std::string text = random_graph(1, 3).text;
  auto message = [&](const HardwareModel& model, StatusCode code) {
    stripe::Program program = parsed(text);
    PassContext context(model);
    const Status status = schedule(program, scratchpad_options(), context);
    EXPECT_EQ(status.code(), code);
    return status.to_string();
  };
  HardwareModel model = accelerator();
  model.buses[1].bytes_per_cycle = 0;
  EXPECT_THAT(message(model, StatusCode::out_of_range),
              HasSubstr("the bus from 'DMA[0]' to 'SRAM[0]' carries 0 bytes per cycle"));
  model.buses.erase(model.buses.begin() + 1);
  EXPECT_THAT(
      message(model, StatusCode::not_found),
      HasSubstr("from 'DRAM[0]' to 'SRAM[0]' over 'DMA[0]': the hardware model has no way"));
  model = accelerator();
  model.buses.pop_back();
  EXPECT_THAT(message(model, StatusCode::not_found),
              HasSubstr("no way over buses from 'DMA[0]' to 'DRAM[0]'"));
}

// Kernels on `unit` one after the other, each with 1 KiB of weights of its own and a result.
std::string chain(int64_t kernels, const std::string& unit) {
  std::string tensors, views, blocks;
  for (int64_t i = 0; i < kernels; ++i) {
    for (const char* name : {"W", "R"}) {
      tensors += fmt::format("none new@0x0<DRAM[0]> {}{}[0] fp32(256:1)\n", name, i);
      views +=
          fmt::format("{}<DRAM[0]> {}{}[0] fp32(256:1)\n", *name == 'W' ? "in" : "out", name, i);
    }
    blocks += fmt::format(
        "{0}: #kernel block<{1}> [x:256] (in<DRAM[0]> W{0}[x] fp32(1:1) "
        "out<DRAM[0]> R{0}[x] fp32(1:1)) {{\n0: $w = load(W{0})\n1: R{0} = store($w)\n}}\n",
        i, unit);
  }
  return "0: #program block [] (\n" + tensors + ") {\n0: #main block [] (\n" + views + ") {\n" +
         blocks + "} }\n";
}

// How many kernels before its own a transfer of weights waits for at the least, behind the first
// few.
int64_t distance(const stripe::Block& main) {
  int64_t least = 1000, kernel = 0;
  std::map<int64_t, int64_t> number;  // of a kernel, by statement
  for (size_t i = 0; i < main.stmts.size(); ++i) {
    const stripe::Block& block = *main.stmts[i].block();
    if (block.tags.has("kernel")) number[static_cast<int64_t>(i)] = kernel++;
    if (!block.tags.has("swap_in") || kernel < 8) continue;
    for (int64_t dep : main.stmts[i].deps)
      if (auto before = number.find(dep); before != number.end())
        least = std::min(least, kernel - before->second);
  }
  return least;
}

// A scratchpad for `sets` kernels: with a unit that works on several things at a time a transfer
// waits for no kernel before the one whose bytes it takes; with one that does not it may.
TEST(Schedule, TransfersRunBesideTheKernelsBeforeAsTheUnitsDepthSays) {
  for (int64_t depth : {1, 2, 3}) {
    auto deep = load_hardware_model(
        {"deep", fmt::format(R"({{"mem_units": {{"DRAM": {{}}, "SRAM": {{"size_KiB": 64}}}},
             "exec_units": {{"CONV": {{"pipeline_depth": {}}}}}, "tx_units": {{"DMA": {{}}}}}})",
                             depth)});
    ASSERT_TRUE(deep.ok()) << deep.status().to_string();
    for (int64_t sets : {2, 3, 4}) {
      stripe::Program program = parsed(chain(16, "CONV"));
      PassContext context(*deep);
      ScheduleOptions options = scratchpad_options();
      options.mem_KiB = 2 * sets;
      const Status status = schedule(program, options, context);
      ASSERT_TRUE(status.ok()) << status.to_string();
      // A set's bytes are free again `sets` kernels later.
      if (depth == 1) {
        EXPECT_EQ(distance(*program.main()), 1) << sets;
      } else {
        EXPECT_GE(distance(*program.main()), std::min(depth, sets)) << sets;
      }
    }
  }
}

// Tensors of ten sizes come and go; ever more of them cost the same each.
TEST(ScratchpadSpace, WorkGrowsWithTheTensorsAlone) {
  auto work = [](size_t tensors) {
    ScratchpadSpace space(4, 4096, 16, tensors);
    const std::vector<bool> all(4, true);
    const std::vector<int64_t> crowd(4);
    for (size_t t = 0; t < tensors; ++t) {
      auto place = space.place(
          static_cast<int64_t>(16 + 97 * (t * 7 % 10)), all, 0, crowd, [](size_t) { return true; },
          [&](size_t s) {
            const size_t tensor = space.stays()[s].tensor;
            return tensor % 3 == 0 ? std::optional<size_t>(t + tensor % 5) : std::nullopt;
          });
      EXPECT_TRUE(place);
      if (!place) return int64_t{0};
      for (size_t s : place->evicted) space.leave(s);
      space.enter(t, *place, static_cast<int64_t>(16 + 97 * (t * 7 % 10)), t);
      EXPECT_EQ(space.find(t), t);
    }
    return space.work();
  };
  // Behind the first few thousand, when the banks are cut into all kinds of parts.
  const int64_t few = work(4000), twice = work(8000), many = work(16000);
  EXPECT_GT(few, 4000);
  EXPECT_LE(10 * (many - twice), 22 * (twice - few)) << few << " " << twice << " " << many;
}

TEST(ScratchpadSpace, TakesBackWhatWasTried) {
  ScratchpadSpace space(1, 64, 16, 3);
  const std::vector<bool> all(1, true);
  const std::vector<int64_t> crowd(1);
  auto enter = [&](size_t tensor, int64_t bytes) {
    auto place = space.place(
        bytes, all, 0, crowd, [](size_t) { return true; },
        [](size_t) { return std::optional<size_t>(); });
    ASSERT_TRUE(place);
    for (size_t s : place->evicted) space.leave(s);
    space.enter(tensor, *place, bytes, tensor);
  };
  enter(0, 48);
  space.stay(0).dirty = true;
  ScratchpadSpace::Memory before = space.remember();
  enter(1, 64);
  space.stay(0).dirty = false;
  EXPECT_FALSE(space.find(0));
  EXPECT_EQ(space.stays()[1].replaces, std::vector<size_t>{0});
  space.restore(std::move(before));
  EXPECT_EQ(space.find(0), 0u);
  EXPECT_FALSE(space.find(1));
  EXPECT_TRUE(space.stays()[0].dirty);
  EXPECT_EQ(space.stays().size(), 1u);
  enter(2, 16);
  EXPECT_EQ(space.stays()[1].begin, 48);
  EXPECT_TRUE(space.stays()[1].replaces.empty());
}

// Banks 0 and 1 belong to one unit, 2 and 3 to the other: what both work on is moved over.
TEST(Schedule, TensorsLieInBanksThatTheirUnitsReach) {
  auto model = load_hardware_model({"clusters", R"({
    "mem_units": {"DRAM": {}, "SRAM": {"count": 4, "size_KiB": 2}},
    "exec_units": {"CONV": {}, "DSP": {}}, "tx_units": {"DMA": {}},
    "buses": [
      {"sources": ["DRAM[0]"], "sinks": ["DMA[0]"], "bytes_per_cycle": 16},
      {"sources": ["DMA[0]"], "sinks": ["DRAM[0]"], "bytes_per_cycle": 16},
      {"sources": ["DMA[0]"], "sinks": ["SRAM[0]", "SRAM[1]", "SRAM[2]", "SRAM[3]"], "bytes_per_cycle": 16},
      {"sources": ["SRAM[0]", "SRAM[1]", "SRAM[2]", "SRAM[3]"], "sinks": ["DMA[0]"], "bytes_per_cycle": 16},
      {"sources": ["SRAM[0]", "SRAM[1]"], "sinks": ["CONV[0]"], "bytes_per_cycle": 16},
      {"sources": ["SRAM[2]", "SRAM[3]"], "sinks": ["DSP[0]"], "bytes_per_cycle": 16}]})"});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  stripe::Program program = parsed(R"(0: #program block [] (
      none new@0x0<DRAM[0]> A[0] fp32(256:1) none new@0x0<DRAM[0]> R[0] fp32(256:1)) {
    0: #main block [] (in<DRAM[0]> A[0] fp32(256:1) out<DRAM[0]> R[0] fp32(256:1)
        none new@0x0<DRAM[0]> T[0] fp32(256:1)) {
      0: #kernel block<CONV> [x:256] (in<DRAM[0]> A[x] fp32(1:1) out<DRAM[0]> T[x] fp32(1:1)) {
        0: $a = load(A) 1: T = store($a) }
      1: #kernel block<DSP> [x:256] (in<DRAM[0]> T[x] fp32(1:1) in<DRAM[0]> A[x] fp32(1:1)
          out<DRAM[0]> R[x] fp32(1:1)) {
        0: $t = load(T) 1: $a = load(A) 2: $r = add.fp32($t, $a) 3: R = store($r) } } })");
  PassContext context(*model);
  ScheduleOptions options = scratchpad_options();
  options.mem_loc.path.back().units.clear();
  options.num_banks = 4;
  const Status status = schedule(program, options, context);
  ASSERT_TRUE(status.ok()) << status.to_string();
  auto rules = ModelRules::of(*model);
  ASSERT_TRUE(rules.ok());
  const Status legal = stripe::verify(program, rules->options(nullptr));
  ASSERT_TRUE(legal.ok()) << legal.to_string();
  for (const stripe::Statement& stmt : program.main()->stmts) {
    const stripe::Block& block = *stmt.block();
    if (!block.tags.has("kernel")) continue;
    const bool conv = block.location.path.back().name == "CONV";
    std::set<int64_t> banks;
    for (const stripe::Refinement& ref : block.refs) {
      ASSERT_EQ(ref.location.path.back().name, "SRAM");
      const int64_t bank = ref.location.path.back().units[0].constant();
      EXPECT_EQ(bank < 2, conv) << ref.into;
      banks.insert(bank);
    }
    // Read at once.
    EXPECT_EQ(banks.size(), 2u);
  }

  // A unit that is on a bus, but on none to the scratchpad, works on nothing there.
  HardwareModel apart = *model;
  apart.buses.back().sources = {{"DRAM", 0}};
  program = parsed(chain(2, "DSP"));
  PassContext refused(apart);
  EXPECT_THAT(schedule(program, options, refused).to_string(),
              HasSubstr("the hardware model has no bus between 'SRAM' and 'DSP'"));
}

// Two kernels of 100 cycles each, and a transfer of 64 bytes for the second one beside the first.
TEST(ListSchedule, CountsWhatRunsAtOnce) {
  const HardwareModel model = accelerator();
  const std::string text = R"(0: #program block [] (
    none new@0x0<DRAM[0]> A[0] fp32(16:1) none new@0x0<DRAM[0]> B[0] fp32(3200:1)
    none new@0x0<DRAM[0]> C[0] fp32(3200:1)) {
  0: #main #deps block [] ( in<DRAM[0]> A[0] fp32(16:1) out<DRAM[0]> B[0] fp32(3200:1)
      out<DRAM[0]> C[0] fp32(3200:1) none new@0x0<SRAM[0]> N[0] fp32(16:1)) {
    0: block<DSP> [x:3200] ( out<DRAM[0]> B[x] fp32(1:1)) { 0: $a = (fp32)1 1: $b = neg.fp32($a)
       2: $c = neg.fp32($b) 3: B = store($c) }
    1: block<DMA> [x:16] ( in<DRAM[0]> A[x] fp32(1:1) out<SRAM[0]> N[x] fp32(1:1)) {
       0: $a = load(A) 1: N = store($a) }
    2[1]: block<DSP> [x:3200] ( in<SRAM[0]> N[0] fp32(1:1) out<DRAM[0]> C[x] fp32(1:1)) {
       0: $a = load(N) 1: $b = neg.fp32($a) 2: $c = neg.fp32($b) 3: C = store($c) } } })";
  stripe::Program program = parsed(text);
  auto time = cost::list_schedule(*program.main(), model);
  ASSERT_TRUE(time.ok()) << time.status().to_string();
  EXPECT_DOUBLE_EQ(time->statements[1].start, 0);
  EXPECT_DOUBLE_EQ(time->statements[1].end, 4);
  EXPECT_DOUBLE_EQ(time->statements[2].start, 100);
  EXPECT_DOUBLE_EQ(time->cycles, 200);
  EXPECT_DOUBLE_EQ(time->at_least, 200);
  EXPECT_DOUBLE_EQ(time->one_at_a_time, 204);
  EXPECT_DOUBLE_EQ(time->busy.at("DRAM[0] -> DMA[0], …"), 4);
  program.main()->stmts[2].deps = {0, 1};
  program.main()->stmts[1].deps = {0};
  EXPECT_DOUBLE_EQ(cost::list_schedule(*program.main(), model)->cycles, 204);
}

}  // namespace
}  // namespace stria::passes
