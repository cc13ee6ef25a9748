// SPDX-License-Identifier: Apache-2.0
// Devices that work until they are told to fail. {"faults": "FILE"} is the driver's option; each
// line of the file is a fault: DEVICE PLACE AFTER WHAT.
//
//   DEVICE  an id: 0, 1, 2 or 3
//   PLACE   open build allocate map submit, or work: what a submit has begun
//   AFTER   so many of these go well first, counted since the driver was made
//   WHAT    lost      the device is lost, with all that is asked of it from then on
//           memory    there is none
//           gone      there is no such device any more
//           refused   it is unsupported
//           wrong     the caller is to blame
//           broken    it fails in a way that nobody knows
//           hang      the work does not end for a second, and the executor waits for it when it is
//                     released, as drivers do (work only)
//           slow      it takes 20 ms longer, and goes well (work only)
//           crash     the process ends
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <fstream>
#include <map>
#include <mutex>
#include <string>
#include <thread>

#include "stria/sdk/device_loss.h"
#include "stria/sdk/plugin.h"

namespace stria::fragile {

using namespace std::chrono_literals;

constexpr int kDevices = 4;

// What fails, and when. Thread-safe.
class Faults {
 public:
  explicit Faults(std::string path) : path_(std::move(path)) {}
  // What is to go wrong now with `device`; empty: nothing.
  std::string next(const std::string& device, const std::string& place) {
    std::lock_guard<std::mutex> lock(mutex_);
    const uint64_t count = counts_[device + " " + place]++;
    std::ifstream file(path_);
    std::string whose, where, what;
    uint64_t after = 0;
    while (file >> whose >> where >> after >> what)
      if (whose == device && where == place && count >= after) return what;
    return "";
  }

 private:
  const std::string path_;
  std::mutex mutex_;
  std::map<std::string, uint64_t> counts_;
};

// One opened device, as all of its parts see it.
class Health : public sdk::DeviceLoss {
 public:
  Health(std::shared_ptr<Faults> faults, std::string device)
      : faults_(std::move(faults)), device_(std::move(device)) {}
  std::string next(const char* place) { return faults_->next(device_, place); }
  // Throws what is to go wrong there.
  void check(const char* place) {
    check_not_lost();
    fail(next(place), place);
  }
  void fail(const std::string& what, const std::string& place) {
    if (what == "crash") std::abort();
    if (what == "lost") {
      lose("fragile " + device_, "told to be at " + place);
      check_not_lost();
    }
    if (what == "memory") throw sdk::Error(STRIA_OUT_OF_MEMORY, "no memory is left, as told");
    if (what == "gone") throw sdk::Error(STRIA_NOT_FOUND, "device " + device_ + " has gone");
    if (what == "refused") throw sdk::Error(STRIA_UNSUPPORTED, "this device refuses, as told");
    if (what == "wrong") throw sdk::Error(STRIA_INVALID_ARGUMENT, "this is wrong, as told");
    if (what == "broken") throw sdk::Error(STRIA_DATA_LOSS, "something is broken, as told");
  }

 private:
  const std::shared_ptr<Faults> faults_;
  const std::string device_;
};
using SharedHealth = std::shared_ptr<Health>;

class FragileBuffer final : public sdk::Buffer {
 public:
  FragileBuffer(sdk::Ref<sdk::Buffer> memory, SharedHealth health)
      : Buffer(memory->size()), memory_(std::move(memory)), health_(std::move(health)) {}
  std::byte* data() override { return memory_->data(); }
  void* map(uint64_t offset, uint64_t bytes, sdk::MapMode mode, sdk::Waits waits,
            sdk::Ref<sdk::Event>* done) override {
    health_->check("map");
    return memory_->map(offset, bytes, mode, waits, done);
  }
  sdk::Ref<sdk::Event> unmap(void* memory) override { return memory_->unmap(memory); }

 private:
  const sdk::Ref<sdk::Buffer> memory_;
  const SharedHealth health_;
};

class FragileCompiler final : public sdk::Compiler {
 public:
  FragileCompiler(const sdk::Host& host, SharedHealth health)
      : host_(host), health_(std::move(health)) {}
  sdk::Ref<sdk::Library> compile(std::string_view stripe, std::string_view) override {
    health_->check("build");
    return sdk::make<sdk::InterpretedLibrary>(host_, stripe);
  }

 private:
  const sdk::Host& host_;
  const SharedHealth health_;
};

class FragileExecutor final : public sdk::Executor {
 public:
  FragileExecutor(const sdk::Host& host, SharedHealth health)
      : Executor(host), health_(std::move(health)) {}
  ~FragileExecutor() override {
    while (*hanging_ > 0) std::this_thread::sleep_for(1ms);
  }
  sdk::Ref<sdk::Event> launch(const sdk::Ref<sdk::Kernel>& kernel,
                              std::vector<sdk::Argument> arguments, sdk::Waits waits) override {
    health_->check("submit");
    const std::string what = health_->next("work");
    if (what.empty()) return Executor::launch(kernel, std::move(arguments), waits);
    if (what == "hang" || what == "slow") {
      const std::chrono::milliseconds late = what == "hang" ? 1000ms : 20ms;
      const std::shared_ptr<std::atomic<int>> count = what == "hang" ? hanging_ : nullptr;
      if (count) ++*count;
      // A thread of its own: the host's workers stay free for other devices.
      return sdk::start_when(host(), tracker(), waits,
                             [late, count, kernel,
                              kept = std::move(arguments)](const sdk::Ref<sdk::StartedWork>& work) {
                               std::thread([late, count, kernel, kept, work] {
                                 end_late(late, kernel, kept, work);
                                 if (count) --*count;
                               }).detach();
                             });
    }
    return sdk::schedule(host(), tracker(), waits,
                         [health = health_, what] { health->fail(what, "work"); });
  }

 private:
  static void end_late(std::chrono::milliseconds late, const sdk::Ref<sdk::Kernel>& kernel,
                       const std::vector<sdk::Argument>& arguments,
                       const sdk::Ref<sdk::StartedWork>& work) {
    std::this_thread::sleep_for(late);
    std::vector<stria_memory> memory;
    for (const sdk::Argument& one : arguments)
      memory.push_back({one.buffer->data() + one.offset, one.buffer->size() - one.offset});
    kernel->run(memory.data(), memory.size());
    work->finish(nullptr, 0, 0);
  }
  const SharedHealth health_;
  const std::shared_ptr<std::atomic<int>> hanging_ = std::make_shared<std::atomic<int>>(0);
};

class FragileDevice final : public sdk::Device {
 public:
  FragileDevice(const sdk::Host& host, sdk::DeviceInfo info, SharedHealth health)
      : Device(host, std::move(info)), health_(std::move(health)) {}
  sdk::Ref<sdk::Compiler> create_compiler() override {
    return sdk::make<FragileCompiler>(host(), health_);
  }
  sdk::Ref<sdk::Executor> create_executor(std::string_view) override {
    return sdk::make<FragileExecutor>(host(), health_);
  }
  sdk::Ref<sdk::Buffer> allocate(uint64_t bytes, std::string_view memory) override {
    health_->check("allocate");
    return sdk::make<FragileBuffer>(Device::allocate(bytes, memory), health_);
  }

 private:
  const SharedHealth health_;
};

class FragileDriver final : public sdk::Driver {
 public:
  FragileDriver(const sdk::Host& host, sdk::DriverOptions options)
      : Driver(host, std::move(options)),
        faults_(std::make_shared<Faults>(file_of(this->options().options))) {}
  std::vector<sdk::DeviceInfo> enumerate() override {
    std::vector<sdk::DeviceInfo> devices;
    for (int i = 0; i < kDevices; ++i) {
      sdk::DeviceInfo info;
      info.id = std::to_string(i);
      info.kind = "fragile";
      info.name = "fragile device " + info.id;
      devices.push_back(info);
    }
    return devices;
  }
  sdk::Ref<sdk::Device> open(const sdk::DeviceInfo& info, std::string_view) override {
    auto health = std::make_shared<Health>(faults_, info.id);
    health->check("open");
    return sdk::make<FragileDevice>(host(), info, std::move(health));
  }

 private:
  // Of {"faults": "FILE"}, whose name has no quotes; else a file that is nowhere.
  static std::string file_of(const std::string& options) {
    const size_t end = options.rfind('"');
    const size_t begin = end == std::string::npos || end == 0 ? end : options.rfind('"', end - 1);
    return begin == std::string::npos ? "" : options.substr(begin + 1, end - begin - 1);
  }
  const std::shared_ptr<Faults> faults_;
};

}  // namespace stria::fragile

STRIA_PLUGIN(stria::fragile::FragileDriver, "fragile", "0.1.0")
