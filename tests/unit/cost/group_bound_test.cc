// SPDX-License-Identifier: Apache-2.0
// The bound of a group's time is not above the time of any tile of its box: random products,
// windows and gradients of these, strided and padded, with split reductions, and forms that no
// program has, in random layouts of random types, on random rates. STRIA_BOUND_SEED=<seed>
// STRIA_BOUNDS=1 runs the one that failed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "drawn_calibration.h"
#include "settings.h"
#include "stria/cost/workgroup/group_time.h"
#include "stria/cost/workgroup/group_work.h"
#include "stria/cost/workgroup/staged_elements.h"
#include "stria/stripe/text/parser.h"

namespace stria::cost {
namespace {

class Case {
 public:
  explicit Case(uint64_t seed) : random_(seed) {
    const int64_t kind = below(5);
    type_ = type_of();
    block_ = kind == 0 ? product() : kind == 1 ? window() : kind == 2 ? gradient() : odd();
    rates_.units = one_of({1, 7, 100});
    rates_.multiply_adds = one_of({1, 32, 128});
    rates_.most_lanes = static_cast<int64_t>(one_of({64, 1024, 2048}));
    rates_.most_group_lanes = static_cast<int64_t>(one_of({32, 256, 1024}));
    rates_.registers = static_cast<int64_t>(one_of({64, 256})) << 10;
    rates_.lane_registers = static_cast<int64_t>(one_of({512, 1024, 4096}));
    rates_.local_bytes = static_cast<int64_t>(one_of({2, 48, 200})) << 10;
    rates_.unit_local_bytes = static_cast<int64_t>(one_of({0, 50, 100})) << 10;
    rates_.bank_bytes = static_cast<int64_t>(one_of({0, 128}));
    rates_.global_latency = one_of({0, 20, 400});
    rates_.local_latency = one_of({0, 11, 100});
    rates_.global_bytes = one_of({0, 1, 24});
    rates_.line_bytes = static_cast<int64_t>(one_of({4, 32, 128}));
    form_ = {1 + below(3), below(2) == 0, below(2) == 0};
    // A bound holds for every calibration, not for that of one machine.
    if (seed % 2 == 0) rates_.facts = drawn_calibration(static_cast<uint32_t>(seed)).group;
  }

  const TiledBlock& block() const { return block_; }
  const GroupRates& rates() const { return rates_; }
  const GroupForm& form() const { return form_; }

  // A box of the space, and one of its tiles.
  struct Box {
    Tile low, high, tile;
  };
  Box box(const TileSpace& space) {
    Box out;
    for (const std::vector<int64_t>& sizes : space) {
      std::vector<int64_t> at;
      for (int i = 0; i < 3; ++i) at.push_back(below(static_cast<int64_t>(sizes.size())));
      std::sort(at.begin(), at.end());
      out.low.push_back(sizes[static_cast<size_t>(at[0])]);
      out.tile.push_back(sizes[static_cast<size_t>(at[1])]);
      out.high.push_back(sizes[static_cast<size_t>(at[2])]);
    }
    return out;
  }

 private:
  int64_t below(int64_t n) { return static_cast<int64_t>(random_() % static_cast<uint64_t>(n)); }
  double one_of(const std::vector<double>& of) {
    return of[static_cast<size_t>(below(static_cast<int64_t>(of.size())))];
  }
  int64_t size(int64_t octaves) {
    const int64_t least = int64_t{1} << below(octaves);
    return below(2) ? least : least + below(least);
  }

  std::string type_of() {
    const std::vector<std::string> all = {"fp32", "fp16", "fp64", "i8", "i64"};
    return all[static_cast<size_t>(below(5))];
  }

  // A view of these accesses, whose dimensions lie in memory in a random order; what is read also
  // in place of each other.
  std::string view(const std::string& head, const std::vector<std::string>& accesses,
                   const std::vector<int64_t>& sizes, const std::string& tail = "") {
    const int64_t how = head.substr(0, 2) == "in" ? below(4) : 3;
    std::vector<size_t> order(sizes.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random_);
    std::vector<int64_t> strides(sizes.size());
    int64_t stride = 1;
    for (const size_t at : order) {
      strides[at] = how == 0               ? below(4) * below(4) * below(3)
                    : how == 1 && below(2) ? std::max<int64_t>(0, stride - below(8))
                                           : stride;
      stride *= sizes[at] + (below(4) == 0);  // rows may be padded
    }
    std::vector<std::string> dims;
    for (size_t i = 0; i < sizes.size(); ++i) dims.push_back(fmt::format("1:{}", strides[i]));
    return fmt::format("{}[{}]{} {}({})\n", head, fmt::join(accesses, ", "), tail, type_,
                       fmt::join(dims, ", "));
  }

  TiledBlock of(const std::string& text) {
    Result<stripe::Program> program = stripe::parse(
        {"case", fmt::format("0: #program block [] () {{ 0: #main block [] () {{\n{}"
                             " {{ 0: $A = load(A) 1: $B = load(B) 2: $C = mul.fp32($A, $B)"
                             " 3: C = store($C) }} }} }}",
                             text)});
    STRIA_CHECK(program.ok(), "{}\n{}", program.status().to_string(), text);
    return tiled_block(*program->main()->stmts[0].block());
  }

  TiledBlock product() {
    const int64_t m = size(12), n = size(12), k = size(13), parts = below(2) ? size(5) : 1;
    const std::string reduced = parts > 1 ? fmt::format("{}*p + k", k) : "k";
    const std::string a = view("in A", {"i", reduced}, {m, k * parts});
    const std::string b = view("in B", {reduced, "j"}, {k * parts, n});
    const std::string c = view("out C", {"p", "i", "j"}, {parts, m, n}, ":add.fp32");
    return of(fmt::format("0: #contraction block [i:{}, j:{}, k:{}, p:{}] (\n{}{}{})", m, n, k,
                          parts, a, b, c));
  }

  TiledBlock window() {
    const int64_t n = size(4), x = size(8), y = size(8), ci = size(8), co = size(8),
                  i = 1 + below(5), j = 1 + below(5), step = 1 + below(4), apart = 1 + below(2),
                  parts = below(3) ? 1 : size(4);
    const int64_t width = step * (x - 1) + apart * (i - 1) + 1,
                  height = step * (y - 1) + apart * (j - 1) + 1;
    const std::string at_x = fmt::format("{}*x + {}*i", step, apart),
                      at_y = fmt::format("{}*y + {}*j", step, apart),
                      reduced = parts > 1 ? fmt::format("{}*p + ci", ci) : "ci";
    std::string constraints;
    if (below(2)) constraints += fmt::format("{} - 1 >= 0\n", at_x);
    if (below(2)) constraints += fmt::format("{} - {}*y - {}*j >= 0\n", height - 2, step, apart);
    const std::string a = view("in A", {"n", at_x, at_y, reduced}, {n, width, height, ci * parts});
    const std::string b = view("in B", {"i", "j", "co", reduced}, {i, j, co, ci * parts});
    const std::string c =
        view("out C", {"p", "n", "x", "y", "co"}, {parts, n, x, y, co}, ":add.fp32");
    return of(fmt::format(
        "0: #contraction block [ci:{}, co:{}, i:{}, j:{}, n:{}, p:{}, x:{}, y:{}] (\n{}{}{}{})", ci,
        co, i, j, n, parts, x, y, constraints, a, b, c));
  }

  // Of a window's weights: its reductions are its points, of which each part has some.
  TiledBlock gradient() {
    const int64_t n = size(6), x = size(8), ci = size(8), co = size(8), i = 1 + below(5),
                  step = 1 + below(4), apart = 1 + below(2), parts = below(2) ? 1 : size(4);
    const int64_t width = step * (x * parts - 1) + apart * (i - 1) + 1;
    const std::string at = fmt::format("{}*p + {}*x + {}*i", step * x, step, apart);
    const std::string constraint = below(2) ? "" : at + " - 1 >= 0\n";
    const std::string a = view("in A", {"n", at, "ci"}, {n, width, ci});
    const std::string b = view("in B", {"n", fmt::format("{}*p + x", x), "co"}, {n, x * parts, co});
    const std::string c = view("out C", {"p", "i", "ci", "co"}, {parts, i, ci, co}, ":add.fp32");
    return of(
        fmt::format("0: #contraction block [ci:{}, co:{}, i:{}, n:{}, p:{}, x:{}] (\n{}{}{}{})", ci,
                    co, i, n, parts, x, constraint, a, b, c));
  }

  // Dimensions that move with any indices, several at once, and constraints of such forms.
  TiledBlock odd() {
    const int64_t m = size(9), n = size(9), k = size(9), l = size(5), p = below(2) ? size(4) : 1;
    const auto form = [&] {
      std::vector<std::string> terms;
      for (const char* name : {"i", "j", "k", "l", "p"})
        if (below(3) == 0) terms.push_back(fmt::format("{}*{}", 1 + below(4) * below(2), name));
      return terms.empty() ? "0" : fmt::format("{}", fmt::join(terms, " + "));
    };
    const auto any = [&](const char* head) {
      std::vector<std::string> accesses;
      std::vector<int64_t> sizes;
      for (int64_t d = below(4); d >= 0; --d) {
        accesses.push_back(form());
        sizes.push_back(size(9));
      }
      return view(head, accesses, sizes);
    };
    std::string constraints;
    for (int64_t c = below(3); c > 0; --c) constraints += form() + " - 1 >= 0\n";
    const std::string a = any("in A"), b = any("in B");
    const std::string c = view("out C", {"p", "i", "j"}, {p, m, n}, ":add.fp32");
    return of(fmt::format("0: #contraction block [i:{}, j:{}, k:{}, l:{}, p:{}] (\n{}{}{}{})", m, n,
                          k, l, p, constraints, a, b, c));
  }

  std::mt19937_64 random_;
  std::string type_;
  TiledBlock block_;
  GroupRates rates_;
  GroupForm form_;
};

constexpr int kBoxes = 200;

// What the bound is made of, one by one.
void expect_parts_hold(const TiledBlock& block, const Case::Box& box, const GroupRates& rates,
                       uint64_t seed) {
  const auto where = [&] {
    return fmt::format("seed {}: {} to {}, of {}", seed, to_string(block, box.low),
                       to_string(block, box.high), to_string(block, box.tile));
  };
  const group::Staged staged = group::staged_by(block, box.tile, rates);
  ASSERT_LE(group::least_lines(block, box.low, box.high, rates.facts), staged.lines) << where();
  ASSERT_LE(group::least_conditions(block, box.low, box.high, rates.facts),
            group::counts_of(block, box.tile, rates.facts).conditions * (1 + 1e-12))
      << where();
  for (const TiledView& view : block.views) {
    const double elements = staged_elements(view, box.tile);
    ASSERT_LE(least_staged_of_point(view, box.low, box.high) * points_of(box.tile),
              elements * (1 + 1e-12))
        << view.name << ", " << where();
  }
}

TEST(GroupBound, IsNotAboveTheTime) {
  const uint64_t first = trust::number_from("STRIA_BOUND_SEED", 1);
  const uint64_t count = trust::number_from("STRIA_BOUNDS", 300);
  int64_t fit = 0, direct = 0, parts = 0, close = 0;
  for (uint64_t seed = first; seed < first + count && !testing::Test::HasFailure(); ++seed) {
    Case of(seed);
    const TileSpace space = group_tiles(of.block(), of.form());
    for (int i = 0; i < kBoxes; ++i) {
      const Case::Box box = of.box(space);
      ASSERT_NO_FATAL_FAILURE(expect_parts_hold(of.block(), box, of.rates(), seed));
      const GroupTime time = group_time(of.block(), box.tile, of.form(), of.rates());
      for (const auto& [low, high] :
           {std::pair(box.low, box.high), std::pair(box.tile, box.tile)}) {
        const double bound = group_time_bound(of.block(), low, high, of.form(), of.rates());
        ASSERT_LE(bound, time.cycles) << "seed " << seed << ": " << to_string(of.block(), low)
                                      << " to " << to_string(of.block(), high) << ", of "
                                      << to_string(of.block(), box.tile) << ": " << to_string(time);
        close += !std::isinf(bound) && bound > 0.5 * time.cycles;
      }
      if (all_larger_are_over(of.block(), box.low, of.form(), of.rates())) {
        ASSERT_TRUE(std::isinf(time.cycles))
            << "seed " << seed << ": " << to_string(of.block(), box.low) << ", "
            << to_string(of.block(), box.tile);
      }
      fit += !std::isinf(time.cycles);
      direct += !std::isinf(time.cycles) && time.direct;
      parts += !std::isinf(time.cycles) && time.parts > 1;
    }
  }
  if (count < 300) return;
  EXPECT_GT(fit, static_cast<int64_t>(count) * 20);
  EXPECT_GT(direct, static_cast<int64_t>(count));
  EXPECT_GT(parts, static_cast<int64_t>(count));
  EXPECT_GT(close, static_cast<int64_t>(count) * 10);
}

}  // namespace
}  // namespace stria::cost
