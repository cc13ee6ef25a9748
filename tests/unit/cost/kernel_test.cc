// SPDX-License-Identifier: Apache-2.0
// Predictions from device Stripe: what a kernel does is counted right, what moves into a cache is
// what an LRU cache of lines would bring, and times behave as times do.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <list>
#include <random>
#include <unordered_map>

#include "stria/cost/kernel/kernel_time.h"
#include "stria/cost/kernel/kernel_traffic.h"
#include "stria/cost/kernel/section_nests.h"
#include "stria/hwmodel/waited_memory.h"
#include "stria/stripe/text/parser.h"

namespace stria::cost {
namespace {

stripe::Program program_of(const std::string& kernel, const std::string& tensors) {
  std::string allocations, views;
  std::istringstream lines(tensors);
  for (std::string line; std::getline(lines, line);) {
    const size_t at = line.find(' ');
    allocations += "    none new@0x00000000 " + line.substr(at + 1) + "\n";
    views += "      " + line.substr(0, at) + " " + line.substr(at + 1) + "\n";
  }
  const auto program = stripe::parse({"kernel", "stripe 1.0\n0: #program block [] (\n" +
                                                    allocations + ") {\n  0: #main block [] (\n" +
                                                    views + "  ) {\n" + kernel + "  }\n}\n"});
  EXPECT_TRUE(program.ok()) << program.status().to_string();
  return program.ok() ? *program : stripe::Program();
}
KernelNest nest_of(const stripe::Program& program) {
  return kernel_nest(*program.main(), *program.main()->stmts[0].block());
}

constexpr const char* kTensors =
    "in A[0, 0] fp32(64:32, 32:1)\n"
    "in B[0, 0] fp32(32:64, 64:1)\n"
    "out C[0, 0] fp32(64:64, 64:1)\n";
// Four rows of two vectors in registers, summed up over k.
constexpr const char* kProduct = R"(
  0: #kernel #parallel block<CORE> [m:16, n:4] (
      in A[4*m, 0] fp32(4:32, 32:1)
      in B[0, 16*n] fp32(32:64, 16:1)
      out C[4*m, 16*n]:add.fp32 fp32(4:64, 16:1)
  ) {
    0: block [k:32] (
        in A[0, k] fp32(4:32, 1:1)
        in B[k, 0] fp32(1:64, 16:1)
        out C[0, 0]:add.fp32 fp32(4:64, 16:1)
    ) {
      0: #unroll block [i:4, j:2] (
          in A[i, 0] fp32(1:32, 1:1)
          in B[0, 8*j] fp32(1:64, 8:1)
          out C[i, 8*j]:add.fp32 fp32(1:64, 8:1)
      ) {
        0: #vector block [v:8] (
            in A[0, 0] fp32(1:32, 1:1)
            in B[0, v] fp32(1:64, 1:1)
            out C[0, v]:add.fp32 fp32(1:64, 1:1)
        ) {
          0: $a = load(A)
          1: $b = load(B)
          2: $p = mul.fp32($a, $b)
          3: C = store($p)
        }
      }
    }
  }
)";

TEST(KernelNest, CountsWhatRunsAndWhatIsUsedAgain) {
  const stripe::Program program = program_of(kProduct, kTensors);
  const KernelNest nest = nest_of(program);
  ASSERT_EQ(nest.pieces.size(), 1u);
  const NestPiece& piece = nest.pieces[0];
  EXPECT_EQ(piece.lanes, 8);
  ASSERT_EQ(piece.operations.size(), 4u);
  EXPECT_EQ(piece.operations[2].kind, NestOperation::Kind::multiply_add);
  EXPECT_EQ(nest.runs(piece, piece.operations[2]), 64 * 64 * 32 / 8);
  // Four values of A and two vectors of B serve the eight sums of a step.
  EXPECT_EQ(nest.runs(piece, piece.operations[0]), 16 * 4 * 32 * 4);
  EXPECT_EQ(nest.runs(piece, piece.operations[1]), 16 * 4 * 32 * 2);
  EXPECT_EQ(nest.points(piece), 64 * 64 * 32 / 8);
}

TEST(KernelNest, ConstraintsLeavePointsOut) {
  const char* kernel = R"(
  0: #kernel block [i:12] (in A[6*i, 0] fp32(6:32, 32:1), out C[6*i, 0] fp32(6:64, 1:1)) {
    0: block [j:6, i:1 = i] (63 - 6*i - j >= 0; in A[j, 0] fp32(1:32, 1:1), out C[j, 0] fp32(1:64, 1:1)) {
      0: $a = load(A)
      1: C = store($a)
    }
  }
)";
  const KernelNest nest = nest_of(program_of(kernel, kTensors));
  ASSERT_EQ(nest.pieces.size(), 1u);
  EXPECT_NEAR(nest.points(nest.pieces[0]), 64, 4);  // of 72
}

Result<HardwareModel> core_model(int64_t cores, double dram) {
  return load_hardware_model(
      {"m.json", R"({"clock_mhz": 1000, "mem_units": {
    "DRAM": {"count": 1, "size_KiB": 1048576, "policy": "managed"},
    "L1": {"count": 1, "size_KiB": 4, "line_bytes": 64, "policy": "lru"}},
  "exec_units": {"CORE": {"count": )" +
                     std::to_string(cores) +
                     R"(, "vector_bytes": 32, "vector_registers": 16, "fma_latency_cycles": 4,
    "rates": {"fp32": {"ops_per_cycle": 32, "read_bytes_per_cycle": {"L1": 64, "DRAM": )" +
                     std::to_string(dram) + R"(}}}}}})"});
}

std::optional<PredictedTime> time_of(const stripe::Program& program, size_t kernel,
                                     const HardwareModel& model) {
  return kernel_time(section_nests(*program.main(), model, true).at(kernel).nest, model);
}

// Three kernels of one section: what the others use between two uses of a tensor, and what a cache
// then has to bring again though it would keep all of the kernel.
constexpr const char* kCopies = R"(
  0: #kernel block [i:256] (in A[i] fp32(1:1), out B[i] fp32(1:1)) {
    0: $a = load(A)
    1: B = store($a)
  }
  1: #kernel block [i:256] (in B[i] fp32(1:1), out C[i] fp32(1:1)) {
    0: $b = load(B)
    1: C = store($b)
  }
  2: #kernel block [i:512] (in C[0] fp32(1:1), out D[i] fp32(1:1)) {
    0: $c = load(C)
    1: D = store($c)
  }
)";
constexpr const char* kCopied =
    "in A[0] fp32(256:1)\ninout B[0] fp32(256:1)\ninout C[0] fp32(256:1)\nout D[0] fp32(512:1)\n";

TEST(SectionNests, KnowWhatIsTouchedSinceTheLastUse) {
  const stripe::Program program = program_of(kCopies, kCopied);
  ASSERT_NE(program.main(), nullptr);
  const auto model = core_model(1, 2);
  ASSERT_TRUE(model.ok());
  const auto since = [&](size_t kernel, bool again = true) {
    std::map<std::string, double> out;
    const std::vector<SectionNest> nests = section_nests(*program.main(), *model, again);
    for (const NestTensor& tensor : nests.at(kernel).nest.tensors)
      out[tensor.name] = tensor.since_bytes;
    return out;
  };
  // A was used by the kernel itself, a run ago; then came B and C of the next one, D of the last.
  EXPECT_EQ(since(0)["A"], 1024 + 1024 + 1024 + 2048);
  // The next one used B; the last one used a line of C, and D.
  EXPECT_EQ(since(0)["B"], 1024 + 64 + 2048);
  EXPECT_EQ(since(1)["B"], 1024);
  // The last kernel's line of C is not what this one writes: that was a run ago.
  EXPECT_EQ(since(1)["C"], 1024 + 64 + 2048 + 1024 + 1024);
  EXPECT_EQ(since(2)["C"], 1024);
  EXPECT_EQ(since(2)["D"], 2048 + 1024 + 1024 + 1024);
  // Nothing has been used before a section that runs once.
  EXPECT_EQ(since(0, false)["A"], HUGE_VAL);
  EXPECT_EQ(since(1, false)["B"], 1024);
  EXPECT_EQ(since(1, false)["C"], HUGE_VAL);
}

// Few rows of a large table push out little.
TEST(SectionNests, CountWhatIsTouchedOfALargeTensor) {
  const stripe::Program program = program_of(R"(
  0: #kernel block [i:4, j:16] (in A[0, j] fp32(1048576:256, 1:1), in B[i] fp32(1:1), out C[i, j] fp32(1:16, 1:1)) {
    0: $b = load(B)
    1: $n = as_int.i32($b)
    2: $a = load(A[$n, 0])
    3: C = store($a)
  }
  1: #kernel block [i:4] (in B[i] fp32(1:1), out D[i] fp32(1:1)) {
    0: $b = load(B)
    1: D = store($b)
  }
)",
                                             "in A[0, 0] fp32(1048576:256, 256:1)\n"
                                             "in B[0] fp32(4:1)\n"
                                             "inout C[0, 0] fp32(4:16, 16:1)\n"
                                             "out D[0] fp32(4:1)\n");
  ASSERT_NE(program.main(), nullptr);
  const auto model = core_model(1, 2);
  ASSERT_TRUE(model.ok());
  const std::vector<SectionNest> nests = section_nests(*program.main(), *model, true);
  ASSERT_EQ(nests.size(), 2u);
  for (const NestTensor& tensor : nests[1].nest.tensors)
    if (tensor.name == "D") {
      EXPECT_LT(tensor.since_bytes, 8192);
      EXPECT_GT(tensor.since_bytes, 4 * 64);
    }
}

// An LRU cache of lines, and the bytes that come into it while all points run in order.
class LruCache {
 public:
  LruCache(double capacity, int64_t line)
      : lines_(capacity / static_cast<double>(line)), line_(line) {}
  void touch(int64_t address) {
    const int64_t line = address / line_;
    const auto found = places_.find(line);
    if (found != places_.end()) {
      order_.erase(found->second);
    } else {
      ++misses_;
      if (static_cast<double>(places_.size()) >= lines_) {
        places_.erase(order_.back());
        order_.pop_back();
      }
    }
    order_.push_front(line);
    places_[line] = order_.begin();
  }
  double bytes() const { return static_cast<double>(misses_ * line_); }

 private:
  double lines_;
  int64_t line_, misses_ = 0;
  std::list<int64_t> order_;
  std::unordered_map<int64_t, std::list<int64_t>::iterator> places_;
};

double simulated_bytes(const KernelNest& nest, double capacity, int64_t line) {
  LruCache cache(capacity, line);
  const NestPiece& piece = nest.pieces[0];
  std::vector<int64_t> at(nest.loops.size());
  const std::function<void(size_t)> run = [&](size_t depth) {
    if (depth == piece.loops.size()) {
      for (const NestOperation& operation : piece.operations) {
        if (operation.kind != NestOperation::Kind::access) continue;
        // Tensors lie far apart.
        int64_t address = static_cast<int64_t>(operation.access.tensor) << 32;
        for (const auto& [loop, stride] : operation.access.form)
          address += at[loop] * stride * nest.tensors[operation.access.tensor].element_bytes;
        cache.touch(address);
      }
      return;
    }
    const size_t loop = piece.loops[depth];
    for (at[loop] = 0; static_cast<double>(at[loop]) < nest.loops[loop].range; ++at[loop])
      run(depth + 1);
  };
  run(0);
  return cache.bytes();
}

// Products in every order of three loops, with drawn sizes, and caches that hold little, some or
// all of it. Nobody counts exactly what is kept when the cache is just full, so sizes near that
// are let go up to 2; elsewhere the rule has to be right.
TEST(KernelTraffic, IsThatOfAnLruCache) {
  std::mt19937 random(7);
  int exact = 0, all = 0;
  double worst = 1;
  for (int trial = 0; trial < 200; ++trial) {
    const int64_t m = 4 << random() % 4, n = 16 << random() % 3, k = 4 << random() % 4;
    std::vector<std::pair<std::string, int64_t>> loops = {{"m", m}, {"n", n}, {"k", k}};
    std::shuffle(loops.begin(), loops.end(), random);
    std::string indices;
    for (const auto& [name, range] : loops)
      indices += (indices.empty() ? "" : ", ") + name + ":" + std::to_string(range);
    const auto view = [](int64_t stride) { return "fp32(1:" + std::to_string(stride) + ", 1:1)"; };
    const std::string kernel = "0: #kernel block [" + indices + "] (in A[m, k] " + view(k) +
                               ", in B[k, n] " + view(n) + ", out C[m, n]:add.fp32 " + view(n) +
                               ") { 0: $a = load(A) 1: $b = load(B) 2: $p = mul.fp32($a, $b) "
                               "3: C = store($p) }\n";
    std::string lines = kernel;
    for (const char* number : {" 1: ", " 2: ", " 3: "}) lines.replace(lines.find(number), 1, "\n");
    const auto tensor = [](const char* name, int64_t rows, int64_t columns) {
      return std::string(name) + "[0, 0] fp32(" + std::to_string(rows) + ":" +
             std::to_string(columns) + ", " + std::to_string(columns) + ":1)\n";
    };
    const KernelNest nest = nest_of(program_of(
        lines, "in " + tensor("A", m, k) + "in " + tensor("B", k, n) + "out " + tensor("C", m, n)));
    ASSERT_EQ(nest.pieces.size(), 1u);
    const double capacity = 64 * (4 << random() % 8);
    const double simulated = simulated_bytes(nest, capacity, 64);
    const KernelTraffic traffic = traffic_of(nest, {.capacity = capacity, .line_bytes = 64},
                                             [](const NestTensor&) { return true; });
    const double ratio = (traffic.read_bytes + traffic.written_bytes) / simulated;
    ++all;
    exact += ratio > 0.8 && ratio < 1.25;
    worst = std::max({worst, ratio, 1 / ratio});
  }
  EXPECT_GE(exact, all * 3 / 4);
  EXPECT_LE(worst, 6);
  RecordProperty("within_a_quarter", exact);
}

double seconds(const stripe::Program& program, int64_t cores, double dram) {
  const auto model = core_model(cores, dram);
  EXPECT_TRUE(model.ok()) << model.status().to_string();
  const auto time = time_of(program, 0, *model);
  EXPECT_TRUE(time.has_value());
  if (!time) return 0;
  EXPECT_LE(time->least_seconds, time->seconds);
  EXPECT_GE(time->most_seconds, time->seconds);
  return time->seconds;
}

// By hand, with the numbers that a model without a calibration has.
TEST(PredictedTime, IsWhatCountingByHandGives) {
  const stripe::Program program = program_of(kProduct, kTensors);
  const CoreFacts facts;
  // 131,072 multiply-adds in vectors of 8, 2 vectors a cycle; 2,048 steps of the loop over k.
  const double operations =
      131072 / 8 / 2.0 * facts.multiply_factor + 2048 * facts.kernel_loop_cycles;
  // Of each step 4 values and 2 vectors are loaded, 2 a cycle, and 8 sums are added to C, in
  // memory.
  const double loads = 2048 * (4 + 2 + 8) / 2.0 * facts.kernel_access_factor;
  const double stores = 2048 * 8 * facts.kernel_store_factor;
  const double moving = std::max(loads, stores);
  // A step waits for the one before: 4 cycles.
  const double waits = 2048 * 4;
  const double piece = std::max({operations, moving, waits});
  const auto model = core_model(1, 1e6);
  ASSERT_TRUE(model.ok());
  const auto time = time_of(program, 0, *model);
  ASSERT_TRUE(time.has_value());
  ASSERT_FALSE(time->terms.empty());
  EXPECT_NEAR(time->terms[0].seconds * 1e9, piece, 1);  // cycles, at 1 GHz
  const double parts = 64 * facts.kernel_part_cycles;   // one core begins at once
  double others = 0;
  for (size_t t = 1; t < time->terms.size(); ++t) others += time->terms[t].seconds * 1e9;
  EXPECT_NEAR(time->seconds * 1e9, piece + facts.kernel_shown_part * others + parts, 1);
}

TEST(PredictedTime, WhatOthersPushedOutComesInAgain) {
  const stripe::Program program = program_of(kCopies, kCopied);
  ASSERT_NE(program.main(), nullptr);
  auto model = core_model(1, 2);
  ASSERT_TRUE(model.ok());
  CoreFacts& facts = model->executors[0].calibration.core;
  facts.kernel_run_lines = 0;
  const auto bytes = [&](size_t kernel, int64_t cache_bytes) {
    for (MemoryUnit& memory : model->memories)
      if (memory.name == "L1") memory.size_bytes = cache_bytes;
    const auto time = time_of(program, kernel, *model);
    EXPECT_TRUE(time.has_value());
    if (time)
      for (const auto& term : time->terms)
        if (term.name == "L1 from DRAM") return term.seconds * 1e9 * 2;
    return 0.0;
  };
  const auto filled = [&](double kept_bytes) {
    return static_cast<int64_t>(kept_bytes / facts.filled_part);
  };
  // It keeps what is used of the program, a part of that, the second kernel, or not even that.
  EXPECT_EQ(bytes(1, filled(5 * 1024 + 128)), 0);
  EXPECT_EQ(bytes(0, filled(5 * 1024 + 128)), 0);
  EXPECT_NEAR(bytes(0, filled(4 * 1024)), 1024, 1);           // A comes again
  EXPECT_NEAR(bytes(0, filled(3 * 1024)), 3 * 1024, 1);       // B is read first, and goes out
  EXPECT_NEAR(bytes(1, filled(2 * 1024 + 64)), 2 * 1024, 1);  // C alone: B is there
  EXPECT_NEAR(bytes(1, filled(1 * 1024 + 64)), 3 * 1024, 1);  // it cannot keep both
}

// Each of 2,048 steps brings 4 values of A into all lanes.
TEST(PredictedTime, ValuesForAllLanesTakeWhatTheMachineSays) {
  const stripe::Program program = program_of(kProduct, kTensors);
  auto model = core_model(1, 1e6);
  ASSERT_TRUE(model.ok());
  CoreFacts& facts = model->executors[0].calibration.core;
  facts.broadcast_multiply_adds = 8;
  const double operations =
      (131072 / 8 + 2048 * 4 * 8) / 2.0 * facts.multiply_factor + 2048 * facts.kernel_loop_cycles;
  const auto time = time_of(program, 0, *model);
  ASSERT_TRUE(time.has_value());
  EXPECT_EQ(time->terms[0].name, "operations");
  EXPECT_NEAR(time->terms[0].seconds * 1e9, operations, 1);  // cycles, at 1 GHz
}

// Cores begin one after another, and those without parts need not.
TEST(PredictedTime, CoresBeginOneAfterAnother) {
  const stripe::Program program = program_of(kProduct, kTensors);
  const double each = CoreFacts().kernel_core_cycles;
  const auto cycles = [&](int64_t cores) { return seconds(program, cores, 1e6) * 1e9; };
  EXPECT_NEAR(cycles(64), cycles(127), 1);
  // A core has 64 parts, or 4, or one.
  const double of_part = (cycles(1) - cycles(64) + 63 * each) / 63;
  EXPECT_NEAR(cycles(16), cycles(1) - 60 * of_part + 15 * each, 1);
}

TEST(PredictedTime, MoreCoresAndFasterMemoryTakeLess) {
  const stripe::Program program = program_of(kProduct, kTensors);
  EXPECT_LT(seconds(program, 4, 64), seconds(program, 1, 64));
  EXPECT_GT(seconds(program, 1, 0.5), seconds(program, 1, 64));
}

// Two threads of one core: all of them together do not do what each one does alone.
TEST(PredictedTime, BusyCoresAreSlower) {
  const stripe::Program program = program_of(kProduct, kTensors);
  for (const int cores : {1, 4}) {
    auto model = core_model(cores, 1e6);
    ASSERT_TRUE(model.ok());
    const auto alone = time_of(program, 0, *model);
    model->executors[0].calibration.core.kernel_busy_factor = 1.75;
    const auto busy = time_of(program, 0, *model);
    ASSERT_TRUE(alone && busy);
    for (size_t t = 0; t < alone->terms.size(); ++t)
      EXPECT_NEAR(busy->terms[t].seconds, (cores == 1 ? 1 : 1.75) * alone->terms[t].seconds, 1e-12);
  }
}

// A kernel of lanes on a machine that runs groups of them.
TEST(PredictedTime, OfGroupsIsWhatCountingByHandGives) {
  const char* kernel = R"(
  0: #kernel #parallel block<LANE> [i:1024] (in A[4*i, 0] fp32(4:1, 1:1), out C[4*i, 0] fp32(4:1, 1:1)) {
    0: #vector block [v:4] (in A[v, 0] fp32(1:1, 1:1), out C[v, 0] fp32(1:1, 1:1)) {
      0: $a = load(A)
      1: $b = exp.fp32($a)
      2: C = store($b)
    }
  }
)";
  const stripe::Program program =
      program_of(kernel, "in A[0, 0] fp32(4096:1, 1:1)\nout C[0, 0] fp32(4096:1, 1:1)\n");
  const auto model = load_hardware_model({"m.json", R"({"clock_mhz": 1000, "launch_us": 2,
    "mem_units": {"DRAM": {"count": 1, "size_KiB": 1048576, "line_bytes": 128,
                           "latency_cycles": 400, "read_bytes_per_cycle": 64}},
    "exec_units": {"CU": {"count": 4, "ops_per_cycle": 64, "op": "mac", "max_threads": 2048},
                   "LANE": {"count": 4096, "vector_bytes": 16, "vector_registers": 64}}})"});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  const auto time = time_of(program, 0, *model);
  ASSERT_TRUE(time.has_value());
  const GroupFacts facts;
  // 1,024 lanes are 4 groups of 256, one on each unit. A lane loads and stores a vector, and
  // computes a function of 16 instructions for each of 4 elements.
  const double of_lane = 4 * 16 * facts.group_function_factor +
                         2 * facts.uncached_vector_instructions * facts.group_access_factor;
  const double instructions = 256 * of_lane / 64;
  const double waits = (400 + 400 / facts.accesses_ahead) * facts.group_wait_factor;
  const double memory = 2 * 4096 * 4 / 64.0;
  const double longest = std::max({instructions, waits, memory});
  const double all = instructions + waits + memory;
  EXPECT_NEAR(time->seconds * 1e9, 2000 + longest + facts.group_shown_part * (all - longest), 1);
}

// Sums of columns: the lanes of a group read neighbours together, so a line comes once to a group,
// and what comes from DRAM is the tensor. The cache answers at a rate of its own.
TEST(PredictedTime, OfGroupsCountsTheLinesOfAllLanesTogether) {
  const char* kernel = R"(
  0: #kernel #group block<CU[j]> [j:8] (
      in A[0, 64*j] fp32(512:512, 64:1), out C[64*j] fp32(64:1)) {
    0: block<LANE[l]> [l:64] (in A[0, l] fp32(512:512, 1:1), out C[l] fp32(1:1)) {
      0: #lane block [i:512] (in A[i, 0] fp32(1:512, 1:1), out C[0]:add.fp32 fp32(1:1)) {
        0: $a = load(A)
        1: C = store($a)
      }
    }
  }
)";
  const stripe::Program program =
      program_of(kernel, "in A[0, 0] fp32(512:512, 512:1)\nout C[0]:add.fp32 fp32(512:1)\n");
  const auto model = load_hardware_model({"m.json", R"({"clock_mhz": 1000,
    "mem_units": {"DRAM": {"count": 1, "size_KiB": 1048576, "line_bytes": 128,
                           "read_bytes_per_cycle": 32},
                  "CACHE": {"count": 1, "size_KiB": 4096, "line_bytes": 128, "policy": "lru",
                            "latency_cycles": 400, "read_bytes_per_cycle": 128},
                  "LOCAL": {"count": 4, "size_KiB": 16, "banks": 32, "bank_bytes": 4}},
    "exec_units": {"CU": {"count": 4, "ops_per_cycle": 64, "op": "mac", "max_threads": 2048},
                   "LANE": {"count": 4096, "vector_bytes": 16, "vector_registers": 64}}})"});
  ASSERT_TRUE(model.ok()) << model.status().to_string();
  EXPECT_EQ(waited_memory(*model)->name, "CACHE");
  const auto time = time_of(program, 0, *model);
  ASSERT_TRUE(time.has_value());
  const double bytes = 512 * 512 * 4;
  int levels = 0;
  for (const auto& term : time->terms) {
    levels += term.name == "CACHE" || term.name == "DRAM";
    if (term.name == "CACHE") {
      EXPECT_NEAR(term.seconds * 1e9, bytes / 128, 0.02 * bytes / 32);
    }
    if (term.name == "DRAM") {
      EXPECT_NEAR(term.seconds * 1e9, bytes / 32, 0.02 * bytes / 32);
    }
  }
  EXPECT_EQ(levels, 2);
}

// Local memory is not what units wait for, whatever its latency; of main memory and its cache it is
// the slower one.
TEST(WaitedMemory, IsMainMemoryOrACache) {
  const auto waited = [](const char* dram, const char* cache) {
    const auto model =
        load_hardware_model({"m.json", fmt::format(R"({{"clock_mhz": 1000, "mem_units": {{
            "LOCAL": {{"count": 4, "size_KiB": 16, "banks": 32, "bank_bytes": 4,
                       "latency_cycles": 900}},
            "DRAM": {{"count": 1, "size_KiB": 1024 {}}},
            "CACHE": {{"count": 1, "size_KiB": 64, "policy": "lru" {}}}}}}})",
                                                   dram, cache)});
    EXPECT_TRUE(model.ok()) << model.status().to_string();
    if (!model.ok()) return std::string("?");
    const MemoryUnit* out = waited_memory(*model);
    return out ? out->name : "";
  };
  EXPECT_EQ(waited("", ""), "");
  EXPECT_EQ(waited(R"(, "latency_cycles": 400)", ""), "DRAM");
  EXPECT_EQ(waited("", R"(, "latency_cycles": 300)"), "CACHE");
  EXPECT_EQ(waited(R"(, "latency_cycles": 400)", R"(, "latency_cycles": 300)"), "DRAM");
}

// What values choose is brought from anywhere: a line for each point.
TEST(KernelTraffic, ChosenPlacesAreEachALine) {
  const char* kernel = R"(
  0: #kernel block [i:64] (in A[0, 0] fp32(64:32, 32:1), in B[0, i] fp32(1:64, 1:1), out C[i, 0] fp32(1:64, 1:1)) {
    0: $b = load(B)
    1: $n = as_int.i32($b)
    2: $a = load(A[$n, 0])
    3: C = store($a)
  }
)";
  const KernelNest nest = nest_of(program_of(kernel, kTensors));
  const KernelTraffic traffic =
      traffic_of(nest, {.capacity = 1024, .line_bytes = 64},
                 [&](const NestTensor& tensor) { return tensor.name == "A"; });
  EXPECT_EQ(traffic.read_bytes, 64 * 64);
}

TEST(PredictedTime, IsUnknownWithoutRates) {
  const stripe::Program program = program_of(kProduct, kTensors);
  EXPECT_FALSE(time_of(program, 0, empty_hardware_model()));
}

TEST(PredictedTime, SaysItsTerms) {
  PredictedTime time;
  time.seconds = 12.34e-6;
  time.least_seconds = 6e-6;
  time.most_seconds = 24e-6;
  time.launch_seconds = 1e-6;
  time.terms = {{"operations", 10e-6}, {"L1 from DRAM", 3e-6}, {"sums", 0}};
  EXPECT_EQ(to_string(time),
            "12.3 us (6.0 .. 24.0): operations 10.0, L1 from DRAM 3.0, launch 1.0");
}

}  // namespace
}  // namespace stria::cost
