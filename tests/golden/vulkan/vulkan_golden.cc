// SPDX-License-Identifier: Apache-2.0
// Stage vulkan: a device Stripe program as SPIR-V, in the text of emit/text.cc. The device has
// everything but fp16 arithmetic and views of the memory that lanes share. Options: fp16=yes,
// views=yes, fp64=no, int64=no, storage8=no, storage16=no (features), promises=no (of floats),
// fast_math=yes, any_offset=yes, push=8 (bytes of push constants at most), group=64 (points of a
// group), largest=64 (lanes of a group at most), shared=1024 (bytes that a group has at most),
// groups=7 (in the first dimension at most), whole=7 (a kernel of no more groups is never cut),
// matrices=yes (subgroups of 32 lanes hold matrices of 16 x 16 halves and sums of them).
#include <cstdlib>

#include "emit/program.h"
#include "golden.h"
#include "stria/stripe/text/parser.h"

namespace {

using stria::golden::Case;

stria::vulkan::Features features_of(const Case& test) {
  const auto lacks = [&](const char* feature) { return test.option(feature) == "no"; };
  const auto has = [&](const char* feature) { return test.option(feature) == "yes"; };
  stria::vulkan::Features out;
  out.device = "Made-up GPU";
  out.fp64 = !lacks("fp64");
  out.int64 = !lacks("int64");
  out.int16 = out.int8 = true;
  out.storage16 = !lacks("storage16");
  out.storage8 = !lacks("storage8");
  out.fp16 = has("fp16");
  out.shared_views = out.shared_views16 = out.shared_views8 = has("views");
  if (has("matrices"))
    for (const stria::DataType sum : {stria::DataType::fp32, stria::DataType::fp16})
      out.matrices.push_back({16, 16, 16, stria::DataType::fp16, stria::DataType::fp16, sum});
  if (!lacks("promises")) out.of16 = out.of32 = out.of64 = {true, true, true};
  out.fast_math = has("fast_math");
  out.spirv_version = 0x00010600;
  out.push_bytes = std::atoll(test.option("push", "128").c_str());
  if (const std::string whole = test.option("whole"); !whole.empty())
    out.whole_groups = std::atoll(whole.c_str());
  return out;
}

stria::Result<std::string> print_modules(const Case& test) {
  STRIA_ASSIGN(stria::stripe::Program program, stria::stripe::parse(test.input));
  const stria::vulkan::Features features = features_of(test);
  stria::vulkan::Limits limits;
  limits.group_lanes = std::atoll(test.option("largest", "1024").c_str());
  limits.shared_bytes = std::atoll(test.option("shared", "49152").c_str());
  limits.groups[0] = std::atoll(test.option("groups", "65535").c_str());
  stria::semtree::SourceOptions options = stria::vulkan::source_options(limits);
  options.build.subgroup_lanes = features.matrices.empty() ? 0 : 32;
  options.group_points = std::atoll(test.option("group", "1").c_str());
  STRIA_ASSIGN(const std::vector<stria::vulkan::KernelCode> kernels,
               stria::vulkan::build_kernels(program, features, options));
  std::string out;
  for (const stria::vulkan::KernelCode& kernel : kernels) {
    STRIA_ASSIGN(const std::vector<uint32_t> words,
                 stria::vulkan::emit(kernel, features, test.option("any_offset") == "yes"));
    STRIA_ASSIGN(const std::string text, stria::vulkan::disassemble(words));
    out += fmt::format("{}: {} x {} x {} groups of {}\n{}", kernel.symbol, kernel.groups[0],
                       kernel.groups[1], kernel.groups[2], kernel.group_lanes, text);
  }
  return out;
}

}  // namespace

int main(int argc, char** argv) {
  return stria::golden::run_stage(argc, argv, "vulkan", print_modules);
}
