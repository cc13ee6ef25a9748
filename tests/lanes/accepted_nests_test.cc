// SPDX-License-Identifier: Apache-2.0
// What the verifier accepts has no races in the kernels that semtree makes of it: random nests of
// loops, pipelines, conditions, lane blocks and barriers, run lane by lane and compared with the
// interpreter. A failure prints its seed: STRIA_LANES_SEED=<seed> STRIA_LANES_NESTS=1 runs it
// alone.
#include <gtest/gtest.h>

#include <random>

#include "program_run.h"
#include "settings.h"
#include "stria/base/text.h"
#include "stria/interp/interpret.h"
#include "stria/stripe/parser.h"
#include "stria/stripe/verifier.h"

namespace stria::lanes {
namespace {

constexpr int64_t kLanes = 3;
constexpr int64_t kNear = 4 * kLanes;  // elements of what a loop allocates
constexpr int64_t kSize = 64;          // elements of S, which is read, and of G, which is added to

// A kernel of one group as text.
class Nest {
 public:
  explicit Nest(uint64_t seed) : random_(seed) {
    std::string stmts;
    const int64_t count = 1 + below(3);
    for (int64_t n = 0; n < count; ++n)
      stmts += fmt::format("{}: {}", n, below(5) > 1 ? loop({}, below(4) > 0) : step({}));
    text_ = fmt::format(
        "stripe 1.0\n0: #program block [] ( none new@0x0 S[0] i32({0}:1) none new@0x0 G[0] "
        "i32({0}:1) "
        ") {{\n0: #main block [] ( in S[0] i32({0}:1) inout G[0]:add.i32 i32({0}:1) ) {{\n"
        "0: #kernel block<CU[0]> [] ( in S[0] i32({0}:1) inout G[0]:add.i32 i32({0}:1) ) {{\n{1}"
        "}}\n}}\n}}\n",
        kSize, stmts);
  }

  const std::string& text() const { return text_; }
  bool has_pipeline() const { return pipelines_ > 0; }
  bool has_condition() const { return conditions_ > 0; }

 private:
  // The indices around, and whether there is a T.
  struct Around {
    std::vector<std::string> indices;
    bool near = false;
  };

  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }

  static std::string passed(const Around& around) {
    std::string out;
    for (const std::string& index : around.indices) out += fmt::format(", {0}:1 = {0}", index);
    return out;
  }

  // Of G or S: lanes of one block have elements of their own.
  std::string place(const Around& around) {
    std::string out = fmt::format("{} + {}*l", below(4), 1 + below(2));
    for (const std::string& index : around.indices)
      out += fmt::format(" + {}*{}", below(4) * below(2), index);
    return out;
  }

  static std::string views(const Around& around) {
    return fmt::format("in S[0] i32({0}:1) inout G[0]:add.i32 i32({0}:1){1}", kSize,
                       around.near ? fmt::format(" inout T[0] i32({}:1)", kNear) : "");
  }

  // Lanes that add to G what they read; or write to T.
  std::string lanes(const Around& around) {
    const bool reads_near = around.near && below(3) > 0, writes_near = around.near && below(6) == 0;
    const std::string from = reads_near
                                 ? fmt::format("in T[{} + {}*l] i32(1:1)", below(4), 1 + below(3))
                                 : fmt::format("in S[{}] i32(1:1)", place(around));
    const std::string to = writes_near
                               ? fmt::format("inout T[{} + {}*l] i32(1:1)", below(4), 1 + below(3))
                               : fmt::format("inout G[{}]:add.i32 i32(1:1)", place(around));
    const bool one = reads_near && writes_near;  // a block has one view of a name
    return fmt::format(
        "block<LANE[l]> [l:{}{}] ( {} {} ) {{ 0: $x = load({}) 1: {} = store($x) }}\n", kLanes,
        passed(around), from, one ? "out U = " + to.substr(6) : to, reads_near ? "T" : "S",
        one           ? "U"
        : writes_near ? "T"
                      : "G");
  }

  // Lanes that write all of T; without a loop semtree can take the loads apart from the stores.
  std::string fetch(const Around& around) {
    return fmt::format(
        "{}block<LANE[l]> [l:{}, i:4{}] ( in S[{} + i] i32(1:1) out T[{}] i32(1:1) ) {{ 0: $x = "
        "load(S) 1: T = store($x) }}\n",
        below(2) ? "#unroll " : "", kLanes, passed(around), place(around),
        below(2) ? "4*l + i" : fmt::format("l + {}*i", kLanes));
  }

  std::string step(const Around& around) {
    const int64_t kind = below(around.indices.size() < 3 ? 5 : 4);
    return kind < 2 ? "special barrier()\n" : kind < 4 ? lanes(around) : loop(around, false);
  }

  // With a T of its own if it `allocates`.
  std::string loop(Around around, bool allocates) {
    // semtree has no pipelines inside loops of a group.
    const bool pipelined = allocates && around.indices.empty() && below(4) > 0;
    pipelines_ += pipelined;
    std::string indices, condition, body;
    const std::string outer = passed(around);
    for (int64_t n = 1 + below(2); n > 0; --n) {
      around.indices.push_back(fmt::format("k{}", around.indices.size()));
      indices +=
          fmt::format("{}{}:{}", indices.empty() ? "" : ", ", around.indices.back(), 2 + below(3));
    }
    if (below(2) == 0) {
      condition = fmt::format("{}", below(4));
      for (const std::string& index : around.indices)
        condition += fmt::format(" {} {}*{}", below(2) ? "+" : "-", below(3), index);
      condition += " >= 0 ";
      ++conditions_;
    }
    if (allocates) around.near = false;
    const std::string head =
        views(around) +
        (allocates ? fmt::format(" none new@0x0<LOCAL> T[0] i32({}:1)", kNear) : "");
    around.near |= allocates;
    int64_t n = 0;
    if (allocates) body += fmt::format("{}: {}", n++, fetch(around));
    for (int64_t steps = 1 + below(4); steps > 0; --steps)
      body += fmt::format("{}: {}", n++, step(around));
    return fmt::format("{}block [{}{}] ( {}{} ) {{\n{}}}\n",
                       pipelined ? fmt::format("#pipeline={} ", 2 + below(2)) : "", indices, outer,
                       condition, head, body);
  }

  std::mt19937_64 random_;
  std::string text_;
  int pipelines_ = 0, conditions_ = 0;
};

TEST(AcceptedNests, HaveNoRaces) {
  const uint64_t first = trust::number_from("STRIA_LANES_SEED", 1);
  const uint64_t count = trust::number_from("STRIA_LANES_NESTS", 2000);
  const TensorShape shape = dense_shape(DataType::i32, {kSize});
  std::vector<int32_t> s(kSize);
  for (size_t i = 0; i < s.size(); ++i) s[i] = static_cast<int32_t>(i * i % 101);
  int64_t pipelines = 0, with_conditions = 0;
  RunCounts counts;
  for (uint64_t seed = first; seed < first + count && !HasFailure(); ++seed) {
    const Nest nest(seed);
    SCOPED_TRACE(fmt::format("seed {}\n{}", seed, nest.text()));
    Result<stripe::Program> program = stripe::parse({"nest", nest.text()});
    ASSERT_TRUE(program.ok()) << program.status().to_string();
    stripe::VerifyReport report;
    if (!stripe::verify(*program, {}, &report).ok() || !report.warnings.empty()) continue;
    std::vector<int32_t> expected(kSize, 1), got(kSize, 1);
    const auto tensors = [&](std::vector<int32_t>& g) {
      return std::vector<interp::TensorArg>{{"S", s.data(), shape}, {"G", g.data(), shape}};
    };
    const Status oracle = interp::interpret(*program, tensors(expected));
    ASSERT_TRUE(oracle.ok()) << oracle.to_string();
    const Status run = run_program(*program, {}, tensors(got), seed, counts);
    ASSERT_TRUE(run.ok()) << run.to_string();
    EXPECT_EQ(got, expected);
    pipelines += nest.has_pipeline();
    with_conditions += nest.has_pipeline() && nest.has_condition();
  }
  if (count < 1000) return;
  EXPECT_GT(pipelines * 15, static_cast<int64_t>(count));
  EXPECT_GT(with_conditions * 25, static_cast<int64_t>(count));
}

}  // namespace
}  // namespace stria::lanes
