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
#include "stria/stripe/text/parser.h"
#include "stria/stripe/verify/verifier.h"

namespace stria::lanes {
namespace {

constexpr int64_t kLanes = 3;
constexpr int64_t kNear = 4 * kLanes;  // elements of what a loop allocates, T, or the kernel, F
constexpr int64_t kSize = 64;          // elements of S, which is read, and of G, which is added to

// A kernel of one group as text.
class Nest {
 public:
  explicit Nest(uint64_t seed) : random_(seed) {
    std::string stmts =
        fmt::format("0: {}1: special barrier()\n", write_all({}, "F", place_of_all(), ""));
    const int64_t count = 1 + below(3);
    for (int64_t n = 0; n < count; ++n)
      stmts += fmt::format("{}: {}", n + 2, below(5) > 1 ? loop({}, below(4) > 0) : step({}));
    text_ = fmt::format(
        "stripe 1.0\n0: #program block [] ( none new@0x0 S[0] i32({0}:1) none new@0x0 G[0] "
        "i32({0}:1) "
        ") {{\n0: #main block [] ( in S[0] i32({0}:1) inout G[0]:add.i32 i32({0}:1) ) {{\n"
        "0: #kernel block<CU[0]> [] ( in S[0] i32({0}:1) inout G[0]:add.i32 i32({0}:1) "
        "none new@0x0<LOCAL> F[0] i32({1}:1) ) {{\n{2}}}\n}}\n}}\n",
        kSize, kNear, stmts);
  }

  const std::string& text() const { return text_; }
  bool has_pipeline() const { return pipelines_ > 0; }
  bool has_condition() const { return conditions_ > 0; }

 private:
  // The indices around, whether there is a T, and what a loop with a condition keeps apart from who
  // writes it: semtree loads that whether the condition holds or not, and uses it only if it holds.
  struct Around {
    std::vector<std::string> indices;
    bool near = false, t_apart = false, f_apart = false;
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
    return fmt::format("in S[0] i32({0}:1) inout G[0]:add.i32 i32({0}:1) inout F[0] i32({1}:1){2}",
                       kSize, kNear,
                       around.near ? fmt::format(" inout T[0] i32({}:1)", kNear) : "");
  }

  // Two conditions of which one always holds; of lanes, too, if they are `of_lanes`.
  std::pair<std::string, std::string> conditions(const Around& around, bool of_lanes) {
    std::vector<std::string> names = around.indices;
    if (of_lanes) names.push_back("l");
    const int64_t constant = below(4);
    std::string holds = fmt::format("{}", constant), fails = fmt::format("{}", -1 - constant);
    for (const std::string& name : names) {
      const int64_t factor = name == "l" ? 1 - 2 * below(2) : below(5) - 2;
      holds += fmt::format(" {} {}*{}", factor < 0 ? "-" : "+", std::abs(factor), name);
      fails += fmt::format(" {} {}*{}", factor < 0 ? "+" : "-", std::abs(factor), name);
    }
    return {holds + " >= 0 ", fails + " >= 0 "};
  }

  // Lanes that add to G what they read; or write to T or F.
  std::string lanes(const Around& around) {
    const bool t = around.near && !around.t_apart && below(3) > 0, f = !t && !around.f_apart;
    const bool reads_scratchpad = below(3) > 0 && (t || f), writes_scratchpad = below(6) == 0;
    const std::string from = reads_scratchpad ? (t ? "T" : "F") : "S",
                      to = !writes_scratchpad        ? "G"
                           : around.near && below(2) ? "T"
                                                     : "F";
    const std::string scratchpad_place = fmt::format("{} + {}*l", below(4), 1 + below(3));
    const std::string into = from == to ? "U" : to;  // a block has one view of a name
    return fmt::format(
        "block<LANE[l]> [l:{}{}] ( {} in {}[{}] i32(1:1) {} {}[{}]{} i32(1:1) ) "
        "{{ 0: $x = load({}) 1: {} = store($x) }}\n",
        kLanes, passed(around), below(4) ? "" : conditions(around, true).first, from,
        reads_scratchpad ? fmt::format("{} + {}*l", below(4), 1 + below(3)) : place(around),
        writes_scratchpad ? "out" : "inout", into == to ? to : into + " = " + to,
        writes_scratchpad ? scratchpad_place : place(around), writes_scratchpad ? "" : ":add.i32",
        from, into);
  }

  // Lanes that write all of `to`; without a loop semtree can take the loads apart from the stores.
  std::string write_all(const Around& around, const std::string& to, const std::string& place_of,
                        const std::string& condition) {
    return fmt::format(
        "{}block<LANE[l]> [l:{}, i:4{}] ( {}in S[{} + i] i32(1:1) out {}[{}] i32(1:1) ) {{ 0: $x = "
        "load(S) 1: {} = store($x) }}\n",
        below(3) ? "#unroll " : "", kLanes, passed(around), condition, place(around), to, place_of,
        to);
  }

  // Of what a lane of l writes at its i.
  std::string place_of_all() { return below(2) ? "4*l + i" : fmt::format("l + {}*i", kLanes); }

  // All of T, by two statements of which one runs each element: under conditions on lanes, or on
  // points, which may have such statements inside.
  std::string fetch(const Around& around, int64_t& n, int64_t depth = 0) {
    const int64_t kind = depth > 1 ? 1 : below(4);
    if (kind < 2) {
      const auto [holds, fails] = conditions(around, true);
      const std::string to = place_of_all();
      if (kind == 0) return fmt::format("{}: {}", n++, write_all(around, "T", to, ""));
      const std::string first = write_all(around, "T", to, holds);
      const std::string second = write_all(around, "T", to, fails);
      n += 2;
      return fmt::format("{}: {}{}: {}", n - 2, first, n - 1, second);
    }
    std::string out;
    const auto [holds, fails] = conditions(around, false);
    for (const std::string& condition : {holds, fails}) {
      int64_t inner = 0;
      out += fmt::format("{}: block [{}] ( {} {} ) {{\n{}}}\n", n++,
                         around.indices.empty() ? "" : passed(around).substr(2), condition,
                         views(around), fetch(around, inner, depth + 1));
    }
    return out;
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
      indices += fmt::format("{}{}:{}", indices.empty() ? "" : ", ", around.indices.back(),
                             below(12) ? 2 + below(3) : below(2));
    }
    if (below(2) == 0) {
      condition = conditions(around, false).first;
      around.f_apart = true;
      around.t_apart = !allocates;
      ++conditions_;
    }
    if (allocates) around.near = around.t_apart = false;
    const std::string head =
        views(around) +
        (allocates ? fmt::format(" none new@0x0<LOCAL> T[0] i32({}:1)", kNear) : "");
    around.near |= allocates;
    int64_t n = 0;
    if (allocates) body += fetch(around, n);
    for (int64_t steps = 1 + below(4); steps > 0; --steps)
      body += fmt::format("{}: {}", n++, step(around));
    const std::string tags =
        pipelined ? fmt::format("#pipeline={} {}", 2 + below(3), below(2) == 0 ? "#hold " : "")
                  : "";
    return fmt::format("{}block [{}{}] ( {}{} ) {{\n{}}}\n", tags, indices, outer, condition, head,
                       body);
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
