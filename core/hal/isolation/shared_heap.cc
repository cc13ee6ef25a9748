// SPDX-License-Identifier: Apache-2.0
#include "stria/hal/isolation/shared_heap.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>

namespace stria::hal::isolation {
namespace {

// Each allocation is a multiple: a cache line.
constexpr uint64_t kGrain = 64;
// Of what is given back, so much is given to the system.
constexpr uint64_t kReturnedBytes = uint64_t{1} << 20;

uint64_t round_up(uint64_t value, uint64_t to) { return (value + to - 1) / to * to; }

// Twice what the machine has: room for what lies between allocations.
uint64_t wanted_bytes() {
  return 2 * static_cast<uint64_t>(::sysconf(_SC_PHYS_PAGES)) *
         static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace

Status SharedHeap::create() {
  bytes_ = wanted_bytes();
  // Beyond this limit the system would send a signal.
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < bytes_)
    return make_error(StatusCode::unavailable, "files are limited to {} bytes (ulimit -f)",
                      limit.rlim_cur);
  const int made = ::memfd_create("stria", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (made < 0)
    return make_error(StatusCode::unavailable, "no shared memory: {}", std::strerror(errno));
  descriptor_ = made;
  if (::ftruncate(made, static_cast<off_t>(bytes_)) != 0 ||
      ::fcntl(made, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
    return make_error(StatusCode::unavailable, "no shared memory of {} bytes: {}", bytes_,
                      std::strerror(errno));
  return map();
}

Status SharedHeap::attach(int descriptor, uint64_t bytes) {
  descriptor_ = descriptor;
  bytes_ = bytes;
  STRIA_RETURN_IF_ERROR(map());
  close_descriptor();
  free_[0] = bytes_;
  return Status();
}

Status SharedHeap::map() {
  void* const mapped =
      ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor_, 0);
  if (mapped == MAP_FAILED)
    return make_error(StatusCode::unavailable, "{} bytes of shared memory cannot be mapped: {}",
                      bytes_, std::strerror(errno));
  base_ = static_cast<std::byte*>(mapped);
  // A core file would hold all of it.
  (void)::madvise(base_, bytes_, MADV_DONTDUMP);
  return Status();
}

SharedHeap::~SharedHeap() { drop(); }

void SharedHeap::drop() {
  close_descriptor();
  if (base_) ::munmap(base_, bytes_);
  base_ = nullptr;
}

void SharedHeap::close_descriptor() {
  if (descriptor_ >= 0) ::close(descriptor_);
  descriptor_ = -1;
}

std::byte* SharedHeap::at(uint64_t place, uint64_t bytes) const {
  return place <= bytes_ && bytes <= bytes_ - place ? base_ + place : nullptr;
}

bool SharedHeap::holds(const void* memory, uint64_t bytes) const {
  const auto at = reinterpret_cast<uintptr_t>(memory), begin = reinterpret_cast<uintptr_t>(base_);
  return base_ && at >= begin && at - begin <= bytes_ && bytes <= bytes_ - (at - begin);
}

uint64_t SharedHeap::place_of(const void* memory) const {
  return reinterpret_cast<uintptr_t>(memory) - reinterpret_cast<uintptr_t>(base_);
}

void* SharedHeap::allocate(uint64_t bytes, uint64_t alignment) {
  if (bytes > bytes_) return nullptr;
  const uint64_t size = round_up(std::max<uint64_t>(bytes, 1), kGrain);
  alignment = std::max(alignment, kGrain);
  const auto base = reinterpret_cast<uintptr_t>(base_);
  const std::lock_guard lock(mutex_);
  for (auto it = free_.begin(); it != free_.end(); ++it) {
    const auto [place, room] = *it;
    const uint64_t begin = round_up(base + place, alignment) - base;
    if (begin - place > room || size > room - (begin - place)) continue;
    free_.erase(it);
    if (begin > place) free_[place] = begin - place;
    if (const uint64_t end = begin + size; end < place + room) free_[end] = place + room - end;
    used_[begin] = size;
    return base_ + begin;
  }
  return nullptr;
}

void SharedHeap::free(void* memory) {
  if (!memory) return;
  const std::lock_guard lock(mutex_);
  const auto it = used_.find(place_of(memory));
  if (it == used_.end()) return;  // given back twice, or never given
  auto [place, size] = *it;
  used_.erase(it);
  if (size >= kReturnedBytes) {
    const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
    const uint64_t begin = round_up(place, page), end = (place + size) / page * page;
    (void)::madvise(base_ + begin, end - begin, MADV_REMOVE);
  }
  if (auto next = free_.lower_bound(place); next != free_.end() && next->first == place + size) {
    size += next->second;
    free_.erase(next);
  }
  if (auto next = free_.lower_bound(place); next != free_.begin()) {
    auto before = std::prev(next);
    if (before->first + before->second == place) {
      before->second += size;
      return;
    }
  }
  free_[place] = size;
}

}  // namespace stria::hal::isolation
