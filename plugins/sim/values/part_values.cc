// SPDX-License-Identifier: Apache-2.0
#include "values/part_values.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <memory>
#include <new>

#include "stria/stripe/walk.h"

namespace stria::sim {
namespace {

using stripe::RefDir;
using stripe::Refinement;

// The memory instance of an allocation: "SRAM[3]"; without a number the first one.
std::string memory_of(const Refinement& ref) {
  if (ref.location.empty()) return "";
  const stripe::LocationUnit& unit = ref.location.path.back();
  const bool numbered = unit.units.size() == 1 && unit.units[0].is_constant();
  return fmt::format("{}[{}]", unit.name, numbered ? unit.units[0].constant() : 0);
}

// What memory holds before anything is written: no number that a program would want.
constexpr int kUnwritten = 0xa5;
constexpr std::align_val_t kAlignment{64};

struct Bytes {
  explicit Bytes(int64_t count)
      : data(static_cast<char*>(::operator new(static_cast<size_t>(count), kAlignment))) {
    std::memset(data.get(), kUnwritten, static_cast<size_t>(count));
  }
  struct Free {
    void operator()(char* memory) const { ::operator delete(memory, kAlignment); }
  };
  std::unique_ptr<char, Free> data;
};

}  // namespace

Result<PartValues> PartValues::make(const stripe::Block& part, bool placed) {
  PartValues out;
  std::map<std::string, Operand> operands;
  for (const Refinement* ref : stripe::kernel_arguments(part)) {
    operands[ref->into] = {true, out.arguments_.size(), 0};
    out.arguments_.push_back({ref->into, ref->dir, ref->shape.span_bytes()});
  }
  struct Own {
    const Refinement* ref;
    size_t memory;
  };
  std::vector<Own> own;
  std::map<std::string, size_t> by_name;
  for (const Refinement& ref : part.refs) {
    if (ref.dir != RefDir::none) continue;
    const std::string name = placed ? memory_of(ref) : ref.into;
    const auto [at, added] = by_name.emplace(name, out.memories_.size());
    if (added) out.memories_.push_back({name, ref.offset_bytes, 0});
    Memory& memory = out.memories_[at->second];
    const int64_t end =
        std::max(memory.first + memory.bytes, ref.offset_bytes + ref.shape.span_bytes());
    memory.first = std::min(memory.first, ref.offset_bytes);
    memory.bytes = end - memory.first;
    own.push_back({&ref, at->second});
  }
  for (const auto& [ref, memory] : own)
    operands[ref->into] = {false, memory, ref->offset_bytes - out.memories_[memory].first};
  for (size_t s = 0; s < part.stmts.size(); ++s) {
    STRIA_ASSIGN(interp::KernelPlan plan, interp::KernelPlan::make(part, s));
    Kernel kernel{std::move(plan), {}};
    // KernelPlan has refused names that the part has not.
    for (const auto& argument : kernel.plan.arguments())
      kernel.operands.push_back(operands.at(argument.name));
    out.kernels_.push_back(std::move(kernel));
  }
  return out;
}

Status PartValues::run(void* const* arguments, const std::vector<size_t>& order) const {
  std::vector<Bytes> memories;
  std::vector<std::vector<unsigned char>> written;
  for (const Memory& memory : memories_) {
    memories.emplace_back(memory.bytes);
    written.emplace_back(static_cast<size_t>(memory.bytes));
  }
  std::vector<void*> pointers;
  std::vector<unsigned char*> known;
  for (size_t statement : order) {
    const Kernel& kernel = kernels_[statement];
    pointers.clear();
    known.clear();
    for (const Operand& operand : kernel.operands) {
      pointers.push_back(operand.given
                             ? static_cast<char*>(arguments[operand.index]) + operand.offset
                             : memories[operand.index].data.get() + operand.offset);
      known.push_back(operand.given ? nullptr : written[operand.index].data() + operand.offset);
    }
    STRIA_RETURN_IF_ERROR(kernel.plan.run(pointers.data(), known.data()));
  }
  return {};
}

}  // namespace stria::sim
