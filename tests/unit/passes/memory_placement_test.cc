// SPDX-License-Identifier: Apache-2.0
// How close the arenas of real networks' shapes come to what is alive together, and that what
// memory_placement leaves is legal.
#include "stria/passes/staging/memory_placement.h"

#include <gtest/gtest.h>

#include <cstdio>

#include "networks.h"
#include "resnet50.h"
#include "stria/lower/lower.h"
#include "stria/passes/all_passes.h"
#include "stria/stripe/allocation_lives.h"
#include "stria/stripe/verify/verifier.h"
#include "stria/tile/syntax/parser.h"

namespace stria::passes {
namespace {

struct Shape {
  const char* name;
  Network (*make)();
};

Network resnet50() {
  bench::ResNet50 net = bench::resnet50();
  return {net.text, net.inputs};
}

const Shape kShapes[] = {{"ResNet50", resnet50},
                         {"MobileNetV2", mobilenet_v2},
                         {"BertBase", bert_base},
                         {"UNet", u_net}};

class NetworkShape : public testing::TestWithParam<Shape> {};

// Main's temporaries in a memory of their own: beside the weights, which always live, any arena of
// theirs would look good. What is alive together is the most at any one statement.
TEST_P(NetworkShape, TakesAtMostATwentiethMoreThanIsAliveTogether) {
  const Network network = GetParam().make();
  auto parsed = tile::parse({GetParam().name, network.text});
  ASSERT_TRUE(parsed.ok()) << parsed.status().to_string();
  auto bound = tile::bind_program(*parsed, "", network.inputs);
  ASSERT_TRUE(bound.ok()) << bound.status().to_string();
  auto program = lower(*bound);
  ASSERT_TRUE(program.ok()) << program.status().to_string();
  constexpr int64_t kAlignment = 64;
  int64_t all = 0;
  for (stripe::Refinement& ref : program->main()->refs) {
    if (ref.dir != stripe::RefDir::none) continue;
    ref.location.path.push_back({"SRAM", {Affine(0)}, {}});
    all += ref.shape.span_bytes();
  }
  MemoryPlacementOptions options;
  options.alignment = kAlignment;
  const HardwareModel model = empty_hardware_model();
  PassContext context(model);
  ASSERT_TRUE(memory_placement(*program, options, context).ok());

  // Counted here by the simplest means, one sum for each statement.
  const stripe::Block& main = *program->main();
  int64_t arena = 0;
  std::vector<int64_t> live(main.stmts.size());
  for (const stripe::Refinement& ref : main.refs) {
    if (ref.dir != stripe::RefDir::none) continue;
    const int64_t bytes = ref.shape.span_bytes();
    EXPECT_EQ(ref.offset_bytes % kAlignment, 0);
    arena = std::max(arena, ref.offset_bytes + bytes);
    size_t first = main.stmts.size(), last = 0;
    for (size_t i = 0; i < main.stmts.size(); ++i) {
      for (const stripe::Refinement& view : main.stmts[i].block()->refs) {
        if (view.from != ref.into) continue;
        first = std::min(first, i);
        last = std::max(last, i);
      }
    }
    for (size_t i = first; i <= last; ++i) live[i] += bytes;
  }
  const int64_t peak = *std::max_element(live.begin(), live.end());
  std::printf(
      "%s: %zu kernels, %lld KiB of temporaries, %lld KiB alive together, arena %.4f of it\n",
      GetParam().name, main.stmts.size(), static_cast<long long>(all / 1024),
      static_cast<long long>(peak / 1024), static_cast<double>(arena) / static_cast<double>(peak));
  EXPECT_LE(static_cast<double>(arena), 1.05 * static_cast<double>(peak));
  EXPECT_GE(arena, peak);
  stripe::VerifyOptions rules;
  rules.accesses = stripe::AccessRules::none();
  const Status legal = stripe::verify(*program, rules);
  EXPECT_TRUE(legal.ok()) << legal.to_string();
}

INSTANTIATE_TEST_SUITE_P(Networks, NetworkShape, testing::ValuesIn(kShapes),
                         [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace stria::passes
