// SPDX-License-Identifier: Apache-2.0
// Sources of the formats: PTX ISA 8.0, "Asynchronous Warpgroup Level Matrix Multiply-Accumulate
// Instructions" (matrix descriptors, fragments of D) and "cp.async.bulk.tensor".
#include "cuda/emit/hopper_instructions.h"

#include <fmt/format.h>

#include <algorithm>

#include "stria/base/number_text.h"

namespace stria::cuda {

Result<Wgmma> find_wgmma(const std::string& name) {
  constexpr std::string_view kBegin = "wgmma.m64n", kEnd = "k16";
  if (name.starts_with(kBegin) && name.ends_with(kEnd)) {
    const auto columns = parse_integer(
        std::string_view(name).substr(kBegin.size(), name.size() - kBegin.size() - kEnd.size()), 8,
        256);
    if (columns.ok() && *columns % 8 == 0) return Wgmma{*columns};
  }
  return unsupported("'{}' is no instruction here: wgmma.m64nNk16", name);
}

// D: row 16 * warp + lane / 4 + 8 * (i / 2 % 2), column 8 * (i / 4) + 2 * (lane % 4) + i % 2.
bool holds_sums(const stripe::Refinement& sums) {
  using stripe::BitField;
  if (sums.location.empty() || sums.shape.rank() != 2) return false;
  const std::vector<std::pair<std::string, std::vector<BitField>>> wanted = {
      {"warp", {{0, 4, 2, 1}}},
      {"lane", {{0, 0, 3, 4}, {1, 1, 2, 1}}},
      {"slot", {{1, 0, 1, 1}, {0, 3, 1, 2}, {1, 3, 5, 4}}}};
  const auto& owners = sums.location.path.back().owners;
  if (owners.size() != wanted.size()) return false;
  for (const auto& [name, fields] : wanted) {
    bool found = false;
    for (const auto& [owner, form] : owners)
      found |= owner == name && form.constant == 0 && form.fields.size() == fields.size() &&
               std::is_permutation(form.fields.begin(), form.fields.end(), fields.begin());
    if (!found) return false;
  }
  return true;
}

std::string hopper_preamble() {
  return R"(struct __align__(64) stria_map { unsigned long long words[16]; };
static __device__ __forceinline__ unsigned stria_address(const void* at) {
  unsigned out;
  asm("{ .reg .u64 a; cvta.to.shared.u64 a, %1; cvt.u32.u64 %0, a; }" : "=r"(out) : "l"(at));
  return out;
}
static __device__ __forceinline__ void stria_init(unsigned barrier, unsigned count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" :: "r"(barrier), "r"(count));
}
static __device__ __forceinline__ void stria_arrive(unsigned barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" :: "r"(barrier) : "memory");
}
static __device__ __forceinline__ void stria_wait(unsigned barrier, unsigned parity) {
  unsigned done;
  do {
    asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2;"
                 " selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(barrier), "r"(parity) : "memory");
  } while (!done);
}
static __device__ __forceinline__ void stria_copy(unsigned to, const stria_map* map, int x, int y,
                                                  unsigned barrier, unsigned bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;"
               :: "r"(barrier), "r"(bytes) : "memory");
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes"
               " [%0], [%1, {%2, %3}], [%4];"
               :: "r"(to), "l"(map), "r"(x), "r"(y), "r"(barrier) : "memory");
}
static __device__ __forceinline__ unsigned long long stria_descriptor(unsigned at) {
  return (unsigned long long)((at & 0x3FFFF) >> 4) | (1ull << 16) | (64ull << 32) | (1ull << 62);
}
static __device__ __forceinline__ unsigned short stria_half(float x) {
  unsigned short out;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out) : "f"(x));
  return out;
}
static __device__ __forceinline__ unsigned stria_halves(float first, float second) {
  unsigned out;
  asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(second), "f"(first));
  return out;
}
)";
}

std::string wgmma_function(int64_t columns) {
  const int64_t sums = columns / 2;
  std::string registers, operands;
  for (int64_t i = 0; i < sums; ++i) {
    registers += fmt::format("{}%{}", i == 0 ? "" : ", ", i);
    operands += fmt::format("{}\"+f\"(d[{}])", i == 0 ? "" : ", ", i);
  }
  return fmt::format(
      "static __device__ __forceinline__ void stria_product_{0}(float (&d)[{1}],\n"
      "    unsigned long long left, unsigned long long right) {{\n"
      "  asm volatile(\"wgmma.mma_async.sync.aligned.m64n{0}k16.f32.f16.f16 {{{2}}}, %{3}, %{4}, "
      "1, 1, "
      "1, 0, 0;\"\n      : {5}\n      : \"l\"(left), \"l\"(right));\n}}\n",
      columns, sums, registers, sums, sums + 1, operands);
}

}  // namespace stria::cuda
