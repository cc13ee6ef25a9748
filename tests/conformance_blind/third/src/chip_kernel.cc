// SPDX-License-Identifier: Apache-2.0
#include "chip_kernel.h"

#include "chosen.h"

namespace third_chip {

namespace sdk = stria::sdk;

void ChipKernel::launch(const std::vector<sdk::Argument>& arguments) const {
  std::vector<ArgumentCopy> copies;
  copies.reserve(arguments.size());
  std::vector<stria_memory> memory;
  for (size_t i = 0; i < arguments.size(); ++i) {
    // What is not written keeps its value, so results are read as well.
    copies.emplace_back(store_of(arguments[i]), arguments[i].offset, info_.arguments[i].bytes);
    memory.push_back({copies.back().data(), copies.back().size()});
  }
  keep_uniforms(copies);
  kernel_.run(memory.data(), memory.size());
  spoil_results(copies);
  for (size_t i = 0; i < copies.size(); ++i)
    if (!is_read_only(i)) copies[i].write_back();
}

// Small inputs go to the chip with the first launch, and stay there.
void ChipKernel::keep_uniforms(std::vector<ArgumentCopy>& copies) const {
  if (!makes(Mistake::uniforms_cached)) return;
  constexpr uint64_t kUniformBytes = 16;
  const std::lock_guard<std::mutex> lock(mutex_);
  for (size_t i = 0; i < copies.size(); ++i) {
    ArgumentCopy& copy = copies[i];
    if (!is_read_only(i) || copy.size() > kUniformBytes) continue;
    const auto [at, is_new] = uniforms_.try_emplace(i, copy.data(), copy.data() + copy.size());
    if (!is_new) std::copy(at->second.begin(), at->second.end(), copy.data());
  }
}

void ChipKernel::spoil_results(std::vector<ArgumentCopy>& copies) const {
  constexpr uint64_t kLanes = 4;
  constexpr uint64_t kMostGroups = 65535;
  for (size_t i = 0; i < copies.size(); ++i) {
    if (is_read_only(i)) continue;
    const uint64_t count = copies[i].size() / element_bytes_[i];
    if (makes(Mistake::tail_forgotten) && count > kLanes)
      copies[i].undo_from(count / kLanes * kLanes * element_bytes_[i]);
    if (makes(Mistake::grid_limit)) copies[i].undo_from(kMostGroups * element_bytes_[i]);
  }
  if (!makes(Mistake::result_in_input) || copies.empty() || is_read_only(0)) return;
  // The result is made where an operand of its form is.
  for (size_t i = 1; i < copies.size(); ++i) {
    if (!is_read_only(i) || copies[i].size() != copies[0].size()) continue;
    std::memcpy(copies[i].data(), copies[0].data(), copies[0].size());
    copies[i].write_back();
    return;
  }
}

}  // namespace third_chip
