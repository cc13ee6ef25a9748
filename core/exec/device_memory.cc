// SPDX-License-Identifier: Apache-2.0
#include "stria/exec/device_memory.h"

#include <algorithm>
#include <list>
#include <mutex>

namespace stria::exec {

// Buffers and their device may outlive every DeviceMemory: entries hold the ledger, not the device.
struct Ledger {
  std::mutex mutex;
  std::list<LiveBuffer> buffers;  // guarded by mutex, as all below
  std::vector<std::weak_ptr<Reserve>> reserves;
};

namespace {

// In the ledger from its making to its end.
class Entry {
 public:
  Entry(std::shared_ptr<Ledger> ledger, LiveBuffer buffer) : ledger_(std::move(ledger)) {
    std::lock_guard lock(ledger_->mutex);
    at_ = ledger_->buffers.insert(ledger_->buffers.end(), std::move(buffer));
  }
  Entry(const Entry&) = delete;
  Entry& operator=(const Entry&) = delete;
  ~Entry() {
    std::lock_guard lock(ledger_->mutex);
    ledger_->buffers.erase(at_);
  }

 private:
  std::shared_ptr<Ledger> ledger_;
  std::list<LiveBuffer>::iterator at_;
};

bool release_reserves(Ledger& ledger) {
  std::vector<std::shared_ptr<Reserve>> reserves;
  {
    std::lock_guard lock(ledger.mutex);
    for (const auto& weak : ledger.reserves)
      if (auto reserve = weak.lock()) reserves.push_back(std::move(reserve));
  }
  bool any = false;
  // Without the lock: buffers that go take it.
  for (const auto& reserve : reserves) any = reserve->release() || any;
  return any;
}

}  // namespace

struct DeviceMemory::State {
  hal::Device device;
  std::shared_ptr<Ledger> ledger = std::make_shared<Ledger>();
};

DeviceMemory::DeviceMemory(hal::Device device) : state_(std::make_shared<State>()) {
  state_->device = std::move(device);
}

const hal::Device& DeviceMemory::device() const { return state_->device; }

Result<hal::Buffer> DeviceMemory::allocate(uint64_t bytes, std::string name,
                                           std::string holder) const {
  const hal::Device& device = state_->device;
  const std::string asked = fmt::format("{}, held by {}", name, holder);
  auto make = [&]() -> Result<hal::Buffer> {
    auto entry = std::make_shared<const Entry>(state_->ledger, LiveBuffer{name, holder, bytes});
    return device.allocate(bytes, "", std::move(entry));
  };
  Result<hal::Buffer> made = make();
  if (made.status().code() == StatusCode::out_of_memory && release_reserves(*state_->ledger))
    made = make();
  if (made.status().code() != StatusCode::out_of_memory) return made;

  const std::vector<LiveBuffer> all = live();
  uint64_t total = 0, shown = 0, limit = device.info().memory_bytes;
  for (const LiveBuffer& buffer : all) total += buffer.bytes;
  std::string text = fmt::format("no memory for {} bytes for {} on {}:{}, whose limit is {}; ",
                                 bytes, asked, device.plugin_id(), device.info().id,
                                 limit == 0 ? "not known" : fmt::format("{} bytes", limit));
  text += fmt::format("{} buffers of {} bytes are alive:", all.size(), total);
  for (const LiveBuffer& buffer : all) {
    if (buffer.bytes < total / 100) break;
    text += fmt::format("\n  {} bytes: {}, held by {}", buffer.bytes, buffer.name, buffer.holder);
    ++shown;
  }
  if (shown < all.size()) text += fmt::format("\n  and {} smaller ones", all.size() - shown);
  return Status(StatusCode::out_of_memory,
                fmt::format("{}\n  the device says: {}", text, made.status().message()));
}

std::vector<LiveBuffer> DeviceMemory::live() const {
  std::vector<LiveBuffer> buffers;
  {
    std::lock_guard lock(state_->ledger->mutex);
    buffers.assign(state_->ledger->buffers.begin(), state_->ledger->buffers.end());
  }
  std::sort(buffers.begin(), buffers.end(), [](const LiveBuffer& a, const LiveBuffer& b) {
    return a.bytes != b.bytes ? a.bytes > b.bytes : a.name < b.name;
  });
  return buffers;
}

void DeviceMemory::add_reserve(std::weak_ptr<Reserve> reserve) const {
  std::lock_guard lock(state_->ledger->mutex);
  auto& reserves = state_->ledger->reserves;
  std::erase_if(reserves, [](const auto& weak) { return weak.expired(); });
  reserves.push_back(std::move(reserve));
}

}  // namespace stria::exec
