// SPDX-License-Identifier: Apache-2.0
// The experimental tables through the boundary: shared memory, copies between devices, events of
// foreign queues, estimates; and plugins that lack them, in part or as a whole.
#include "stria/hal/experimental.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <thread>

#include "scripted_host.h"
#include "stria/sdk/plugin.h"

namespace stria::hal {
namespace {

using ::testing::HasSubstr;

// Two devices on host memory, and one that has none of the tables' abilities.
class TwinDriver final : public sdk::Driver {
 public:
  using Driver::Driver;
  std::vector<sdk::DeviceInfo> enumerate() override {
    std::vector<sdk::DeviceInfo> out(3);
    for (size_t i = 0; i < out.size(); ++i) {
      out[i].id = std::string(1, static_cast<char>('a' + i));
      out[i].kind = "twin";
    }
    return out;
  }
  sdk::Ref<sdk::Device> open(const sdk::DeviceInfo& info, std::string_view options) override {
    if (info.id == "c") return sdk::make<sdk::Device>(host(), info);
    return Driver::open(info, options);
  }
};

stria_error* twin_query(const stria_host_info* host, stria_plugin_info* info) {
  return sdk::query<TwinDriver>(host, info, "twin", "1.0.0");
}

Manifest twin_manifest() {
  Manifest manifest;
  manifest.id = "twin";
  manifest.version = "1.0.0";
  manifest.abi = {STRIA_ABI_MAJOR, STRIA_ABI_OLDEST_MINOR, STRIA_ABI_MINOR};
  manifest.stripe = {STRIA_STRIPE_MAJOR, STRIA_STRIPE_MINOR, STRIA_STRIPE_MINOR};
  manifest.devices = {{"twin", "hw/twin.json", "passes/twin.json"}};
  return manifest;
}

class Experimental : public testing::Test {
 protected:
  Plugin plugin_ =
      adopt_plugin(twin_manifest(), twin_query, std::make_shared<Host>(HostFunctions(), 2)).plugin;
  Device a_ = plugin_.open("a").value(), b_ = plugin_.open("b").value(),
         bare_ = plugin_.open("c").value();
};

struct alignas(64) Aligned {
  std::byte bytes[256];
};

TEST_F(Experimental, WorkReadsAndWritesMemoryOfTheApplication) {
  static Aligned memory;
  auto owner = std::make_shared<int>();  // of the memory, as far as the plugin knows
  const std::weak_ptr<int> alive = owner;
  std::byte* const bytes = memory.bytes;
  Executor executor = a_.create_executor().value();
  Event gate = a_.create_event().value();
  Event filled;
  {
    Buffer buffer = import_memory(a_, {bytes, 256}, std::move(owner)).value();
    EXPECT_EQ(buffer.size(), 256u);
    EXPECT_EQ(export_memory(buffer).value().data(), bytes);
    const std::byte seven{7};
    filled = executor.fill(buffer, 8, 16, {&seven, 1}, {&gate, 1}).value();
  }
  // The handle is gone, its work is still to come.
  EXPECT_FALSE(alive.expired());
  EXPECT_TRUE(gate.signal().ok());
  EXPECT_TRUE(filled.wait().ok());
  for (int i = 0; i < 256; ++i)
    EXPECT_EQ(bytes[i], std::byte{static_cast<unsigned char>(i >= 8 && i < 24 ? 7 : 0)}) << i;
  filled = {};
  for (int i = 0; i < 10'000 && !alive.expired(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(alive.expired());
}

TEST_F(Experimental, MemoryThatADeviceCannotUseIsRefusedAndItsOwnerGoes) {
  auto owner = std::make_shared<Aligned>();
  const auto refused = import_memory(a_, {owner->bytes + 4, 8}, owner).status();
  EXPECT_EQ(refused.code(), StatusCode::unsupported);
  EXPECT_THAT(refused.message(), HasSubstr("this device takes multiples of 64"));
  EXPECT_EQ(owner.use_count(), 1);
  EXPECT_EQ(share_kinds(bare_).value().imported, 0u);
  const auto none = import_memory(bare_, {owner->bytes, 8}, owner).status();
  EXPECT_EQ(none.code(), StatusCode::unsupported);
  EXPECT_THAT(none.message(), HasSubstr("takes no memory of the kind 1"));
  EXPECT_EQ(owner.use_count(), 1);
  Buffer plain = a_.allocate(8).value();
  EXPECT_EQ(export_descriptor(plain).status().code(), StatusCode::unsupported);
  EXPECT_EQ(export_memory(Buffer()).status().code(), StatusCode::failed_precondition);
}

TEST_F(Experimental, ADescriptorIsMemoryOfSeveralBuffers) {
  const Descriptor file(::memfd_create("shared", MFD_CLOEXEC));
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  ASSERT_EQ(::ftruncate(file.get(), static_cast<off_t>(2 * page)), 0);
  Buffer all = import_descriptor(a_, file.get(), 0, 2 * page).value();
  Buffer half = import_descriptor(b_, file.get(), page, page).value();
  Executor executor = b_.create_executor().value();
  const std::byte nine{9};
  ASSERT_TRUE(executor.fill(half, 0, page, {&nine, 1}).value().wait().ok());
  Mapping mapping = all.map_read().value();
  ASSERT_TRUE(mapping.ready().wait().ok());
  EXPECT_EQ(mapping.data()[page - 1], std::byte{0});
  EXPECT_EQ(mapping.data()[page], nine);
  EXPECT_EQ(mapping.data()[2 * page - 1], nine);
  EXPECT_THAT(import_descriptor(a_, file.get(), 8, 8).status().message(),
              HasSubstr("multiples of the page size"));
  const Status beyond = import_descriptor(a_, file.get(), page, 2 * page).status();
  EXPECT_EQ(beyond.code(), StatusCode::out_of_range);
  EXPECT_EQ(import_descriptor(a_, -1, 0, 8).status().code(), StatusCode::invalid_argument);
  EXPECT_TRUE(import_descriptor(a_, file.get(), 0, 0).ok());
  // Where the caller stands in the file is the caller's.
  ASSERT_EQ(::lseek(file.get(), 3, SEEK_SET), 3);
  EXPECT_TRUE(import_descriptor(a_, file.get(), 0, page).ok());
  EXPECT_EQ(::lseek(file.get(), 0, SEEK_CUR), 3);
}

TEST_F(Experimental, DevicesOfOnePluginCopyToEachOther) {
  EXPECT_TRUE(reaches(a_, b_).value());
  EXPECT_FALSE(reaches(a_, bare_).value());
  Buffer from = b_.allocate(64).value(), to = a_.allocate(64).value();
  Executor executor = a_.create_executor().value(), other = b_.create_executor().value();
  const std::byte five{5};
  Event filled = other.fill(from, 0, 64, {&five, 1}).value();  // an event of the other device
  Event copied = copy_between(executor, from, 8, to, 0, 32, {&filled, 1}).value();
  Mapping mapping = to.map_read({&copied, 1}).value();
  ASSERT_TRUE(mapping.ready().wait().ok());
  EXPECT_EQ(mapping.data()[31], five);
  Buffer far = bare_.allocate(64).value();
  EXPECT_THAT(copy_between(executor, far, 0, to, 0, 8).status().message(),
              HasSubstr("device 'a' of plugin twin does not reach memory of device 'c'"));
  EXPECT_EQ(copy_between(executor, from, 60, to, 0, 8).status().code(), StatusCode::out_of_range);
  // An executor copies for its own device, not between, or inside, others.
  Buffer also = b_.allocate(64).value();
  for (const Buffer* target : {&from, &also}) {
    const Status foreign = copy_between(executor, from, 0, *target, 8, 8).status();
    EXPECT_EQ(foreign.code(), StatusCode::invalid_argument);
    EXPECT_THAT(foreign.message(), HasSubstr("neither buffer of the copy is of device 'a'"));
  }
}

bool readable(int descriptor, int limit_ms) {
  pollfd wait{descriptor, POLLIN, 0};
  return ::poll(&wait, 1, limit_ms) == 1;
}

TEST_F(Experimental, EventsComeFromAndGoToForeignQueues) {
  Descriptor foreign(::eventfd(0, EFD_CLOEXEC));
  Event imported = import_event(a_, foreign.get()).value();
  Executor executor = a_.create_executor().value();
  Buffer buffer = a_.allocate(8).value();
  const std::byte one{1};
  Event filled = executor.fill(buffer, 0, 8, {&one, 1}, {&imported, 1}).value();
  Descriptor exported = export_event(filled).value();
  EXPECT_FALSE(imported.is_done());
  EXPECT_FALSE(readable(exported.get(), 0));
  const uint64_t go = 1;
  ASSERT_EQ(::write(foreign.get(), &go, sizeof go), static_cast<ssize_t>(sizeof go));
  EXPECT_TRUE(readable(exported.get(), 10'000));
  EXPECT_TRUE(filled.wait().ok());
  EXPECT_TRUE(readable(foreign.get(), 0));  // nothing was read from it
  // One that is done, one that fails, and one whose descriptor nobody wants.
  EXPECT_TRUE(readable(export_event(filled).value().get(), 10'000));
  Event gate = a_.create_event().value();
  Descriptor failed = export_event(gate).value();
  {
    const Descriptor dropped = export_event(gate).value();
  }
  ASSERT_TRUE(gate.signal(Status(StatusCode::data_loss, "torn")).ok());
  EXPECT_TRUE(readable(failed.get(), 10'000));
  EXPECT_EQ(import_event(a_, -1).status().code(), StatusCode::invalid_argument);
}

// The driver ends what still waits, though nobody will ever write.
TEST(ForeignEvents, ThatNeverComeEndWithTheDriver) {
  Plugin plugin =
      adopt_plugin(twin_manifest(), twin_query, std::make_shared<Host>(HostFunctions(), 2)).plugin;
  const Descriptor silent(::eventfd(0, EFD_CLOEXEC)), loud(::eventfd(1, EFD_CLOEXEC));
  {
    Device device = plugin.open("a").value();
    for (int i = 0; i < 50; ++i) EXPECT_TRUE(import_event(device, silent.get()).ok());
    EXPECT_TRUE(import_event(device, loud.get()).value().wait().ok());
  }
  EXPECT_TRUE(plugin.shutdown().ok());
}

// Memory whose owner holds the last handle of the device goes outside of the plugin's call.
TEST(SharedMemory, WhoseOwnerHoldsItsDevice) {
  Plugin plugin =
      adopt_plugin(twin_manifest(), twin_query, std::make_shared<Host>(HostFunctions(), 2)).plugin;
  static Aligned memory;
  {
    Device device = plugin.open("a").value();
    auto owner = std::make_shared<Device>(device);
    Executor executor = device.create_executor().value();
    Event gate = device.create_event().value();
    Buffer buffer = import_memory(device, {memory.bytes, 256}, std::move(owner)).value();
    const std::byte two{2};
    Event filled = executor.fill(buffer, 0, 256, {&two, 1}, {&gate, 1}).value();
    EXPECT_TRUE(gate.signal().ok());
    EXPECT_TRUE(filled.wait().ok());
  }
  let_callbacks_end();
  Status ended;
  for (int i = 0; i < 1000; ++i) {
    ended = plugin.shutdown();
    if (ended.code() != StatusCode::failed_precondition) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_TRUE(ended.ok()) << ended.to_string();
  EXPECT_EQ(memory.bytes[255], std::byte{2});
}

// A device whose own thread ends events, and whose end waits for that thread.
class ThreadedDevice final : public sdk::Device {
 public:
  using Device::Device;
  ~ThreadedDevice() override {
    on_own_thread = thread_.get_id() == std::this_thread::get_id();
    if (on_own_thread)
      thread_.detach();
    else if (thread_.joinable())
      thread_.join();
    ended = true;
  }
  sdk::Ref<sdk::Event> import_event(const stria_foreign_event& foreign) override {
    auto event = sdk::make<sdk::Event>(host());
    thread_ = std::thread([event, descriptor = foreign.descriptor] {
      pollfd wait{descriptor, POLLIN, 0};
      (void)::poll(&wait, 1, 10'000);
      event->signal();
    });
    return event;
  }
  static inline std::atomic<bool> on_own_thread{false}, ended{false};

 private:
  std::thread thread_;
};

class ThreadedDriver final : public sdk::Driver {
 public:
  using Driver::Driver;
  std::vector<sdk::DeviceInfo> enumerate() override {
    std::vector<sdk::DeviceInfo> out(1);
    out[0].id = "a";
    out[0].kind = "twin";
    return out;
  }
  sdk::Ref<sdk::Device> open(const sdk::DeviceInfo& info, std::string_view) override {
    return sdk::make<ThreadedDevice>(host(), info);
  }
};

TEST(ThreadedDevices, WhatGoesInACallbackIsReleasedOnAnotherThread) {
  auto query = [](const stria_host_info* host, stria_plugin_info* info) -> stria_error* {
    return sdk::query<ThreadedDriver>(host, info, "twin", "1.0.0");
  };
  Plugin plugin =
      adopt_plugin(twin_manifest(), query, std::make_shared<Host>(HostFunctions(), 2)).plugin;
  const Descriptor foreign(::eventfd(0, EFD_CLOEXEC));
  {
    Device device = plugin.open("a").value();
    Executor executor = device.create_executor().value();
    Event event = import_event(device, foreign.get()).value();
    ASSERT_TRUE(
        event
            .on_done([device = std::move(device), executor = std::move(executor)](const Status&) {})
            .ok());
  }
  const uint64_t go = 1;
  ASSERT_EQ(::write(foreign.get(), &go, sizeof go), static_cast<ssize_t>(sizeof go));
  for (int i = 0; i < 10'000 && !ThreadedDevice::ended; ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(ThreadedDevice::ended);
  EXPECT_FALSE(ThreadedDevice::on_own_thread);
  Status ended = plugin.shutdown();
  for (int i = 0; i < 1000 && ended.code() == StatusCode::failed_precondition; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ended = plugin.shutdown();
  }
  EXPECT_EQ(ended.to_string(), "ok");
}

TEST_F(Experimental, APluginWithoutTheTablesSaysWhichIsMissing) {
  auto older = [](const stria_host_info* host, stria_plugin_info* info) -> stria_error* {
    stria_error* error = twin_query(host, info);
    info->get_extension = nullptr;
    return error;
  };
  const auto host = std::make_shared<Host>(HostFunctions(), 2);
  Device device = adopt_plugin(twin_manifest(), older, host).plugin.open("a").value();
  Status status = share_kinds(device).status();
  EXPECT_EQ(status.code(), StatusCode::unimplemented);
  EXPECT_EQ(status.message(), "plugin twin has no table 'stria.sharing' of version 1");
  EXPECT_EQ(estimate(device, "").status().message(),
            "plugin twin has no table 'stria.estimate' of version 1");
  // A table that ends early lacks what lies behind its end.
  auto shorter = [](const stria_host_info* host, stria_plugin_info* info) -> stria_error* {
    stria_error* error = twin_query(host, info);
    info->get_extension = [](stria_string, uint32_t) -> const void* {
      static stria_sharing_table table = sdk::ExperimentalTables::sharing_table;
      table.size = offsetof(stria_sharing_table, export_buffer);
      return &table;
    };
    return error;
  };
  device = adopt_plugin(twin_manifest(), shorter, host).plugin.open("a").value();
  EXPECT_TRUE(share_kinds(device).ok());
  EXPECT_EQ(export_memory(device.allocate(8).value()).status().message(),
            "plugin twin has no slot sharing.export_buffer");
}

TEST_F(Experimental, AnEstimateThatContradictsItselfIsAFault) {
  // A device that estimates nothing: the same as no table.
  EXPECT_EQ(estimate(a_, "stripe").status().code(), StatusCode::unimplemented);
  static stria_estimate said;
  auto query = [](const stria_host_info* host, stria_plugin_info* info) -> stria_error* {
    stria_error* error = twin_query(host, info);
    info->get_extension = [](stria_string, uint32_t) -> const void* {
      static stria_estimate_table table{
          sizeof(stria_estimate_table), nullptr,
          [](stria_device*, const stria_build_params*, stria_estimate* out) -> stria_error* {
            out->time_ns = said.time_ns;
            out->low_time_ns = said.low_time_ns;
            out->high_time_ns = said.high_time_ns;
            return nullptr;
          }};
      return &table;
    };
    return error;
  };
  Device device = adopt_plugin(twin_manifest(), query, std::make_shared<Host>(HostFunctions(), 2))
                      .plugin.open("a")
                      .value();
  struct Said {
    uint64_t low, time, high;
  };
  for (const Said& wrong : {Said{6, 5, 7}, Said{4, 8, 7}, Said{8, 0, 7}, Said{0, 8, 7}}) {
    said.low_time_ns = wrong.low, said.time_ns = wrong.time, said.high_time_ns = wrong.high;
    const Status status = estimate(device, "stripe").status();
    EXPECT_EQ(status.code(), kPluginFault);
    EXPECT_THAT(status.message(), HasSubstr(fmt::format("{} ns with bounds of {} and {} ns",
                                                        wrong.time, wrong.low, wrong.high)));
  }
  // 0 is what the plugin does not know.
  for (const Said& right : {Said{5, 0, 10}, Said{5, 7, 0}, Said{0, 7, 7}, Said{0, 0, 0}}) {
    said.low_time_ns = right.low, said.time_ns = right.time, said.high_time_ns = right.high;
    EXPECT_TRUE(estimate(device, "stripe").ok());
  }
}

}  // namespace
}  // namespace stria::hal
