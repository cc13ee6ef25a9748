// SPDX-License-Identifier: Apache-2.0
// Tensors of more than 4 GiB as plugins/vulkan compiles them: on the way to an address nothing is
// computed in 32 bits that could be too large for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

// Which operations have a result, and of what type.
#define SPV_ENABLE_UTILITY_CODE
#include "emit/spirv.h"
//
#include "emit/program.h"
#include "vulkan_machine.h"

namespace stria::lanes {
namespace {

using spv::Op;

// The arithmetic of a module, by the id of each result.
class ModuleArithmetic {
 public:
  struct Instruction {
    Op op{};
    uint32_t type = 0;
    std::vector<uint32_t> operands;
  };

  explicit ModuleArithmetic(const std::vector<uint32_t>& words) {
    constexpr size_t kHeader = 5;
    for (size_t at = kHeader; at < words.size(); at += words[at] >> 16) {
      const auto op = static_cast<Op>(words[at] & 0xffff);
      const size_t end = at + (words[at] >> 16);
      if (op == Op::OpTypeInt) bits_[words[at + 1]] = words[at + 2];
      bool has_result = false, has_type = false;
      spv::HasResultAndType(op, &has_result, &has_type);
      if (has_result && has_type) {
        all_[words[at + 2]] = {op, words[at + 1], {&words[0] + at + 3, &words[0] + end}};
        if (op == Op::OpConvertUToPtr) addresses_.push_back(words[at + 3]);
      }
    }
  }

  const std::vector<uint32_t>& addresses() const { return addresses_; }

  // "", or what may be too large on the way to the address. `elements_fit`: the number of each
  // element has 32 bits, so it may be computed in them, but not its bytes.
  std::string too_narrow(uint32_t address, bool elements_fit) const {
    return too_narrow(address, elements_fit, false);
  }

 private:
  // `scaled`: it is multiplied further on, by the bytes of an element.
  std::string too_narrow(uint32_t id, bool elements_fit, bool scaled) const {
    const Instruction& instruction = all_.at(id);
    const auto bits = bits_.find(instruction.type);
    if (bits == bits_.end()) return "";  // the condition of a choice
    // Given by the launch or the program, or a loop's counter, which comes from itself.
    static const std::set<Op> kGiven = {Op::OpLoad, Op::OpConstant, Op::OpCompositeExtract};
    if (kGiven.contains(instruction.op)) return "";
    if (bits->second == 32)
      return elements_fit && scaled
                 ? ""
                 : fmt::format("operation {} in 32 bits", static_cast<uint32_t>(instruction.op));
    if (instruction.op == Op::OpPhi) return "";
    scaled = scaled || instruction.op == Op::OpIMul;
    // Of a function of an instruction set, the set and its number come first.
    const size_t first = instruction.op == Op::OpExtInst ? 2 : 0;
    for (size_t i = first; i < instruction.operands.size(); ++i)
      if (std::string wrong = too_narrow(instruction.operands[i], elements_fit, scaled);
          !wrong.empty())
        return wrong;
    return "";
  }

  std::map<uint32_t, uint32_t> bits_;  // of integer types
  std::map<uint32_t, Instruction> all_;
  std::vector<uint32_t> addresses_;
};

constexpr const char* kSum = "function (A[M, N], B[M, N]) -> (R) { R = A + B; }";
constexpr const char* kSumOfRows = "function (A[M, N]) -> (R) { R[m : M] = +(A[m, n]); }";
constexpr const char* kSumOfColumns = "function (A[M, N]) -> (R) { R[n : N] = +(A[m, n]); }";
constexpr const char* kTransposed = "function (A[M, N]) -> (R) { R[n, m : N, M] = =(A[m, n]); }";
constexpr const char* kProduct =
    "function (A[M, N], B[N, K]) -> (R) { R[m, k : M, K] = +(A[m, n] * B[n, k]); }";
constexpr const char* kProductOfColumns =
    "function (A[M, N], B[K, M]) -> (R) { R[k, n : K, N] = +(B[k, m] * A[m, n]); }";

struct Large {
  const char* text;
  DataType type;
  int64_t rows, columns;  // of A
  bool has_matrices = false;
};

TEST(LargeTensors, AreAddressedIn64Bits) {
  int64_t by_matrices = 0, with_narrow_elements = 0, staged = 0, addresses = 0;
  for (const Large& large :
       {// 5 GiB of words and of halves: numbers of elements have 32 bits, and have not.
        Large{kSum, DataType::fp32, 40960, 32768}, Large{kSum, DataType::fp16, 81920, 32768},
        Large{kSum, DataType::i8, 163840, 32768}, Large{kSumOfRows, DataType::fp32, 40960, 32768},
        Large{kSumOfRows, DataType::fp16, 81920, 32768},
        Large{kSumOfColumns, DataType::fp32, 40960, 32768},
        Large{kSumOfColumns, DataType::fp16, 81920, 32768},
        Large{kTransposed, DataType::fp32, 40960, 32768},
        Large{kTransposed, DataType::fp16, 81920, 32768},
        Large{kProduct, DataType::fp32, 40960, 32768},
        Large{kProduct, DataType::fp16, 81920, 32768},
        Large{kProduct, DataType::fp16, 81920, 32768, true},
        Large{kProductOfColumns, DataType::fp32, 32, 41943040},
        Large{kProductOfColumns, DataType::fp16, 32, 83886080, true}}) {
    const std::string text = large.text;
    std::map<std::string, tile::TensorType> inputs = {
        {"A", {large.type, {large.rows, large.columns}}}};
    if (text == kSum) inputs["B"] = inputs["A"];
    if (text == kProduct) inputs["B"] = {large.type, {large.columns, 64}};
    if (text == kProductOfColumns) inputs["B"] = {large.type, {32, large.rows}};
    SCOPED_TRACE(fmt::format("{} with {}", text, name_of(large.type)));
    const auto generic = passes::lower_text(text, inputs);
    ASSERT_TRUE(generic.ok()) << generic.status().to_string();
    const VulkanMachine on =
        vulkan_machine({.local_KiB = 48, .groups = INT32_MAX, .matrices = large.has_matrices});
    const auto device = run_passes(on.machine, *generic);
    ASSERT_TRUE(device.ok()) << device.status().to_string();
    const auto kernels = vulkan::build_kernels(*device, on.features, on.machine.options);
    ASSERT_TRUE(kernels.ok()) << kernels.status().to_string();
    TileCounts counts;
    EXPECT_EQ(wrong_dispatch(on, *device, *kernels, counts), "");
    by_matrices += counts.with_matrices;
    for (const vulkan::KernelCode& kernel : *kernels) {
      const auto& params = kernel.function.params;
      const bool fit = std::all_of(params.begin(), params.end(),
                                   [](const auto& param) { return param.span <= INT32_MAX; });
      // Only what is proven to fit may be narrow.
      if (!fit) {
        EXPECT_EQ(kernel.function.index_type, DataType::i64) << kernel.name;
      }
      const bool narrow = kernel.function.index_type == DataType::i32;
      with_narrow_elements += narrow;
      staged += kernel.function.group_lanes > 1 && !kernel.function.arrays.empty();
      for (const bool any_offset : {false, true}) {
        const auto words = vulkan::emit(kernel, on.features, any_offset);
        ASSERT_TRUE(words.ok()) << words.status().to_string();
        const ModuleArithmetic module(*words);
        addresses += static_cast<int64_t>(module.addresses().size());
        for (const uint32_t address : module.addresses())
          EXPECT_EQ(module.too_narrow(address, narrow), "") << kernel.name;
      }
    }
  }
  std::printf("addresses: %ld; kernels with matrices: %ld, staged: %ld, of narrow indices: %ld\n",
              addresses, by_matrices, staged, with_narrow_elements);
  EXPECT_GT(addresses, 100);
  EXPECT_GT(by_matrices, 1);
  EXPECT_GT(staged, 3);
  EXPECT_GT(with_narrow_elements, 3);
}

}  // namespace
}  // namespace stria::lanes
