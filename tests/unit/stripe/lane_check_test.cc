// SPDX-License-Identifier: Apache-2.0
// The verifier's answers about barriers against plain enumeration: random nests of loops, lane
// blocks and barriers over one tensor. A program is wrong exactly if two lanes touch one element,
// one of them to write it, with no barrier in between.
#include <gtest/gtest.h>

#include <random>
#include <set>

#include "stria/base/text.h"
#include "stria/stripe/text/parser.h"
#include "stria/stripe/verify/verifier.h"

namespace stria::stripe {
namespace {

struct Step {
  enum class Kind { lanes, barrier, loop } kind = Kind::barrier;
  int64_t range = 1;                   // of a loop
  std::vector<Step> inner;             // of a loop
  bool loads = false, stores = false;  // of lanes
  std::vector<int64_t> load_at,
      store_at;  // constant, factor of the lane, factors of the loops around
};

constexpr int64_t kLanes = 3;
constexpr int64_t kSize = 64;

class Nest {
 public:
  explicit Nest(uint64_t seed) : random_(seed) { steps_ = some_steps(0); }

  std::string text() const {
    return fmt::format(
        "0: #program block [] ( // p\n none new@0x0 S[0] i8({0}:1)) {{ 0: #main block [] ( // "
        "main\n"
        " inout S[0] i8({0}:1)) {{ 0: #kernel block<SM[0]> [] ( // k\n inout S[0] i8({0}:1)) "
        "{{\n{1}}} }} }}",
        kSize, text_of(steps_, {}));
  }

  bool is_wrong() {
    touched_.clear();
    std::vector<int64_t> loops;
    wrong_ = false;
    run(steps_, loops);
    return wrong_;
  }

 private:
  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }

  std::vector<Step> some_steps(int depth) {
    std::vector<Step> steps;
    for (int64_t n = 1 + below(3); n > 0; --n) {
      Step step;
      const int64_t kind = below(depth < 2 ? 8 : 6);
      if (kind < 4) {
        step.kind = Step::Kind::lanes;
        step.loads = below(3) > 0;
        step.stores = !step.loads || below(3) == 0;
        step.load_at = some_place(depth);
        // A lane block of its own is right.
        step.store_at = step.loads && below(2) == 0 ? step.load_at : some_place(depth);
      } else if (kind >= 6) {
        step.kind = Step::Kind::loop;
        step.range = 1 + below(3);
        step.inner = some_steps(depth + 1);
      }
      steps.push_back(std::move(step));
    }
    return steps;
  }

  std::vector<int64_t> some_place(int depth) {
    std::vector<int64_t> place = {below(4), 1 + below(2)};
    for (int i = 0; i < depth; ++i) place.push_back(below(4) * below(2));
    return place;
  }

  static std::string form(const std::vector<int64_t>& place,
                          const std::vector<std::string>& loops) {
    std::string out = fmt::format("{} + {}*l", place[0], place[1]);
    for (size_t i = 0; i < loops.size(); ++i)
      out += fmt::format(" + {}*{}", place[i + 2], loops[i]);
    return out;
  }

  // `loops`: names of the indices around.
  static std::string text_of(const std::vector<Step>& steps,
                             const std::vector<std::string>& loops) {
    std::string out;
    for (size_t i = 0; i < steps.size(); ++i) {
      const Step& step = steps[i];
      std::string passed;
      for (const std::string& loop : loops) passed += fmt::format(", {0}:1 = {0}", loop);
      if (step.kind == Step::Kind::barrier) {
        out += fmt::format("{}: special barrier()\n", i);
      } else if (step.kind == Step::Kind::loop) {
        std::vector<std::string> inner = loops;
        inner.push_back(fmt::format("k{}", loops.size()));
        out += fmt::format("{}: block [{}:{}{}] ( inout S[0] i8({}:1) ) {{\n{}}}\n", i,
                           inner.back(), step.range, passed, kSize, text_of(step.inner, inner));
      } else {
        std::string head, body;
        int n = 0;
        if (step.loads) {
          head += fmt::format("in L = S[{}] i8(1:1) ", form(step.load_at, loops));
          body += fmt::format("{}: $x = load(L) ", n++);
        } else {
          body += fmt::format("{}: $x = (i8)1 ", n++);
        }
        if (step.stores) {
          head += fmt::format("inout S[{}] i8(1:1) ", form(step.store_at, loops));
          body += fmt::format("{}: S = store($x) ", n++);
        }
        out += fmt::format("{}: block<LANE[l]> [l:{}{}] ( {}) {{ {}}}\n", i, kLanes, passed, head,
                           body);
      }
    }
    return out;
  }

  void run(const std::vector<Step>& steps, std::vector<int64_t>& loops) {
    for (const Step& step : steps) {
      if (step.kind == Step::Kind::barrier) {
        touched_.clear();
      } else if (step.kind == Step::Kind::loop) {
        for (int64_t k = 0; k < step.range; ++k) {
          loops.push_back(k);
          run(step.inner, loops);
          loops.pop_back();
        }
      } else {
        for (int64_t lane = 0; lane < kLanes; ++lane) {
          if (step.loads) touch(lane, element(step.load_at, lane, loops), false);
          if (step.stores) touch(lane, element(step.store_at, lane, loops), true);
        }
      }
    }
  }

  static int64_t element(const std::vector<int64_t>& place, int64_t lane,
                         const std::vector<int64_t>& loops) {
    int64_t at = place[0] + place[1] * lane;
    for (size_t i = 0; i < loops.size(); ++i) at += place[i + 2] * loops[i];
    return at;
  }

  void touch(int64_t lane, int64_t element, bool writes) {
    for (int64_t other = 0; other < kLanes; ++other)
      for (bool other_writes : {false, true})
        if (other != lane && (writes || other_writes) &&
            touched_.count({element, other, other_writes}))
          wrong_ = true;
    touched_.insert({element, lane, writes});
  }

  std::mt19937_64 random_;
  std::vector<Step> steps_;
  std::set<std::tuple<int64_t, int64_t, bool>>
      touched_;  // since the last barrier: element, lane, written
  bool wrong_ = false;
};

TEST(LaneCheck, AgreesWithEnumeration) {
  int wrong = 0, right = 0;
  for (uint64_t seed = 0; seed < 1500; ++seed) {
    Nest nest(seed);
    const std::string text = nest.text();
    Result<Program> program = parse({"nest", text});
    ASSERT_TRUE(program.ok()) << program.status().to_string() << text;
    VerifyReport report;
    const Status status = verify(*program, {}, &report);
    EXPECT_TRUE(report.warnings.empty()) << report.warnings[0];
    const bool expected = nest.is_wrong();
    (expected ? wrong : right) += 1;
    ASSERT_EQ(!status.ok(), expected) << "seed " << seed << "\n" << text << status.to_string();
  }
  EXPECT_GT(wrong, 200);
  EXPECT_GT(right, 200);
}

}  // namespace
}  // namespace stria::stripe
