// SPDX-License-Identifier: Apache-2.0
// What matching stencils costs: a sum of products over 12 indices against 4 stencils, whose strides
// rule out much, little, or nothing.
//   stria_tensorize_bench [ROUNDS]
#include <cstdio>
#include <cstdlib>
#include <string>

#include "measure.h"
#include "stria/passes/tile/stencil_match.h"

namespace {

using namespace stria;
using passes::kAnyStride;
using passes::kWholeRange;
using passes::StencilRules;

// C[o0 … o3, x0 … x3] = +(A[x0 … x3, r0 … r3] * B[r0 … r3, o0 … o3]), ranges that differ.
stripe::Block product() {
  stripe::Block block;
  block.name = "product";
  const int64_t ranges[] = {64, 31, 6, 17, 128, 33, 9, 40, 64, 3, 3, 7};
  std::string names[3];
  for (int i = 0; i < 12; ++i)
    block.idxs.push_back({std::string(1, "xor"[i / 4]) + std::to_string(i % 4), ranges[i], {}, {}});
  auto view = [&](const char* name, stripe::RefDir dir, int first, int second) {
    stripe::Refinement ref;
    ref.dir = dir;
    ref.from = ref.into = name;
    int64_t stride = 1;
    for (const int group : {second, first})
      for (int i = 3; i >= 0; --i) {
        const stripe::Index& index = block.idxs[static_cast<size_t>(4 * group + i)];
        ref.access.push_back(Affine::of(index.name));
        ref.shape.dims.push_back({1, stride});
        stride *= index.range;
      }
    ref.shape.type = DataType::fp32;
    if (dir == stripe::RefDir::out) ref.agg = stripe::Aggregation{};
    block.refs.push_back(std::move(ref));
  };
  view("A", stripe::RefDir::in, 0, 2);
  view("B", stripe::RefDir::in, 2, 1);
  view("C", stripe::RefDir::out, 0, 1);
  block.stmts.emplace_back(stripe::Load{"A", "a"});
  block.stmts.emplace_back(stripe::Load{"B", "b"});
  block.stmts.emplace_back(stripe::Intrinsic{"mul", DataType::fp32, {"c"}, {"a", "b"}});
  block.stmts.emplace_back(stripe::Store{"c", "C"});
  return block;
}

// `kinds`: m and n, output indices, k, a reduction index, ? any index.
StencilRules stencil(const char* kinds, std::vector<int64_t> sizes, int64_t startup_cost) {
  StencilRules rules;
  rules.ins = 2;
  rules.startup_cost = startup_cost;
  for (size_t i = 0; kinds[i]; ++i) {
    const int64_t any = kAnyStride;
    StencilRules::Index index{"s" + std::to_string(i), sizes[i % sizes.size()], {any}, {any, any}};
    if (kinds[i] == 'm') index.ins[1] = 0;
    if (kinds[i] == 'n') index.ins[0] = 0;
    if (kinds[i] == 'k') index.outs[0] = 0;
    rules.idxs.push_back(std::move(index));
  }
  return rules;
}

}  // namespace

int main(int argc, char** argv) {
  const int rounds = argc == 2 ? std::atoi(argv[1]) : 101;
  if (argc > 2 || rounds < 1) {
    std::fprintf(stderr, "usage: stria_tensorize_bench [ROUNDS]\n");
    return 2;
  }
  const stripe::Block block = product();
  struct Case {
    const char* name;
    std::vector<StencilRules> stencils;
  };
  const std::vector<Case> cases = {
      {"matrix units",
       {stencil("mnk", {16, 8, 16}, 30), stencil("mnk", {16, 16, 16}, 60),
        stencil("mnk", {64, 256, 16}, 500), stencil("mk", {32, kWholeRange}, 0)}},
      {"two of each",
       {stencil("mmnnkk", {4, 8}, 30), stencil("mmnnkk", {7, 5}, 60),
        stencil("mmnnkk", {16, kWholeRange}, 1), stencil("mnmnkk", {3, 9}, 0)}},
      {"six of any",
       {stencil("??????", {4, 8, 3}, 30), stencil("??????", {7, 5}, 60),
        stencil("??????", {16, kWholeRange}, 1), stencil("??????", {3, 9, 2}, 0)}},
      {"twelve of any",
       {stencil("????????????", {4, 8, 3}, 30), stencil("????????????", {7, 5}, 60),
        stencil("????????????", {16, kWholeRange}, 1), stencil("????????????", {3, 9, 2}, 0)}}};
  std::vector<std::function<void()>> works;
  std::vector<int64_t> costs(cases.size());
  for (size_t i = 0; i < cases.size(); ++i)
    works.push_back([&, i] {
      costs[i] = 0;
      for (const StencilRules& rules : cases[i].stencils)
        if (const auto match = passes::match_stencil(block, rules, false)) costs[i] += match->cost;
    });
  const std::vector<bench::Timing> times = bench::interleave(works, rounds, 3);
  std::printf("%s; 12 indices against 4 stencils, microseconds\n", bench::machine_text().c_str());
  std::printf("%-16s %10s %10s %10s   sum of costs\n", "", "median", "best", "worst");
  for (size_t i = 0; i < cases.size(); ++i)
    std::printf("%-16s %10.1f %10.1f %10.1f   %lld\n", cases[i].name, 1e6 * times[i].median_s,
                1e6 * times[i].best_s, 1e6 * times[i].worst_s, static_cast<long long>(costs[i]));
  return 0;
}
