// SPDX-License-Identifier: Apache-2.0
#include "suite/guarded_memory.h"

#include <algorithm>
#include <cstring>

#include "suite/case.h"

namespace stria::conformance {
namespace {

// Before and behind each tensor. An index that is one row or one vector off ends there.
constexpr uint64_t kGuard = 256;

uint64_t next_multiple(uint64_t bytes, uint64_t of) { return (bytes + of - 1) / of * of; }

}  // namespace

Result<GuardedMemory> GuardedMemory::make(const hal::Device& device,
                                          std::vector<GuardedTensor> tensors, Layout layout) {
  GuardedMemory out;
  out.tensors_ = std::move(tensors);
  std::vector<uint64_t> sizes;  // of the areas
  std::vector<uint64_t> offsets;
  for (const GuardedTensor& tensor : out.tensors_) {
    const bool is_first = layout == Layout::apart || sizes.empty();
    if (is_first) sizes.push_back(0);
    uint64_t offset = next_multiple(sizes.back() + kGuard, tensor.element_bytes);
    if (layout == Layout::together && offset / tensor.element_bytes % 2 == 0)
      offset += tensor.element_bytes;
    offsets.push_back(offset);
    out.areas_of_.push_back(sizes.size() - 1);
    sizes.back() = offset + tensor.bytes + (layout == Layout::apart ? kGuard : 0);
  }
  if (layout == Layout::together && !sizes.empty()) sizes.back() += kGuard;
  for (size_t i = 0; i < sizes.size(); ++i) {
    Area area;
    STRIA_ASSIGN(area.buffer, device.allocate(sizes[i]));
    area.expected =
        pattern(sizes[i], static_cast<uint32_t>(2 * i + (layout == Layout::apart ? 1 : 2)));
    out.areas_.push_back(std::move(area));
  }
  for (size_t t = 0; t < out.tensors_.size(); ++t) {
    Area& area = out.areas_[out.areas_of_[t]];
    const std::span<const std::byte> contents = out.tensors_[t].contents;
    std::copy(contents.begin(), contents.end(),
              area.expected.begin() + static_cast<std::ptrdiff_t>(offsets[t]));
    out.places_.push_back({area.buffer, offsets[t]});
  }
  return out;
}

Status GuardedMemory::write() {
  for (Area& area : areas_) {
    STRIA_ASSIGN(hal::Mapping mapping, area.buffer.map_discard());
    STRIA_RETURN_IF_ERROR(mapping.ready().wait());
    std::memcpy(mapping.data(), area.expected.data(), area.expected.size());
    STRIA_ASSIGN(const hal::Event done, mapping.unmap());
    STRIA_RETURN_IF_ERROR(done.wait());
  }
  return Status();
}

Status GuardedMemory::read() {
  for (Area& area : areas_) {
    STRIA_ASSIGN(hal::Mapping mapping, area.buffer.map_read());
    STRIA_RETURN_IF_ERROR(mapping.ready().wait());
    area.got.assign(mapping.bytes().begin(), mapping.bytes().end());
    STRIA_ASSIGN(const hal::Event done, mapping.unmap());
    STRIA_RETURN_IF_ERROR(done.wait());
  }
  return Status();
}

std::span<const std::byte> GuardedMemory::contents(size_t tensor) const {
  const Area& area = areas_[areas_of_[tensor]];
  return std::span(area.got).subspan(places_[tensor].offset, tensors_[tensor].bytes);
}

Status GuardedMemory::check_guards(size_t tensor) const {
  const Area& area = areas_[areas_of_[tensor]];
  const uint64_t begin = places_[tensor].offset, end = begin + tensors_[tensor].bytes;
  const auto changed = [&](uint64_t at) { return area.got[at] != area.expected[at]; };
  for (uint64_t n = 1; n <= kGuard; ++n)
    if (n <= begin && changed(begin - n))
      return broken_rule(
          Rule::only_arguments,
          "a kernel wrote {} bytes before the tensor '{}', which lies at byte {} of its "
          "buffer",
          n, tensors_[tensor].name, begin);
  for (uint64_t n = 0; n < kGuard && end + n < area.got.size(); ++n)
    if (changed(end + n))
      return broken_rule(
          Rule::only_arguments,
          "a kernel wrote {} bytes behind the end of the tensor '{}' of {} bytes, which "
          "lies at byte {} of its buffer",
          n + 1, tensors_[tensor].name, tensors_[tensor].bytes, begin);
  return Status();
}

Status GuardedMemory::check_unchanged(size_t tensor) const {
  STRIA_RETURN_IF_ERROR(check_guards(tensor));
  const Area& area = areas_[areas_of_[tensor]];
  const std::string text =
      difference(contents(tensor),
                 std::span(area.expected).subspan(places_[tensor].offset, tensors_[tensor].bytes));
  if (!text.empty())
    return broken_rule(Rule::only_arguments,
                       "the input '{}', which is only read, is another one after the run: {}",
                       tensors_[tensor].name, text);
  return Status();
}

}  // namespace stria::conformance
